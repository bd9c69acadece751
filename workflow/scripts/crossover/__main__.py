"""The command line behind the Makefile: `python -m crossover check | close | peek | plan | ...`.

Everything here reads; only `retry` and `fresh` remove, after they have listed what, `refine`
measures, and `pack` and `compare` write what they are asked for.
"""

import argparse
import io
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from crossover import (
    added_sizes,
    again,
    checkup,
    closing,
    decide,
    doctor,
    identity,
    job,
    lost,
    pack,
    planning,
    plugin,
    prices,
    record,
    refine_command,
    slurm_queue,
    summary,
    table,
    trust,
    verdict,
)
from crossover.cells import Cell
from crossover.config import Backend, Config, ConfigError, load, read
from crossover.doctor import LEAST_FREE
from crossover.doctor_lines import STOP, text
from crossover.spelling import whole
from crossover.status import OK
from crossover.workloads import Cost
from crossover.yaml_strict import read_yaml

COMMANDS = (
    *("check", "close", "peek", "plan", "doctor", "refine", "retry", "fresh", "cell"),
    *("pack", "compare", "check-backend", "lost"),
)


def main() -> None:
    """Run one command of the Makefile. Bad input ends in one line and exit status 1 or 2."""
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
    parser.add_argument("--minutes", default="5", help="refine: the time for all of it")
    parser.add_argument("--within", default="1.5", help="refine: how narrow, as high over low")
    parser.add_argument("--undo", action="store_true", help="refine: forget the sizes it added")
    parser.add_argument("--out", type=Path, help="pack: the file; compare: the folder")
    parser.add_argument("--host", action="store_true", help="pack: host names as they are")
    parser.add_argument("--gate", default="", help="compare: exit 1 beyond this slowdown, 2 unsure")
    parser.add_argument("--allow", action="store_true", help="compare: gate other code as well")
    parser.add_argument("--file", default="", help="check-backend: a Python file")
    parser.add_argument("--device", default="", help="check-backend: the first that it names")
    parser.add_argument("--options", default="", help="check-backend: as JSON")
    words = "after --: flags for Snakemake, or all of its command; compare: archives"
    parser.add_argument("arguments", nargs="*", help=words)
    options = parser.parse_intermixed_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal may know ASCII alone
    if options.command == "compare":  # which needs no config
        try:
            from crossover import compare_command  # only here: it imports matplotlib
        except ImportError as error:
            print(f"{error}: 'make install' installs what is needed", file=sys.stderr)
            sys.exit(2)  # as all that goes wrong with a gate: 1 would be a slowdown
        how = (options.gate, options.allow, options.out)
        sys.exit(compare_command.run(options.arguments, *how))
    try:
        if options.command == "check-backend":
            from crossover import check_command  # only here: it imports NumPy

            sys.exit(check_command.run(options.file, options.device, options.options))
        if options.undo:  # also where what is to be undone is damaged
            refine_command.undo(read(read_yaml(options.config), Path.cwd()))
            return
        config = load(options.config)
        match options.command:
            case "check":
                check()
            case "close":
                strict = config.strict if options.strict is None else options.strict
                close(config, options.config, strict)
            case "peek":
                peek(config, options.config)
            case "doctor":
                examine(config, options.config)
            case "plan":
                plan(config, options.config, options.arguments)
            case "refine":
                words, again_with = options.arguments, _config_of(options.config)
                asked = (options.minutes, options.within)
                refine_command.refine(config, options.config, *asked, words, again_with)
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
            case "pack":
                print("\n".join(pack.pack(config, options.out, options.host)))
    except ConfigError as error:
        sys.exit("\n".join(error.lines))
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except FileNotFoundError as error:
        sys.exit(
            f"{error.filename} is not there yet: run 'make sweep{_config_of(options.config)}' first"
        )
    except pack.NotOfThisConfig as error:
        sys.exit(f"{error}: run 'make sweep{_config_of(options.config)}' first")
    except (record.Damaged, planning.NotPlanned, pack.NotPacked, record.NotWritten) as error:
        sys.exit(str(error))


def _first(path: Path) -> str:
    return f"run 'make sweep{_config_of(path)}' first"


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


