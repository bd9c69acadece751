"""Do our clock, torch.utils.benchmark and pyperf agree on the same function with the same threads?

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/fidelity.py --out fidelity.txt
    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/fidelity.py --from fidelity.json

Each cell is timed in ten fresh processes by each timer, in turn, and then in one process by all of
them, in turn on the same arrays. Against either peer,

- the medians over the processes differ by less than `A/A` does, in 90 % of cells: the 97.5th
  percentile of how far two groups of ten processes of one timer differ (log ratios, either way),
  drawn with replacement from those that ran;
- the geometric mean of ours over the peer's lies within 0.98 to 1.02;
- in one process each cell lies within 0.97 to 1.03 (the median of the ratios of paired blocks).

Each has 0.2 s in a process, in samples of a millisecond or more, and answers with their median. By
default pyperf takes three values of 0.1 s, which are means: on a busy machine 1.2 to 1.5 times that
median, and so are the means of our own samples. On a quiet one they can be asked for (--min-time).

All on recycled memory (`memory: recycled` in config.yaml): whether the C library gives an array of
4 MB back to the kernel differs from process to process, and with it torch's polar by a factor of
three, which is no matter of clocks.

About 11 minutes on two cores. Exits 1 where a bound fails.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from crossover import machine
from crossover.clock import SAMPLE_S
from crossover.job import PACKAGE_FOLDER, RECYCLED, THREAD_VARIABLES
from crossover.turn import turn
from fidelity_timers import TOOLS, Cell
from report import Report, progress, where

OURS, *PEERS = TOOLS
LIBRARIES = ("numpy", "torch")
# From the first cache to memory; the longest call takes some milliseconds.
SIZES = {
    ("add", "float64"): (10_000, 1_000_000, 10_000_000),
    ("matmul", "float32"): (64, 256, 1024),
    ("polar", "float32"): (10_000, 100_000, 1_000_000),
}
PROCESSES = 10
# In one process; of as many orders as there are, each fifty times. With sixty rounds, arrays of
# 80 MB were off by up to 3.5 % in one run and by 1 % in another.
ROUNDS = 300

RESAMPLES = 10_000
QUANTILE = 0.975
LEAST_SHARE = 0.9
MEAN = (0.98, 1.02)
IN_TURN = (0.97, 1.03)

MEMORY = {"GLIBC_TUNABLES": RECYCLED}

TIMERS = Path(__file__).with_name("fidelity_timers.py")

Found = dict[str, Any]  # of one cell: `cell`, `processes` and `in_turn` by tool


def cells(sizes: int) -> Iterator[Cell]:
    for (workload, dtype), all_sizes in SIZES.items():
        for size in all_sizes[:sizes]:
            for library in LIBRARIES:
                yield Cell(library, workload, dtype, size)


def start(lock: int, how: str, cell: Cell, **more: Any) -> Found:
    """What a fresh process finds."""
    threads = {name: str(machine.usable_cores()) for name in THREAD_VARIABLES}
    done = subprocess.run(
        [sys.executable, str(TIMERS), json.dumps({"how": how, "cell": cell, **more})],
        env=os.environ | threads | MEMORY | {"PYTHONPATH": str(PACKAGE_FOLDER)},
        capture_output=True,
        text=True,
        pass_fds=[lock],
    )
    if done.returncode:
        sys.exit(f"{how}, {words(cell)}:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(cell: Cell, processes: int, rounds: int, min_time_s: float) -> Found:
    """The machine's lock is let go between rounds, so that whoever waits has a turn."""
    with turn() as lock:
        more = {tool: {} for tool in TOOLS}
        more["pyperf"] = start(lock, "calibrate", cell, min_time_s=min_time_s)
    found: dict[str, list[Found]] = {tool: [] for tool in TOOLS}
    for _ in range(processes):
        with turn() as lock:
            for tool in TOOLS:
                found[tool].append(start(lock, tool, cell, **more[tool]))
    return {"cell": cell, "processes": found, "in_turn": in_turn(cell, rounds)}


def in_turn(cell: Cell, rounds: int) -> Found:
    with turn() as lock:
        seconds: Found = start(lock, "in turn", cell, rounds=rounds)["seconds"]
    return seconds


def words(cell: Cell) -> str:
    return f"{cell.library} {cell.workload} {cell.dtype} n={cell.size:,}"


