"""sum: s = a[0] + ... + a[n-1]. Much goes in, one number comes out. Limited by memory bandwidth.

Size n: elements of the array, uniform in -1..1.
"""

from math import fsum, sqrt

from crossover.workloads import CARRIED, UNIT_ROUNDOFF, Cost, blocks, draw

DTYPES = ("float16", "bfloat16", "float32", "float64")
REGIME = "memory-bound"


def inputs(rng, size, dtype):
    return (draw(rng, size, dtype, -1, 1),)


def compute(xp, a, *, size, dtype, device):
    return xp.sum(a)


def output_shapes(size):
    return ((),)


def cost(size, itemsize):
    """n - 1 additions."""
    return Cost(flop=size - 1.0, input_bytes=size * itemsize, output_bytes=itemsize)


def error(outputs, inputs, rng, dtype):
    """|s - s'| / (||a|| + |s'|), ||a|| the Euclidean norm: the size of a sum of random signs. One
    element left out is seen as long as `bound` is below 1 / sqrt(n). s' is the exact sum of the
    blocks' sums, so that at most the additions within a block are rounded."""
    (found,), (a,) = outputs, inputs
    sums, squares = [], []
    for part in blocks(a.size):
        wide = a[part].astype("float64")
        sums.append(wide.sum())
        squares.append(wide @ wide)
    exact = fsum(sums)
    return abs(float(found) - exact) / (sqrt(fsum(squares)) + abs(exact))


def bound(size, dtype):
    """2 u + 2 sqrt(n) u', from the result and the additions; 2 u more where inputs are rounded.

    Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput.
    41 (2019), and Hallman and Ipsen, "Precision-aware deterministic and probabilistic error bounds
    for floating point summation", Numerische Mathematik 155 (2023): roundings of random sign grow
    with the root of their number. In the worst order, one element after the other, the k-th
    partial sum of random signs is near sqrt(k / n) ||a||, and n roundings of u' each of it are
    below sqrt(n) u' ||a|| together; trees and blocks make less. u' is that of the additions: half
    precision is summed in float32. The result is rounded once, by u at most; as much again for
    libraries that keep parts of the sum in the result's dtype. n roundings of inputs (bfloat16
    and its like, drawn as float32) are below u ||a|| together.
    """
    unit = UNIT_ROUNDOFF[dtype]
    sums = min(unit, UNIT_ROUNDOFF["float32"])
    return unit * (4 if dtype in CARRIED else 2) + 2 * sqrt(size) * sums
