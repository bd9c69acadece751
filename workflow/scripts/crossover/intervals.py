"""95 % intervals of times and speedups, from what each round says.

Within one process the same code differs by tenths of a percent, between processes by several: many
samples of one process make an interval that is narrow and wrong. So one round, which is one
process, gives one number, the logarithm of its median (of a speedup: of the ratio of two medians of
the same round), and these get Student's t interval: paired where they are ratios, since a speedup
is compared within its round.

Source: Student, "The probable error of a mean", Biometrika 6 (1908) 1-25; for pairs and ratios
Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, 63-74,
doi:10.1145/2464157.2464160.

Assumed: rounds are independent of each other, and their logarithms about normal around one value.
What two rounds of a pair have in common (a warm machine, a busy hour) cancels; the two sides may be
noisy to different degrees; a process that is slow for its whole life widens the interval. What is
not seen: a fault that all rounds share. `benchmarks/interval_coverage.py` simulates how often the
truth lies inside, and how wide the intervals are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import exp, fsum, sqrt

CONFIDENCE = 0.95

FASTER, SLOWER, NO_DIFFERENCE = "faster", "slower", "no difference seen"


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % interval: seconds, or a ratio."""

    low: float
    point: float
    high: float


def of(logs: Sequence[float]) -> Interval | None:
    """The interval around exp(mean of `logs`), one natural logarithm per round; None for fewer than
    two, since one process says nothing about the next."""
    count = len(logs)
    if count < 2:
        return None
    mean = fsum(logs) / count
    variance = fsum((value - mean) ** 2 for value in logs) / (count - 1)
    half = _t_quantile(count - 1) * sqrt(variance / count)
    return Interval(exp(mean - half), exp(mean), exp(mean + half))


def finding(speedup: Interval | None) -> str:
    """What the interval of a speedup supports; '' where there is none."""
    if speedup is None:
        return ""
    if speedup.low > 1:
        return FASTER
    return SLOWER if speedup.high < 1 else NO_DIFFERENCE


def detectable(speedup: Interval) -> float:
    """The smallest ratio that could have been told from 1: 1.23 means 23 % faster, or slower."""
    return sqrt(speedup.high / speedup.low)


@cache
def _t_quantile(freedom: int) -> float:
    # Imported here: it takes 0.2 s, which a command that only reads a summary need not pay.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
