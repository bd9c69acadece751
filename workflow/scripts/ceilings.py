"""Snakemake script: what the machine can do at best through one backend, in one round."""

import json
from pathlib import Path

from crossover import job

wildcards, params = snakemake.wildcards, snakemake.params
results = Path(snakemake.output.csv).parents[3]
job.ceilings(
    {
        "backend": wildcards.backend,
        "backend_file": str(snakemake.input.backend),
        "probe": str(results / "backends" / f"{wildcards.backend}.json"),
        "device": params.device,
        "memory": params.memory,
        "options": json.loads(params.options),
        "dtype": wildcards.dtype,
        "round": int(wildcards.round),
        "budget_s": float(params.budget_s),
        "threads": params.threads,
        "versions": params.versions,
        "where": params.machine,
        "harness": list(snakemake.input.code),
        "csv": str(snakemake.output.csv),
        "array": None,
        "asked": dict(snakemake.resources.items()),
    },
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
