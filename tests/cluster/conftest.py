"""A Slurm for all tests of a run, and the sweeps on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cluster import slurm_daemons
from cluster.project import end_all
from cluster.scenes import AT_ONCE, SCENES, in_turn

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
    """The folder of a running Slurm; it ends with this process, however that ends."""
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


@pytest.fixture(scope="session")
def started(
    request: pytest.FixtureRequest, slurm: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, "Future[Any]"]]:
    """By name, what comes of the scenes that the chosen tests ask for: they run already."""
    names = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    folders = {
        name: tmp_path_factory.mktemp(name) for name in sorted(names & SCENES.keys(), key=in_turn)
    }
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            yield {name: pool.submit(SCENES[name], folder) for name, folder in folders.items()}
        finally:
            end_all()
