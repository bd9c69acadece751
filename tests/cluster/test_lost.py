"""Jobs that die as a whole, on a real Slurm: each ends as a row with its reason, everything else is
done, and the next sweep goes on from there.

One sweep has one job to a cell, the other has cells in batches.
"""

import subprocess
from collections import Counter
from typing import NamedTuple

import pytest

from cluster import asked
from cluster.project import HUNG_S, ONE_BY_ONE, ClusterProject, said
from cluster.scenes import CPU, FAKE, STUCK, faulty, one_round, project, scene
from crossover import record
from crossover.cells import Cell
from processes import until

SIZE, OTHER = 100, 200  # a fault strikes at SIZE
GREEDY = {"fault": "memory", "fault_at": SIZE}

# Slurm itself ends these; Crossover's own limits are far away.
ALIVE = {
    "over_memory": faulty(GREEDY | {"megabytes": 2000}, mem_mb=700),
    "over_time": faulty(STUCK, runtime=1),
    "cancelled": faulty(STUCK),
    "node_down": faulty(STUCK, slurm_partition="frail"),
}
REFUSED = {
    "no_partition": faulty({}, slurm_partition="nowhere"),
    "too_much_memory": faulty({}, mem_mb=10_000_000),
    "no_gpu": FAKE | {"node": "any", "resources": CPU},
    # Taken, but never started: the partition allows ten hours.
    "too_long": faulty({}, runtime=6000),
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


class Swept(NamedTuple):
    """A sweep that lost cells, and what `make sweep` did then."""

    project: ClusterProject
    code: int  # of Snakemake
    before: Counter[tuple[str, str]]  # rows of the baseline when Snakemake gave up
    recovered: "subprocess.CompletedProcess[str]"

    @property
    def words(self) -> str:
        """What was said of cells that were lost, of a sweep that came to its end."""
        assert self.code == 1, self.project.screen()
        assert self.recovered.returncode == 0, self.recovered.stdout + self.recovered.stderr
        return self.recovered.stdout


def recovered(made: ClusterProject, sweep: "subprocess.Popen[bytes]", *arguments: str) -> Swept:
    code = made.ended(sweep)
    return Swept(made, code, made.statuses("numpy"), made.recover(*arguments))


@scene
def single(folder):
    """One job to a cell; nothing that it loses is tried again."""
    made = project(folder, one_round([SIZE], **ALIVE, **REFUSED), one_node=False)
    sweep = made.start(*ONE_BY_ONE)

    def running(word: str) -> list[str]:
        """That job, once its cell is being measured."""
        log = made.root / f"logs/cells/add/{word}/float64/{SIZE}/1.log"
        until(lambda: log.exists() or sweep.poll() is not None, f"{word} to run", HUNG_S)
        return made.jobs(f"rule_measure_wildcards_add_{word}_", "running")

    for number in running("cancelled"):
        said("scancel", number)
    if running("node_down"):
        said("scontrol", "update", "NodeName=frail1", "State=DOWN", "Reason=test")
        # Refused where its slurmd has said already that it is up again.
        subprocess.run(["scontrol", "update", "NodeName=frail1", "State=RESUME"])
    return recovered(made, sweep, *ONE_BY_ONE)


@scene
def batches(folder):
    config = one_round(
        [SIZE, OTHER],
        # More than it asked for, and less than it is given when it is tried again.
        grows=faulty(GREEDY | {"megabytes": 800}, mem_mb=900, constraint="large"),
        # More than that: it takes the others of its batch with it, but not to the end.
        greedy=faulty(GREEDY | {"megabytes": 2500}),
    )
    made = project(folder, config, one_node=False)
    return recovered(made, made.start())


@pytest.mark.parametrize("backend", EXPECTED)
def test_a_lost_cell_is_a_row_with_status_and_reason(single, backend):
    made, words = single.project, single.words
    status, reason = EXPECTED[backend]
    (path,) = made.root.glob(f"results/cells/add/{backend}/*/*/1.csv")
    (row,) = record.read(path)
    assert row["status"] == status and reason in row["reason"] and "\n" not in row["reason"]
    assert f"{path.relative_to(made.root)}: {status} ({row['reason']})" in words
    assert row["seconds"] == row["machine"] == row["host"] == ""
    (found,) = (r for r in made.summary() if r["backend"] == backend)
    assert (found["status"], found["reason"]) == (status, row["reason"])


def test_every_other_cell_is_done_and_the_closing_lines_tell(single):
    made = single.project
    assert single.before == {("numpy", "ok"): 1}, "what the cluster could do was not done"
    assert made.statuses("numpy") == {("numpy", "ok"): 1}
    closing = made.crossover("close").stdout
    assert f"Not ok: {len(EXPECTED)} of {len(EXPECTED) + 1} cells" in closing
    assert "make retry" in closing
    assert made.plan(*ONE_BY_ONE) == [], "a row is a finished job"


def test_every_loss_is_noticed_within_two_polls(single, batches):
    for swept in (single, batches):
        calls = swept.project.asked()
        found = asked.polls_until_lost_is_told(calls)
        assert found and max(found.values()) <= 2, found
    calls = single.project.asked()
    rules = ("probe", "cell", "ceilings")  # of each backend
    lost = asked.polls_until_lost_is_told(calls)
    assert len(lost) == len(ALIVE) + len(rules), "the cells of ALIVE, and all of too_long"
    never = asked.looks_until_never_is_told(calls)
    assert len(never) == len(rules) and max(never.values()) <= 2, never
    refused = asked.polls_until_refusals_are_told(calls)
    assert len(refused) == len(rules) * (len(REFUSED) - 1) and max(refused) <= 2, refused


def test_what_fits_into_twice_the_memory_was_tried_again_and_is_ok(batches):
    made = batches.project
    assert batches.words and made.statuses("grows") == {("grows", "ok"): 2}
    assert "Trying to restart job" in made.screen()


def test_a_lost_batch_costs_no_cell_but_the_one_that_broke_it(batches):
    made = batches.project
    assert "each job by itself" in batches.words
    assert made.statuses("numpy", "greedy") == {
        ("numpy", "ok"): 2,
        ("greedy", "ok"): 1,
        ("greedy", "out_of_memory"): 1,
    }
    assert made.plan() == []


def test_what_was_cured_is_measured_again_and_nothing_else(single, tmp_path):
    made = ClusterProject(single.project.copy(tmp_path / "cured").root)
    made.configure(one_round([SIZE], **ALIVE))
    numpy = made.root / Cell("add", "numpy", "float64", SIZE).csv(1)
    stamp = numpy.stat().st_mtime_ns
    (made.root / "cured").touch()
    removed = made.crossover("retry").stdout
    assert all(f"add/{backend}/float64" in removed for backend in ALIVE), removed
    made.sweep(*ONE_BY_ONE)
    assert made.statuses(*ALIVE) == {(backend, "ok"): 1 for backend in ALIVE}
    # A neighbour may have disturbed it: then it was on the list, and only then it ran again.
    listed = str(Cell("add", "numpy", "float64", SIZE).csv(1)) in removed
    assert listed or numpy.stat().st_mtime_ns == stamp, "a finished cell ran again"
    assert made.plan(*ONE_BY_ONE) == []
