"""Snakemake script: is one backend here, and does it work?"""

from pathlib import Path

from crossover import job, task

job.probe(
    task.of_backend(snakemake) | {"json": str(snakemake.output.facts)},
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
