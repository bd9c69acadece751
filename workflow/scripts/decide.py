"""Snakemake script: from which size on is each backend faster?"""

from pathlib import Path

from crossover import decide, record, table
from crossover.turn import turn

with record.or_exit(), turn(shared=True):
    rows = table.read(Path(snakemake.input.summary))
    found = [row for curves in decide.curves(rows) for row in curves.break_evens()]
    record.write(Path(snakemake.output.break_even), found, decide.COLUMNS)
    record.replace(Path(snakemake.output.use_gpu), decide.use_gpu(rows).encode())
