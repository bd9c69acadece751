"""Snakemake script: what drawing one output costs, in one round."""

from pathlib import Path

from crossover import job

wildcards, params = snakemake.wildcards, snakemake.params
job.render(
    {
        "workload": wildcards.workload,
        "workload_file": str(snakemake.input.workload),
        "backend": wildcards.method,
        "dtype": wildcards.dtype,
        "size": int(wildcards.size),
        "round": int(wildcards.round),
        "seed": int(params.seed),
        "budget_s": float(params.budget_s),
        "threads": "all",
        "harness": list(snakemake.input.code),
        "csv": str(snakemake.output.csv),
        "array": None,
        "asked": dict(snakemake.resources.items()),
    },
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
