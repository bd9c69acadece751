"""What stands in for a check that a workload's file does not have: error and bound.

Right is what the same code gives with NumPy in float64. So it is checked that a library computes
the same, and to the precision that it should; not that the code computes what its author meant.
"""

from math import sqrt
from typing import Any

from crossover.status import Mismatch
from crossover.workloads import UNIT_ROUNDOFF, blocks

# By NumPy's kind of an input: the type in which the reference is computed. Others stay as they are.
WIDE = {"f": "float64", "c": "complex128"}
ROUNDINGS = 16
LARGEST = 0.1  # with no digit right, no answer is
EXACT = "biu"
SMALLEST = 2.0**-64  # the error of integers that differ by less than a float64 can tell


def wide(array: Any) -> Any:
    """A host array in the type of the reference: itself where it is of that type already."""
    return array.astype(WIDE.get(array.dtype.kind, array.dtype), copy=False)


def error(outputs: tuple[Any, ...], expected: tuple[Any, ...]) -> float:
    """The worst output's error, relative to the reference in two norms, of which the worse counts:
    that of the largest value, which sees one wrong element, and the Euclidean, which sees many
    small ones beside a large. Host arrays; raises Mismatch where number or shapes differ."""
    if len(outputs) != len(expected):
        raise Mismatch(f"{len(outputs)} results, but NumPy gives {len(expected)}")
    worst = 0.0
    for output, right in zip(outputs, expected, strict=True):
        if output.shape != right.shape:
            shapes = ("x".join(map(str, one.shape)) or "scalar" for one in (output, right))
            raise Mismatch("the result has shape {}, but NumPy gives {}".format(*shapes))
        worst = max(worst, _error(output, right))
    return worst


def _error(output: Any, right: Any) -> float:
    import numpy as np

    if np.array_equal(output, right):
        return 0.0
    kind = np.result_type(output.dtype, right.dtype, "float64")
    flat, ours = right.reshape(-1), output.reshape(-1)
    largest = max(float(abs(flat[part].astype(kind)).max()) for part in blocks(flat.size))
    if not 0 < largest < float("inf"):  # a reference of zeros, or one that is not finite
        return float("inf")
    gap = norm = worst = 0.0
    for part in blocks(flat.size):
        theirs = flat[part].astype(kind) / largest
        off = abs(ours[part].astype(kind) / largest - theirs)
        worst = max(worst, float(off.max()))
        gap, norm = gap + float((off**2).sum()), norm + float((abs(theirs) ** 2).sum())
    exact = output.dtype.kind in EXACT and right.dtype.kind in EXACT
    return max(worst, sqrt(gap / norm), SMALLEST if exact else 0.0)


def bound(size: int, dtypes: tuple[str, ...]) -> float:
    """16 (u + sqrt(n) u'), and never more than 0.1, for the coarsest of the dtypes.

    u is the unit roundoff, u' that of the sums, which libraries keep in float32 where u is coarser.
    Roundings of random sign grow with the root of their number (Higham and Mary, "A new approach to
    probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019); 16 leaves room for a
    few operations after each other, not for code that loses digits: that needs a bound of its own.
    Integers are exact.
    """
    unit = max(UNIT_ROUNDOFF.get(dtype, 0.0) for dtype in dtypes)
    sums = min(unit, UNIT_ROUNDOFF["float32"])
    return min(LARGEST, ROUNDINGS * (unit + sqrt(size) * sums))
