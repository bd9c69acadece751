"""Snakemake script: from which size on is each backend faster, and is it worth it?"""

from pathlib import Path

from crossover import decide, record, table, verdict
from crossover.turn import turn

with record.or_exit(), turn(shared=True):
    rows = table.read(Path(snakemake.input.summary))
    curves = decide.curves(rows)
    found = [row for one in curves for row in one.break_evens()]
    record.write(Path(snakemake.output.break_even), found, decide.COLUMNS)
    reuses = [row for one in curves for row in one.reuses()]
    record.write(Path(snakemake.output.reuse), reuses, decide.REUSE_COLUMNS)
    record.replace(Path(snakemake.output.use_gpu), decide.use_gpu(rows).encode())
    text = verdict.lines(rows, found, reuses)
    record.replace(Path(snakemake.output.verdict), verdict.markdown(text).encode())
