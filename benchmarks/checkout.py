"""A copy of the workflow in a folder of its own, run as a user runs it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("Snakefile", "environment.yml", "config", "profiles", "workflow")
TIMES = 5  # of which the median counts


class Taken(NamedTuple):
    seconds: float
    peak_bytes: int
    cpu_s: float  # of all its threads, in the kernel too: less moved by neighbours


def make(folder: Path, config: Mapping[str, Any]) -> Path:
    """Copy what the workflow is made of, with another config.yaml."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / part)
    configure(folder, config)
    return folder


def configure(folder: Path, config: Mapping[str, Any]) -> None:
    (folder / "config.yaml").write_text(yaml.safe_dump(dict(config), sort_keys=False))


def own_lock(folder: Path) -> None:
    """For what no other sweep of this machine disturbs, or what holds the machine's lock itself:
    waiting for a turn is no cost of ours."""
    path = folder / "workflow/scripts/crossover/turn.py"
    text = path.read_text()
    assert "/tmp/crossover.lock" in text
    path.write_text(text.replace("/tmp/crossover.lock", str(folder / "lock")))


def command(*arguments: str, cores: int = 1) -> list[str]:
    return [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]


def run(folder: Path, words: Sequence[str]) -> tuple[float, str]:
    """Seconds that a command took in a folder, and its standard output; it must end well."""
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return seconds, done.stdout


def spend(folder: Path, words: Sequence[str], given: str = "", **environment: str) -> Taken:
    """Time and memory of a command in a folder, in its largest process; it must end well."""
    start = time.perf_counter()
    child = subprocess.Popen(
        words,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | environment,
    )
    assert child.stdin is not None
    with child.stdin as file:
        file.write(given)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(words)} ended with exit status {child.returncode}")
    seconds = time.perf_counter() - start
    return Taken(seconds, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)


def medians(sides: Mapping[str, tuple[Path, Sequence[str]]], times: int) -> dict[str, float]:
    """The median seconds of each command, run in turn so that slow minutes meet all alike."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(times):
        for name, (folder, words) in sides.items():
            taken[name].append(run(folder, words)[0])
    return {name: median(seconds) for name, seconds in taken.items()}
