"""matmul: C = A B for square matrices, uniform in 1..100 as in the article. Limited by arithmetic.

Size n: rows of a matrix, so n*n elements and 2 n^3 operations.
"""

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64")
PROBES = 4  # random vectors; the estimate of the error's norm is within a factor 2 nearly always
ROWS = 256


def inputs(rng, size, dtype):
    return tuple(draw(rng, size * size, dtype, 1, 100).reshape(size, size) for _ in "AB")


def compute(xp, a, b, *, size, dtype, device):
    return a @ b


def output_shapes(size):
    return ((size, size),)


def cost(size, itemsize):
    matrix = size * size * itemsize
    return Cost(flop=2.0 * size**3, input_bytes=2 * matrix, output_bytes=matrix)


def error(outputs, inputs, rng, dtype):
    """Estimate of ||C - AB|| / ||C|| (Frobenius) at the cost of O(n^2).

    For v of independent random signs E ||(C - AB) v||^2 = ||C - AB||_F^2, so a few such vectors
    tell a wrong product from a rounded one without computing another product (Freivalds, 1977).
    All in float64, by blocks of rows.
    """
    import numpy as np

    (c,), (a, b) = outputs, inputs
    n = len(c)
    wide = np.result_type(c.dtype, "float64")
    signs = rng.spawn(1)[0].integers(0, 2, (n, PROBES)) * 2.0 - 1
    bv = np.empty((n, PROBES), wide)
    for rows in blocks(n, ROWS):
        bv[rows] = b[rows].astype(wide) @ signs
    difference = norm = 0.0
    for rows in blocks(n, ROWS):
        block = c[rows].astype(wide)
        gap = block @ signs - a[rows].astype(wide) @ bv
        difference += float((abs(gap) ** 2).sum()) / PROBES
        norm += float((abs(block) ** 2).sum())
    return (difference / norm) ** 0.5 if norm else float("inf")


def bound(size, dtype):
    """(2 + sqrt n) u: roundings of random sign grow with the root of their number.

    Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
    Comput. 41 (2019): the error of an inner product of length n is below a small multiple of
    sqrt(n) u with high probability; 2 u more for rounding the inputs and the result.
    """
    return (2 + size**0.5) * UNIT_ROUNDOFF[dtype]
