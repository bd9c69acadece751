"""fft: y[k] = sum of a[t] exp(-2 pi i k t / n), the discrete Fourier transform of complex numbers.

Size n: elements; powers of two are the fastest, primes the slowest.
"""

from math import log2, pi

from crossover.workloads import UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("complex64", "complex128")
REGIME = "many-passes"
PROBES = 4  # random frequencies, and as many times
STEP = 1 << 14  # elements of a block, whose factors are worked out once


def inputs(rng, size, dtype):
    return (draw(rng, size, dtype, -1, 1),)


def compute(xp, a, *, size, dtype, device):
    return xp.fft.fft(a)


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    """5 n log2 n operations, as FFTW's benchmark counts them for any algorithm and any n (Frigo and
    Johnson, "The design and implementation of FFTW3", Proc. IEEE 93 (2005)): those of radix 2."""
    array = size * itemsize
    return Cost(5.0 * size * log2(size), array, array, temporary_bytes=array)


def error(outputs, inputs, rng, dtype):
    """||y - y'|| / ||y'||, Euclidean norms, as the larger of two estimates in O(n).

    At random frequencies y' is summed up by its definition: their mean square is that of all. At
    random times t the inverse of y has to be a: the sum of y[k] exp(2 pi i k t / n) meets every
    y[k] with a weight of 1, and the mean square of its error is ||y - y'||^2 (Parseval), so that
    one wrong element, or two that are swapped, are seen. ||y'||^2 = n ||a||^2.
    """
    import numpy as np

    (y,), (a,) = outputs, inputs
    n, rng = a.size, rng.spawn(1)[0]
    squares = 0.0
    for part in blocks(n):
        wide = a[part].astype("complex128")
        squares += np.vdot(wide, wide).real
    at, times = rng.integers(0, n, (2, PROBES))
    of_frequencies = n * (abs(y[at] - _turned(np, a, at, -1)) ** 2).mean()
    of_times = (abs(_turned(np, y, times, 1) - n * a[times].astype("complex128")) ** 2).mean()
    return float(np.sqrt(np.max([of_frequencies, of_times]) / (n * squares)))


def _turned(np, values, turns, sign):
    """The sum of values[k] exp(sign 2 pi i k turn / n) for each turn; products are taken modulo n,
    in integers, so that no angle is large."""
    n = values.size
    angle = sign * 2j * pi / n
    within = np.exp(angle * (np.outer(np.arange(min(n, STEP)), turns) % n))
    total = np.zeros(len(turns), "complex128")
    for part in blocks(n, STEP):
        block = values[part].astype("complex128")
        total += np.exp(angle * (part.start * turns % n)) * (block @ within[: block.size])
    return total


def bound(size, dtype):
    """16 u (1 + log2 n): each of log2 n stages errs by u from the factors and 4 sqrt(2) u from the
    products and sums (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed. 2002,
    theorem 24.2), 6.7 u together. Twice that where n has a large prime factor, since a transform
    there and one back take its place (Rader; Bluestein); the rest is for the estimate by PROBES.
    Mean errors are far smaller, 0.6 u sqrt(log2 n) (Schatzman, "Accuracy of the discrete Fourier
    transform and the fast Fourier transform", SIAM J. Sci. Comput. 17 (1996)), but not everywhere:
    torch's, of Intel's MKL, err by 24 u at n = 34 in complex128, against exact sums.
    """
    return 16 * UNIT_ROUNDOFF[dtype] * (1 + log2(size))
