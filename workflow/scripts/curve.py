"""Snakemake script: the curve that a workload computed, from the saved arrays."""

import os
from pathlib import Path

from crossover import curve, record, style
from crossover.cells import Cell
from crossover.turn import turn

wildcards, params = snakemake.wildcards, snakemake.params
svg, png = Path(snakemake.output.svg).absolute(), Path(snakemake.output.png).absolute()
# Cells name their files from where results/ is: below the prefix, where we are used as a module.
os.chdir(Path(snakemake.input.tables[0]).parents[6])


def cells(size):
    """The cells of one size, by backend."""
    return {
        backend: Cell(wildcards.workload, backend, wildcards.dtype, size)
        for backend in params.backends
    }


with record.or_exit(), turn(shared=True):
    reasons = []
    for size in params.sizes:  # the largest that anyone has
        arrays, missing = curve.saved(cells(size))
        reasons += missing
        if arrays:
            break
    figure = curve.curve(
        arrays,
        workload=wildcards.workload,
        dtype=wildcards.dtype,
        size=size,
        baseline=params.baseline,
        reasons=list(dict.fromkeys(reasons)),
    )
    style.save(figure, svg, png)
