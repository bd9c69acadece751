"""small_matmuls: C = A B for a great many small matrices of SIDE x SIDE, in one call.

Size n: products. What each of them takes is little beside what starting it takes, unless a library
does them together.
"""

from crossover.workloads import CARRIED, UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64")
REGIME = "many-small"
SIDE = 8
TOGETHER = 1 << 12  # products, that are checked in one go


def inputs(rng, size, dtype):
    count = size * SIDE * SIDE
    return tuple(draw(rng, count, dtype, 1, 10).reshape(size, SIDE, SIDE) for _ in "AB")


def compute(xp, a, b, *, size, dtype, device):
    return a @ b


def output_shapes(size):
    return ((size, SIDE, SIDE),)


def cost(size, itemsize):
    """SIDE products and as many additions for an element, as matmul's are counted."""
    matrices = size * SIDE * SIDE * itemsize
    return Cost(2.0 * size * SIDE**3, 2 * matrices, matrices)


def error(outputs, inputs, rng, dtype):
    """max |C - C'| / C' over all elements, which are positive; C' in float64."""
    import numpy as np

    (c,), (a, b) = outputs, inputs
    worst = 0.0
    for part in blocks(len(c), TOGETHER):
        expected = a[part].astype("float64") @ b[part].astype("float64")
        worst = np.maximum(worst, (abs(c[part] - expected) / expected).max())  # keeps NaN
    return float(worst)


def bound(size, dtype):
    """2 u + 2 SIDE u', from the result and the sums; 2 u more where inputs are rounded.

    For positive terms an inner product of SIDE of them errs by SIDE u' of itself at most, in any
    order (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed. 2002, section 3.1), and
    as much again for the reference, which in float64 is no better. u' is that of the sums, and
    half-precision products are summed in float32. The result is rounded once, by u at most, and as
    much again as in matmul.py; two inputs of bfloat16 and its like, drawn as float32, by u each.
    """
    unit = UNIT_ROUNDOFF[dtype]
    sums = min(unit, UNIT_ROUNDOFF["float32"])
    return unit * (4 if dtype in CARRIED else 2) + 2 * SIDE * sums
