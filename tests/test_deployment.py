"""Conda and containers, as far as they can be tried without either: what Snakemake hands to the
commands `apptainer` and `conda` goes to stand-ins that write it down and run it here."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conftest import CONFIG, ROOT, copy_to
from crossover import record

IMAGE = "docker://registry.example/crossover:cpu"
ONE_CELL = {
    "workloads": {"add": {"sizes": [100], "dtypes": ["float64"]}},
    "backends": {"numpy": {}},
    "rounds": 1,
    "budget_s": 0.01,
    "timeout_s": 60,
}
TABLE = (
    "results/cells/add/numpy/float64/100/1.csv"  # the cell alone: each job starts Snakemake again
)

# Runs what comes after the image, with a `python` that is this one, as the image has its own.
APPTAINER = """#!/bin/sh
printf '%s\\n' "$*" | head -1 >> "{log}"
case "$1" in
  --version) echo "apptainer version 1.3.4"; exit ;;
  pull) touch "$3"; exit ;;
esac
for word in "$@"; do shift; case "$word" in *.simg) break ;; esac; done
PATH="{bin}:$PATH" exec "$@"
"""
CONDA = """#!/bin/sh
printf '%s\\n' "$*" | head -1 >> "{log}"
case "$1 $2" in
  "--version "*) echo "conda 25.1.0" ;;
  "info --json") echo '{{"conda_prefix": "{prefix}", "platform": "linux-64"}}' ;;
  "config --get"*) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
  "env create") while [ "$1" != --prefix ]; do shift; done; mkdir -p "$2/bin"
                ln -s "{python}" "$2/bin/python" ;;
esac
"""
ACTIVATE = 'export CONDA_PREFIX="$1"; PATH="$1/bin:$PATH"\n'


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def commands(tmp_path):
    """A folder for PATH, and the log of how the stand-ins were called."""
    folder, log, image = tmp_path / "commands", tmp_path / "calls", tmp_path / "image"
    image.mkdir()
    script(image / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script(folder / "apptainer", APPTAINER.format(log=log, bin=image))
    prefix = tmp_path / "conda"
    words = {"log": log, "prefix": prefix, "python": image / "python"}
    script(folder / "conda", CONDA.format(**words))
    script(prefix / "bin/activate", ACTIVATE)
    log.touch()
    return f"{folder}:{os.environ['PATH']}", log


# --- containers


@pytest.mark.whole
def test_with_an_image_every_job_runs_in_it(tmp_path, commands):
    path, log = commands
    project = copy_to(tmp_path / "clone")
    project.configure(ONE_CELL | {"container": IMAGE})
    jobs = len(project.plan(TABLE))
    project.sweep(TABLE, "--sdm", "apptainer", PATH=path)
    calls = log.read_text().splitlines()
    runs = [call for call in calls if call.startswith(("exec", "--home")) or " exec " in call]
    assert sum(call.startswith("pull") for call in calls) == 1
    assert any(IMAGE in call for call in calls)
    assert len(runs) == jobs
    assert record.read(project.root / TABLE)[0]["status"] == "ok"
    assert project.plan(TABLE, "--sdm", "apptainer", PATH=path) == []

    # Another image is another environment, and measures again.
    project.configure(ONE_CELL | {"container": f"{IMAGE}2"})
    again = project.plan(TABLE, "--sdm", "apptainer", PATH=path)
    assert "add, numpy, float64, n=100, round 1 of 1" in again


def test_without_that_flag_an_image_changes_nothing(finished, tmp_path):
    """Another reason to measure again it is not, nor is one asked for that is not there."""
    project = finished.copy(tmp_path / "clone")
    assert project.plan() == []
    project.configure(CONFIG | {"container": IMAGE})
    assert project.plan() == []


@pytest.mark.whole
def test_the_container_file_has_no_fault_that_the_linter_knows():
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), ROOT / "Containerfile"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_container_file_copies_what_is_sent_to_the_builder():
    text = (ROOT / "Containerfile").read_text()
    (copied,) = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY")]
    sent = (ROOT / ".containerignore").read_text().splitlines()
    assert sorted(f"!{name}" for name in copied) == sorted(x for x in sent if x[:1] == "!")
    assert "*" in sent and all((ROOT / name).exists() for name in copied)


# --- conda


@pytest.mark.whole
def test_every_job_runs_in_the_one_environment(tmp_path, commands):
    path, log = commands
    project = copy_to(tmp_path / "clone")
    project.configure(ONE_CELL)
    project.sweep(TABLE, "--sdm", "conda", PATH=path)
    created = [call for call in log.read_text().splitlines() if call.startswith("env create")]
    assert len(created) == 1
    given = created[0].split("--file ")[1].split()[0]  # Snakemake's copy
    assert Path(given).read_text() == (ROOT / "environment.yml").read_text()
    assert record.read(project.root / TABLE)[0]["status"] == "ok"
    assert project.plan(TABLE, "--sdm", "conda", PATH=path) == []


def test_every_rule_names_the_environment():
    for path in sorted((ROOT / "workflow/rules").glob("*.smk")):
        text = path.read_text()
        rules = [part for part in text.split("\nrule ")[1:] if "script:" in part]
        assert all("conda:\n        ENVIRONMENT" in part for part in rules), path


# --- the lock


def locked():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def needed(requirement, extras=frozenset({""})):
    """Whether a requirement holds for the lock's Python and system."""
    environment = {**default_environment(), "python_version": "3.11", "sys_platform": "linux"}
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**environment, "extra": e}) for e in extras)


@pytest.mark.whole
def test_the_environment_resolves_to_the_lock():
    """Without a network: each package has one version, which suits all that ask for it, as far as
    what is installed here is of that version and can say what it asks for."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    lock, seen = locked(), set()
    waiting = [Requirement(line) for line in pip]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        assert name in lock, f"{name} is not in requirements.lock"
        assert requirement.specifier.contains(lock[name], prereleases=True), (
            requirement,
            lock[name],
        )
        key = (name, frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        found = metadata.distribution(name)
        if found.version.partition("+")[0] == lock[name]:
            asked = [Requirement(line) for line in found.requires or ()]
            waiting += [one for one in asked if needed(one, requirement.extras or {""})]
    assert {name for name, _ in seen} == set(lock) - {"nvidia-ml-py"}


def test_the_environment_file_is_what_conda_reads():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert set(environment) == {"name", "channels", "dependencies"}
    *packages, pip = environment["dependencies"]
    assert {package.split()[0] for package in packages} == {"python", "pip"}
    assert list(pip) == ["pip"] and json.dumps(pip)
