"""Does a sweep see differences where there are none? The same backend under two names.

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/aa.py

A real sweep of all workloads, in a folder of its own. The share of cells that it calls faster or
slower must not be above what 95 % intervals allow: the 99th percentile of a binomial distribution
with 5 %. Takes about 12 minutes on two cores. Exits 1 where the bound fails.
"""

import argparse
import sys
import tempfile
from collections import Counter
from math import exp, log
from pathlib import Path

from scipy.stats import binom

import checkout
from crossover import table
from crossover.intervals import FASTER, SLOWER
from report import Report

DTYPES = ["float32", "float64"]
# Twice 96: 16 sizes of each workload in two dtypes, short enough for a small budget.
SIZES = {
    "add": [round(10 ** (2 + k / 3)) for k in range(16)],
    "matmul": [round(16 * 2 ** (k / 3)) for k in range(16)],
    "polar": [round(10 ** (2 + k / 4)) for k in range(16)],
}


def config(library: str, rounds: int, budget_s: float, sizes: int) -> dict[str, object]:
    """`sizes` of each workload, spread over all of SIZES."""
    chosen = {name: all_sizes[:: -(-len(all_sizes) // sizes)] for name, all_sizes in SIZES.items()}
    return {
        "workloads": {name: {"sizes": found, "dtypes": DTYPES} for name, found in chosen.items()},
        "backends": {"one": {"library": library}, "another": {"library": library}},
        "baseline": "one",
        "rounds": rounds,
        "budget_s": budget_s,
    }


def most_different(cells: int) -> int:
    """Of so many cells that are alike, more than this are called different once in a hundred."""
    return int(binom.ppf(0.99, cells, 0.05))


def judge(report: Report, rows: list[dict[str, str]]) -> None:
    """`rows` are those of the compared backend in the scope compute."""
    judged = [row for row in rows if row["finding"]]
    different = [row for row in judged if row["finding"] in (FASTER, SLOWER)]
    by_workload = Counter(row["workload"] for row in different)
    all_by_workload = Counter(row["workload"] for row in judged)
    report.table(
        ["workload", "cells", "different", "mean speedup"],
        [
            [name, count, by_workload[name], f"{_mean(name, judged):.4f}"]
            for name, count in all_by_workload.items()
        ],
    )
    report.line(f"without an interval: {len(rows) - len(judged)}")
    for row in different:
        words = f"{row['workload']} {row['dtype']} n={int(row['size']):,}: {row['finding']}, "
        words += f"{float(row['speedup_low']):.3f} to {float(row['speedup_high']):.3f}"
        report.line(f"  {words} ({row['grade']})")
    name = f"cells called different, of {len(judged)}"
    report.most(name, len(different), most_different(len(judged)))


def _mean(workload: str, rows: list[dict[str, str]]) -> float:
    logs = [log(float(row["speedup"])) for row in rows if row["workload"] == workload]
    return exp(sum(logs) / len(logs))


def main() -> None:
    words = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=words)
    parser.add_argument("--library", default="numpy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-s", type=float, default=0.1)
    parser.add_argument("--sizes", type=int, default=16, help="of each workload, at most 16")
    parser.add_argument("--out", type=Path, help="write what is printed to this file as well")
    options = parser.parse_args()
    report = Report(f"A/A: {options.library} against itself, {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as name:
        made = config(options.library, options.rounds, options.budget_s, options.sizes)
        folder = checkout.make(Path(name) / "clone", made)
        seconds, _ = checkout.run(folder, checkout.command("results/summary.csv"))
        rows = table.read(folder / "results/summary.csv")
    compared = [r for r in rows if r["backend"] == "another" and r["scope"] == "compute"]
    report.line(f"{seconds:.0f} s")
    judge(report, compared)
    sys.exit(report.end(options.out))


if __name__ == "__main__":
    main()
