"""Snakemake script: the cells of one dtype under the roofs of the machine."""

import os
import sys
from pathlib import Path

from crossover import charts, record, roofline, style
from crossover.cells import Ceiling
from crossover.chart_roofline import roofline as draw
from crossover.turn import turn

dtype, params = snakemake.wildcards.dtype, snakemake.params
svg, png = Path(snakemake.output.svg).absolute(), Path(snakemake.output.png).absolute()
with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(snakemake.input.summary)
    except ValueError as error:
        sys.exit(str(error))
    # Ceilings name their files from where results/ is: below the prefix, where we are a module.
    os.chdir(Path(snakemake.input.ceilings[0]).parents[4])
    roofs = roofline.read([Ceiling(name, dtype) for name in params.backends], params.rounds)
    style.save(draw(summary, dtype, roofs), svg, png)
