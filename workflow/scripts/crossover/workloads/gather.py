"""gather: b[i] = a[index[i]], numbers read in random order. Limited by the latency of the memory.

Size n: elements of a, of index (64-bit integers in any dtype) and of the result.
"""

from crossover import placement
from crossover.workloads import Cost, blocks, draw, rounded

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64")
REGIME = "random-access"
INDEX_BYTES = 8


def inputs(rng, size, dtype):
    low, high = (0, 10**9) if dtype.startswith("int") else (-1, 1)
    values = rounded(draw(rng, size, dtype, low, high), dtype)
    index = placement.empty(size, "int64")
    for part in blocks(size):
        index[part] = rng.integers(0, size, part.stop - part.start)
    return values, index


def compute(xp, a, index, *, size, dtype, device):
    return a[index]


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    """No operations: n numbers and n places in, n numbers out. Of each line of a cache that is
    fetched only one number is used, which this compulsory traffic does not count (Williams,
    Waterman and Patterson, "Roofline", Communications of the ACM 52 (2009))."""
    return Cost(0.0, size * (itemsize + INDEX_BYTES), size * itemsize)


def error(outputs, inputs, rng, dtype):
    """The share of elements that are not the very numbers; NaN is none of them."""
    (found,), (a, index) = outputs, inputs
    wrong = 0
    for part in blocks(a.size):
        wrong += int((found[part] != a[index[part]]).sum())
    return wrong / a.size


def bound(size, dtype):
    """0: numbers are copied, not changed."""
    return 0.0
