"""A quick sweep on a real Slurm: the same results as here, nothing twice, and no hang when the file
system is late."""

import os
from pathlib import Path

from cluster import asked
from cluster.scenes import FAKE, project, scene
from conftest import Project
from crossover import record, table

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


@scene
def here(folder):
    """The same sweep, without a cluster."""
    made = Project(project(folder, CONFIG).root)
    made.sweep()
    return made


@scene
def swept(folder):
    made = project(folder, CONFIG)
    assert made.ended(made.start()) == 0, made.screen()
    return made


@scene
def late(folder):
    """What the nodes wrote is seen by Snakemake ten seconds after."""
    config = CONFIG | {"workloads": {"add": {"sizes": [100, 200], "dtypes": ["float64"]}}}
    config["backends"] = {name: CONFIG["backends"][name] for name in ("numpy", "fake")}
    made = project(folder, config)
    (folder / "sitecustomize.py").write_text(LATE)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    log = str(folder / "late.txt")
    assert made.ended(made.start(PYTHONPATH=path, LATE_S="10", LATE_LOG=log)) == 0, made.screen()
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


def test_a_late_file_system_costs_no_cell_and_no_second_try(late):
    assert (late.root.parent / "late.txt").read_text(), "nothing was late"
    assert {(row["size"], row["status"]) for row in late.summary()} == {
        ("100", "ok"),
        ("200", "ok"),
    }
    calls = late.asked()
    assert "Trying to restart" not in late.screen()
    assert asked.polls_after_the_last_end(calls) <= 2
    assert late.plan() == []
