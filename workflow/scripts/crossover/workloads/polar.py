"""polar: r = 1 + 3/4 sin 3 theta, x = r cos theta, y = r sin theta, as in the article.

Size n: angles from 0 to 2 pi, made on the device: there are no inputs, and nothing to upload.
"""

from math import pi

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks

DTYPES = ("float16", "bfloat16", "float32", "float64")
CURVE = True


def inputs(rng, size, dtype):
    return ()


def compute(xp, *, size, dtype, device):
    theta = xp.linspace(0, 2 * pi, size, dtype=dtype, device=device)
    r = 1 + 0.75 * xp.sin(3 * theta)
    return r * xp.cos(theta), r * xp.sin(theta)


def output_shapes(size):
    return ((size,), (size,))


def cost(size, itemsize):
    """Most is alive when y is made: theta, r and sin theta beside x and y.

    A transcendental function counts as one operation: 4 for r, 2 each for x and y.
    """
    return Cost(
        flop=8.0 * size,
        input_bytes=0,
        output_bytes=2 * size * itemsize,
        temporary_bytes=3 * size * itemsize,
    )


def error(outputs, inputs, rng, dtype):
    """max over all points of |x - x'| and |y - y'|, over the curve's largest radius, 1.75."""
    import numpy as np

    x, y = outputs
    worst = 0.0
    for part in blocks(x.size):
        theta = np.arange(part.start, part.stop) * (2 * pi / max(x.size - 1, 1))
        r = 1 + 0.75 * np.sin(3 * theta)
        worst = max(
            worst,
            float(abs(x[part] - r * np.cos(theta)).max()),
            float(abs(y[part] - r * np.sin(theta)).max()),
        )
    return worst / 1.75


def bound(size, dtype):
    """32 u: theta is rounded at up to 2 pi (4 u) and 3 theta at up to 6 pi (16 u more).

    The slopes carry that into r (0.75 times the error of 3 theta) and into x and y (at most 1.75
    times that of theta); a handful of roundings near 1.75 is added, and all of it is divided by
    1.75: 0.75 * 24 + 1.75 * 4 + 5 = 30.
    """
    return 32 * UNIT_ROUNDOFF[dtype]
