"""What profiles/slurm asks a real Slurm for, and what it saves to measure many cells in one job."""

import re
import time
from typing import NamedTuple

from cluster.project import HUNG_S, ONE_BY_ONE, ClusterProject, said
from cluster.scenes import FAKE, project, scene
from crossover import record
from processes import until

QUICK = {"rounds": 1, "budget_s": 0.01, "timeout_s": 60}
SIZES = list(range(100, 1100, 100))
MANY = list(range(100, 3100, 100))
FIELDS = re.compile(r"(\w+(?:/\w+)?)=(\S*)")


def cells(*backends: str) -> list[str]:
    return [f"results/cells/add/{name}/float64/{n}/1.csv" for name in backends for n in SIZES]


@scene
def batch(folder):
    """Twenty cells, ten of them on a GPU, with different requests."""
    resources = {"slurm_partition": "gpu", "gpu_model": "fake", "cpus_per_task": 2}
    config = {
        "workloads": {"add": {"sizes": SIZES, "dtypes": ["float64"]}},
        "backends": {
            "numpy": {"resources": {"mem_mb": 900}},
            "fake": FAKE | {"resources": resources},
        },
    }
    made = project(folder, config | QUICK)
    made.sweep("--keep-going", *cells("numpy", "fake"))
    return made


def test_a_batch_asks_for_one_gpu_one_cells_cores_and_the_largest_memory(batch):
    shown = [dict(FIELDS.findall(line)) for line in said("scontrol", "--oneliner", "show", "job")]
    (job,) = (fields for fields in shown if fields.get("WorkDir") == str(batch.root))
    assert job["Partition"] == "gpu" and job["TresPerJob"].endswith("gpu:fake:1")
    assert (job["NumCPUs"], job["CPUs/Task"], job["MinMemoryNode"]) == ("2", "2", "900M")
    assert job["TimeLimit"] == "00:40:00"  # twenty of two minutes
    rows = [record.read(batch.root / path)[0] for path in cells("numpy", "fake")]
    assert {row["job_id"] for row in rows} == {job["JobId"]}
    assert {(row["node"], row["partition"]) for row in rows} == {("gpu1", "gpu")}
    assert {row["threads_requested"] for row in rows} == {"all"}
    assert all(row["threads_granted"] == row["cores"] <= "2" for row in rows)
    assert all("CUDA_VISIBLE_DEVICES=0" in row["environment"] for row in rows)
    assert {row["cores_requested"] for row in rows} == {"1", "2"}
    # One process for each cell, though all are of one job.
    assert len({row["started_at"] for row in rows}) == len(rows)


class Race(NamedTuple):
    """The same sixty cells twice, at the same time, on nodes that are alike."""

    batches: ClusterProject
    alone: ClusterProject
    seconds: float  # until `batches` had its summary
    before: float  # of these, until `alone` had its first submission
    done: int  # cells that `alone` had in the end


@scene
def race(folder):
    made = {}
    for name in ("batch", "alone"):
        backends = {"numpy": {}, "other": {"library": "numpy", "memory": "recycled"}}
        for backend in backends.values():
            backend["resources"] = {"slurm_partition": name}
        config = {
            "workloads": {"add": {"sizes": MANY, "dtypes": ["float64"]}},
            "backends": backends,
        }
        made[name] = project(folder / name, config | QUICK)
    alone = made["alone"].start(*ONE_BY_ONE, "--keep-going", "results/summary.csv")
    batches = made["batch"].start("--keep-going", "results/summary.csv")
    start = time.monotonic()
    try:
        until(lambda: made["alone"].jobs() or alone.poll() is not None, "a job", HUNG_S)
        before = time.monotonic() - start
        until(lambda: batches.poll() is not None or alone.poll() is not None, "an end", HUNG_S)
        seconds = time.monotonic() - start
        done = made["alone"].statuses("numpy", "other").total()
        assert batches.poll() == 0, made["batch"].screen()
    finally:
        alone.kill()
        alone.wait()
        if left := made["alone"].jobs():
            said("scancel", *left)
    return Race(made["batch"], made["alone"], seconds, before, done)


def test_batches_take_at_most_half_the_time(race):
    """From submission to summary, under the same load. One by one is stopped then, and what it
    would have taken worked out from the cells that it has done since its first submission."""
    cells = len(MANY) * 2
    assert race.batches.statuses("numpy", "other").total() == cells and race.batches.summary()
    alone = race.before + (race.seconds - race.before) * cells / max(1, race.done)
    assert race.seconds <= alone / 2, race
