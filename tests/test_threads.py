"""Threads: as many as asked for whatever `--cores` says, and read back."""

import csv
import shutil
import tempfile
from pathlib import Path

import pytest

from conftest import copy_to
from crossover import machine, record
from crossover.cells import Cell

pytestmark = pytest.mark.whole

CORES = machine.usable_cores()
MORE = CORES + 62
SIZE = 64
SUMMARY = "results/summary.csv"


@pytest.fixture(scope="module")
def swept():
    """A sweep with `--cores 1`, for which Snakemake exports OMP_NUM_THREADS=1 and its kin."""
    folder = Path(tempfile.mkdtemp(prefix="threads-"))
    project = copy_to(folder / "clone")
    project.configure(
        {
            "workloads": {"matmul": {"sizes": [SIZE], "dtypes": ["float32"]}},
            "backends": {
                "numpy": {},
                "numpy_1": {"library": "numpy", "threads": 1},
                "numpy_more": {"library": "numpy", "threads": MORE},
                "torch": {},
                "torch_1": {"library": "torch", "threads": 1},
            },
            "rounds": 1,
            "budget_s": 0.02,
        }
    )
    # Nor does it matter what the user's shell says.
    project.sweep(SUMMARY, cores="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    yield project
    shutil.rmtree(folder)


def summary(project):
    with (project.root / SUMMARY).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("backend", "requested", "granted"),
    [
        ("numpy", "all", CORES),
        ("torch", "all", CORES),
        ("numpy_1", "1", 1),
        ("torch_1", "1", 1),
        ("numpy_more", str(MORE), CORES),
    ],
)
def test_threads_are_those_asked_for_and_read_back(swept, backend, requested, granted):
    rows = record.read(swept.root / Cell("matmul", backend, "float32", SIZE).csv(1))
    for row in rows:
        assert row["status"] == "ok", row["reason"]
        assert row["threads_requested"] == requested
        assert row["threads_granted"] == str(granted)
        assert row["threads_effective"] == str(granted)
        assert row["cores"] == str(CORES)


def test_fewer_threads_than_asked_for_is_a_grade(swept):
    grades = {row["backend"]: row["grade"] for row in summary(swept)}
    assert "few_threads" in grades.pop("numpy_more")
    assert not any("few_threads" in grade for grade in grades.values())


def test_a_speedup_needs_a_baseline_with_all_its_threads(swept):
    assert all(row["speedup"] for row in summary(swept) if row["scope"] == "compute")
    swept.sweep(SUMMARY, "--config", "baseline=numpy_more")
    assert {row["baseline"] for row in summary(swept)} == {"numpy_more"}
    assert {row["speedup"] for row in summary(swept)} == {""}


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Files in the places of /proc and /sys/fs/cgroup; returns a function that writes one."""
    monkeypatch.setattr(machine, "PROC", tmp_path / "proc")
    monkeypatch.setattr(machine, "CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda pid: set(range(8)))
    machine.cgroup_folders.cache_clear()

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    yield write
    machine.cgroup_folders.cache_clear()


def test_without_control_groups_all_cores_of_the_affinity_are_usable(kernel):
    assert machine.usable_cores() == 8


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        ("max 100000", 8),
        ("200000 100000", 2),
        ("350000 100000", 3),  # rounded down: three and a half cores do not feed four threads
        ("50000 100000", 1),
        ("100000 10000", 8),  # more than there are
        ("", 8),
    ],
)
def test_a_quota_of_version_2_counts(kernel, quota, cores):
    kernel("proc/self/cgroup", "0::/pod/container")
    kernel("cgroup/pod/container/cpu.max", quota)
    assert machine.usable_cores() == cores


def test_the_tightest_quota_of_all_parents_counts(kernel):
    kernel("proc/self/cgroup", "0::/pod/container")
    kernel("cgroup/cpu.max", "max 100000")
    kernel("cgroup/pod/cpu.max", "300000 100000")
    kernel("cgroup/pod/container/cpu.max", "600000 100000")
    assert machine.usable_cores() == 3


@pytest.mark.parametrize(("quota", "cores"), [("-1", 8), ("400000", 4), ("20000", 1)])
def test_a_quota_of_version_1_counts(kernel, quota, cores):
    kernel("proc/self/cgroup", "5:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/job")
    kernel("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", quota)
    kernel("cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000")
    assert machine.usable_cores() == cores


def test_a_container_that_sees_its_own_group_as_the_root(kernel):
    kernel("proc/self/cgroup", "0::/")
    kernel("cgroup/cpu.max", "200000 100000")
    assert machine.usable_cores() == 2
