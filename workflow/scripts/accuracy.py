"""Snakemake script: how accurate one workload is in each dtype, and what that costs."""

import sys

from crossover import charts, record, style
from crossover.chart_accuracy import accuracy
from crossover.turn import turn

with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(snakemake.input.summary)
    except ValueError as error:
        sys.exit(str(error))
    figure = accuracy(summary, snakemake.wildcards.workload)
    style.save(figure, snakemake.output.svg, snakemake.output.png)
