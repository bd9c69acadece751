"""Sixty small cells on the test cluster: batches, Slurm's arrays, and each cell by itself.

    PYTHONPATH=workflow/scripts:tests .venv/bin/python benchmarks/batches.py     # as root

From submission to summary, once each, one way after the other on a node of two cores. What every
way does is the same: a process for each cell, two probes, two ceilings, the summary here.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

import checkout
from report import Report, progress

TESTS = Path(__file__).resolve().parent.parent / "tests"
CONFIG = {
    "workloads": {"add": {"sizes": list(range(100, 3100, 100)), "dtypes": ["float64"]}},
    "backends": {"numpy": {}, "other": {"library": "numpy", "memory": "recycled"}},
    "rounds": 1,
    "budget_s": 0.01,
    "timeout_s": 60,
}
FLAGS = (
    *("--workflow-profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "1"),
    *("--default-resources", "cpus_per_task=1", "mem_mb=700", "exclusive=false"),
    "slurm_partition=batch",
    # More than there are: with fewer the plugin (2.8) never submitted the last cells of an array.
    *("--jobs", "70"),
)
ONE_BY_ONE = ("--group-components", "measuring=1")
WAYS = {
    "batches of 20": (),
    "arrays": (*ONE_BY_ONE, "--slurm-array-jobs", "all"),
    "one by one": ONE_BY_ONE,
}
BOUND = 0.5  # of the time one by one


class Taken(NamedTuple):
    seconds: float
    work_s: float  # of all cores of this machine, whoever's
    load: float  # before
    submissions: int


def sweep(folder: Path, flags: tuple[str, ...]) -> Taken:
    checkout.make(folder, CONFIG)
    checkout.own_lock(folder)
    words = checkout.command(*FLAGS, *flags, "--keep-going", "results/summary.csv")
    load, worked, start = os.getloadavg()[0], _worked_s(), time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    seconds, work_s = time.perf_counter() - start, _worked_s() - worked
    if done.returncode:
        sys.exit((done.stdout + done.stderr)[-4000:])
    return Taken(seconds, work_s, load, submissions(folder))


def submissions(folder: Path) -> int:
    """How many jobs or arrays Slurm knows of that were submitted from a folder."""
    asked = ("squeue", "--noheader", "--states=all", "--format=%F|%Z")
    lines = subprocess.check_output(asked, text=True).split()
    jobs = (line.split("|") for line in lines)
    return len({number for number, path in jobs if Path(path) == folder})


def _worked_s() -> float:
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq


def main() -> None:
    words = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=words)
    parser.add_argument("--out", type=Path, help="write what is printed to this file as well")
    options = parser.parse_args()
    report = Report("Sixty cells of a few milliseconds on a Slurm: batches, arrays, one by one")
    with tempfile.TemporaryDirectory() as name:
        daemons = subprocess.Popen(
            [sys.executable, "-m", "cluster.slurm_daemons", f"{name}/slurm"],
            cwd=TESTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert daemons.stdin and daemons.stdout
        try:
            if daemons.stdout.readline() != "up\n":
                sys.exit("Slurm did not start")
            os.environ["SLURM_CONF"] = f"{name}/slurm/etc/slurm.conf"
            taken = {}
            for way, flags in WAYS.items():
                progress(f"batches: {way}")
                taken[way] = sweep(Path(name) / way.replace(" ", "_"), flags)
        finally:
            daemons.stdin.close()
            daemons.wait()
    floor = taken["one by one"]
    report.table(
        ("way", "submissions", "seconds", "share", "core s", "share", "load before"),
        [
            (
                way,
                one.submissions,
                f"{one.seconds:.0f}",
                f"{one.seconds / floor.seconds:.2f}",
                f"{one.work_s:.0f}",
                f"{one.work_s / floor.work_s:.2f}",
                f"{one.load:.1f}",
            )
            for way, one in taken.items()
        ],
    )
    report.line("share: of what one by one takes; core s: of all that ran here, others' too")
    ratio = taken["batches of 20"].seconds / floor.seconds
    report.most("batches over one by one, time to the summary", ratio, BOUND)
    sys.exit(report.end(options.out))


if __name__ == "__main__":
    main()
