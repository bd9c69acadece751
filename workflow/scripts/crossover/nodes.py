"""What is asked of a cluster for each job: kind of node, GPU, cores, memory and time, and which
jobs share one submission.

All of it follows from the config and from the profile's `default-resources`, never from the machine
that plans: the plan on a login node and the one inside a job are the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from crossover import work
from crossover.cells import Cell, itemsize
from crossover.entries import Backend
from crossover.workloads import Cost

# What decides on which machine a job lands: part of a cell's identity, so that another partition or
# GPU model measures again. `queue` is for schedulers other than Slurm.
MACHINE = ("slurm_partition", "queue", "gpu_model", "constraint")
# What jobs on one node have in common besides; no number depends on it.
NODE = ("slurm_account", "qos", "exclusive")
# What each job asks for itself; of a group the largest counts, and the sum of `runtime`.
OWN = ("cpus_per_task", "mem_mb", "runtime")
KEYS = (*MACHINE, *NODE, *OWN, "slurm_extra")

# Memory that a process takes before it has an array: Python, Snakemake twice, and the library; a
# GPU's context on top.
BASE_MB, CONTEXT_MB = 1000, 2000
# Inputs are made, converted and kept to be refilled or compared; outputs of two calls can be alive.
COPIES = 3
CEILINGS = Cost(flop=0, input_bytes=1 << 27, output_bytes=0)  # and probes, which need less
START_S = 60  # of a job, on a file system that is not the fastest


@dataclass(frozen=True)
class Place:
    """A kind of node, and the backends that are measured there one after another.

    `name` is that of one of them; `machine` and `common` are asked for, of MACHINE and NODE.
    """

    name: str
    backends: tuple[str, ...]
    machine: tuple[tuple[str, Any], ...]
    common: tuple[tuple[str, Any], ...]
    gpu: bool

    @property
    def words(self) -> str:
        """The machine of what is measured there, as far as a plan can know it."""
        kind = ", ".join(f"{key} {value}" for key, value in self.machine) or "any node"
        return f"{kind}, one GPU" if self.gpu else kind

    @property
    def exclusive(self) -> bool:
        """Whether the whole node is asked for, so that nothing else runs there meanwhile."""
        return bool(dict(self.common).get("exclusive", True))

    def extra(self, more: str) -> str | None:
        """Flags for sbatch that Snakemake has no name for; `more` is what the profile says."""
        return " ".join(filter(None, [more, "--exclusive" * self.exclusive])) or None


def is_device(backend: Backend) -> bool:
    return backend.device.partition(":")[0] != "cpu"


def named(backend: Backend) -> dict[str, Any]:
    """What a backend's entry says about the machine."""
    return {key: value for key, value in backend.resources if key in MACHINE}


def hosts(backend: Backend, backends: Iterable[Backend]) -> list[Backend]:
    """The device backends, one for each kind of node, on whose nodes a host backend is measured so
    that there are pairs: those that what it says of the machine does not exclude."""
    if is_device(backend) or backend.node == "any":
        return []
    kinds: dict[tuple[tuple[str, Any], ...], Backend] = {}
    for other in sorted(backends, key=lambda one: one.name):
        kind = named(other)
        fits = all(kind.get(key) == value for key, value in named(backend).items())
        if is_device(other) and other.node == "same" and fits:
            kinds.setdefault(tuple(sorted(kind.items())), other)
    return list(kinds.values())


def places(backends: Mapping[str, Backend], defaults: Mapping[str, Any]) -> dict[str, Place]:
    """By backend, where it is measured. `defaults` are the profile's `default-resources`; an
    entry's own `resources` beat them, and of a pair the device's entry counts."""
    leaders = {name: (hosts(one, backends.values()) or [one])[0] for name, one in backends.items()}
    members: dict[tuple[Any, ...], list[str]] = {}
    for name in sorted(backends):
        leader = leaders[name]
        kind = tuple(sorted(named(leader).items()))
        members.setdefault((is_device(leader), leader.node, kind), []).append(name)
    found = {}
    for (gpu, _, _), names in members.items():
        # The device's first, so that the place has its name, and its account where they differ.
        names.sort(key=lambda name: (is_device(backends[name]) != gpu, name))
        asked = dict(defaults) | dict(leaders[names[0]].resources)
        place = Place(
            name=names[0],
            backends=tuple(sorted(names)),
            machine=tuple((key, asked[key]) for key in MACHINE if key in asked),
            common=tuple((key, asked[key]) for key in NODE if key in asked),
            gpu=gpu,
        )
        found.update(dict.fromkeys(names, place))
    return found


@cache
def cost(file: Path, size: int, dtype: str) -> Cost:
    """What one call needs; where the workload's file does not say, or fails (then its cells will
    say why), n elements in and out."""
    item, found = itemsize(dtype), None
    with suppress(Exception, SystemExit):  # it is a user's code
        found = work.estimate(file, size, dtype, item)
    return found or Cost(0.0, size * item, size * item)


def memory_mb(cost: Cost, gpu: bool) -> int:
    """Megabytes for one cell, from its bytes (`workloads.Cost`); with some air, since a job that
    takes more is killed, and one that asks for more only waits longer."""
    arrays = COPIES * (cost.input_bytes + cost.output_bytes) + cost.temporary_bytes
    return ceil(BASE_MB + CONTEXT_MB * gpu + 1.2 * arrays / 1e6)


def minutes(timeout_s: float) -> int:
    """For one job: what it may take at most, so that Crossover's own limit is always the first."""
    return ceil((timeout_s + START_S) / 60)


Set = tuple[str, str, str]  # workload, dtype, size: what is measured side by side


def batches(
    sets: Sequence[Set], cells: Iterable[Cell], places: Mapping[str, Place], most: int
) -> dict[tuple[str, Set], int]:
    """By a place's name and a set, the number of the batch that measures the set's cells there.

    A batch takes sets in their order, whole ones, as long as they are at most `most` jobs.
    """
    jobs: dict[tuple[str, Set], int] = {}
    for cell in cells:
        key = (places[cell.backend].name, (cell.workload, cell.dtype, str(cell.size)))
        jobs[key] = jobs.get(key, 0) + 1
    found: dict[tuple[str, Set], int] = {}
    for name in sorted({name for name, _ in jobs}):
        number, filled = 1, 0
        for one in sets:
            count = jobs.get((name, one), 0)
            if filled and filled + count > most:
                number, filled = number + 1, 0
            filled += count
            found[name, one] = number
    return found


def from_profile(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What a profile's `default-resources` say of KEYS, as plain values; an expression is left out,
    such as the one that Snakemake itself has for mem_mb."""
    found = {key: plain(raw[key]) for key in KEYS if raw.get(key) is not None}
    return {key: value for key, value in found.items() if key not in OWN or type(value) is int}


def plain(value: Any) -> Any:
    """7 for '7', True for 'true', the text itself for "'a text'"."""
    text = str(value).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    return int(text) if text.isdecimal() else text
