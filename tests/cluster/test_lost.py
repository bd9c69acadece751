"""Jobs that die as a whole, on a real Slurm: each ends as a row with its reason, everything else is
done, and the next sweep goes on from there.

Two sweeps run at once, and their faults overlap in time: one job to a cell, and cells in batches.
"""

import os
import re
import signal
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from cluster.project import HUNG_S, ClusterProject, said
from conftest import copy_to
from crossover import record
from crossover.cells import Cell
from processes import private_lock, until

SIZE, OTHER = 100, 200  # a fault strikes at SIZE
FAKE = {"file": "tests/fake_device.py", "device": "fake"}
CPU = {"slurm_partition": "cpu"}
STUCK = {"fault": "stuck", "fault_at": SIZE}
GREEDY = {"fault": "memory", "fault_at": SIZE}


def faulty(options: dict, **resources) -> dict:
    file = "tests/cluster/faulty.py"
    return {"file": file, "node": "any", "options": options, "resources": CPU | resources}


def sweep_of(sizes: list[int], **backends: dict) -> dict:
    return {
        "workloads": {"add": {"sizes": sizes, "dtypes": ["float64"]}},
        "backends": {"numpy": {"node": "any", "resources": CPU}, **backends},
        "rounds": 1,
        "budget_s": 0.02,
        "timeout_s": 120,
    }


# Slurm itself ends these; Crossover's own limits are far away.
ALIVE = {
    "over_memory": faulty(GREEDY | {"megabytes": 3000}, mem_mb=700),
    "over_time": faulty(STUCK, runtime=1),
    "cancelled": faulty(STUCK),
    "node_down": faulty(STUCK, slurm_partition="gpu"),
}
REFUSED = {
    "no_partition": faulty({}, slurm_partition="nowhere"),
    "too_much_memory": faulty({}, mem_mb=10_000_000),
    "no_gpu": FAKE | {"node": "any", "resources": CPU},
    # Taken, but never started: the partition allows one hour.
    "too_long": faulty({}, runtime=600),
}
EXPECTED = {
    "over_memory": ("out_of_memory", "exceeded memory limit"),
    "over_time": ("timeout", "TIMEOUT"),
    "cancelled": ("killed", "CANCELLED"),
    "node_down": ("killed", "NODE_FAIL"),
    "no_partition": ("error", "nvalid partition"),
    "too_much_memory": ("error", "Memory specification can not be satisfied"),
    "no_gpu": ("error", "Requested node configuration is not available"),
    "too_long": ("error", "can never start it: PartitionTimeLimit"),
}
ONE_BY_ONE = ("--group-components", "measuring=1", "--retries", "0")
BATCHES = sweep_of(
    [SIZE, OTHER],
    # More than it asked for, and less than it is given when it is tried again.
    grows=faulty(GREEDY | {"megabytes": 800}, mem_mb=900, constraint="large"),
    # More than that: it takes the others of its batch with it, but not to the end.
    greedy=faulty(GREEDY | {"megabytes": 3000}),
)


def project(folder: Path, config: dict) -> ClusterProject:
    made = ClusterProject(copy_to(folder / "clone").root)
    private_lock(made)
    # The nodes of a real cluster have a lock each, and a stuck job would keep this one.
    turn = made.root / "workflow/scripts/crossover/turn.py"
    own = re.sub(
        r'^LOCK = Path\("(.*)"\)', r'LOCK = Path(f"\1-{os.getpid()}")', turn.read_text(), flags=re.M
    )
    turn.write_text(own)
    made.configure(config)
    return made


def ended(sweep: "subprocess.Popen[bytes]", made: ClusterProject) -> int:
    try:
        return sweep.wait(timeout=HUNG_S)
    except subprocess.TimeoutExpired:
        sweep.kill()
        pytest.fail(f"the sweep hangs:\n{made.screen()[-3000:]}")


def gpu_node() -> str:
    """Its state, as Slurm says it; up again as soon as its slurmd has said so."""
    (state,) = said("sinfo", "--noheader", "--nodes=gpu1", "--format=%t")
    return state


class Swept(NamedTuple):
    """A sweep that lost cells, and what `make sweep` did then."""

    project: ClusterProject
    code: int  # of Snakemake
    before: Counter[tuple[str, str]]  # rows of the baseline when Snakemake gave up
    recovered: "subprocess.CompletedProcess[str]"


def swept(made: ClusterProject, *arguments: str) -> Swept:
    code = ended(made.start(*arguments), made)
    return Swept(made, code, made.statuses("numpy"), made.recover(*arguments))


