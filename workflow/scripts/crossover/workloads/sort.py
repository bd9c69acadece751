"""sort: the same numbers in ascending order. Comparisons and moves, hardly any arithmetic.

Size n: elements, in random order. A library that also returns where each number was has done that
work inside the clock, as it would for anyone who asks it to sort.
"""

from crossover.workloads import Cost, blocks, draw, rounded

DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64")
REGIME = "many-passes"


def inputs(rng, size, dtype):
    low, high = (0, 10**9) if dtype.startswith("int") else (-1, 1)
    return (rounded(draw(rng, size, dtype, low, high), dtype),)


def compute(xp, a, *, size, dtype, device):
    found = xp.sort(a)
    return found[0] if isinstance(found, tuple) else found  # some return (numbers, places)


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    """No floating-point operations: comparisons are none, and a radix sort makes not even those
    (Knuth, "The Art of Computer Programming", vol. 3, 2nd ed. 1998, sections 5.2.5 and 5.3.1). Most
    is alive when 8 bytes a place and as much scratch as the numbers take are there."""
    array = size * itemsize
    return Cost(0.0, array, array, temporary_bytes=array + 8 * size)


def error(outputs, inputs, rng, dtype):
    """0 where every number is there as often as in the input, and none is followed by a smaller
    one; else 1. NaN is like none."""
    (found,), (a,) = outputs, inputs
    ordered = bool((found[:-1] <= found[1:]).all())
    same = _fingerprint(found) == _fingerprint(a)
    return 0.0 if ordered and same else 1.0


def _fingerprint(numbers):
    """The sum, modulo 2^64, of a hash of each number's bits: the same in any order, and another one
    where a number is another, but for a chance of 2^-64. The hash is the finalizer of SplitMix64
    (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)."""
    import numpy as np

    total = 0
    for part in blocks(numbers.size):
        bits = np.ascontiguousarray(numbers[part]).view(f"uint{8 * numbers.itemsize}")
        x = bits.astype("uint64") + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> 30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> 27)) * np.uint64(0x94D049BB133111EB)
        total += int((x ^ (x >> 31)).sum())
    return total % 2**64


def bound(size, dtype):
    """0: numbers are moved, not changed."""
    return 0.0
