"""Snakemake script: the charts of one workload and dtype."""

import sys

from crossover import charts, record
from crossover.turn import turn

wildcards, output = snakemake.wildcards, snakemake.output
with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(snakemake.input.summary)
    except ValueError as error:
        sys.exit(str(error))
    time = charts.time(summary, wildcards.workload, wildcards.dtype)
    charts.save(time, output.time_svg, output.time_png)
    speedup = charts.speedup(summary, wildcards.workload, wildcards.dtype)
    charts.save(speedup, output.speedup_svg, output.speedup_png)
