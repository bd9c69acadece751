"""The speedup at any size between the measured ones, and how far off it may be.

A curve is the logarithm of the speedup over that of the size n. It has two sources of error:

- The rounds. At a measured size it is Student's t on the rounds' logarithms (intervals.py). Between
  two sizes each round draws its own straight line, and at any n these lines have a mean and a t
  interval: the n at which it holds 0 are those at which the curve may cross (Fieller's way, by
  which nothing is divided).
- The grid. Where a launch takes as long as the work, which is where curves cross, a line over a
  decade is up to 16 % off: more than the noise. So between two sizes that have neighbours the curve
  may bend as it is seen to bend at these two, by 0 to BENDS times the second difference there. Four
  times covers any single kink. Before the second and after the last but one size only one end shows
  a bend; there it may also bend, either way, by `power`^2 / 4.

That bound holds for times that are sums of terms which grow with powers of n from 0 to `power`: the
second derivative of their logarithm is the variance of a number from 0 to `power` (Popoviciu), and
the curve is the difference of two. Launch, transfers and n / bandwidth have 1, a product of n x n
matrices 3.

Sources: Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16 (1954) 175-185;
Armstrong and Kolesár, "Simple and honest confidence intervals in nonparametric regression",
Quantitative Economics 11 (2020) 1-39, doi:10.3982/QE1199, for intervals that include the most that
a curve may bend.

Assumed: rounds are independent, their logarithms about normal. Each size has a variance of its own,
and none is borrowed from another, for one side may be noisy at one size. Not seen: what happens
between two sizes and leaves no trace at them. Where a CPU's cache overflows at some size (twice to
three times slower beyond), intervals that would hold n* in 99 of 100 simulated curves hold it in 95
to 97, and in the worst place, with rounds that agree to 0.2 %, hardly ever: add sizes there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import fsum, inf, isfinite, log, sqrt

BENDS = 4.0

Logs = Mapping[int, Mapping[int, float]]  # size -> round -> log speedup, over 0 where faster


@dataclass(frozen=True)
class At:
    """A curve at one size: its mean, how far under and over it the bends may take it, and the
    rounds' standard error with its degrees of freedom. All are logarithms."""

    under: float
    mean: float
    over: float
    error: float
    freedom: int

    def lower(self, level: float) -> float:
        """The curve is above this, but for a share of `level`."""
        return self.under - quantile(self.freedom, level) * self.error

    def upper(self, level: float) -> float:
        """The curve is below this, but for a share of `level`."""
        return self.over + quantile(self.freedom, level) * self.error


@dataclass(frozen=True)
class _Segment:
    """Between two measured sizes."""

    x: float
    width: float
    left: tuple[float, ...]  # by round, of the rounds that both have
    right: tuple[float, ...]
    means: tuple[float, float]  # over all the rounds of each
    bends: tuple[float, ...]  # second derivatives that are seen or possible here
    bend: float  # the likely one

    def at(self, x: float) -> At:
        part = (x - self.x) / self.width
        mean = self.means[0] + part * (self.means[1] - self.means[0])
        sag = part * (1 - part) * self.width**2 / 2
        mean -= self.bend * sag
        if len(self.left) < 2:
            return At(-inf, mean, inf, 0.0, 1)
        lines = [a + part * (b - a) for a, b in zip(self.left, self.right, strict=True)]
        return At(
            mean - (max(self.bends) - self.bend) * sag,
            mean,
            mean - (min(self.bends) - self.bend) * sag,
            _error(lines),
            len(lines) - 1,
        )


@dataclass(frozen=True)
class Line:
    """One curve: `sizes` are those with an interval, at least two rounds."""

    sizes: tuple[int, ...]
    nodes: Mapping[float, At]
    segments: tuple[_Segment, ...]

    def at(self, x: float) -> At | None:
        """At x = log n; None outside of the measured sizes."""
        if found := self.nodes.get(x):
            return found
        return next((s.at(x) for s in self.segments if s.x < x < s.x + s.width), None)


def line(logs: Logs, power: float = 1.0) -> Line:
    """The curve through these; `power` is the largest with which the work grows with n.

    Raises ValueError for a size that is not positive or a speedup that is not finite.
    """
    for size, rounds in logs.items():
        if not size > 0 or not all(map(isfinite, rounds.values())):
            raise ValueError(f"size {size}: not a curve's: {dict(rounds)}")
    sizes = tuple(sorted(size for size, rounds in logs.items() if len(rounds) > 1))
    x = [log(size) for size in sizes]
    nodes = [of_rounds(list(logs[size].values())) for size in sizes]
    y = [node.mean for node in nodes]
    slopes = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) for i in range(len(x) - 1)]
    bends = [
        2 * (slopes[i + 1] - slopes[i]) / (x[i + 2] - x[i]) for i in range(len(slopes) - 1)
    ]  # at the second size, the third, ...
    most = max([power, *map(abs, slopes)]) ** 2 / 4
    segments = []
    for i, (small, large) in enumerate(pairwise(sizes)):
        both = sorted(logs[small].keys() & logs[large].keys())
        seen = bends[max(i - 1, 0) : i + 1]
        unseen = [] if 0 < i < len(slopes) - 1 else [most, -most]
        segments.append(
            _Segment(
                x[i],
                x[i + 1] - x[i],
                tuple(logs[small][number] for number in both),
                tuple(logs[large][number] for number in both),
                (y[i], y[i + 1]),
                (0.0, *(BENDS * bend for bend in seen), *unseen),
                fsum(seen) / len(seen) if seen else 0.0,
            )
        )
    return Line(sizes, dict(zip(x, nodes, strict=True)), tuple(segments))


def of_rounds(logs: Sequence[float]) -> At:
    """At a measured size, from at least two rounds."""
    mean = fsum(logs) / len(logs)
    return At(mean, mean, mean, _error(logs), len(logs) - 1)


def _error(logs: Sequence[float]) -> float:
    """The standard error of their mean."""
    mean = fsum(logs) / len(logs)
    return sqrt(fsum((value - mean) ** 2 for value in logs) / (len(logs) - 1) / len(logs))


@cache
def quantile(freedom: int, level: float) -> float:
    """Student's t that a share of `level` is above."""
    # Imported here: it takes 0.2 s, which a command that only reads a table need not pay.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - level))
