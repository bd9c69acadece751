"""Sizes are added where n* is not known narrowly, never twice, and no more than help."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from math import exp

import numpy as np
import pytest

import refining
from conftest import ROOT
from crossover import decide, refine, table
from crossover.refine_loop import BY_LUCK, NOT_MEASURED, TIME, Loop, World

# --- which size


@pytest.mark.parametrize(
    ("low", "high", "size"),
    [
        (1e4, 1e5, 30_000),
        (120_000, 210_000, 160_000),
        (1.01e6, 1.03e6, 1_020_000),
        (64, 256, 100),
        (5, 7, 6),
        (4, 6.5, 5),
        (1, 3, 2),
        (5, 6, None),
        (5.2, 5.9, None),
        (1, 2, None),
    ],
)
def test_the_middle_with_few_digits(low, high, size):
    assert refine.between(low, high) == size


def test_never_a_size_that_is_there():
    for small, large in pairwise(range(1, 300)):
        assert refine.between(small, large) is None
        assert small < refine.between(small, large + 2) < large + 2


def curve(heights, spread=0.001, first=1000, rounds=3):
    """Logarithms of speedups by size, a decade apart, and round."""
    return {
        first * 10**place: {r: y + spread * (r % 3 - 1) for r in range(1, rounds + 1)}
        for place, y in enumerate(heights)
    }


def opened(logs, within=1.5, tried=None):
    return list(refine.opened([logs], 1.0, logs if tried is None else tried, within))


def test_a_crossing_gets_a_size_inside():
    (end,) = opened(curve([-2, -1.9, 1, 3]), within=1.01)
    assert 1e4 < end.low < end.size < end.high < 1e5 and end.reason == ""


def test_what_is_narrow_gets_none():
    (end,) = opened(curve([-2, -1, 1, 2]), within=3)
    assert (end.size, end.reason) == (None, refine.NARROW)


def test_noise_is_told_from_the_grid():
    """The same curve: rounds that agree, and rounds that do not."""
    bent = [-2, -1.9, 1, 3]
    (end,) = opened(curve(bent, spread=0.01), within=1.05)
    assert end.reason == ""
    (end,) = opened(curve(bent, spread=0.5), within=1.05)
    assert (end.size, end.reason) == (None, refine.NOISE)


@pytest.mark.parametrize("heights", [(1, 2, 2), (-2, -1, -1)])
def test_nothing_changes_where_nothing_crosses(heights):
    assert opened(curve(heights)) == []


@pytest.mark.parametrize("heights", [(-1, -1, 0), (0, 0, 0), (1, 1, 0)])
def test_a_largest_size_that_is_not_clear_needs_something_else(heights):
    (end,) = opened(curve(heights, spread=0.1))
    assert (end.size, end.reason) == (None, refine.LARGEST)


def test_below_the_first_clear_size_it_goes_on_downwards():
    """Between the last size that is not clear and the first that is, and not below both."""
    (end,) = opened(curve([0, 0, 4, 5], spread=0.1))
    assert (end.low, end.high) == (1e3, 1e5) and 1e4 < end.size < 1e5
    logs = curve([0, 0, 0, 4, 5], spread=0.1)
    del logs[10_000]  # the gap that is wider, but of no use
    (end,) = opened(logs)
    assert (end.low, end.high) == (1e3, 1e6) and 1e5 < end.size < 1e6


def test_faster_only_between_has_two_ends():
    found = opened(curve([-3, 3, 3, -3]), within=1.01)
    assert [1e3 < end.size < 1e4 for end in found] == [True, False]
    assert [1e5 < end.size < 1e6 for end in found] == [False, True]


def test_sizes_that_failed_are_gone_round():
    logs = curve([-2, -1.9, 1, 3])
    tried = set(logs)
    for _ in range(6):
        (end,) = opened(logs, 1.01, tried)
        assert end.size not in tried and end.low < end.size < end.high
        tried.add(end.size)


def test_neighbours_among_the_whole_numbers_leave_nothing_to_try():
    logs = {5: {1: -1.0, 2: -1.0, 3: -1.0}, 6: {1: 1.0, 2: 1.0, 3: 1.0}}
    (end,) = opened(logs, 1.01)
    assert (end.size, end.reason) == (None, refine.NO_SIZE)


# --- what n* is worth afterwards


@pytest.mark.whole
@pytest.mark.parametrize(
    ("name", "rounds", "noise", "within"),
    [
        ("3 sizes, 4 decades", 3, 0.01, 1.1),
        ("3 sizes, 2 decades", 5, 0.1, 1.5),
        ("products of matrices", 3, 0.05, 1.5),
    ],
)
def test_intervals_still_hold_n_although_sizes_were_chosen_by_them(name, rounds, noise, within):
    ends = refining.simulate(name, rounds, noise, within, replicates=250, seed=1)
    assert refining.share([end.held for end in ends]) >= refining.LEAST_HELD
    narrowed = [end for end in ends if end.added and end.reason == refine.NARROW]
    assert len(narrowed) > 50 and all(end.after <= within < end.before for end in narrowed)
    assert np.mean([end.added for end in ends]) < 4
    reasons = {end.reason for end in ends}
    assert reasons <= {refine.NARROW, refine.NOISE, refine.LARGEST, refine.NO_SIZE, "no n*", ""}


# --- the loop, around a made-up Snakemake

CROSSING = 31_234
GRID = (1000, 100_000, 10_000_000)


def speedup(size):
    return (CROSSING / 10 + size) / (CROSSING + size / 10)


class Made:
    """Summaries of a made-up sweep, whose jobs take 10 s a size."""

    def __init__(self, tmp_path, spread=0.002, status=0, deaf=False, rounds=3, backends=("gpu",)):
        self.path, self.spread, self.status = tmp_path / "summary.csv", spread, status
        self.deaf, self.rounds, self.backends = deaf, rounds, backends
        self.sizes, self.now, self.steps, self.said = list(GRID), 0.0, [], []
        self.events = []

    def rows(self):
        table.write(self.path, [*self._rows("numpy"), *(r for b in self.backends
                                                        for r in self._rows(b))])  # fmt: skip
        return table.read(self.path)

    def _rows(self, backend):
        rng = np.random.default_rng(3)
        for size in sorted(self.sizes):
            off = self.spread * rng.standard_normal(self.rounds)
            ratios = " ".join(f"{k}:{speedup(size) * exp(o)!r}" for k, o in enumerate(off, 1))
            yield dict.fromkeys(table.COLUMNS, "") | {
                **{"workload": "add", "dtype": "float64", "backend": backend, "size": size},
                **{"scope": "compute", "status": "ok", "median_s": 1e-6 * size, "flop": size},
                **{"baseline": "numpy", "cpu": "A CPU", "cores": 2, "device": "cpu"},
                "speedup_by_round": "" if backend == "numpy" else ratios,
            }

    def keep(self, step):
        self.events.append("keep")
        self.steps.append({group: list(sizes) for group, sizes in step.items()})

    def measure(self):
        self.events.append("measure")
        added = self.steps[-1]["add", "float64"]
        self.now += 8 + 10 * len(added)
        if not self.deaf and not self.status:
            self.sizes += added
        return self.status

    def draw(self):
        self.events.append("draw")
        return 0

    def say(self, words):
        self.events.append("say")
        self.said.append(words)

    def run(self, within=1.2, limit_s=600):
        def seconds(workload, dtype, size):
            return 10.0

        world = World(
            self.rows, seconds, self.keep, self.measure, self.draw, lambda: self.now, self.say
        )
        return Loop(world, {("add", "float64"): GRID}, within, limit_s).run(self.rounds)

    @property
    def added(self):
        return [size for step in self.steps for size in step["add", "float64"]]


def test_it_narrows_and_holds_the_true_size(tmp_path):
    made = Made(tmp_path)
    assert speedup(CROSSING) == pytest.approx(1) and made.run() == 0
    (one,) = refine.ask(decide.curves(made.rows()), {("add", "float64"): made.sizes}, 1.2)
    (end,) = one.opens
    assert end.reason == refine.NARROW and end.low <= CROSSING <= end.high
    assert 0 < len(made.added) <= 6 and len(set(made.added)) == len(made.added)
    assert not set(made.added) & set(GRID)
    # Listed, kept, and only then measured; drawn once, and summed up.
    steps = len(made.steps)
    assert made.events == ["say", "keep", "measure"] * steps + ["draw", "say"]
    assert made.said[0].splitlines()[1].startswith("Step 1 adds 1 size: about 0.3 of 10.0 minutes")
    assert f"n = {made.added[0]:,}" in made.said[0]
    assert "  it was from n = " in made.said[-1] and refine.NARROW in made.said[-1]
    assert BY_LUCK in made.said[-1]


def test_what_five_rounds_narrow_is_not_called_luck(tmp_path):
    made = Made(tmp_path, rounds=5)
    assert made.run() == 0
    assert refine.NARROW in made.said[-1] and BY_LUCK not in made.said[-1]


def test_no_step_is_begun_that_would_not_end_in_time(tmp_path):
    made = Made(tmp_path, spread=1e-6)
    assert made.run(within=1.00001, limit_s=66) == 0
    # 8 s and 10 s a size, and 10 s for drawing in the end: 18, 36, 54, and 72 + 10 is too much.
    assert made.now == 54 and len(made.added) == 3
    assert TIME in made.said[-1]
    made = Made(tmp_path)
    assert made.run(limit_s=27) == 0
    assert made.added == [] and "Nothing was added" in made.said[-1] and TIME in made.said[-1]


def test_a_slow_machine_is_seen_in_the_first_step(tmp_path):
    made = Made(tmp_path, spread=1e-6)
    measure = made.measure

    def slow():
        made.now += 100
        return measure()

    made.measure = slow
    assert made.run(within=1.00001, limit_s=230) == 0
    assert len(made.added) == 1, "118 s instead of 18: 28 guessed would now be 184 of 112"


def test_one_size_serves_all_that_it_is_inside_of(tmp_path):
    made = Made(tmp_path, backends=("one", "two"))
    assert made.run(within=1.5) == 0
    assert len(made.steps[0]["add", "float64"]) == 1


def test_a_run_that_fails_ends_it(tmp_path):
    made = Made(tmp_path, status=7)
    assert made.run() == 7
    assert made.events == ["say", "keep", "measure"]


def test_sizes_that_are_not_measured_end_it(tmp_path):
    made = Made(tmp_path, deaf=True)
    assert made.run() == 0
    assert len(made.steps) == 1 and NOT_MEASURED in made.said[-1]


def test_why_there_is_nothing_to_refine(tmp_path):
    made = Made(tmp_path, rounds=1)
    assert made.run() == 0
    assert made.said == ["Nothing to refine: no backend has an interval, which takes two rounds"]
    made = Made(tmp_path)
    assert made.run(within=1e6) == 0
    assert made.said[0].startswith("Nothing to refine: all 1 answers are narrow enough")
    made = Made(tmp_path, spread=0.5)
    assert made.run() == 0
    assert made.events == ["say"] and "differ too much" in made.said[0]


# --- Ctrl-C

CHILD = """
import signal, sys, time
def end(*_):
    time.sleep(0.6)  # longer than Python's subprocess waits by itself
    print("ended", flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, end)
print("ready", flush=True)
time.sleep(60)
"""
PARENT = f"""
import signal, sys
from crossover.refine_loop import wait_for
# A shell has what it starts in the background ignore Ctrl-C, and that is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    wait_for([sys.executable, "-c", {CHILD!r}])
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.whole
def test_what_runs_is_given_the_time_to_end():
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow/scripts")},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "ended\nstopped\n"