@pytest.fixture(scope="module")
def both(slurm, tmp_path_factory):
    """The two sweeps, at the same time, to their ends."""
    single = project(tmp_path_factory.mktemp("single"), sweep_of([SIZE], **ALIVE, **REFUSED))
    batches = project(tmp_path_factory.mktemp("batches"), BATCHES)
    with ThreadPoolExecutor() as pool:
        try:
            sweeps = [pool.submit(swept, single, *ONE_BY_ONE), pool.submit(swept, batches)]

            def running(word: str) -> list[str]:
                """That job, once its cell is being measured."""
                log = single.root / f"logs/cells/add/{word}/float64/{SIZE}/1.log"
                until(lambda: log.exists() or sweeps[0].done(), f"{word} to run", HUNG_S)
                return single.jobs(f"rule_measure_wildcards_add_{word}_", "running")

            for number in running("cancelled"):
                said("scancel", number)
            if running("node_down"):
                said("scontrol", "update", "NodeName=gpu1", "State=DOWN", "Reason=test")
                subprocess.run(["scontrol", "update", "NodeName=gpu1", "State=RESUME"])
                until(lambda: "down" not in gpu_node(), "gpu1 to be up")
            yield [sweep.result() for sweep in sweeps]
        finally:
            single.end()
            batches.end()


def well(one: Swept) -> tuple[ClusterProject, str]:
    """The project and the words of one that lost cells and came to its end."""
    assert one.code == 1, one.project.screen()
    assert one.recovered.returncode == 0, one.recovered.stdout + one.recovered.stderr
    return one.project, one.recovered.stdout


@pytest.fixture(scope="module")
def single(both):
    """One job to a cell."""
    assert both[0].before == {("numpy", "ok"): 1}, "what the cluster could do was not done"
    return well(both[0])


@pytest.fixture(scope="module")
def batches(both):
    return well(both[1])


@pytest.mark.parametrize("backend", EXPECTED)
def test_a_lost_cell_is_a_row_with_status_and_reason(single, backend):
    made, words = single
    status, reason = EXPECTED[backend]
    (path,) = made.root.glob(f"results/cells/add/{backend}/*/*/1.csv")
    (row,) = record.read(path)
    assert row["status"] == status and reason in row["reason"] and "\n" not in row["reason"]
    assert f"{path.relative_to(made.root)}: {status} ({row['reason']})" in words
    assert row["seconds"] == row["machine"] == row["host"] == ""
    (found,) = (r for r in made.summary() if r["backend"] == backend)
    assert (found["status"], found["reason"]) == (status, row["reason"])


def test_every_other_cell_is_done_and_the_closing_lines_tell(single):
    made, _ = single
    assert made.statuses("numpy") == {("numpy", "ok"): 1}
    closing = made.crossover("close").stdout
    assert f"Not ok: {len(EXPECTED)} of {len(EXPECTED) + 1} cells" in closing
    assert "make retry" in closing
    assert made.plan(*ONE_BY_ONE) == [], "a row is a finished job"


def test_what_fits_into_twice_the_memory_was_tried_again_and_is_ok(batches):
    made, _ = batches
    assert made.statuses("grows") == {("grows", "ok"): 2}
    assert "Trying to restart job" in made.screen()


def test_a_lost_batch_costs_no_cell_but_the_one_that_broke_it(batches):
    made, words = batches
    assert "each job by itself" in words
    assert made.statuses("numpy", "greedy") == {
        ("numpy", "ok"): 2,
        ("greedy", "ok"): 1,
        ("greedy", "out_of_memory"): 1,
    }
    assert made.plan() == []


def test_retry_and_a_snakemake_killed_in_the_middle(single):
    """What was cured is measured again, and nothing else, though the first Snakemake is killed."""
    made, _ = single
    made.configure(sweep_of([SIZE], **ALIVE))
    numpy = made.root / Cell("add", "numpy", "float64", SIZE).csv(1)
    stamp = numpy.stat().st_mtime_ns
    (made.root / "cured").touch()
    removed = made.crossover("retry").stdout
    assert all(f"add/{backend}/float64" in removed for backend in ALIVE), removed

    sweep = made.start(*ONE_BY_ONE)
    until(lambda: made.jobs(states="running"), "a job that runs", HUNG_S)
    os.kill(sweep.pid, signal.SIGKILL)
    sweep.wait()
    locked = made.run(*ONE_BY_ONE)
    assert locked.returncode != 0 and "--unlock" in locked.stdout + locked.stderr
    made.sweep("--unlock")
    if jobs := made.jobs():
        refused = made.crossover("check")
        assert refused.returncode == 1 and f"scancel {' '.join(jobs)}" in refused.stderr
        said("scancel", *jobs)
        until(lambda: not made.jobs(), "the end of the jobs")
    assert made.crossover("check").returncode == 0
    made.sweep(*ONE_BY_ONE)
    assert made.statuses(*ALIVE) == {(backend, "ok"): 1 for backend in ALIVE}
    # A neighbour may have disturbed it: then it was on the list, and only then it ran again.
    listed = str(Cell("add", "numpy", "float64", SIZE).csv(1)) in removed
    assert listed or numpy.stat().st_mtime_ns == stamp, "a finished cell ran again"
    assert made.plan(*ONE_BY_ONE) == []
