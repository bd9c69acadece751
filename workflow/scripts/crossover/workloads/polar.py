"""polar: r = 1 + 3/4 sin 3 theta, x = r cos theta, y = r sin theta, as in the article.

Size n: angles from 0 to 2 pi, made on the device: there are no inputs, and nothing to upload.
"""

from math import pi

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks

DTYPES = ("float16", "bfloat16", "float32", "float64")
REGIME = "made-on-device"
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
        of_x, of_y = abs(x[part] - r * np.cos(theta)), abs(y[part] - r * np.sin(theta))
        worst = np.max([worst, of_x.max(), of_y.max()])  # keeps NaN
    return float(worst / 1.75)


def bound(size, dtype):
    """32 u, of which 20 u are the roundings at their worst and the rest is for sines and cosines
    that are right to a few u, not to half a unit in the last place (CUDA's to 2 such units: CUDA C
    Programming Guide, "Mathematical Functions").

    By Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed. 2002, section 2.2: near
    2 pi theta is rounded by up to 4 u, twice where a library steps there from a rounded end, and
    3 theta by up to 16 u, so 3 theta errs by 40 u and r by 0.75 times that. Nowhere on the curve do
    these 30 u and the 1.75 * 8 u of theta itself in x and y meet at full size: together they stay
    below 31 u, and 5 u more come from r and the products. 36 u / 1.75 = 20 u.

    float16 has no number above 65,504, and torch's linspace makes its step in the dtype itself:
    from 65,521 points on the step is 0 or not a number. That is a mismatch, as it should be.
    """
    return 32 * UNIT_ROUNDOFF[dtype]
