"""The comparison with other timers accuses a shift and not a noise, by each of its bounds."""

import json
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import fidelity
from crossover import machine
from fidelity_timers import TOOLS, Cell
from report import Report

pytestmark = pytest.mark.whole

BOUNDS = (SHARE, MEAN, IN_TURN, THREADS) = (
    "share of cells within A/A",
    "geometric mean",
    "cells out of 0.97 to 1.03",
    "different numbers of threads",
)
CELL = Cell("numpy", "add", "float64", 10_000)


def made_up(seed, shift=1.0, noise=0.01, in_turn=1.0):
    """One cell of which ours takes `shift` as long as the others, in one process `in_turn`."""
    rng = np.random.default_rng(seed)
    found = {"cell": CELL, "processes": {}, "in_turn": {}}
    for tool in TOOLS:
        ours = tool == fidelity.OURS
        medians = (shift if ours else 1) * np.exp(noise * rng.standard_normal(10))
        found["processes"][tool] = [{"median_s": one, "threads": 2} for one in medians.tolist()]
        blocks = (in_turn if ours else 1) * np.exp(0.01 * rng.standard_normal(60))
        found["in_turn"][tool] = blocks.tolist()
    return found


def failed(cells):
    """What fails, without the peer's name."""
    report = Report("made up")
    fidelity.judge(report, cells)
    assert report.end(None) == (1 if report.failed else 0)
    return {bound for bound in BOUNDS if any(name.startswith(bound) for name in report.failed)}


def test_a_shift_of_5_percent_is_accused_and_noise_is_not():
    accused = {
        shift: [
            not fidelity.Against(made_up(seed, shift), peer).agrees
            for seed in range(30)
            for peer in fidelity.PEERS
        ]
        for shift in (1.0, 1.05)
    }
    assert sum(accused[1.0]) <= 6  # of 60, of which one in 25 is expected
    assert all(accused[1.05])


def test_the_bound_is_that_of_two_groups_of_one_timer():
    """A group of one number differs by nothing. Of two numbers, drawn twice, one group in four is
    all the one or all the other: one difference in eight is that of the numbers."""
    same = [2.0, 2.0]
    assert fidelity.a_a([same, same]) == 0
    assert fidelity.a_a([[1.0, 2.0], [1.0, 2.0]]) == pytest.approx(np.log(2))
    assert fidelity.a_a([[1.0, 2.0], same]) == pytest.approx(np.log(2))  # one in 16: 6 %
    assert fidelity.a_a([[1.0, 2.0], *[same] * 5]) < np.log(1.9)  # one in 48: 2.1 %


@pytest.mark.parametrize(
    "wanted, cells",
    [
        (set(), [made_up(seed) for seed in range(18)]),
        ({SHARE}, [made_up(seed, shift) for seed in range(9) for shift in (1.05, 1 / 1.05)]),
        ({MEAN}, [made_up(seed, 1.03, noise=0.1) for seed in range(40)]),
        ({IN_TURN}, [made_up(seed, in_turn=1.04 if seed == 3 else 1) for seed in range(18)]),
    ],
    ids=["none", "share", "mean", "in_turn"],
)
def test_each_bound_can_fail_alone(wanted, cells):
    assert failed(cells) == wanted


def test_other_threads_are_no_comparison():
    cells = [made_up(seed) for seed in range(18)]
    cells[0]["processes"]["pyperf"][0]["threads"] = 1
    assert failed(cells) == {THREADS}


@pytest.mark.parametrize("shift, status", [(1.0, 0), (1.05, 1)])
def test_raw_data_is_judged_once_more(tmp_path, monkeypatch, shift, status):
    raw, out = tmp_path / "raw.json", tmp_path / "new/again.txt"
    cells = [made_up(seed, shift) for seed in range(18)]
    raw.write_text(json.dumps({"where": "a quiet machine", "cells": cells}))
    monkeypatch.setattr(sys, "argv", ["fidelity.py", "--from", str(raw), "--out", str(out)])
    with pytest.raises(SystemExit) as ended:
        fidelity.main()
    assert ended.value.code == status
    assert "a quiet machine" in out.read_text()


def test_real_timers_in_processes_of_their_own(monkeypatch):
    monkeypatch.setattr(fidelity, "turn", lambda: nullcontext(0))  # no time is looked at
    found = fidelity.measure(CELL, processes=1, rounds=6, min_time_s=1e-3)
    one = {tool: found["processes"][tool][0] for tool in TOOLS}
    assert {tool: process["beside"] for tool, process in one.items()} == {
        "ours": [],
        "Timer": ["torch"],
        "pyperf": ["pyperf"],
    }
    for process in one.values():
        assert process["threads"] == machine.usable_cores()
        assert process["values"] >= 3
        assert process["median_s"] > 0
    assert set(found["in_turn"]) == set(TOOLS)
    for seconds in found["in_turn"].values():
        assert len(seconds) == 6 and min(seconds) > 0
    fidelity.judge(Report("one cell"), [found])
