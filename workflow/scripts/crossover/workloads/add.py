"""add: a += 1, in place, as in the article. Limited by memory bandwidth.

Size n: elements of one array. The values grow by one a call; the time does not depend on them, so
they are not refilled between samples. The check starts from fresh ones.
"""

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64")
IN_PLACE = True
LOW, HIGH = 0, 100


def inputs(rng, size, dtype):
    return (draw(rng, size, dtype, LOW, HIGH),)


def compute(xp, a, *, size, dtype, device):
    a += 1
    return a


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    return Cost(flop=size, input_bytes=size * itemsize, output_bytes=size * itemsize)


def error(outputs, inputs, rng, dtype):
    """max |out - (a + 1)| / max |a + 1|, against the same numbers drawn again."""
    import numpy as np

    (out,) = outputs
    wide = np.result_type(out.dtype, "float64")
    worst = largest = 0.0
    for part in blocks(out.size):
        expected = draw(rng, part.stop - part.start, dtype, LOW, HIGH).astype(wide) + 1
        worst = max(worst, float(abs(out[part] - expected).max()))
        largest = max(largest, float(abs(expected).max()))
    return worst / largest


def bound(size, dtype):
    """One rounding of the input (bfloat16 alone: drawn as float32) and one of the sum."""
    return 2 * UNIT_ROUNDOFF[dtype]
