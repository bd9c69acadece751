"""The summary and the charts of 5,000 cells with 3 rounds: seconds and memory.

The scripts run as Snakemake runs them, each in a process of its own, one after the other; what
planning so many jobs costs is cost_plan's. Pictures of outputs (rule curve), of accuracy and of
roofs have no part in this.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import checkout
from checkout import Taken
from crossover.cells import Cell
from made_up_sweep import BASELINE, DTYPES, ROUNDS, WORKLOADS, make
from report import Report, progress

CELLS = 5000
MOST_S, MOST_GB = 30.0, 1.0
SUMMARY = "results/summary.csv"
DECIDED = {
    "break_even": "results/break_even.csv",
    "reuse": "results/reuse.csv",
    "use_gpu": "results/use_gpu.py",
    "verdict": "results/verdict.md",
}

# What Snakemake puts in front of a script, as far as ours ask for it.
RUN = (
    "import json, runpy, sys; from types import SimpleNamespace as Space; "
    "given = {name: Space(**part) for name, part in json.load(sys.stdin).items()}; "
    "runpy.run_path(sys.argv[1], init_globals={'snakemake': Space(**given)})"
)


class Script(NamedTuple):
    what: str
    file: str
    given: dict[str, dict[str, object]]  # what a script finds in `snakemake`


def measure(report: Report, cells: int, times: int) -> None:
    progress(f"summary: writing the raw files of {cells:,} cells")
    with tempfile.TemporaryDirectory() as name:
        folder = checkout.make(Path(name) / "clone", {})
        checkout.own_lock(folder)
        made, samples = make(folder, cells)
        scripts = [summary(made), decision(), *charts()]
        turns = [one_turn(folder, scripts) for _ in range(times)]
    turns.sort(key=lambda turn: sum(taken.seconds for taken in turn))
    middle = turns[len(turns) // 2]
    report.line(f"{len(made):,} cells of {ROUNDS} rounds, {samples:,} samples")
    report.table(
        ("script", "seconds", "peak MB"),
        [
            (script.what, f"{taken.seconds:.1f}", f"{taken.peak_bytes / 1e6:.0f}")
            for script, taken in zip(scripts, middle, strict=True)
        ],
    )
    seconds = sum(taken.seconds for taken in middle)
    report.most(f"summary, decision and charts of {len(made):,} cells", seconds, MOST_S, " s")
    peak_gb = max(taken.peak_bytes for turn in turns for taken in turn) / 1e9
    report.most("memory of the largest process", peak_gb, MOST_GB, " GB")


def summary(cells: list[Cell]) -> Script:
    names = [f"{c.workload}/{c.backend}/{c.dtype}/{c.size}" for c in cells]
    params = {"cells": names, "pictures": [], "rounds": ROUNDS, "baseline": BASELINE}
    params |= {"mixed_machines": "apart", "asked": [], "baselines": [], "prices": []}
    params["currency"] = ""
    files = {"input": {"cells": [str(cells[0].csv(1))]}, "output": {"summary": SUMMARY}}
    return Script("summary", "summarize.py", {**files, "params": params})


def decision() -> Script:
    return Script("decision", "decide.py", {"input": {"summary": SUMMARY}, "output": {**DECIDED}})


def charts() -> Iterator[Script]:
    for workload in WORKLOADS:
        for dtype in DTYPES:
            pictures = {
                f"{name}_{kind}": f"results/plots/{workload}/{dtype}/{name}.{kind}"
                for name in ("time", "speedup", "parts", "reuse")
                for kind in ("svg", "png")
            }
            given = {
                "input": {"summary": SUMMARY, **DECIDED},
                "output": pictures,
                "wildcards": {"workload": workload, "dtype": dtype},
            }
            yield Script(f"charts of {workload}, {dtype}", "charts.py", given)


def one_turn(folder: Path, scripts: list[Script]) -> list[Taken]:
    taken = []
    for script in scripts:
        progress(f"summary: {script.what}")
        taken.append(run(folder, script))
    return taken


def run(folder: Path, script: Script) -> Taken:
    """A script in a process of its own, which must end well."""
    scripts = folder / "workflow/scripts"
    words = [sys.executable, "-c", RUN, str(scripts / script.file)]
    return checkout.spend(folder, words, json.dumps(script.given), PYTHONPATH=str(scripts))
