"""stencil: heat spreads on a square whose edges are joined, STEPS steps in one call.

Size n: points along one side, so n*n in all, uniform in 0..1 at first. Between the steps the data
stays where it is: what a simulation does. Limited by memory bandwidth, in each step anew.
"""

from math import pi

from crossover.workloads import UNIT_ROUNDOFF, Cost, draw

DTYPES = ("float32", "float64")
REGIME = "many-steps"
STEPS = 100


def inputs(rng, size, dtype):
    return (draw(rng, size * size, dtype, 0, 1).reshape(size, size),)


def compute(xp, u, *, size, dtype, device):
    for _ in range(STEPS):
        around = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
        u = 0.5 * u + 0.125 * around
    return u


def output_shapes(size):
    return ((size, size),)


def cost(size, itemsize):
    """4 additions and 2 products for a point and step. Most is alive at the end of a step: the
    points, their neighbours' sum and the product of each, beside the new points."""
    grid = size * size * itemsize
    return Cost(6.0 * STEPS * size**2, grid, grid, temporary_bytes=4 * grid)


def error(outputs, inputs, rng, dtype):
    """max |u - u'| over all points, the largest number of the start being 1. u' by another way, in
    O(n^2 log n): on a ring a step multiplies each wave by a factor of its own, so all steps are one
    product between a Fourier transform and its inverse (LeVeque, "Finite Difference Methods for
    Ordinary and Partial Differential Equations", SIAM 2007, section 9.6)."""
    import numpy as np

    (found,), (u,) = outputs, inputs
    n = len(u)
    along = np.cos(2 * pi * np.arange(n) / n)
    factor = 0.5 + 0.25 * (along[:, None] + along[: n // 2 + 1])
    waves = np.fft.rfft2(u.astype("float64"))
    return float(abs(found - np.fft.irfft2(waves * factor**STEPS, s=u.shape)).max())


def bound(size, dtype):
    """3 STEPS u, whatever the order of the additions. A step takes a mean of numbers up to 1, so
    that it makes no earlier error larger. Of its own it adds at most u (2 + 3 + 4) / 8 from the sum
    of four neighbours, u from the last addition, and u / 2 more where the factors are put otherwise
    (u + (sum - 4 u) / 8); products with powers of two are exact. (Higham, "Accuracy and Stability
    of Numerical Algorithms", 2nd ed. 2002, section 2.2 for one rounding.)
    """
    return 3 * STEPS * UNIT_ROUNDOFF[dtype]
