"""Which sizes to add, so that the size n* from which a backend is faster is known more narrowly.

n* lies between two measured sizes, in an interval as wide as the rounds' noise and the bends that
the curve may have between sizes make it (speedup_curve.py). A size within the interval shows the
bends and cuts them by four. So each step adds one size for each interval, in the middle of its
first or last gap between sizes, whichever is wider (on the logarithm): a size in the middle, where
nothing is clear, could not move an end. As few digits as stay in the gap's middle half.

When more sizes would not help: where the interval would be three quarters as wide (on the
logarithm) without any bends. Then it is the noise, and more rounds are due. Sizes beyond that would
only be tried until one of them is narrow by luck.

What n* is then worth: sizes are chosen by what was measured, and the search ends when the interval
is narrow. Yet of all intervals 96 to 99 in 100 hold n*, since the most that a curve may bend is
allowed for: simulated (benchmarks/refining.py) with launch + n / rate, products of matrices, and a
cache that ends, 3 and 5 rounds, 1 to 10 % between processes, 3 and 4 sizes. But a narrow one may be
so by chance: of those alone that more sizes brought to the factor asked for, 91 to 99 in 100, and
with 3 rounds and 10 %, where one curve in ten gets there, 71 to 86. Where a curve lies on the
baseline up to some size, 3 to 5 in 100 are called faster in a part of that; before, 2 to 4.

Assumed: what break_even.py assumes. Not simulated: the best of several rivals.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, inf, log, log10, sqrt

from crossover.break_even import EXPECTED, BreakEven, find
from crossover.decide import Curves
from crossover.speedup_curve import Line, Logs, line, quantile

NARROW = "narrow enough"
NOISE = "rounds differ too much for more sizes to help; more rounds, or a quieter machine, would"
LARGEST = "not clear at the largest size; more rounds, or a larger size in the config, would help"
NO_SIZE = "there is no other size to try in between"

MOSTLY = 0.75  # of an interval's width, on the logarithm
LOOKS = 50  # where a curve is looked at within an interval


@dataclass(frozen=True)
class Open:
    """Where one break-even size is: between `low` and `high`. A size to add, or the reason why
    there is none."""

    low: float
    high: float
    size: int | None = None
    reason: str = ""

    @property
    def factor(self) -> float:
        """How wide it is."""
        return self.high / self.low


@dataclass(frozen=True)
class Asked:
    """One row of break_even.csv; `opens` are the ends of where the backend is faster, the widest
    first: none where it is from the smallest size on, or never, or nothing is known."""

    workload: str
    dtype: str
    backend: str
    scope: str
    against: str
    words: str
    opens: tuple[Open, ...]

    @property
    def curve(self) -> tuple[str, ...]:
        return self.workload, self.dtype, self.backend, self.scope, self.against

    @property
    def group(self) -> tuple[str, str]:
        """Whose sizes it shares."""
        return self.workload, self.dtype

    @property
    def next(self) -> Open | None:
        """The widest end that a size can be added for."""
        return next((one for one in self.opens if one.size is not None), None)


def ask(
    curves: Iterable[Curves], tried: Mapping[tuple[str, str], Iterable[int]], within: float
) -> list[Asked]:
    """All rows of break_even.csv. `tried` are the sizes of a workload and dtype, measured or
    failed; `within` is the factor to which intervals are to be narrowed."""
    asked = []
    for one in curves:
        for row in one.break_evens():
            backend, scope, against = row["backend"], row["scope"], row["against"]
            named = against == one.baselines[backend]
            rivals = [against] if named else one.rivals(backend)
            logs = [over for rival in rivals if (over := one.over(backend, rival, scope))]
            found = opened(logs, one.power, tried[one.workload, one.dtype], within)
            opens = sorted(found, key=lambda end: -end.factor)
            names = (one.workload, one.dtype, backend, scope, against)
            asked.append(Asked(*names, row["words"], tuple(opens)))
    return asked


def opened(
    rivals: Sequence[Logs], power: float, tried: Iterable[int], within: float
) -> Iterator[Open]:
    """The open ends of one break-even, from the logarithms of the speedups over each rival."""
    if (found := find(rivals, power)) is None:
        return
    lines = [made for rival in rivals if (made := line(rival, power)).sizes]
    for low, high in ((found.low, found.high), (found.until_low, found.until_high)):
        if low is not None and high is not None:
            yield _open(low, high, found, lines, sorted(tried), within)


def _open(
    low: float,
    high: float,
    found: BreakEven,
    lines: Sequence[Line],
    tried: Sequence[int],
    within: float,
) -> Open:
    if high / low <= within:
        return Open(low, high, reason=NARROW)
    # An end is a size that is not clear, or what is known ends there and can be made to reach on.
    clear = {end for ends in (*found.faster, *found.slower) for end in ends}
    if high not in clear:
        return Open(low, high, reason=LARGEST)
    noise = _without_bends(low, high, lines)
    if noise > within and log(noise) >= MOSTLY * log(high / low):
        return Open(low, high, reason=NOISE)
    points = [low, *(size for size in tried if low < size < high), high]
    gaps = [(points[-2], high)] + ([(low, points[1])] if low in clear else [])
    size = between(*max(gaps, key=lambda gap: gap[1] / gap[0]))
    return Open(low, high, size, "" if size else NO_SIZE)


def between(low: float, high: float) -> int | None:
    """A whole number in the middle half (on the logarithm) with as few digits as can be."""
    middle, half = sqrt(low * high), (high / low) ** 0.25
    whole = floor(log10(middle)) + 1  # its digits
    for digits in range(1, whole + 1):
        unit: int = 10 ** (whole - digits)
        size = round(middle / unit) * unit
        if middle / half <= size <= middle * half:
            return size
    return None


def _without_bends(low: float, high: float, lines: Sequence[Line]) -> float:
    """How wide the interval would be, as a factor, if the curves were known between their sizes."""
    step = log(high / low) / LOOKS
    at = [log(low) + step * number for number in range(LOOKS + 1)]
    left = [x for x in at if _not_clear(x, lines)]
    return exp(left[-1] - left[0]) if left else 1.0


def _not_clear(x: float, lines: Sequence[Line]) -> bool:
    lower, upper = inf, inf
    for one in lines:
        if at := one.at(x):
            lower = min(lower, at.mean - quantile(at.freedom, EXPECTED) * at.error)
            upper = min(upper, at.mean + quantile(at.freedom, EXPECTED / len(lines)) * at.error)
    return lower <= 0 <= upper
