"""Sweeps that tests look at. Much of their time is waiting for Slurm: so what the chosen tests need
is started at once, on one cluster, a thread each, and the one that waits longest first."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.project import ClusterProject
from conftest import copy_to
from processes import private_lock

FAKE = {"file": "tests/fake_device.py", "device": "fake"}
CPU = {"slurm_partition": "cpu"}
STUCK = {"fault": "stuck", "fault_at": 100}  # until there is a file `cured`
AT_ONCE = 4  # more would have two cores do nothing but start processes
LONGEST = "single"  # Slurm's shortest time limit is a minute
SCENES: dict[str, Callable[[Path], Any]] = {}


def scene(play: Callable[[Path], Any]) -> Any:
    """`play(folder)` as a fixture of that name, whose value is what it returned."""
    name = play.__name__
    SCENES[name] = play

    @pytest.fixture(scope="session", name=name)
    def result(started):
        return started[name].result()

    return result


def in_turn(name: str) -> tuple[bool, str]:
    return name != LONGEST, name


def project(folder: Path, config: dict, one_node: bool = True) -> ClusterProject:
    """A checkout whose measuring jobs wait for no other project's; without `one_node` for none at
    all, as the nodes of a real cluster have a lock each, and a stuck job would keep this one."""
    made = ClusterProject(copy_to(folder / "clone").root)
    private_lock(made)
    if not one_node:
        turn = made.root / "workflow/scripts/crossover/turn.py"
        lock = re.compile(r'^LOCK = Path\("(.*)"\)', re.MULTILINE)
        turn.write_text(lock.sub(r'LOCK = Path(f"\1-{os.getpid()}")', turn.read_text()))
    made.configure(config)
    return made


def faulty(options: dict, **resources) -> dict:
    """A backend whose cell of one size breaks its job (faulty.py)."""
    file = "tests/cluster/faulty.py"
    return {"file": file, "node": "any", "options": options, "resources": CPU | resources}


def one_round(sizes: list[int], **backends: dict) -> dict:
    return {
        "workloads": {"add": {"sizes": sizes, "dtypes": ["float64"]}},
        "backends": {"numpy": {"node": "any", "resources": CPU}, **backends},
        "rounds": 1,
        "budget_s": 0.02,
        "timeout_s": 600,  # far away: Slurm ends what is stuck
    }
