"""What a job's number depends on, as flat texts that Snakemake compares: change one, re-run.

Paths, dates, dictionary order, `--cores` and `timeout_s` have no part in it. Sources are inputs of
the jobs (Snakemake compares their checksums); this file says which belong to whom.
"""

import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crossover import machine, plugin
from crossover.config import Backend, Config
from crossover.job import installed
from crossover.nodes import Place

# What runs in a measuring job, so that an edit re-measures. A test holds it to the real imports.
# The package's own file is not here: it holds the version number and no code.
HARNESS = (
    "backends/__init__.py",
    "child.py",
    "clock.py",
    "defaults.py",
    "energy.py",
    "interference.py",
    "job.py",
    "machine.py",
    "measurement.py",
    "nvml.py",
    "placement.py",
    "plugin.py",
    "record.py",
    "scheduler.py",
    "status.py",
    "synchronized.py",
    "task.py",
    "turn.py",
    "work.py",
    "workloads/__init__.py",
)


def harness() -> list[Path]:
    """The files of HARNESS, whole paths."""
    return [plugin.PACKAGE / name for name in HARNESS]


def versions(backend: Backend) -> str:
    """What a backend's times belong to, as 'numpy 2.4.6, python 3.11.7, torch 2.13.0'."""
    return versions_of("numpy", *plugin.declared(backend.file).get("LIBRARIES", ()))


def versions_of(*distributions: str) -> str:
    """Of each distribution and of Python; nothing is imported to find them."""
    found = {name: installed(name) or "missing" for name in distributions} | {
        "python": platform.python_version()
    }
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))


def options(backend: Backend) -> str:
    """A backend's options as JSON, keys sorted, so that their order is no change."""
    return json.dumps(dict(backend.options), sort_keys=True)


def threads(config: Config, backend: Backend) -> str:
    """The threads that a backend is granted, 'all' where the config does not say."""
    return str(backend.threads or "all")


def where(config: Config, backend: Backend, places: Mapping[str, Place]) -> str:
    """The machine that a backend's times belong to, as the plan knows it: on a cluster, for which
    there are `places`, what is asked for.

    A new GPU or driver is no reason to measure a host backend again.
    """
    if place := places.get(backend.name):
        return place.words if config.machine == "auto" else f"{config.machine}, {place.words}"
    if config.machine != "auto" or backend.device == "cpu":
        return _here(config)
    found = machine.accelerators() or "no GPU seen"
    variables = machine.environment(machine.DEVICE_VARIABLES)
    return ", ".join(filter(None, [_here(config), found, variables]))


def host(config: Config, places: Mapping[str, Place]) -> str:
    """The same of drawing, which no backend does: on a cluster it is measured at the baseline's."""
    return where(config, config.backends[config.baseline], places) if places else _here(config)


def _here(config: Config) -> str:
    """A label from config, or what the kernel shows here."""
    return machine.words() if config.machine == "auto" else config.machine


def task(config: Config, backend: Backend) -> dict[str, Any]:
    """The part of a task that is about its backend, where there is no Snakemake."""
    return {
        "backend": backend.name,
        "backend_file": str(backend.file),
        "device": backend.device,
        "options": dict(backend.options),
        "memory": backend.memory,
        "threads": threads(config, backend),
    }
