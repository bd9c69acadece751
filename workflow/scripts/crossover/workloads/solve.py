"""solve: x with A x = b, a dense linear system. Limited by arithmetic, in blocks.

Size n: unknowns, so n*n elements of A, uniform in -1..1 like those of b.
"""

from math import sqrt

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float32", "float64")
REGIME = "compute-bound"
ROWS = 256


def inputs(rng, size, dtype):
    matrix = draw(rng, size * size, dtype, -1, 1).reshape(size, size)
    return matrix, draw(rng, size, dtype, -1, 1)


def compute(xp, a, b, *, size, dtype, device):
    return xp.linalg.solve(a, b)


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    """2/3 n^3 + 2 n^2 operations: Gaussian elimination and two triangular systems, as LINPACK
    counts them (Dongarra, Luszczek and Petitet, "The LINPACK benchmark: past, present and future",
    Concurrency and Computation 15 (2003)). The factors are a copy of A."""
    matrix, vector = size * size * itemsize, size * itemsize
    flop = 2 / 3 * size**3 + 2.0 * size**2
    return Cost(flop, matrix + vector, vector, temporary_bytes=matrix)


def error(outputs, inputs, rng, dtype):
    """The backward error ||b - A x|| / (||A|| ||x|| + ||b||), Euclidean norms, in O(n^2): how much
    the system would have to change for x to be its very answer (Rigal and Gaches; Higham, "Accuracy
    and Stability of Numerical Algorithms", 2nd ed. 2002, theorem 7.1). How far x itself is off
    depends on A's condition, which is no fault of a library.

    ||A|| is taken as 2 ||A||_F / sqrt(n), which the 2-norm of a matrix of independent elements
    around 0 approaches (Bai and Yin, Annals of Probability 21 (1993)): with Frobenius' norm itself
    the measure would become blind, the blinder the larger n is.
    """
    import numpy as np

    (x,), (a, b) = outputs, inputs
    x, b = x.astype("float64"), b.astype("float64")
    gap = squares = 0.0
    for rows in blocks(x.size, ROWS):
        block = a[rows].astype("float64")
        gap += ((b[rows] - block @ x) ** 2).sum()
        squares += (block**2).sum()
    norm = 2 * sqrt(squares / x.size)
    return float(np.sqrt(gap) / (norm * np.linalg.norm(x) + np.linalg.norm(b)))


def bound(size, dtype):
    """(4 + n / 2) u. Rounding errors of random sign in n elimination steps come to sqrt(n) u of the
    largest numbers on the way (Higham and Mary, "A new approach to probabilistic rounding error
    analysis", SIAM J. Sci. Comput. 41 (2019)), and with partial pivoting these grow like the root
    of n or a little faster for random matrices (Trefethen and Schreiber, "Average-case stability
    of Gaussian elimination", SIAM J. Matrix Anal. Appl. 11 (1990)): n u together. The factor is
    measured: torch (MKL) and NumPy (OpenBLAS) err by 0.03 to 0.14 n u from n = 100 to 4,000. 4 u
    for the smallest systems. NumPy solves float32 in float64, and stays below u. The LINPACK
    benchmark accepts 16 n u, in other norms.
    """
    return (4 + size / 2) * UNIT_ROUNDOFF[dtype]
