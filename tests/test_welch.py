"""Ratios of machines from rounds that are no pairs: Welch's interval, and many of them at once."""

import numpy as np
import pytest
from scipy import stats

from comparing import MODELS, coverage, sweeps
from crossover import welch
from crossover.intervals import FASTER, NO_DIFFERENCE, SLOWER
from crossover.welch import MAYBE


@pytest.mark.parametrize("counts", [(2, 2), (3, 3), (3, 10), (7, 2)])
def test_it_is_scipys_welch_on_logarithms(counts):
    rng = np.random.default_rng(sum(counts))
    ours, theirs = (
        rng.lognormal(0, spread, n) for n, spread in zip(counts, (0.1, 0.02), strict=True)
    )
    found = welch.compared(ours.tolist(), theirs.tolist())
    oracle = stats.ttest_ind(np.log(theirs), np.log(ours), equal_var=False)
    around = oracle.confidence_interval(0.95)
    assert found.p == pytest.approx(oracle.pvalue)
    interval = [found.speedup.low, found.speedup.high]
    assert interval == pytest.approx([np.exp(around.low), np.exp(around.high)])
    assert found.speedup.point == pytest.approx(stats.gmean(theirs) / stats.gmean(ours))


def test_one_round_says_nothing_of_the_next():
    assert welch.compared([1.0], [2.0, 2.1, 2.2]) is None
    assert welch.compared([1.0, 1.1], [2.0]) is None


def test_rounds_that_are_all_alike():
    assert welch.compared([1.0, 1.0], [2.0, 2.0]).p == 0
    same = welch.compared([1.0, 1.0], [1.0, 1.0])
    assert (same.p, same.speedup.low, same.speedup.high) == (1, 1, 1)


def test_allowing_for_many_is_benjamini_and_hochbergs():
    rng = np.random.default_rng(0)
    for count in (1, 2, 40):
        p = rng.random(count) ** 3
        assert welch.adjusted(p.tolist()) == pytest.approx(stats.false_discovery_control(p))
    assert welch.adjusted([]) == []


@pytest.mark.parametrize(
    "seconds, p_adjusted, finding",
    [
        ([1.0, 1.01, 1.02], 0.01, FASTER),
        ([4.0, 4.01, 4.02], 0.01, SLOWER),
        ([1.0, 1.01, 1.02], 0.06, MAYBE),
        ([1.9, 2.1, 2.0], 0.01, NO_DIFFERENCE),
    ],
)
def test_what_is_said(seconds, p_adjusted, finding):
    assert welch.finding(welch.compared(seconds, [2.0, 2.02, 2.04]), p_adjusted) == finding


@pytest.mark.parametrize("name", MODELS)
def test_the_intervals_hold_the_truth(name):
    """A few draws; benchmarks/comparing.py has more."""
    for rounds in (3, 5):
        assert 0.92 <= coverage(name, rounds, replicates=600) <= 0.99


def test_equal_sweeps_are_seldom_called_different():
    found = sweeps(0.05, rounds=3, replicates=150)
    assert found.called <= 0.11  # 5 % of the sweeps, and what chance allows in 150
    assert found.called < found.alone  # of the same sweeps without allowing for many: most
    assert found.slowdowns <= 0.08


def test_an_interval_that_is_too_narrow_would_be_seen(monkeypatch):
    student = welch._student
    monkeypatch.setattr(welch, "_student", lambda f, t: (0.6 * student(f, t)[0], student(f, t)[1]))
    assert coverage("quiet", 3, replicates=600) < 0.92
