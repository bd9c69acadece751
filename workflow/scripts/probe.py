"""Snakemake script: is one backend here, and does it work?"""

import json
from pathlib import Path

from crossover import job

job.probe(
    {
        "backend": snakemake.wildcards.backend,
        "backend_file": str(snakemake.input.backend),
        "device": snakemake.params.device,
        "options": json.loads(snakemake.params.options),
        "threads": snakemake.params.threads,
        "versions": snakemake.params.versions,
        "where": snakemake.params.machine,
        "json": str(snakemake.output.facts),
        "asked": dict(snakemake.resources.items()),
    },
    timeout_s=snakemake.config["timeout_s"],
    log=Path(snakemake.log[0]),
)
