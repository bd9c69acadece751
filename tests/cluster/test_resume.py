"""A sweep whose Snakemake is killed, and one whose Slurm is away for a while: both go on."""

import os
import signal
from concurrent.futures import wait
from pathlib import Path
from typing import Any, NamedTuple

from cluster import asked, slurm_daemons
from cluster.project import HUNG_S, ClusterProject, said
from cluster.scenes import STUCK, faulty, one_round, project, scene
from crossover.cells import Cell
from processes import until

CONFIG = one_round([100], stuck=faulty(STUCK))
BOTH_OK = {("numpy", "ok"): 1, ("stuck", "ok"): 1}
LOG = Path("logs/cells/add/stuck/float64/100/1.log")


class Killed(NamedTuple):
    project: ClusterProject
    locked: Any  # what a second Snakemake said
    refused: Any  # what `make sweep` said, unlocked, of the jobs that still ran
    left: list[str]  # these
    kept: bool  # a cell that was done before was not measured again


@scene
def killed(folder):
    made = project(folder, CONFIG)
    sweep = made.start()
    until(lambda: (made.root / LOG).exists() or sweep.poll() is not None, "the cell", HUNG_S)
    os.kill(sweep.pid, signal.SIGKILL)
    sweep.wait()
    locked = made.run()
    made.sweep("--unlock")
    left = made.jobs()
    refused = made.crossover("check")
    said("scancel", *left)
    until(lambda: not made.jobs(states="pending,running,completing"), "the end of the jobs", HUNG_S)
    (made.root / "cured").touch()
    assert made.crossover("check").returncode == 0
    numpy = made.root / Cell("add", "numpy", "float64", 100).csv(1)
    before = numpy.stat().st_mtime_ns if numpy.exists() else None
    assert made.ended(made.start()) == 0, made.screen()
    return Killed(made, locked, refused, left, before in (None, numpy.stat().st_mtime_ns))


def test_a_killed_snakemake_is_told_of_at_once_and_its_sweep_goes_on(killed):
    assert killed.locked.returncode != 0
    assert "--unlock" in killed.locked.stdout + killed.locked.stderr
    assert killed.left and killed.refused.returncode == 1
    assert f"scancel {' '.join(killed.left)}" in killed.refused.stderr
    assert killed.kept and killed.project.statuses("numpy", "stuck") == BOTH_OK
    assert killed.project.plan() == []


def test_a_controller_that_was_away_for_longer_than_two_polls_costs_nothing(
    slurm, started, tmp_path
):
    wait(started.values())  # nothing else could submit meanwhile
    made = project(tmp_path, CONFIG)
    sweep = made.start()
    until(lambda: (made.root / LOG).exists() or sweep.poll() is not None, "the cell", HUNG_S)

    def in_vain() -> int:
        return sum(call.is_poll and call.code != 0 for call in made.asked())

    slurm_daemons.stop_controller(slurm)
    until(lambda: in_vain() >= 2 or sweep.poll() is not None, "two polls in vain", HUNG_S)
    slurm_daemons.start_controller(slurm)
    (made.root / "cured").touch()
    assert made.ended(sweep) == 0, made.screen()
    calls = made.asked()
    assert made.statuses("numpy", "stuck") == BOTH_OK
    assert "Trying to restart" not in made.screen() and not asked.polls_until_lost_is_told(calls)
    assert asked.polls_after_the_last_end(calls) <= 2
    assert made.plan() == []
