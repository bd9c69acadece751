"""What the user asked for: config.yaml, checked in full before any job, as frozen values.

`check_file` looks at a file's spelling, `read` at what it says; both raise `ConfigError` with all
problems at once, one line each. Nothing here imports NumPy, torch, pandas or Snakemake.
"""

from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from crossover import added_sizes, nodes
from crossover.cells import DRAWN_BY, Cell, Picture, output_folder
from crossover.entries import Backend, Workload, resolve_backends, resolve_workloads
from crossover.schema import Problem, check
from crossover.spelling import choices, dotted, show
from crossover.yaml_strict import ConfigError, read_yaml

__all__ = ["Backend", "Config", "ConfigError", "Workload", "check_file", "load", "read", "refined"]

# What has its place in results/ already, so that no config can have its own folder there.
RESERVED_FOLDERS = ("backends", "ceilings", "cells", "compare", "logs", "plots", "render")
RESERVED_FILES = (
    *("article.csv", "article.md", "break_even.csv", "readme.md", "regimes.md", "report.html"),
    *("pack.zip", "reuse.csv", "snakemake_report.html", "summary.csv", "use_gpu.py", "verdict.md"),
)
RESERVED = (*RESERVED_FOLDERS, *RESERVED_FILES, added_sizes.NAME)

# By the way of drawing. A line through more points takes matplotlib seconds a picture, then minutes
# and gigabytes.
MOST_POINTS = {"line": 1_000_000, DRAWN_BY: inf}

# Kinds of work that make a config a survey of them. The article's three workloads are of three.
FEWEST_REGIMES = 4


@dataclass(frozen=True)
class Config:
    """A whole sweep. Times in seconds, `keep_mb` in megabytes; `name` is '' where there is none."""

    name: str
    workloads: dict[str, Workload]
    backends: dict[str, Backend]
    baseline: str
    rounds: int
    budget_s: float
    timeout_s: float
    seed: int
    keep_mb: float
    machine: str
    mixed_machines: str
    strict: bool
    container: str | None
    currency: str = ""  # of the prices; '' where it is not said
    sizes_replaced: bool = False  # by the top-level sizes: those of each workload do not count

    def cells(self) -> list[Cell]:
        """All cells; the backends of one workload, dtype and size stand side by side."""
        return [
            Cell(workload.name, backend, dtype, size)
            for workload in self.workloads.values()
            for dtype in workload.dtypes
            for size in workload.sizes_in(dtype)
            for backend in self.backends
        ]

    def pictures(self) -> list[Picture]:
        """What drawing the outputs that are curves is measured for: our way, and, at the config's
        own sizes, the article's."""
        return [
            Picture(workload.name, method, dtype, size)
            for workload in self.workloads.values()
            if workload.is_curve
            for dtype in workload.dtypes
            for size in workload.sizes_in(dtype)
            for method, most in MOST_POINTS.items()
            if size <= most and (method != "line" or size in workload.sizes)
        ]

    def kept_bytes(self, output_bytes: float, round: int) -> float:
        """The most that one job leaves on disk: its table, and in round 1 the output array."""
        return 1e5 + (min(output_bytes, self.keep_mb * 1e6) if round == 1 else 0)

    @property
    def baselines(self) -> dict[str, str]:
        """By backend, the baseline of its own where it has one; that is its own baseline too."""
        found = {name: one.baseline for name, one in self.backends.items() if one.baseline}
        return found | {name: name for name in found.values()}

    @property
    def prices(self) -> dict[str, float]:
        """By backend, what an hour of its machine costs, where that is known."""
        found = {name: one.price_per_hour for name, one in self.backends.items()}
        return {name: float(price) for name, price in found.items() if price is not None}

    @property
    def gpu_models(self) -> dict[str, str]:
        """By backend, the GPU model that its entry asks a cluster for, where it does."""
        return {
            name: dict(backend.resources)["gpu_model"]
            for name, backend in self.backends.items()
            if backend.device != "cpu" and "gpu_model" in dict(backend.resources)
        }

    @property
    def is_survey(self) -> bool:
        """Whether it has so many kinds of work that they are told apart."""
        kinds = {workload.regime for workload in self.workloads.values()}
        return len(kinds - {""}) >= FEWEST_REGIMES

    @property
    def folder(self) -> Path:
        """Where this config's summary and plots are."""
        return output_folder(self.name)


