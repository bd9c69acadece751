"""matmul: C = A B for square matrices, uniform in 1..100 as in the article. Limited by arithmetic.

Size n: rows of a matrix, so n*n elements and 2 n^3 operations.
"""

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64")
PROBES = 4  # random vectors; the estimate of the error's norm is within a factor 2 nearly always
ROWS = 256
ROW_SUM_U = 8  # the sums of rows of a correct product err by less than this many u


def inputs(rng, size, dtype):
    # float16 ends at 65504, which the sums of such products pass from n = 26 on.
    low, high = (0.01, 1) if dtype == "float16" else (1, 100)
    return tuple(draw(rng, size * size, dtype, low, high).reshape(size, size) for _ in "AB")


def compute(xp, a, b, *, size, dtype, device):
    return a @ b


def output_shapes(size):
    return ((size, size),)


def cost(size, itemsize):
    matrix = size * size * itemsize
    return Cost(flop=2.0 * size**3, input_bytes=2 * matrix, output_bytes=matrix)


def error(outputs, inputs, rng, dtype):
    """The larger of two estimates at the cost of O(n^2), in float64, by blocks of rows.

    ||C - AB|| / ||C|| (Frobenius): for v of independent random signs E ||(C - AB) v||^2 =
    ||C - AB||_F^2, so a few such vectors tell a wrong product from a rounded one without computing
    another product (Freivalds, 1977).

    The same of the sums over all rows, in which the roundings of additions cancel (they are
    independent), but those of the inputs do not (every row meets the same B): that is what tells
    TF32 from float32 at sizes where both are within sqrt(n) u. Honest sums err by about u / 3 at
    every n; weighed so that ROW_SUM_U u meets `bound`.
    """
    import numpy as np

    (c,), (a, b) = outputs, inputs
    n = len(c)
    wide = np.result_type(c.dtype, "float64")
    signs = rng.spawn(1)[0].integers(0, 2, (n, PROBES)) * 2.0 - 1
    sums, expected = np.zeros(n, wide), np.zeros(n, wide)
    for rows in blocks(n, ROWS):
        sums += a[rows].astype(wide).sum(axis=0)
    bv = np.empty((n, PROBES), wide)
    for rows in blocks(n, ROWS):
        block = b[rows].astype(wide)
        bv[rows] = block @ signs
        expected += sums[rows] @ block
    difference = norm = 0.0
    for rows in blocks(n, ROWS):
        block = c[rows].astype(wide)
        gap = block @ signs - a[rows].astype(wide) @ bv
        difference += float((abs(gap) ** 2).sum()) / PROBES
        norm += float((abs(block) ** 2).sum())
        expected -= block.sum(axis=0)
    if not norm:
        return float("inf")
    of_sums = float((abs(expected) ** 2).sum() / (n * norm)) ** 0.5
    weight = bound(n, dtype) / (ROW_SUM_U * UNIT_ROUNDOFF[dtype])
    return max((difference / norm) ** 0.5, of_sums * weight)


def bound(size, dtype):
    """4 u + sqrt(n) u': roundings of random sign grow with the root of their number.

    Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
    Comput. 41 (2019): the error of an inner product of length n is below a small multiple of
    sqrt(n) u' with high probability, u' being that of the sums: half-precision products are
    summed in float32. 4 u more for rounding the inputs, the result, and parts of a sum.
    """
    unit = UNIT_ROUNDOFF[dtype]
    return 4 * unit + size**0.5 * min(unit, UNIT_ROUNDOFF["float32"])
