"""Snakemake script: the curve that a workload computed, from the saved arrays."""

from crossover import curve, style
from crossover.cells import Cell
from crossover.turn import turn

wildcards, params, output = snakemake.wildcards, snakemake.params, snakemake.output


def cells(size):
    return {
        backend: Cell(wildcards.workload, backend, wildcards.dtype, size)
        for backend in params.backends
    }


with turn(shared=True):
    for size in params.sizes:
        arrays, reasons = curve.saved(cells(size))
        if arrays:
            break
    figure = curve.curve(
        arrays,
        workload=wildcards.workload,
        dtype=wildcards.dtype,
        size=size,
        baseline=params.baseline,
        reasons=reasons,
    )
    style.save(figure, output.svg, output.png)
