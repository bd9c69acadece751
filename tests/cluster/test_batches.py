"""What profiles/slurm asks a real Slurm for, and what it saves to measure many cells in one job."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from cluster.project import ClusterProject, said
from conftest import copy_to
from crossover import record
from processes import private_lock

FAKE = {"file": "tests/fake_device.py", "device": "fake"}
QUICK = {"rounds": 1, "budget_s": 0.01, "timeout_s": 60}
SIZES = list(range(100, 1100, 100))
FIELDS = re.compile(r"(\w+(?:/\w+)?)=(\S*)")


def cells(*backends: str, sizes: list[int] = SIZES) -> list[str]:
    return [f"results/cells/add/{name}/float64/{n}/1.csv" for name in backends for n in sizes]


@pytest.fixture
def project(slurm: Path, tmp_path: Path) -> ClusterProject:
    made = ClusterProject(copy_to(tmp_path / "clone").root)
    private_lock(made)
    return made


def test_a_batch_asks_for_one_gpu_one_cells_cores_and_the_largest_memory(project):
    add = {"sizes": SIZES, "dtypes": ["float64"]}
    resources = {"slurm_partition": "gpu", "gpu_model": "fake", "cpus_per_task": 2}
    backends = {"numpy": {"resources": {"mem_mb": 900}}, "fake": FAKE | {"resources": resources}}
    project.configure({"workloads": {"add": add}, "backends": backends, **QUICK})
    project.sweep("--keep-going", *cells("numpy", "fake"))
    shown = [dict(FIELDS.findall(line)) for line in said("scontrol", "--oneliner", "show", "job")]
    (job,) = (fields for fields in shown if fields.get("WorkDir") == str(project.root))
    assert job["Partition"] == "gpu" and job["TresPerJob"].endswith("gpu:fake:1")
    assert (job["NumCPUs"], job["CPUs/Task"], job["MinMemoryNode"]) == ("2", "2", "900M")
    assert job["TimeLimit"] == "00:40:00"  # twenty of two minutes
    rows = [record.read(project.root / path)[0] for path in cells("numpy", "fake")]
    assert {row["job_id"] for row in rows} == {job["JobId"]}
    assert {(row["node"], row["partition"]) for row in rows} == {("gpu1", "gpu")}
    assert {row["threads_requested"] for row in rows} == {"all"}
    assert all(row["threads_granted"] == row["cores"] <= "2" for row in rows)
    assert all("CUDA_VISIBLE_DEVICES=0" in row["environment"] for row in rows)
    assert {row["cores_requested"] for row in rows} == {"1", "2"}
    # One process for each cell, though all are of one job.
    assert len({row["started_at"] for row in rows}) == len(rows)


def test_batches_take_at_most_half_the_time(project, tmp_path):
    """Sixty cells; each by itself they are stopped once they have taken twice as long."""
    add = {"sizes": list(range(100, 3100, 100)), "dtypes": ["float64"]}
    backends = {"numpy": {}, "other": {"library": "numpy", "memory": "recycled"}}
    project.configure({"workloads": {"add": add}, "backends": backends, **QUICK})
    targets = ["--keep-going", *cells("numpy", "other", sizes=add["sizes"])]
    alone = ClusterProject(project.copy(tmp_path / "alone").root)
    start = time.monotonic()
    project.sweep(*targets)
    together = time.monotonic() - start
    sweep = alone.start("--group-components", "measuring=1", *targets)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            sweep.wait(2 * together)
    finally:
        sweep.kill()
        sweep.wait()
        alone.end()
