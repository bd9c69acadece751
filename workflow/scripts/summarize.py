"""Snakemake script: one row per cell and scope."""

from pathlib import Path

from crossover import summary
from crossover.cells import Cell
from crossover.turn import turn

cells = []
for name in snakemake.params.cells:
    workload, backend, dtype, size = name.split("/")
    cells.append(Cell(workload, backend, dtype, int(size)))

with turn(shared=True):
    rows = summary.summarize(cells, snakemake.params.rounds, snakemake.params.baseline)
    summary.write(Path(snakemake.output.summary), rows)
