"""One timed job over what it cannot do without: an empty Snakemake job, and importing the library.

Both sides are runs of Snakemake with many jobs and with one, so that starting and planning cancel.
Of ours the time is taken out, and listed beside, that belongs to the measuring itself: the first
call, the samples with their warm-up, and the check of the answer.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import checkout
from crossover.turn import turn
from report import Report, progress

BOUNDS = {"numpy": 1.5, "torch": 1.2}
MANY, FEW = 7, 1  # jobs
SIZES = [1000 + number for number in range(MANY)]
IMPORTS = 3  # processes that only import, in each turn
PHASES = {"_first_call": "first call", "_scopes": "samples and warm-up", "_check": "check"}

# Python imports sitecustomize before anything else: in the process that measures, it notes how long
# each phase took.
SPY = f"""
import os, sys
if "crossover.child" in sys.orig_argv:
    import time
    from crossover.measurement import Measurement
    def noted(name, method):
        def call(self, *arguments):
            start = time.perf_counter()
            try:
                return method(self, *arguments)
            finally:
                with open(os.environ["PHASES"], "a") as file:
                    print(name, time.perf_counter() - start, file=file)
        return call
    for name in {tuple(PHASES)!r}:
        setattr(Measurement, name, noted(name, getattr(Measurement, name)))
"""

FLOOR = """
rule empty:
    output: "results/{n}.txt"
    script: "empty.py"
"""
EMPTY = "from pathlib import Path\nPath(snakemake.output[0]).touch()\n"


def measure(report: Report, times: int) -> None:
    rows, ratios = [], {}
    for library, bound in BOUNDS.items():
        progress(f"job: {library}")
        with tempfile.TemporaryDirectory() as name:
            turns = []
            for number in range(times):
                with turn():
                    turns.append(one_turn(Path(name) / str(number), library))
        figures = {what: median(figures[what] for figures in turns) for what in turns[0]}
        floor = figures["empty job"] + figures["import"]
        ratios[library] = (figures["ours"] / floor, bound)
        rows.append((library, *(f"{seconds:.3f}" for seconds in figures.values()), f"{floor:.3f}"))
    report.table(("seconds of one job", *figures, "floor"), rows)
    for library, (ratio, bound) in ratios.items():
        report.most(f"one {library} job over its floor", ratio, bound)


def one_turn(folder: Path, library: str) -> dict[str, float]:
    """Seconds of one job: ours without its phases, the two parts of the floor, and the phases."""
    ours = checkout.make(folder / "ours", config_of(library))
    checkout.own_lock(ours)
    spy = folder / "spy"
    spy.mkdir()
    (spy / "sitecustomize.py").write_text(SPY)
    floor = folder / "floor"
    shutil.copytree(ours / "profiles", floor / "profiles")
    (floor / "Snakefile").write_text(FLOOR)
    (floor / "empty.py").write_text(EMPTY)
    only = [sys.executable, "-c", f"import {library}"]
    taken = dict.fromkeys(("ours", "empty job"), 0.0)
    phases = dict.fromkeys(PHASES, 0.0)
    for count, sign in ((MANY, 1), (FEW, -1)):
        with variables(PYTHONPATH=str(spy), PHASES=str(folder / f"phases{count}")):
            seconds, _ = checkout.run(ours, checkout.command(*targets(library, count)))
        for line in (folder / f"phases{count}").read_text().splitlines():
            name, spent = line.split()
            phases[name] += sign * float(spent)
            seconds -= float(spent)
        taken["ours"] += sign * seconds
        shutil.rmtree(ours / "results")
        names = [f"results/{number}.txt" for number in range(count)]
        taken["empty job"] += sign * checkout.run(floor, checkout.command(*names))[0]
        shutil.rmtree(floor / "results")
    figures = {what: seconds / (MANY - FEW) for what, seconds in taken.items()}
    figures["import"] = median(checkout.run(folder, only)[0] for _ in range(IMPORTS))
    return figures | {PHASES[name]: s / (MANY - FEW) for name, s in phases.items()}


def config_of(library: str) -> dict[str, object]:
    return {
        "workloads": {"add": {"sizes": SIZES, "dtypes": ["float64"]}},
        "backends": {library: {}},
        "baseline": library,
        "rounds": 1,
    }


def targets(library: str, count: int) -> Iterator[str]:
    for size in SIZES[:count]:
        yield f"results/cells/add/{library}/float64/{size}/1.csv"


@contextmanager
def variables(**values: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
