"""A Slurm for all tests of a run, and projects that sweep on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from cluster import slurm_daemons
from cluster.project import ClusterProject
from conftest import copy_to

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
PLUGIN = "snakemake_executor_plugin_slurm"


def missing() -> str:
    """Why there can be no Slurm here, '' where there can."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    if lacking := [name for name in COMMANDS if not shutil.which(name, path=path)]:
        return f"no Slurm here: {', '.join(lacking)} missing (packages: see tests/cluster/install)"
    if os.getuid() != 0:
        return "a Slurm of our own needs root"
    if find_spec(PLUGIN) is None:
        return "snakemake-executor-plugin-slurm is missing: pip install -r requirements-cluster.txt"
    return ""


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running Slurm of two nodes; it ends with this process, however that ends."""
    if why := missing():
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    folder = tmp_path_factory.mktemp("slurm")
    port = os.environ.get("SLURM_TEST_PORT", str(slurm_daemons.PORT))
    daemons = subprocess.Popen(
        [sys.executable, "-m", "cluster.slurm_daemons", str(folder), port],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that Ctrl-C reaches pytest alone, which then ends its input
    )
    assert daemons.stdin and daemons.stdout
    try:
        assert daemons.stdout.readline() == "up\n", "Slurm did not start: see above"
        os.environ["SLURM_CONF"] = str(folder / "etc/slurm.conf")
        yield folder
    finally:
        daemons.stdin.close()
        daemons.wait(timeout=120)
        os.environ.pop("SLURM_CONF", None)
    assert not slurm_daemons.processes(folder)


@pytest.fixture
def project(slurm: Path, tmp_path: Path) -> Iterator[ClusterProject]:
    """A checkout of its own; what it has on the cluster ends with the test."""
    made = ClusterProject(copy_to(tmp_path / "clone").root)
    yield made
    made.end()
