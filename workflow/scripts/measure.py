"""Snakemake script: measure one cell in one round."""

import json
from pathlib import Path

from crossover import job

wildcards, params = snakemake.wildcards, snakemake.params
results = Path(snakemake.output.csv).parents[5]
job.measure(
    {
        "workload": wildcards.workload,
        "workload_file": str(snakemake.input.workload),
        "backend": wildcards.backend,
        "backend_file": str(snakemake.input.backend),
        "probe": str(results / "backends" / f"{wildcards.backend}.json"),
        "device": params.device,
        "memory": params.memory,
        "options": json.loads(params.options),
        "dtype": wildcards.dtype,
        "size": int(wildcards.size),
        "round": int(wildcards.get("round", 1)),
        "seed": int(params.seed),
        "budget_s": float(params.budget_s),
        "threads": params.threads,
        "versions": params.versions,
        "where": params.machine,
        "harness": list(snakemake.input.code),
        "csv": str(snakemake.output.csv),
        "array": snakemake.output.get("array"),
        "keep_mb": snakemake.config["arrays"]["keep_mb"],
        "asked": dict(snakemake.resources.items()),
    },
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
