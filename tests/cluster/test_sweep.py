"""A quick sweep on a real Slurm: the same results as here, nothing twice, and no hang when the
controller is restarted or the file system is late."""

import os
import signal
from pathlib import Path

import pytest

from cluster import slurm_daemons
from cluster.project import HUNG_S, ClusterProject
from conftest import Project, copy_to
from crossover import record, table
from processes import private_lock, until

FAKE = {"file": "tests/fake_device.py", "device": "fake"}
CONFIG = {
    "workloads": {
        "add": {"sizes": [100], "dtypes": ["float64"]},
        "polar": {"sizes": [100], "dtypes": ["float32"]},
    },
    "backends": {
        "numpy": {},
        "fake": FAKE | {"resources": {"slurm_partition": "gpu"}},
        # Slurm has a GPU for it, and no library finds one there.
        "torch_cuda": {
            "library": "torch",
            "device": "cuda",
            "resources": {"slurm_partition": "gpu", "mem_mb": 3000},
        },
    },
    "rounds": 1,
    "budget_s": 0.02,
    "timeout_s": 60,
}
# Python imports sitecustomize first: in the process that is told so, a result is only seen when it
# is some seconds old, as where a file system is slow to tell other machines.
LATE = """
import os, time
if os.environ.get("LATE_S") and "SLURM_JOB_ID" not in os.environ:
    def late(function):
        def seen(path, *arguments, **options):
            found = function(path, *arguments, **options)
            if str(path).startswith("results/cells/") and str(path).endswith(".csv"):
                if time.time() - found.st_mtime < float(os.environ["LATE_S"]):
                    with open(os.environ["LATE_LOG"], "a") as file:
                        print(path, file=file)
                    raise FileNotFoundError(2, "not seen yet", str(path))
            return found
        return seen
    os.stat, os.lstat = late(os.stat), late(os.lstat)
"""


def kind(rows: list[dict[str, str]]) -> set[tuple[str, ...]]:
    """What there is and what became of it, without what differs from run to run."""
    names = ("workload", "backend", "dtype", "size", "scope", "status", "reason", "baseline")
    return {tuple(row[name] for name in names) for row in rows}


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.glob("results/**/*.*")}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same sweep, without a cluster."""
    made = copy_to(tmp_path_factory.mktemp("here") / "clone")
    private_lock(made)
    made.configure(CONFIG)
    made.sweep()
    return made


@pytest.fixture(scope="module")
def swept(slurm: Path, tmp_path_factory: pytest.TempPathFactory) -> ClusterProject:
    """A sweep during which Slurm's controller was restarted."""
    made = ClusterProject(copy_to(tmp_path_factory.mktemp("cluster") / "clone").root)
    private_lock(made)
    made.configure(CONFIG)
    sweep = made.start()
    until(lambda: sweep.poll() is not None or made.jobs(states="running"), "a job", HUNG_S)
    for pid in slurm_daemons.processes(slurm):
        if Path(f"/proc/{pid}/comm").read_text().startswith("slurmctld"):
            os.kill(pid, signal.SIGTERM)
    until(lambda: not slurm_daemons.controller_is_up(), "the end of the controller")
    slurm_daemons.start_controller(slurm)
    assert sweep.poll() is None, "the sweep did not see the restart"
    assert sweep.wait(timeout=HUNG_S) == 0, made.screen()
    return made


def test_the_same_comes_out_as_here(swept, here):
    assert kind(swept.summary()) == kind(table.read(here.root / "results/summary.csv"))
    assert files(swept.root) == files(here.root)


def test_each_row_names_where_it_was_measured(swept):
    for backend, node, partition in (("numpy", "gpu1", "gpu"), ("fake", "gpu1", "gpu")):
        (path,) = swept.root.glob(f"results/cells/add/{backend}/*/*/1.csv")
        row = record.read(path)[0]
        assert (row["node"], row["partition"]) == (node, partition) and row["job_id"]


def test_a_device_that_is_not_there_is_a_row(swept):
    found = {(r["status"], r["reason"]) for r in swept.summary() if r["backend"] == "torch_cuda"}
    assert len(found) == 1
    ((status, reason),) = found
    assert status == "unavailable" and "\n" not in reason and reason


def test_cells_share_submissions(swept):
    """Probes, cells and ceilings of one kind of node: fewer submissions than jobs."""
    submitted = swept.screen().count("has been submitted with SLURM jobid")
    assert 0 < submitted < swept.screen().count("Finished jobid") / 2


def test_nothing_is_measured_twice_and_an_edit_runs_what_it_adds(swept):
    assert swept.plan() == []
    more = CONFIG | {"workloads": {"add": {"sizes": [100, 200], "dtypes": ["float64"]}}}
    swept.configure(more)
    assert swept.plan() == [
        f"add, {name}, float64, n=200, round 1 of 1" for name in sorted(CONFIG["backends"])
    ]

    # The file system is late: what the nodes wrote is seen here ten seconds after.
    (swept.root.parent / "sitecustomize.py").write_text(LATE)
    log = swept.root.parent / "late.txt"
    path = os.pathsep.join(filter(None, [str(swept.root.parent), os.environ.get("PYTHONPATH")]))
    swept.sweep(PYTHONPATH=path, LATE_S="10", LATE_LOG=str(log))
    assert log.read_text(), "nothing was late"
    assert {row["size"] for row in swept.summary() if row["status"] == "ok"} == {"100", "200"}
    assert swept.plan() == []
