"""Snakemake script: the charts of one workload and dtype."""

import sys

from crossover import charts, decided, record, style
from crossover.chart_parts import parts
from crossover.chart_reuse import calls
from crossover.chart_speedup import speedup
from crossover.chart_time import time
from crossover.turn import turn

of = snakemake.wildcards.workload, snakemake.wildcards.dtype
output = snakemake.output
with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(snakemake.input.summary)
        break_evens = decided.break_evens(snakemake.input.break_even)
        reuses = decided.reuses(snakemake.input.reuse)
    except ValueError as error:
        sys.exit(str(error))
    style.save(time(summary, *of), output.time_svg, output.time_png)
    style.save(speedup(summary, *of, break_evens), output.speedup_svg, output.speedup_png)
    style.save(parts(summary, *of), output.parts_svg, output.parts_png)
    if hasattr(output, "reuse_svg"):
        style.save(calls(summary, *of, reuses), output.reuse_svg, output.reuse_png)
