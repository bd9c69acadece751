"""What a job is told, out of what Snakemake gives to its script.

Each function takes the script's `snakemake` and returns the part of a task that it is named for.
"""

import json
from typing import Any


def of_backend(given: Any) -> dict[str, Any]:
    return {
        "backend": given.wildcards.backend,
        "backend_file": str(given.input.backend),
        "device": given.params.device,
        "options": json.loads(given.params.options),
        "threads": given.params.threads,
        "versions": given.params.versions,
        "where": given.params.machine,
        "asked": dict(given.resources.items()),
    }


def of_workload(given: Any) -> dict[str, Any]:
    return {
        "workload": given.wildcards.workload,
        "workload_file": str(given.input.workload),
        "size": int(given.wildcards.size),
        "seed": int(given.params.seed),
    }


def of_round(given: Any) -> dict[str, Any]:
    return {
        "dtype": given.wildcards.dtype,
        "round": int(given.wildcards.get("round", 1)),
        "budget_s": float(given.params.budget_s),
        "harness": list(given.input.code),
        "csv": str(given.output.csv),
        "array": given.output.get("array"),
        "asked": dict(given.resources.items()),
    }
