"""The command line behind the Makefile: `python -m crossover check | close | peek | plan | ...`.

Everything here reads; only `retry` removes, after it has listed what.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from crossover import closing, identity, job, machine, plugin, record, summary, table
from crossover.cells import Cell, probe_json
from crossover.config import Backend, Config, ConfigError, load
from crossover.spelling import whole
from crossover.status import OK, UNAVAILABLE
from crossover.workloads import Cost

JOB = re.compile(
    r"^Job \d+: (?:render )?(\S+), (\S+), (\S+), n=(\d+), round (\d+) of \d+$", re.MULTILINE
)
# For the estimate alone: what two ordinary cores do at least.
FLOP_PER_S, BYTES_PER_S = 2e10, 2e9
CALLS = 4  # first, warm-up, sample, check


def main() -> None:
    parser = argparse.ArgumentParser(prog="crossover", description=__doc__)
    parser.add_argument("command", choices=("check", "close", "peek", "plan", "retry", "cell"))
    parser.add_argument("--config", type=Path, default=Path("config.yaml"))
    parser.add_argument("--workload")
    parser.add_argument("--backend")
    parser.add_argument("--size")
    parser.add_argument("--dtype")
    parser.add_argument("arguments", nargs="*", help="after --: more flags for Snakemake")
    options = parser.parse_intermixed_args()
    try:
        config = load(options.config)
        match options.command:
            case "close":
                close(config, options.config)
            case "peek":
                peek(config, options.config)
            case "plan":
                plan(config, options.config, options.arguments)
            case "retry":
                retry(config)
            case "cell":
                one_cell(config, options)
    except ConfigError as error:
        sys.exit("\n".join(error.lines))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except FileNotFoundError as error:
        sys.exit(f"{error.filename} is not there yet: run the sweep first ('make sweep')")
    except record.Damaged as error:
        sys.exit(str(error))


def _retry_command(path: Path) -> str:
    """What to type, for this config."""
    return "make retry" if path == Path("config.yaml") else f"make retry CONFIG={path}"


def close(config: Config, path: Path) -> None:
    """The lines that end a sweep, from summary.csv."""
    rows = table.read(config.folder / "summary.csv")
    print("\n".join(["", *closing.lines(rows, config.folder, _retry_command(path))]))


def peek(config: Config, path: Path) -> None:
    """The summary so far, whether or not a sweep is running; nothing is written."""
    rows = summary.summarize(_all(config), config.rounds, config.baseline, partial=True)
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    print(f"{'cell':48} {'rounds':>6} {'compute':>12} {'speedup':>8}  status")
    for row in texts:
        if row["scope"] not in ("compute", "render"):
            continue
        cell = f"{row['workload']}, {row['backend']}, {row['dtype']}, n={int(row['size']):,}"
        seconds = f"{float(row['median_s']):.3g} s" if row["median_s"] else ""
        speedup = f"{float(row['speedup']):.2g}x" if row["speedup"] else ""
        print(f"{cell:48} {row['rounds']:>6} {seconds:>12} {speedup:>8}  {row['status']}")
    print("\n".join(closing.verdicts(texts) + closing.not_ok(texts, _retry_command(path))))


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
    found = JOB.findall(done.stdout + done.stderr)
    jobs = [(Cell(w, b, d, int(n)), int(r)) for w, b, d, n, r in found]
    if not arguments:  # which may say otherwise than the file
        cells, rounds = _all(config), config.rounds
        print(f"{len(cells)} cells of {rounds} rounds: {len(cells) * rounds} jobs in all")
    print(f"{len(jobs)} of them to run, the others are cached")
    for backend, count in Counter(cell.backend for cell, _ in jobs).items():
        print(f"  {count} x {backend}" + ("" if backend in config.backends else " (drawing)"))
    costs = {cell: _cost(config, cell) for cell, _ in jobs}
    seconds = sum(_seconds(config, cell, costs[cell]) for cell, _ in jobs)
    disk = sum(min(costs[c].output_bytes, config.keep_mb * 1e6) * (r == 1) + 1e5 for c, r in jobs)
    print(f"expected: about {seconds / 60:.1f} minutes and at most {disk / 1e6:,.0f} MB of disk")


def _cost(config: Config, cell: Cell) -> Cost:
    bits = int(re.sub(r"\D", "", cell.dtype))  # 'complex64' has two parts of 32 bits
    cost: Cost = plugin.load(config.workloads[cell.workload].file).cost(cell.size, bits // 8)
    return cost


def _seconds(config: Config, cell: Cell, cost: Cost) -> float:
    """A guess within a factor of two or so: start, twice the budget, and big calls on top."""
    moved = cost.input_bytes + cost.output_bytes + cost.temporary_bytes
    call = cost.flop / FLOP_PER_S + moved / BYTES_PER_S
    path, backend = probe_json(cell.backend), config.backends.get(cell.backend)
    no_gpu = backend and backend.device.startswith("cuda") and not machine.accelerators()
    if no_gpu or (path.exists() and _why_not_available(path)):
        return 0.4
    start = 2.2 if backend and backend.library != "numpy" else 0.7
    return start + 2 * config.budget_s + CALLS * call


def retry(config: Config) -> None:
    """List, then remove, the probes and rounds that are not ok or not good."""
    found = _to_retry(config)
    if not found:
        print("All cells that are there are ok and good: nothing to retry")
        return
    for path, why in found.items():
        print(f"{path}: {why}")
    for path in found:
        path.unlink(missing_ok=True)
    print(f"Removed {len(found)} files; the next sweep makes them again")


def _to_retry(config: Config) -> dict[Path, str]:
    found: dict[Path, str] = {}
    for name in config.backends:
        path = probe_json(name)
        if path.exists() and (why := _why_not_available(path)):
            found[path] = why
    for cell in _all(config):
        for number in range(1, config.rounds + 1):
            path = cell.csv(number)
            if path.exists() and (why := _why_not_good(cell, number)):
                found[path] = why
                if number == 1 and cell.array.exists():
                    found[cell.array] = "its table is removed"
    table_path = config.folder / "summary.csv"
    try:
        table.read(table_path)
    except FileNotFoundError:
        pass
    except record.Damaged:
        found[table_path] = "was cut or edited, and is made again"
    for row in summary.summarize(_all(config), config.rounds, config.baseline, partial=True):
        if row["grade"] == "not_paired":
            for backend in (row["backend"], config.baseline):
                cell = Cell(row["workload"], backend, row["dtype"], row["size"])
                for number in range(1, config.rounds + 1):
                    found.setdefault(cell.csv(number), "not_paired: measured too long apart")
    return {path: why for path, why in found.items() if path.exists()}


def _why_not_available(path: Path) -> str:
    try:
        probe = record.read_json(path)
    except record.Damaged as error:
        return str(error)
    return "" if probe["available"] else f"{probe.get('status', UNAVAILABLE)} ({probe['reason']})"


def _why_not_good(cell: Cell, number: int) -> str:
    outcome = summary.outcome_of(cell, number, first=number)
    if outcome.status != OK:
        return f"{outcome.status} ({outcome.reason})"
    grade = outcome.grade()
    return "" if grade == "good" else grade


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
