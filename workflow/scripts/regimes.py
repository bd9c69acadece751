"""Snakemake script: what kind of work is worth moving, as words and as a picture."""

import sys
from pathlib import Path

from crossover import charts, decided, record, regimes, style, table, verdict
from crossover.chart_regimes import by_regime
from crossover.turn import turn

given, output = snakemake.input, snakemake.output
with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(given.summary)
        break_evens = decided.break_evens(given.break_even)
        reuses = decided.reuses(given.reuse)
    except ValueError as error:
        sys.exit(str(error))
    kinds = dict(one.split(": ") for one in snakemake.params.regimes)
    style.save(by_regime(summary, kinds, break_evens), output.svg, output.png)
    text = regimes.lines(table.read(Path(given.summary)), break_evens, reuses, kinds)
    record.replace(Path(output.markdown), verdict.markdown(text).encode())