def check_file(path: Path | str) -> None:
    """Raise ConfigError where the YAML file is missing, broken, or would be read by a guess."""
    read_yaml(path)


def load(path: Path | str, base: Path | None = None) -> Config:
    """check_file, read and refined in one; `file:` paths and results/ are relative to base, or to
    where we are."""
    config = read(read_yaml(path), Path.cwd() if base is None else base)
    return refined(config, base or Path())


def refined(config: Config, here: Path) -> Config:
    """With the sizes that `make refine` added; results/ is below `here`. None of them where the
    top-level sizes stand for those of all workloads."""
    if config.sizes_replaced:
        return config
    added = added_sizes.read(here / config.folder / added_sizes.NAME)
    return replace(
        config,
        workloads={
            name: replace(
                workload, added=tuple((d, tuple(s)) for d, s in added.get(name, {}).items())
            )
            for name, workload in config.workloads.items()
        },
    )


def read(raw: Any, base: Path) -> Config:
    """The config in a mapping such as Snakemake's `config`; `file:` paths are relative to base.

    Raises ConfigError with a line for every problem.
    """
    values, problems = check(raw)
    config = None
    if isinstance(values, dict):
        workloads = resolve_workloads(values, base, problems)
        backends = resolve_backends(values, base, problems)
        problems += _baseline_problems(values)
        problems += _name_problems(values)
        problems += _own_baseline_problems(backends)
        problems += _node_problems(backends)
        if not problems:
            config = _config(values, workloads, backends)
    if config is None:
        lines = dict.fromkeys(f"config: {problem.line}" for problem in problems)
        raise ConfigError(list(lines))
    return config


def _config(
    values: dict[str, Any], workloads: dict[str, Workload], backends: dict[str, Backend]
) -> Config:
    return Config(
        name=values.get("name", ""),
        workloads=workloads,
        backends=backends,
        baseline=values["baseline"],
        rounds=values["rounds"],
        budget_s=float(values["budget_s"]),
        timeout_s=float(values["timeout_s"]),
        seed=values["seed"],
        keep_mb=float(values["arrays"]["keep_mb"]),
        machine=values["machine"],
        mixed_machines=values["mixed_machines"],
        strict=values["strict"],
        container=values.get("container"),
        currency=values.get("currency", ""),
        sizes_replaced="sizes" in values,
    )


def _baseline_problems(values: dict[str, Any]) -> list[Problem]:
    backends, baseline = values.get("backends"), values["baseline"]
    if not isinstance(backends, dict) or not backends or not isinstance(baseline, str):
        return []
    if baseline in backends:
        return []
    line = f"baseline: {show(baseline)} is not one of the backends; "
    return [Problem(("baseline",), line + choices(baseline, backends, "Backends here"))]


def _own_baseline_problems(backends: dict[str, Backend]) -> list[Problem]:
    """One of its own has to be there, and is compared with itself alone."""
    problems = []
    for name, backend in backends.items():
        if (own := backend.baseline) is None:
            continue
        path = ("backends", name, "baseline")
        if own not in backends:
            line = f"{dotted(path)}: {show(own)} is not one of the backends; "
            problems.append(Problem(path, line + choices(own, backends, "Backends here")))
        elif backends[own].baseline not in (None, own):
            line = f"{dotted(path)}: {show(own)} is compared with {backends[own].baseline} itself; "
            problems.append(Problem(path, f"{line}a baseline has none of its own"))
    return problems


def _node_problems(backends: dict[str, Backend]) -> list[Problem]:
    """A host backend is measured on one kind of node: with several, it has to say on which."""
    problems = []
    for name, backend in backends.items():
        if len(kinds := nodes.hosts(backend, backends.values())) > 1:
            path = ("backends", name, "resources")
            others = ", ".join(kind.name for kind in kinds)
            line = f"{dotted(path)}: the devices are on several kinds of nodes ({others}); name one"
            line += ", such as slurm_partition, and for each other one an entry such as this one"
            line += f", named as baseline by its device; or write node: any in {dotted(path[:2])}"
            problems.append(Problem(path, line))
    return problems


def _name_problems(values: dict[str, Any]) -> list[Problem]:
    name = values.get("name")
    if not isinstance(name, str) or name.casefold() not in RESERVED:
        return []
    line = f"name: {show(name)} is taken in results/; any name but {', '.join(RESERVED)}"
    return [Problem(("name",), line)]
