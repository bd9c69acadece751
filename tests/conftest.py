"""A copy of the workflow in a temporary folder, run as a user runs it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from crossover import interference, nvml, record
from unit import (  # noqa: F401  (pytest finds its hooks here)
    pytest_collection_modifyitems,
    pytest_ignore_collect,
    pytest_runtest_protocol,
)

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("Snakefile", "config.yaml", "environment.yml", "config", "profiles", "workflow", "tests")
JOB = re.compile(r"^Job \d+: (.+)$", re.MULTILINE)

# Small, without torch, one backend of each kind: a host and the fake device.
CONFIG = {
    "workloads": {
        "add": {"sizes": [100, 1000], "dtypes": ["float64"]},
        "polar": {"sizes": [100], "dtypes": ["float32"]},
    },
    "backends": {
        "numpy": {},
        "fake": {"file": "tests/fake_device.py", "device": "fake"},
    },
    "rounds": 2,
    "budget_s": 0.02,
    "timeout_s": 60,
}

SIGNALS = [name for name in interference.SIGNALS if name != "timed_s"]


def drop_seals(row: dict[str, str]) -> dict[str, str]:
    """A row of a raw file as it was given to record.write."""
    return {name: row[name] for name in row if name not in record.SEALS}


@dataclass
class Project:
    """A checkout of its own, with its own results."""

    root: Path

    def configure(self, config: dict, name: str = "config.yaml") -> None:
        (self.root / name).write_text(yaml.safe_dump(config, sort_keys=False))

    def command(self, *arguments: str, cores: str = "1") -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", cores, *arguments]

    def run(
        self, *arguments: str, cores: str = "1", cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments, cores=cores),
            cwd=cwd or self.root,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def sweep(self, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
        """A run that must end well."""
        done = self.run(*arguments, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def plan(self, *arguments: str, **options) -> list[str]:
        """The jobs that a run would do now, in words, sorted; the target itself left out."""
        done = self.sweep("--dry-run", *arguments, **options)
        words = JOB.findall(done.stdout + done.stderr)
        return sorted(word for word in words if not word.startswith("results are in"))

    def copy(self, root: Path) -> "Project":
        """The same with the same dates, so that what is finished here is finished there."""
        shutil.copytree(self.root, root, symlinks=True)
        return Project(root)

    def edit(self, *names: str) -> None:
        """A change of meaning, as far as anyone can tell from outside."""
        for name in names:
            with (self.root / name).open("a", encoding="utf-8") as file:
                file.write("\nEDITED = True\n")

    def calm(self) -> None:
        """Forget who else used this machine meanwhile: no round is graded disturbed."""
        for path in self.root.glob("results/**/[0-9]*.csv"):
            rows = record.read(path)
            if any(float(row[name] or 0) for row in rows for name in SIGNALS):
                record.write(path, [drop_seals(row) | dict.fromkeys(SIGNALS, 0.0) for row in rows])

    def crossover(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command line behind the make targets."""
        return subprocess.run(
            [sys.executable, "-m", "crossover", *arguments],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": str(self.root / "workflow/scripts")},
            capture_output=True,
            text=True,
            timeout=300,
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: sweeps wait for each other's turn to measure."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh copy with the small config."""
    return copy_to(tmp_path / "clone")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A finished sweep of the small config, in an odd place: copy it, never change it.

    `imports.txt` beside it has a line for each module of the package that a process imported.
    """
    made = copy_to(tmp_path_factory.mktemp("finished") / "it's a clone")
    (made.root.parent / "sitecustomize.py").write_text(SPY)
    made.sweep(PYTHONPATH=str(made.root.parent), IMPORTS=str(made.root.parent / "imports.txt"))
    return made


# Python imports sitecustomize first. A finder that finds nothing sees every name that is asked for.
SPY = """
import os, sys
class Spy:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "crossover":
            with open(os.environ["IMPORTS"], "a") as file:
                print(os.getpid(), os.getppid(), name, *sys.orig_argv, sep="\\t", file=file)
sys.meta_path.insert(0, Spy)
"""


def copy_to(root: Path) -> Project:
    root.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, root / part)
    made = Project(root)
    made.configure(CONFIG)
    return made


def forget_nvml():
    """What is remembered of GPUs, so that the next question is asked anew."""
    nvml.device.cache_clear()
    nvml._library.cache_clear()


@pytest.fixture
def no_gpu(monkeypatch, tmp_path):
    """Neither pynvml nor nvidia-smi, whatever this machine has."""
    forget_nvml()
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    yield
    forget_nvml()


@pytest.fixture
def pynvml(monkeypatch, no_gpu):
    """The fake of it, new for each test."""
    spec = importlib.util.spec_from_file_location("pynvml", ROOT / "tests/fake_nvml/pynvml.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "pynvml", module)
    return module