def examine(config: Config, path: Path) -> None:
    """What was found on this machine, with advice; exit status 1 where a sweep is impossible."""
    found = checkup.of_machine(config, _config_of(path))
    print(text(lines := doctor.machine_lines(found)), flush=True)
    found = checkup.with_backends(found, config)
    print(text(more := doctor.backend_lines(found)))
    print(f"\n{doctor.closing_words(lines + more, _config_of(path))}")
    if any(line.mark == STOP for line in lines + more):
        sys.exit(1)


def close(config: Config, path: Path, strict: bool) -> None:
    """The lines that end a sweep, from its verdict and summary; with `strict`, exit status 1 where
    a cell is not ok."""
    rows = table.read(config.folder / "summary.csv")
    text = verdict.read((config.folder / "verdict.md").read_text(encoding="utf-8"))
    print("\n".join(["", *closing.lines(text, rows, config.folder, _config_of(path))]), flush=True)
    if strict and (count := len(trust.failed(rows))):
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
        baselines=config.baselines,
    )
    rows = prices.annotate(rows, config.prices, config.currency)
    texts = [{name: str(value) for name, value in row.items()} for row in rows]
    print(f"{'cell':48} {'rounds':>6} {'compute':>12} {'speedup':>8}  status")
    for row in texts:
        if row["scope"] not in ("compute", "render"):
            continue
        cell = f"{row['workload']}, {row['backend']}, {row['dtype']}, n={int(row['size']):,}"
        seconds = f"{float(row['median_s']):.3g} s" if row["median_s"] else ""
        speedup = f"{float(row['speedup']):.2g}x" if row["speedup"] else ""
        print(f"{cell:48} {row['rounds']:>6} {seconds:>12} {speedup:>8}  {row['status']}")
    curves = decide.curves(texts)
    evens = [even for one in curves for even in one.break_evens()]
    text = verdict.lines(texts, evens, [reuse for one in curves for reuse in one.reuses()])
    print("\n".join([*verdict.printed(text), *closing.other_reasons(texts)]))


def _all(config: Config) -> list[Cell]:
    return [*config.cells(), *config.pictures()]


def plan(config: Config, path: Path, arguments: list[str]) -> None:
    """Cells, jobs, and about how long and how much disk, before anything runs."""
    found = planning.planned(path, arguments)
    jobs = found.cells
    if not arguments:  # which may say otherwise than the file
        cells, rounds = _all(config), config.rounds
        print(f"{len(cells)} cells of {rounds} rounds: {len(cells) * rounds} jobs in all")
        if count := sum(len(s) for w in config.workloads.values() for _, s in w.added):
            print(f"{count} sizes are from {config.folder / added_sizes.NAME} ('make refine')")
    print(f"{len(jobs)} of them to run, the others are cached")
    for backend, count in Counter(cell.backend for cell, _ in jobs).items():
        print(f"  {count} x {backend}" + ("" if backend in config.backends else " (drawing)"))
    if found.ceilings:
        print(f"  {len(found.ceilings)} x ceilings, what the machine can do at best")
    costs = {cell: planning.cost(config, cell) for cell, _ in jobs}
    seconds = sum(planning.seconds(config, cell.backend, costs[cell]) for cell, _ in jobs)
    seconds += sum(planning.seconds(config, name, Cost(0, 0, 0)) for name in found.ceilings)
    disk = sum(config.kept_bytes(costs[cell].output_bytes, round) for cell, round in jobs)
    print(f"expected: about {seconds / 60:.1f} minutes and at most {disk / 1e6:,.0f} MB of disk")


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
    return identity.task(config, backend) | {
        "workload": cell.workload,
        "workload_file": str(config.workloads[cell.workload].file),
        "probe": str(folder / "probe.json"),
        "json": str(folder / "probe.json"),
        "dtype": cell.dtype,
        "size": cell.size,
        "round": 1,
        "seed": config.seed,
        "budget_s": config.budget_s,
        "csv": str(folder / "1.csv"),
        "array": None,
        "keep_mb": config.keep_mb,
    }


if __name__ == "__main__":
    main()
