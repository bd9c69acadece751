"""The command line behind the Makefile: `python -m crossover check | close | peek | plan | ...`.

Everything here reads; only `retry` and `fresh` remove, after they have listed what.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from crossover import (
    again,
    closing,
    identity,
    job,
    lost,
    machine,
    plugin,
    record,
    slurm_queue,
    summary,
    table,
)
from crossover.cells import Cell, itemsize, probe_json
from crossover.config import Backend, Config, ConfigError, load
from crossover.spelling import whole
from crossover.status import OK
from crossover.workloads import Cost

COMMANDS = ("check", "close", "peek", "plan", "retry", "fresh", "cell", "lost")
JOB = re.compile(
    r"^ *Job \d+: (?:render )?(\S+), (\S+), (\S+), n=(\d+), round (\d+) of \d+$", re.MULTILINE
)
CEILINGS = re.compile(r"^ *Job \d+: ceilings of (\S+), \S+, round \d+ of \d+$", re.MULTILINE)
# For the estimate alone: what two ordinary cores do at least.
FLOP_PER_S, BYTES_PER_S = 2e10, 2e9
CALLS = 4  # first, warm-up, sample, check
LEAST_FREE = 10_000_000  # bytes: Snakemake's own files and some dozen cells


def main() -> None:
    parser = argparse.ArgumentParser(prog="crossover", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--config", type=Path, default=Path("config.yaml"))
    parser.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        help="close: exit status 1 where a cell is not ok (default: what the config says)",
    )
    parser.add_argument("--workload")
    parser.add_argument("--backend")
    parser.add_argument("--size")
    parser.add_argument("--dtype")
    parser.add_argument("arguments", nargs="*", help="after --: flags for Snakemake, or all of it")
    options = parser.parse_intermixed_args()
    try:
        config = load(options.config)
        match options.command:
            case "check":
                check()
            case "close":
                strict = config.strict if options.strict is None else options.strict
                close(config, options.config, strict)
            case "peek":
                peek(config, options.config)
            case "plan":
                plan(config, options.config, options.arguments)
            case "retry":
                remove(again.retry(config), "All cells that are there are ok and good")
            case "fresh":
                remove(
                    again.fresh(config), "All rounds that are there are next to their baseline's"
                )
            case "cell":
                one_cell(config, options)
            case "lost":
                sys.exit(lost.recover(options.arguments))
    except ConfigError as error:
        sys.exit("\n".join(error.lines))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is not there yet: run the sweep first ('make sweep')")
    except record.Damaged as error:
        sys.exit(str(error))


def _config_of(path: Path) -> str:
    """What to type behind a make target, so that it means this config."""
    return "" if path == Path("config.yaml") else f" CONFIG={path}"


def check() -> None:
    """The config has been read. Is there room for results? On a disk that is full from the start
    Snakemake ends in pages of its own."""
    here = Path.cwd()
    if not os.access(here, os.W_OK):
        sys.exit(f"{here} cannot be written: results go there")
    if (free := shutil.disk_usage(here).free) < LEAST_FREE:
        needed = f"a sweep needs {LEAST_FREE / 1e6:.0f} MB at least"
        sys.exit(f"{here}: {free / 1e6:.1f} MB left on its disk; {needed}")
    if jobs := " ".join(slurm_queue.left_over()):
        words = "Slurm still has jobs of an earlier run from here, which would measure the same"
        sys.exit(f"{words}: wait for them, or end them with 'scancel {jobs}'")


def close(config: Config, path: Path, strict: bool) -> None:
    """The lines that end a sweep, from summary.csv; with `strict`, exit status 1 where a cell of
    it is not ok."""
    rows = table.read(config.folder / "summary.csv")
    print("\n".join(["", *closing.lines(rows, config.folder, _config_of(path))]), flush=True)
    if strict and (count := len(closing.failed(rows))):
        sys.exit(f"strict: {count} cells are not ok")


def peek(config: Config, path: Path) -> None:
    """The summary so far, whether or not a sweep is running; nothing is written."""
    rows = summary.summarize(
        _all(config),
        config.rounds,
        config.baseline,
        partial=True,
        mixed=config.mixed_machines,
        asked=config.gpu_models,
    )
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    print(f"{'cell':48} {'rounds':>6} {'compute':>12} {'speedup':>8}  status")
    for row in texts:
        if row["scope"] not in ("compute", "render"):
            continue
        cell = f"{row['workload']}, {row['backend']}, {row['dtype']}, n={int(row['size']):,}"
        seconds = f"{float(row['median_s']):.3g} s" if row["median_s"] else ""
        speedup = f"{float(row['speedup']):.2g}x" if row["speedup"] else ""
        print(f"{cell:48} {row['rounds']:>6} {seconds:>12} {speedup:>8}  {row['status']}")
    print("\n".join(closing.verdicts(texts) + closing.not_ok(texts, _config_of(path))))


def _all(config: Config) -> list[Cell]:
    return [*config.cells(), *config.pictures()]


def plan(config: Config, path: Path, arguments: list[str]) -> None:
    """Cells, jobs, and about how long and how much disk, before anything runs."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", *arguments]
    if path != Path("config.yaml"):
        command += ["--configfile", str(path), "--replace-workflow-config"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip() or done.stdout.strip())
    words = done.stdout + done.stderr
    jobs = [(Cell(w, b, d, int(n)), int(r)) for w, b, d, n, r in JOB.findall(words)]
    ceilings = CEILINGS.findall(words)
    if not arguments:  # which may say otherwise than the file
        cells, rounds = _all(config), config.rounds
        print(f"{len(cells)} cells of {rounds} rounds: {len(cells) * rounds} jobs in all")
    print(f"{len(jobs)} of them to run, the others are cached")
    for backend, count in Counter(cell.backend for cell, _ in jobs).items():
        print(f"  {count} x {backend}" + ("" if backend in config.backends else " (drawing)"))
    if ceilings:
        print(f"  {len(ceilings)} x ceilings, what the machine can do at best")
    costs = {cell: _cost(config, cell) for cell, _ in jobs}
    seconds = sum(_seconds(config, cell.backend, costs[cell]) for cell, _ in jobs)
    seconds += sum(_seconds(config, backend, Cost(0, 0, 0)) for backend in ceilings)
    disk = sum(min(costs[c].output_bytes, config.keep_mb * 1e6) * (r == 1) + 1e5 for c, r in jobs)
    print(f"expected: about {seconds / 60:.1f} minutes and at most {disk / 1e6:,.0f} MB of disk")


