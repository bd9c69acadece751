"""Ten times a big sweep: what a plan of 50,000 jobs and the summary of 50,000 cells take.

Each once, beside a tenth of it: what docs/fleet.md works out for a million cells stands on both
being in proportion to their number. Memory is that of the largest process.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import checkout
import cost_plan
import cost_summary
from checkout import Taken
from made_up_sweep import make
from report import Report, progress

COUNTS = (5_000, 50_000)
MOST_FINISHED = 10_000  # jobs: more of them take an hour to look finished
Figures = Callable[[Report, int], Iterator[tuple[str, int, Taken]]]
BOUND = 1.5  # of the large one's cost per job or cell, over the small one's


def many_jobs(report: Report, small: int, large: int) -> None:
    _measure(report, plans, small, large)


def many_cells(report: Report, small: int, large: int) -> None:
    _measure(report, summaries, small, large)


def _measure(report: Report, figures: Figures, small: int, large: int) -> None:
    rows, each = [], {}
    for count in (small, large):
        for what, number, taken in figures(report, count):
            rows.append(_row(what, number, taken))
            progress("fleet: " + "  ".join(rows[-1]))
            costs = (taken.cpu_s / number, taken.peak_bytes / number)
            each.setdefault(what, []).append(costs)
    report.table(
        ("what", "how many", "seconds", "CPU s", "peak MB", "CPU ms each", "kB each"), rows
    )
    both = {what: costs for what, costs in each.items() if len(costs) == 2}
    for what, ((small_s, small_bytes), (large_s, large_bytes)) in both.items():
        report.most(f"{what}: CPU time each, large over small", large_s / small_s, BOUND)
        report.most(f"{what}: memory each, large over small", large_bytes / small_bytes, BOUND)


def _row(what: str, number: int, taken: Taken) -> tuple[str, ...]:
    return (
        what,
        f"{number:,}",
        f"{taken.seconds:.1f}",
        f"{taken.cpu_s:.1f}",
        f"{taken.peak_bytes / 1e6:.0f}",
        f"{taken.cpu_s / number * 1e3:.2f}",
        f"{taken.peak_bytes / number / 1e3:.1f}",
    )


def plans(report: Report, jobs: int) -> Iterator[tuple[str, int, Taken]]:
    """A first plan, and where that can be made, a run that finds nothing to do."""
    progress(f"fleet: planning about {jobs:,} jobs")
    with tempfile.TemporaryDirectory() as name:
        folder = checkout.make(Path(name) / "clone", cost_plan.config_of(jobs))
        yield "first plan, jobs", jobs, checkout.spend(folder, checkout.command("-n", "-q", "all"))
        if jobs > MOST_FINISHED:
            return
        progress(f"fleet: making {jobs:,} jobs look finished")
        cost_plan.finish(folder)
        yield "nothing to do, jobs", jobs, checkout.spend(folder, checkout.command("-q", "all"))
        remembered = disk(folder / ".snakemake")
        report.line(f"{jobs:,} jobs: {remembered} that Snakemake remembers them by")


def summaries(report: Report, cells: int) -> Iterator[tuple[str, int, Taken]]:
    """The summary, and the two charts of one workload and dtype, of which there are six."""
    progress(f"fleet: writing the raw files of {cells:,} cells")
    with tempfile.TemporaryDirectory() as name:
        folder = checkout.make(Path(name) / "clone", {})
        checkout.own_lock(folder)
        made, samples = make(folder, cells)
        held = disk(folder / "results")
        report.line(f"{len(made):,} cells of 3 rounds: {samples:,} samples in {held}")
        scripts = {
            "summary, cells": cost_summary.summary(made),
            "charts of a sixth, cells": next(cost_summary.charts()),
        }
        for what, script in scripts.items():
            yield what, len(made), cost_summary.run(folder, script)


def disk(folder: Path) -> str:
    """'1,234 files of 56 MB'."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return f"{len(sizes):,} files of {sum(sizes) / 1e6:,.0f} MB"
