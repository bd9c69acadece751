"""Snakemake script: what drawing one output costs, in one round."""

from pathlib import Path

from crossover import job, task

job.render(
    task.of_workload(snakemake)
    | task.of_round(snakemake)
    | {"backend": snakemake.wildcards.method, "threads": "all"},
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
