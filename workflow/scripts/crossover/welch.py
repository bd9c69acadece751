"""How many times as fast is one machine as another? Intervals from rounds that are no pairs.

Each side has its own rounds, of which the logarithms of the medians count: their difference has
Welch's interval, whose degrees of freedom follow Satterthwaite, so that the two sides may be noisy
to different degrees. Of many comparisons some are beyond chance by chance: `adjusted` is Benjamini
and Hochberg's, which holds the expected share of false ones among all that are called different,
also where comparisons go together, as those of one cell's scopes do.

Source: B. L. Welch, "The generalization of Student's problem when several different population
variances are involved", Biometrika 34 (1947) 28-35; Y. Benjamini and Y. Hochberg, "Controlling the
false discovery rate", J. R. Stat. Soc. B 57 (1995) 289-300; for comparisons that go together
Y. Benjamini and D. Yekutieli, Ann. Stat. 29 (2001) 1165-1188.

Assumed: what intervals.py assumes of each side. What is not seen: whatever all rounds of one sweep
share, such as a machine that is warmer today. `benchmarks/comparing.py` simulates how often the
truth lies inside, and how often equal sweeps are called different.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean, variance

from crossover.intervals import CONFIDENCE, FASTER, NO_DIFFERENCE, SLOWER, Interval

MAYBE = "may be chance"  # different on its own, but not among so many


@dataclass(frozen=True)
class Difference:
    """How many times as fast, with its 95 % interval, and the probability of a difference as large
    as this or larger between equals."""

    speedup: Interval
    p: float


def compared(seconds: Sequence[float], before: Sequence[float]) -> Difference | None:
    """One value for each round; above 1 where `seconds` are fewer than `before`. None where either
    side has fewer than two, since one process says nothing about the next."""
    if len(seconds) < 2 or len(before) < 2:
        return None
    ours, theirs = [log(value) for value in seconds], [log(value) for value in before]
    mean = fmean(theirs) - fmean(ours)
    shares = [variance(logs) / len(logs) for logs in (ours, theirs)]
    error = sqrt(sum(shares))
    if error == 0:  # a clock so coarse that all rounds say the same
        return Difference(Interval(exp(mean), exp(mean), exp(mean)), float(mean == 0))
    parts = zip(shares, (len(ours) - 1, len(theirs) - 1), strict=True)
    freedom = sum(shares) ** 2 / sum(share**2 / count for share, count in parts)
    half, p = _student(freedom, abs(mean) / error)
    half *= error
    return Difference(Interval(exp(mean - half), exp(mean), exp(mean + half)), p)


def _student(freedom: float, t: float) -> tuple[float, float]:
    """The quantile for our confidence, and the probability beyond -t and t."""
    from scipy.special import stdtr, stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)), 2 * float(stdtr(freedom, -t))


def adjusted(probabilities: Sequence[float]) -> list[float]:
    """Each with what allows for their number: at most 0.05 in all that are called different, and no
    more than one in twenty of those is expected to be chance."""
    count, least = len(probabilities), 1.0
    found = [1.0] * count
    by_size = sorted(range(count), key=probabilities.__getitem__)
    for rank in range(count, 0, -1):
        which = by_size[rank - 1]
        least = min(least, probabilities[which] * count / rank)
        found[which] = least
    return found


def finding(difference: Difference, p_adjusted: float) -> str:
    """What is said of it: faster or slower only where it holds among all that were compared."""
    if difference.p >= 1 - CONFIDENCE:
        return NO_DIFFERENCE
    if p_adjusted >= 1 - CONFIDENCE:
        return MAYBE
    return FASTER if difference.speedup.point > 1 else SLOWER
