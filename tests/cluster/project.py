"""A checkout whose sweeps run on the test cluster, as `make sweep` runs them."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from cluster import asked
from conftest import Project
from crossover import record, table

# What a user edits in profiles/slurm, small and quick; the fake device is where gpu1 is.
PROFILE = (
    *("--workflow-profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "1"),
    *("--default-resources", "cpus_per_task=1", "mem_mb=700", "exclusive=false"),
)
# Each job is a submission, and fails once and for all.
ONE_BY_ONE = ("--group-components", "measuring=1", "--retries", "0")
JOB = re.compile(r"^ *Job \d+: (.+)$", re.MULTILINE)  # those of a group are indented
WATCHED = Path(__file__).resolve().parent / "watched"  # Slurm's, written down
HUNG_S = 900  # what takes longer will never end; all sweeps run at once, on two cores
started: list["subprocess.Popen[bytes]"] = []


class ClusterProject(Project):
    """Its own `command` goes to the cluster; what is run by it writes to screen.txt."""

    def command(self, *arguments: str, cores: str = "1") -> list[str]:
        start = [sys.executable, "-m", "snakemake", "--cores", cores]
        return [*start, *PROFILE, *arguments]

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
        """A sweep in the background; what it asks of Slurm is written down."""
        path = f"{WATCHED}:{os.environ['PATH']}"
        watched = {"PATH": path, "ASKED": str(self.root / "asked.txt")}
        with (self.root / "screen.txt").open("a") as screen:
            sweep = subprocess.Popen(
                self.command(*arguments),
                cwd=self.root,
                env=os.environ | watched | environment,
                stdout=screen,
                stderr=screen,
            )
        started.append(sweep)
        return sweep

    def ended(self, sweep: "subprocess.Popen[bytes]") -> int:
        """The exit status of what was started, which must not hang."""
        try:
            return sweep.wait(timeout=HUNG_S)
        except subprocess.TimeoutExpired:
            sweep.kill()
            pytest.fail(f"the sweep hangs:\n{self.screen()[-3000:]}")

    def asked(self) -> list[asked.Call]:
        return asked.read(self.root / "asked.txt")

    def plan(self, *arguments: str, **options) -> list[str]:
        """The cells that a run would measure now, in words, sorted."""
        done = self.sweep("--dry-run", *arguments, **options)
        words = JOB.findall(done.stdout + done.stderr)
        return sorted(word for word in words if re.search(r", n=\d+, round ", word))

    def screen(self) -> str:
        return (self.root / "screen.txt").read_text()

    def recover(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """What `make sweep` does after a Snakemake that failed."""
        return self.crossover("lost", "--", *self.command(*arguments))

    def statuses(self, *backends: str) -> Counter[tuple[str, str]]:
        """How many rounds of each of these backends there are, by status."""
        found: Counter[tuple[str, str]] = Counter()
        for backend in backends:
            for path in self.root.glob(f"results/cells/*/{backend}/*/*/*.csv"):
                found[backend, record.read(path)[0]["status"]] += 1
        return found

    def summary(self) -> list[dict[str, str]]:
        return table.read(self.root / "results/summary.csv")

    def jobs(self, word: str = "", states: str = "pending,running") -> list[str]:
        """The numbers of this project's Slurm jobs with `word` in the comment or partition."""
        lines = said("squeue", "--noheader", f"--states={states}", "--format=%i|%P|%Z|%k")
        return [
            number
            for number, partition, folder, comment in (line.split("|", 3) for line in lines)
            if Path(folder) == self.root and word in f"{partition} {comment}"
        ]


def end_all() -> None:
    """No sweep that was started runs on, and nothing of it on the cluster."""
    for sweep in started:
        if sweep.poll() is None:
            sweep.kill()
            sweep.wait()
    subprocess.run(["scancel", "--user=root"], timeout=60)


def said(*command: str) -> list[str]:
    """The lines that a command prints; it must end well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