def _cost(config: Config, cell: Cell) -> Cost:
    workload = plugin.load(config.workloads[cell.workload].file)
    cost: Cost = workload.cost(cell.size, itemsize(cell.dtype))
    return cost


def _seconds(config: Config, name: str, cost: Cost) -> float:
    """A guess within a factor of two or so: start, twice the budget, and big calls on top."""
    moved = cost.input_bytes + cost.output_bytes + cost.temporary_bytes
    call = cost.flop / FLOP_PER_S + moved / BYTES_PER_S
    path, backend = probe_json(name), config.backends.get(name)
    no_gpu = backend and backend.device.startswith("cuda") and not machine.accelerators()
    if no_gpu or (path.exists() and again.why_not_available(path)):
        return 0.4
    start = 2.2 if backend and backend.library != "numpy" else 0.7
    return start + 2 * config.budget_s + CALLS * call


def remove(found: dict[Path, str], otherwise: str) -> None:
    """List, then remove, these files; `otherwise` says that there are none."""
    if not found:
        print(f"{otherwise}: nothing to remove")
        return
    for path, why in found.items():
        print(f"{path}: {why}")
    for path in found:
        path.unlink(missing_ok=True)
    print(f"Removed {len(found)} files; the next sweep makes them again")


def one_cell(config: Config, options: argparse.Namespace) -> None:
    """Measure one cell in the foreground, keep nothing, and show its traceback where it fails."""
    cell = _chosen(config, options)
    backend = config.backends[cell.backend]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task = _task(config, cell, backend, folder)
        job.probe(task, config.timeout_s, folder / "probe.log")
        job.measure(task, config.timeout_s, folder / "measure.log")
        for log in (folder / "probe.log", folder / "measure.log"):
            if log.exists() and (text := log.read_text(errors="replace").strip()):
                print(text)
        rows = record.read(folder / "1.csv")
    print(cell.words(1, 1))
    if rows[0]["status"] != OK:
        sys.exit(f"{rows[0]['status']}: {rows[0]['reason']}")
    for scope in dict.fromkeys(row["scope"] for row in rows):
        seconds = [float(row["seconds"]) for row in rows if row["scope"] == scope]
        print(f"  {scope:12} {median(seconds):.4g} s  ({len(seconds)} samples)")
    print(f"  error {rows[0]['error']} (bound {rows[0]['error_bound']})")


def _chosen(config: Config, options: argparse.Namespace) -> Cell:
    """The configured workload and backend that were named, at any size."""
    for kind, names in (("workload", config.workloads), ("backend", config.backends)):
        if getattr(options, kind) not in names:
            wanted = f"{kind.upper()}={getattr(options, kind) or ''}"
            raise ConfigError([f"{wanted}: name one of {', '.join(names)}"])
    workload = config.workloads[options.workload]
    size = whole(options.size or "")
    if not isinstance(size, int) or size < 1:
        raise ConfigError([f"SIZE={options.size or ''}: give a whole number of at least 1"])
    dtype = options.dtype or workload.dtypes[0]
    allowed = plugin.declared(workload.file).get("DTYPES", (dtype,))
    if dtype not in allowed:
        raise ConfigError([f"DTYPE={dtype}: {workload.name} can do {', '.join(allowed)}"])
    return Cell(options.workload, options.backend, dtype, size)


def _task(config: Config, cell: Cell, backend: Backend, folder: Path) -> dict[str, Any]:
    return {
        "workload": cell.workload,
        "workload_file": str(config.workloads[cell.workload].file),
        "backend": cell.backend,
        "backend_file": str(backend.file),
        "probe": str(folder / "probe.json"),
        "json": str(folder / "probe.json"),
        "device": backend.device,
        "options": dict(backend.options),
        "memory": backend.memory,
        "dtype": cell.dtype,
        "size": cell.size,
        "round": 1,
        "seed": config.seed,
        "budget_s": config.budget_s,
        "threads": identity.threads(config, backend),
        "csv": str(folder / "1.csv"),
        "array": None,
        "keep_mb": config.keep_mb,
    }


if __name__ == "__main__":
    main()
