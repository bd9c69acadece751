"""What a run of Snakemake would measure, and about how long it takes: a guess within a factor of
two or so, from the work of each cell and the least that two ordinary cores do."""

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crossover import again, machine, nodes
from crossover.cells import Cell, probe_json
from crossover.config import Config
from crossover.workloads import Cost

JOB = re.compile(
    r"^Job \d+: (?:render )?(\S+), (\S+), (\S+), n=(\d+), round (\d+) of \d+$", re.MULTILINE
)
ANY_JOB = re.compile(r"^Job \d+: (?!results are in)", re.MULTILINE)
CEILINGS = re.compile(r"^Job \d+: ceilings of (\S+), \S+, round \d+ of \d+$", re.MULTILINE)
FLOP_PER_S, BYTES_PER_S = 2e10, 2e9
CALLS = 4  # first, warm-up, sample, check


class NotPlanned(Exception):
    """Snakemake refused; the message is what it said."""


@dataclass(frozen=True)
class Planned:
    """Cells (or pictures) with their round, and backends whose ceilings are measured, each once
    for a job; and the number of all jobs."""

    cells: tuple[tuple[Cell, int], ...]
    ceilings: tuple[str, ...]
    jobs: int


def command(path: Path, targets: Sequence[str], arguments: Iterable[str]) -> list[str]:
    """Snakemake as `make sweep` runs it; `targets` are files to make, all of them where none is
    named, and `arguments` more flags."""
    words = [sys.executable, "-m", "snakemake", *targets, "--cores", "1"]
    if path != Path("config.yaml"):
        words += ["--configfile", str(path), "--replace-workflow-config"]
    return [*words, *arguments]


def planned(path: Path, arguments: Iterable[str]) -> Planned:
    """From a dry run; raises NotPlanned."""
    words = command(path, [], ["--dry-run", *arguments])
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise NotPlanned(done.stderr.strip() or done.stdout.strip())
    text = done.stdout + done.stderr
    found = ((Cell(w, b, d, int(n)), int(r)) for w, b, d, n, r in JOB.findall(text))
    return Planned(tuple(found), tuple(CEILINGS.findall(text)), len(ANY_JOB.findall(text)))


def cost(config: Config, cell: Cell) -> Cost:
    """The cost of one call by the workload's own formula, read without measuring."""
    return nodes.cost(config.workloads[cell.workload].file, cell.size, cell.dtype)


def seconds(config: Config, name: str, cost: Cost) -> float:
    """Of one job of a backend: start, twice the budget, and big calls on top."""
    moved = cost.input_bytes + cost.output_bytes + cost.temporary_bytes
    call = cost.flop / FLOP_PER_S + moved / BYTES_PER_S
    path, backend = probe_json(name), config.backends.get(name)
    no_gpu = backend and backend.device.startswith("cuda") and not machine.accelerators()
    if no_gpu or (path.exists() and again.why_not_available(path)):
        return 0.4
    start = 2.2 if backend and backend.library != "numpy" else 0.7
    return start + 2 * config.budget_s + CALLS * call
