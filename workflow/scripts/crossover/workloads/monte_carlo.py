"""monte_carlo: pi from random points in a square, as 4 times the share of them inside a circle.

Size n: points, made on the device by the library's own generator: there are no inputs, and one
number comes out. Every library draws other numbers, so the answer is checked statistically.
"""

from math import pi, sqrt

from crossover.workloads import UNIT_ROUNDOFF, Cost

DTYPES = ("float32", "float64")
REGIME = "made-on-device"
SIGMAS = 6  # of a normal distribution, outside of which one answer in 5e8 is


def inputs(rng, size, dtype):
    return ()


def compute(xp, *, size, dtype, device, random):
    x, y = random((size,), dtype), random((size,), dtype)
    return 4 * xp.sum(x * x + y * y < 1, dtype=dtype) / size


def output_shapes(size):
    return ((),)


def cost(size, itemsize):
    """2 products, 2 additions and a comparison for a point; what a random number takes differs from
    generator to generator, and is not counted. Most is alive when the squares are added: x, y and
    both squares, beside their sum."""
    return Cost(5.0 * size, 0, itemsize, temporary_bytes=5 * size * itemsize)


def error(outputs, inputs, rng, dtype):
    """|answer - pi| / pi."""
    (found,) = outputs
    return abs(float(found) - pi) / pi


def bound(size, dtype):
    """SIGMAS standard deviations and the rounding of the sum, 2 u + sqrt(n) u.

    The share of n independent points is a binomial one with p = pi / 4: its standard deviation is
    sqrt(p (1 - p) / n), sqrt((4 - pi) / (pi n)) of p itself, and for some hundred points or more it
    is about normal (de Moivre and Laplace; Feller, "An Introduction to Probability Theory and Its
    Applications", vol. 1, 3rd ed. 1968, chapter VII). Fewer points say nothing. Whole numbers up to
    1 / u are summed exactly, more of them as in sum.py.
    """
    deviation = sqrt((4 - pi) / (pi * size))
    return SIGMAS * deviation + (2 + sqrt(size)) * UNIT_ROUNDOFF[dtype]