def a_a(groups: Iterable[Sequence[float]], seed: int = 0, resamples: int = RESAMPLES) -> float:
    """What is still no difference between the medians of two such groups, on the logarithm: the
    percentile of differences between halves of one and the same group, as many from each."""
    rng = np.random.default_rng(seed)
    groups = [np.array(group) for group in groups]
    differences = []
    for group in groups:
        drawn = rng.choice(group, (resamples // len(groups), 2, len(group)))
        logs = np.log(np.median(drawn, axis=-1))
        differences.append(abs(logs[:, 0] - logs[:, 1]))
    return float(np.quantile(np.concatenate(differences), QUANTILE))


class Against:
    """One cell, ours over the peer's; the A/A bound is a ratio as well."""

    def __init__(self, found: Found, peer: str) -> None:
        sides = [
            [process["median_s"] for process in found["processes"][tool]] for tool in (OURS, peer)
        ]
        ours, theirs = map(median, sides)
        self.ratio = ours / theirs
        self.bound = exp(a_a(sides))
        self.agrees = abs(log(self.ratio)) <= log(self.bound)
        pairs = zip(found["in_turn"][OURS], found["in_turn"][peer], strict=True)
        self.in_turn = median(one / other for one, other in pairs)
        self.agrees_in_turn = IN_TURN[0] <= self.in_turn <= IN_TURN[1]

    def texts(self) -> list[str]:
        marks = ["" if holds else " !" for holds in (self.agrees, self.agrees_in_turn)]
        shown = [f"{self.ratio:.4f}{marks[0]}", f"{self.bound:.4f}"]
        return [*shown, f"{self.in_turn:.4f}{marks[1]}"]


def judge(report: Report, found: Sequence[Found]) -> None:
    against = {peer: [Against(one, peer) for one in found] for peer in PEERS}
    header = ["medians over processes in us, and ours over each", *TOOLS]
    for peer in PEERS:
        header += [f"/ {peer}", "A/A", "in turn"]
    rows = []
    for number, one in enumerate(found):
        row = [words(Cell(*one["cell"])), *map(_microseconds, _medians(one).values())]
        for peer in PEERS:
            row += against[peer][number].texts()
        rows.append(row)
    report.table(header, rows)
    threads = {process["threads"] for one in found for process in _all_processes(one)}
    report.line(f"threads: {', '.join(map(str, sorted(threads)))}")
    report.most("different numbers of threads", len(threads), 1)
    for peer, ones in against.items():
        share = fmean(one.agrees for one in ones)
        report.least(f"share of cells within A/A of {peer}", share, LEAST_SHARE)
        mean = exp(fmean(log(one.ratio) for one in ones))
        report.within(f"geometric mean of ours over {peer}", mean, *MEAN)
        bounds = f"{IN_TURN[0]} to {IN_TURN[1]} of {peer}"
        out = sum(not one.agrees_in_turn for one in ones)
        report.most(f"cells out of {bounds}, in turn in one process", out, 0)


def _medians(found: Found) -> Mapping[str, float]:
    by_tool = found["processes"].items()
    return {tool: median(one["median_s"] for one in ones) for tool, ones in by_tool}


def _all_processes(found: Found) -> Iterator[Found]:
    for processes in found["processes"].values():
        yield from processes


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.4g}" if seconds < 0.01 else f"{seconds * 1e6:,.0f}"


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--quick", action="store_true", help="2 processes each, smallest size")
    help_ = "seconds of a value of pyperf's; its own default is 0.1"
    parser.add_argument("--min-time", type=float, default=SAMPLE_S, help=help_)
    parser.add_argument("--out", type=Path, help="write what is printed here, raw data beside it")
    parser.add_argument("--from", dest="source", type=Path, help="judge this raw data once more")
    help_ = "with --from: measure the part in one process anew, and keep the others"
    parser.add_argument("--in-turn", action="store_true", help=help_)
    options = parser.parse_args()
    processes, sizes, rounds = (2, 1, 6) if options.quick else (PROCESSES, None, ROUNDS)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
    report = Report("Fidelity: ours, torch.utils.benchmark's Timer and pyperf on one function")
    if options.source:
        raw = json.loads(options.source.read_text())
        report.line(f"Measured on {raw['where']}")
        for one in raw["cells"] if options.in_turn else ():
            one["in_turn"] = in_turn(Cell(*one["cell"]), rounds)
    else:
        raw = {"where": where(), "cells": []}
        for cell in cells(sizes):
            progress(words(cell))
            raw["cells"].append(measure(cell, processes, rounds, options.min_time))
            if options.out:
                options.out.with_suffix(".json").write_text(json.dumps(raw))
    judge(report, raw["cells"])
    sys.exit(report.end(options.out))


if __name__ == "__main__":
    main()
