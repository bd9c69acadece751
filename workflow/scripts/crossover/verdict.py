"""In words: who is faster, from which size on, and no more than the intervals support."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from crossover.intervals import FASTER, NO_DIFFERENCE, SLOWER

# Where there is no interval: two processes with the same code differ by several per cent.
WITHIN = 1.05


@dataclass(frozen=True)
class Point:
    """The speedup at one size; without an interval `finding` is ''."""

    speedup: float
    low: float = 0.0
    high: float = 0.0
    finding: str = ""
    detectable: float = 0.0

    @staticmethod
    def of(row: Mapping[str, str]) -> "Point":
        """From a row of the summary that has a speedup."""
        if not row["finding"]:
            return Point(float(row["speedup"]))
        return Point(
            float(row["speedup"]),
            float(row["speedup_low"]),
            float(row["speedup_high"]),
            row["finding"],
            float(row["detectable"]),
        )


def sentence(points: Mapping[int, Point]) -> str:
    """'faster from n = 1,000,000 on (3.1x, 2.9x to 3.3x, at n = 10,000,000)'; points by size.

    Faster from a size on means at it and at every larger one that was measured.
    """
    sizes = sorted(points)
    if not any(points[size].finding for size in sizes):
        return _without_intervals({size: points[size].speedup for size in sizes})
    by_finding: dict[str, list[int]] = {FASTER: [], SLOWER: [], NO_DIFFERENCE: [], "": []}
    for size in sizes:
        by_finding[points[size].finding].append(size)
    faster, slower = by_finding[FASTER], by_finding[SLOWER]
    alike, unknown = by_finding[NO_DIFFERENCE], by_finding[""]
    words = []
    if faster:
        words.append(f"{_faster(faster, sizes)} {_at(faster[-1], points)}")
    elif slower:
        where = "every size measured" if slower == sizes else f"n = {_list(slower)}"
        words.append(f"slower at {where} {_at(slower[-1], points)}")
    if alike:
        where = "any size" if alike == sizes else f"n = {_list(alike)}"
        smallest = [points[size].detectable for size in alike]
        span = " to ".join(dict.fromkeys([times(min(smallest)), times(max(smallest))]))
        words.append(f"{NO_DIFFERENCE} at {where} (smallest that could have been: {span})")
    if unknown:
        words.append(f"no interval at n = {_list(unknown)}")
    return "; ".join(words)


def _at(size: int, points: Mapping[int, Point]) -> str:
    point = points[size]
    return f"({times(point.speedup)}, {times(point.low)} to {times(point.high)}, at n = {size:,})"


def times(ratio: float) -> str:
    return f"{ratio:.3g}x" if ratio < 100 else f"{ratio:,.0f}x"


def _without_intervals(speedups: Mapping[int, float]) -> str:
    """The same from plain medians, where more than WITHIN counts as a difference."""
    sizes = sorted(speedups)
    last = sizes[-1]
    at_last = f"({times(speedups[last])} at n = {last:,})"
    if all(1 / WITHIN <= speedup <= WITHIN for speedup in speedups.values()):
        return f"as fast, within 5 %, at every size measured {at_last}"
    faster = [size for size in sizes if speedups[size] > WITHIN]
    words = _faster(faster, sizes) if faster else f"never faster up to n = {last:,}"
    return f"{words} {at_last}"


def _faster(faster: list[int], sizes: list[int]) -> str:
    """`faster` are the sizes at which it is, of all `sizes`, both in order."""
    if faster == sizes:
        only = "the one size measured" if len(sizes) == 1 else f"the smallest size, {sizes[0]:,},"
        return f"faster from {only} on"
    ahead = [size for size in faster if set(faster) >= {s for s in sizes if s >= size}]
    return f"faster from n = {ahead[0]:,} on" if ahead else f"faster only at n = {_list(faster)}"


def _list(sizes: Iterable[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)
