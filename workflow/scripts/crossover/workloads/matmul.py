"""matmul: C = A B for square matrices, uniform in 1..100 as in the article. Limited by arithmetic.

Size n: rows of a matrix, so n*n elements and 2 n^3 operations.
"""

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64")
REGIME = "compute-bound"
PROBES = 4  # random vectors; the estimate of an error's norm is within a factor 2 nearly always
ROWS = 256
ROW_SLACK = 2  # one row has n numbers, not n*n: its estimate spreads more, and so does its error
SUMS_U = 8  # the sums over all rows of a correct product err by less than this many u


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
    """The largest of three estimates at the cost of O(n^2), in float64, by blocks of rows.

    ||C - AB|| / ||C|| (Frobenius): for v of independent random signs E ||(C - AB) v||^2 =
    ||C - AB||_F^2, so a few such vectors tell a wrong product from a rounded one without computing
    another product (Freivalds, 1977).

    The same of the worst single row, over ROW_SLACK: two swapped rows are lost in the norm of all.
    (In bfloat16 they are within its rounding from n = 2,000 or so: the larger, the more alike.)

    The same of the sums over all rows, in which the roundings of additions cancel (they are
    independent), but those of the inputs do not (every row meets the same B): that is what tells
    TF32 from float32 at sizes where both are within sqrt(n) u. Honest sums err by about u / 3 at
    every n; weighed so that SUMS_U u meets `bound`.
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
    gaps, norms = np.empty(n), np.empty(n)  # squared, of each row
    for rows in blocks(n, ROWS):
        block = c[rows].astype(wide)
        gaps[rows] = (abs(block @ signs - a[rows].astype(wide) @ bv) ** 2).mean(axis=1)
        norms[rows] = (abs(block) ** 2).sum(axis=1)
        expected -= block.sum(axis=0)
    if not norms.all():  # a row of zeros; NaN goes on and comes out
        return float("inf")
    of_all = gaps.sum() / norms.sum()
    of_row = (gaps / norms).max() / ROW_SLACK**2
    of_sums = (abs(expected) ** 2).sum() / (n * norms.sum())
    weight = bound(n, dtype) / (SUMS_U * UNIT_ROUNDOFF[dtype])
    return float(np.sqrt(np.max([of_all, of_row, of_sums * weight**2])))


def bound(size, dtype):
    """2 u + 2 u / sqrt(n) + sqrt(n) u', from the result, the inputs and the sums.

    Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
    Comput. 41 (2019): roundings of random sign grow with the root of their number. Each of the n
    in an inner product is below u' of the whole, so that their root mean square is below
    sqrt(n) u'; u' is that of the sums, and half-precision products are summed in float32. Those
    of the 2 n inputs (bfloat16, drawn as float32) are below u of a term each, so together below
    sqrt(2 n) u / n of the whole. The result is rounded once, by u at most; as much again for
    libraries that split a sum and keep its parts in the result's dtype. The result of TF32 is
    float32, but hardware may cut its factors off instead of rounding them: errors of one sign, by
    0.72 u on average, and so 1.44 u in every product.
    """
    unit = UNIT_ROUNDOFF[dtype]
    sums = min(unit, UNIT_ROUNDOFF["float32"])
    return 2 * unit * (1 + size**-0.5) + size**0.5 * sums
