"""The make target `refine`: what was asked for, and the loop with the files and Snakemake in it."""

import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from time import monotonic

from crossover import added_sizes, planning, table
from crossover.cells import DRAWN_BY, Cell
from crossover.config import Config, ConfigError
from crossover.refine_loop import Loop, Step, World, wait_for
from crossover.spelling import number

INTERRUPTED = 130  # the shell's exit status for Ctrl-C


def undo(config: Config) -> None:
    """Remove refine.yaml; what was measured stays."""
    path = _file(config)
    if not path.exists():
        print(f"Nothing to undo: {path} is not there")
        return
    path.unlink()
    print(f"Removed {path}; what was measured for it is kept, and the next sweep leaves it out")


def refine(
    config: Config, path: Path, minutes: str, within: str, arguments: Sequence[str], again: str
) -> None:
    """`again` is what a make target needs to mean this config."""
    began = monotonic()
    limit = _above("MINUTES", minutes, 0, "a number of minutes above 0, such as 5")
    factor = _above("WITHIN", within, 1, "a factor above 1, such as 1.5")
    if config.sizes_replaced:
        raise ConfigError(
            [f"{path}: sizes stands for those of all workloads; give each its own, to refine them"]
        )
    summary = config.folder / "summary.csv"
    table.read(summary)  # or there is nothing to refine
    decided = str(config.folder / "break_even.csv")
    to_decide = planning.command(path, [decided], arguments)
    before = planning.planned(path, arguments)
    if count := len(before.cells) + len(before.ceilings):
        sys.exit(f"{count} jobs are to be run first: 'make sweep{again}'")
    if before.jobs and (status := wait_for(to_decide)):
        sys.exit(status)
    loop = Loop(
        World(
            rows=lambda: table.read(summary),
            seconds=lambda workload, dtype, size: _seconds(config, workload, dtype, size),
            keep=lambda step: _keep(_file(config), step),
            measure=lambda: wait_for(to_decide),
            draw=lambda: wait_for(planning.command(path, [], arguments)),
            clock=monotonic,
            say=lambda words: print(words, flush=True),
        ),
        {
            (w.name, dtype): w.sizes_in(dtype)
            for w in config.workloads.values()
            for dtype in w.dtypes
        },
        factor,
        60 * limit - (monotonic() - began),
    )
    try:
        status = loop.run(config.rounds)
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status:
        print(
            f"Ended with exit status {status}. What was measured is kept, and what is to be is in "
            f"{_file(config)}:\n'make sweep{again}' goes on, 'make refine{again} UNDO=1' does "
            "without",
            file=sys.stderr,
        )
        sys.exit(status)


def _file(config: Config) -> Path:
    return config.folder / added_sizes.NAME


def _keep(path: Path, step: Step) -> None:
    more: dict[str, dict[str, Sequence[int]]] = {}
    for (workload, dtype), sizes in step.items():
        more.setdefault(workload, {})[dtype] = sizes
    added_sizes.write(path, added_sizes.joined(added_sizes.read(path), more))


def _seconds(config: Config, workload: str, dtype: str, size: int) -> float:
    """Of all the jobs of a size: each backend and, for a curve, drawing, in each round."""
    cost = planning.cost(config, Cell(workload, "", dtype, size))
    names = [*config.backends, *([DRAWN_BY] if config.workloads[workload].is_curve else [])]
    return config.rounds * sum(planning.seconds(config, name, cost) for name in names)


def _above(name: str, text: str, least: float, words: str) -> float:
    value = number(text)
    if not isinstance(value, float) or not isfinite(value) or value <= least:
        raise ConfigError([f"{name}={text}: give {words}"])
    return value
