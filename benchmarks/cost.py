"""What does Crossover itself cost? Each figure beside a floor taken in the same run.

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/cost.py               # all of it
    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/cost.py job plan      # some of it

job      one timed job over an empty Snakemake job and a process that only imports the library
plan     a first plan, and nothing to do, over a workflow of as many trivial jobs
cells    48 cells, one round and three
summary  the summary and charts of 5,000 cells with 3 rounds
memory   the peak of an article-size cell over the arrays that it needs

Only by name, as they are large:
many_jobs   plans of 5,000 and of 50,000 jobs
many_cells  the summary and a chart of 5,000 and of 50,000 cells, 13 GB of raw files

Ratios are of medians of five, both sides in turn. Exits 1 where one is above its bound.
"""

import argparse
import sys
from pathlib import Path

import checkout
import cost_cells
import cost_fleet
import cost_job
import cost_memory
import cost_plan
import cost_summary
from report import Report

PARTS = ("job", "plan", "cells", "summary", "memory")
BY_NAME = ("many_jobs", "many_cells")


def main() -> None:
    words = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=words)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, *BY_NAME, []], metavar="PART")
    parser.add_argument("--times", type=int, default=checkout.TIMES, help="runs of each side")
    parser.add_argument("--jobs", type=int, nargs="+", default=cost_plan.JOBS, help="of plan")
    parser.add_argument("--cells", type=int, default=cost_summary.CELLS, help="of summary")
    parser.add_argument("--rounds", type=int, default=3, help="of cells, 1 or 3")
    parser.add_argument("--scale", type=int, default=1, help="of memory: divides the sizes")
    parser.add_argument("--counts", type=int, nargs=2, default=cost_fleet.COUNTS, help="of many_*")
    parser.add_argument("--out", type=Path, help="write what is printed to this file as well")
    options = parser.parse_args()
    report = Report(f"Cost of the product itself: {', '.join(options.parts or PARTS)}")
    for part in options.parts or PARTS:
        report.line()
        match part:
            case "job":
                cost_job.measure(report, options.times)
            case "plan":
                cost_plan.measure(report, tuple(options.jobs), options.times)
            case "cells":
                cost_cells.measure(report, options.rounds)
            case "memory":
                cost_memory.measure(report, options.scale)
            case "summary":
                cost_summary.measure(report, options.cells, options.times)
            case "many_jobs":
                cost_fleet.many_jobs(report, *options.counts)
            case "many_cells":
                cost_fleet.many_cells(report, *options.counts)
    sys.exit(report.end(options.out))


if __name__ == "__main__":
    main()
