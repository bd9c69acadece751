"""Snakemake script: everything on one page."""

import sys
from pathlib import Path

from crossover import page, page_files, record
from crossover.turn import turn

given = snakemake.input
with record.or_exit(), turn(shared=True):
    try:
        results = page_files.read(
            name=snakemake.params.name,
            verdict=given.verdict,
            summary=given.summary,
            break_even=given.break_even,
            reuse=given.reuse,
            article=given.article,
            regimes=given.regimes,
            pictures=given.pictures,
            probes=given.probes,
            config=snakemake.config,
        )
        record.replace(Path(snakemake.output.page), page.render(results).encode())
    except ValueError as error:
        sys.exit(str(error))
