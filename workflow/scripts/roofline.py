"""Snakemake script: the cells of each dtype under the roofs of the machine."""

import os
import sys
from pathlib import Path

from crossover import charts, record, roofline, style
from crossover.cells import Ceiling
from crossover.chart_roofline import roofline as draw
from crossover.turn import turn

params, output = snakemake.params, snakemake.output
svgs, pngs = ([Path(name).absolute() for name in names] for names in (output.svg, output.png))
with record.or_exit(), turn(shared=True):
    try:
        summary = charts.read(snakemake.input.summary)
    except ValueError as error:
        sys.exit(str(error))
    # Ceilings name their files from where results/ is: below the prefix, where we are a module.
    os.chdir(Path(snakemake.input.ceilings[0]).parents[4])
    for dtype, svg, png in zip(params.dtypes, svgs, pngs, strict=True):
        own = [Ceiling(*name.split("/")) for name in params.ceilings if name.endswith(f"/{dtype}")]
        style.save(draw(summary, dtype, roofline.read(own, params.rounds)), svg, png)
