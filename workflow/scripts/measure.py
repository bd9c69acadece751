"""Snakemake script: measure one cell in one round."""

from pathlib import Path

from crossover import job, task

results = Path(snakemake.output.csv).parents[5]
job.measure(
    task.of_backend(snakemake)
    | task.of_workload(snakemake)
    | task.of_round(snakemake)
    | {
        "probe": str(results / "backends" / f"{snakemake.wildcards.backend}.json"),
        "memory": snakemake.params.memory,
        "keep_mb": snakemake.config["arrays"]["keep_mb"],
    },
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
