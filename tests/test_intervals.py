"""95 % intervals hold the truth in about 95 of 100, and are not wider than they need to be."""

import os
import subprocess
import sys
from math import exp, log, sqrt
from statistics import NormalDist, fmean, stdev

import pytest

from conftest import ROOT
from crossover import intervals
from crossover.intervals import Interval
from simulation import COVERAGE, MODELS, REPORTED, ROUNDS, WIDEST, WIDTH_HELD, simulate


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", MODELS)
def test_the_truth_is_inside_as_often_as_promised(name, rounds):
    found = simulate(name, rounds)
    least, most = (0.9, 1.0) if name == REPORTED else COVERAGE
    assert least <= found.coverage <= most
    if name in WIDTH_HELD:
        assert found.width <= WIDEST[rounds]


def test_the_simulation_tells_an_interval_that_is_too_narrow():
    """As if three rounds were enough to know the spread."""

    def normal(logs):
        mean = fmean(logs)
        half = NormalDist().inv_cdf(0.975) * stdev(logs) / sqrt(len(logs))
        return Interval(exp(mean - half), exp(mean), exp(mean + half))

    assert simulate("quiet", 3, of=normal).coverage < COVERAGE[0]


def test_students_own_table():
    """Differences of 0, 1 and 2: mean 1, standard error 1 / sqrt 3, t = 4.303 at 2 degrees."""
    found = intervals.of([0.0, 1.0, 2.0])
    half = 4.302653 / sqrt(3)
    assert [log(x) for x in (found.low, found.point, found.high)] == pytest.approx(
        [1 - half, 1, 1 + half], rel=1e-6
    )
    assert log(intervals.detectable(found)) == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize("logs", [[], [0.3]])
def test_one_round_has_no_interval(logs):
    assert intervals.of(logs) is None


@pytest.mark.parametrize(
    ("interval", "finding"),
    [
        (Interval(1.01, 1.2, 1.4), "faster"),
        (Interval(0.5, 0.7, 0.99), "slower"),
        (Interval(0.9, 1.2, 1.6), "no difference seen"),
        (Interval(1.0, 1.2, 1.4), "no difference seen"),
        (Interval(0.8, 0.9, 1.0), "no difference seen"),
        (None, ""),
    ],
)
def test_a_difference_is_claimed_where_the_interval_leaves_out_1(interval, finding):
    assert intervals.finding(interval) == finding


def test_rounds_that_agree_to_the_last_digit_have_a_narrow_interval_and_no_fault():
    found = intervals.of([log(2.0)] * 3)
    assert found.low == found.point == found.high == pytest.approx(2)
    assert intervals.detectable(found) == 1


@pytest.mark.whole
def test_nothing_heavy_is_imported_until_an_interval_is_asked_for():
    """`make plan` and the last lines of a sweep do not wait for SciPy."""
    code = "import crossover.__main__, sys; print({'numpy', 'pandas', 'scipy'} & set(sys.modules))"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow/scripts")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "set()\n", done.stderr
