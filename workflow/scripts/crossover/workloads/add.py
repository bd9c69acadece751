"""add: a += 1, in place, as in the article. Limited by memory bandwidth.

Size n: elements of one array. The values grow by one a call; the time does not depend on them, so
they are not refilled between samples. The check starts from fresh ones.
"""

from crossover.workloads import CARRIED, UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64")
REGIME = "memory-bound"
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
    """max |out - (a + 1)| / |a + 1| over all elements, against the same numbers drawn again."""
    import numpy as np

    (out,) = outputs
    wide = np.result_type(out.dtype, "float64")
    worst = 0.0
    for part in blocks(out.size):
        expected = draw(rng, part.stop - part.start, dtype, LOW, HIGH).astype(wide) + 1
        worst = np.maximum(worst, (abs(out[part] - expected) / abs(expected)).max())  # keeps NaN
    return float(worst)


def bound(size, dtype):
    """u: a sum is rounded correctly (IEEE 754; Higham, "Accuracy and Stability of Numerical
    Algorithms", 2nd ed. 2002, section 2.2), and a >= 0. For bfloat16 and its like 2 u, since their
    inputs are drawn as float32 and rounded first. Sums of integers are exact.
    """
    return UNIT_ROUNDOFF[dtype] * (2 if dtype in CARRIED else 1)
