"""Snakemake script: how accurate each workload is in each dtype, and what that costs."""

import sys

from crossover import charts, record, style
from crossover.chart_accuracy import accuracy
from crossover.turn import turn

output = snakemake.output
with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(snakemake.input.summary)
    except ValueError as error:
        sys.exit(str(error))
    for name, svg, png in zip(snakemake.params.workloads, output.svg, output.png, strict=True):
        style.save(accuracy(summary, name), svg, png)
