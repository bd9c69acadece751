"""Snakemake script: what the machine can do at best through one backend, in one round."""

from pathlib import Path

from crossover import job, task

results = Path(snakemake.output.csv).parents[3]
job.ceilings(
    task.of_backend(snakemake)
    | task.of_round(snakemake)
    | {
        "probe": str(results / "backends" / f"{snakemake.wildcards.backend}.json"),
        "memory": snakemake.params.memory,
    },
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
