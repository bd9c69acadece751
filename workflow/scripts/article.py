"""Snakemake script: the article's figures beside the same ones here."""

from pathlib import Path

from crossover import article, record, table
from crossover.turn import turn

with record.or_exit(), turn(shared=True):
    found = article.table(table.read(Path(snakemake.input.summary)))
    record.write(Path(snakemake.output.csv), found, article.COLUMNS)
    record.replace(Path(snakemake.output.markdown), article.markdown(found).encode())
