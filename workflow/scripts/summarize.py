"""Snakemake script: one row per cell and scope."""

import os
from pathlib import Path

from crossover import prices, record, roofline, summary, table
from crossover.cells import Cell, Picture, ceilings_of
from crossover.turn import turn


def cells(kind, names):
    """From texts such as 'add/numpy/float64/1000', cells of a kind."""
    for name in names:
        workload, backend, dtype, size = name.split("/")
        yield kind(workload, backend, dtype, int(size))


params = snakemake.params
output = Path(snakemake.output.summary).absolute()
# Cells name their files from where results/ is: below the prefix, where we are used as a module.
os.chdir(Path(snakemake.input.cells[0]).parents[6])
everything = [*cells(Cell, params.cells), *cells(Picture, params.pictures)]
with record.or_exit(), turn(shared=True):
    rows = summary.summarize(
        everything,
        params.rounds,
        params.baseline,
        mixed=params.mixed_machines,
        asked=dict(part.split("=", 1) for part in params.asked),
        baselines=dict(part.split("=", 1) for part in params.baselines),
    )
    roofs = roofline.read(ceilings_of(everything), params.rounds)
    by_backend = {name: float(price) for name, price in map(str.split, params.prices)}
    rows = prices.annotate(roofline.annotate(rows, roofs), by_backend, params.currency)
    table.write(output, rows)
