"""The process that measures: started fresh, and with nothing in it that it does not measure."""

import json
import sysconfig
import venv
from pathlib import Path

import pytest

from crossover import record
from crossover.cells import Cell, probe_json

# A workload that looks around in the process that measures it, and at the one that started that.
NOSY = """
import os
import sys
from pathlib import Path

from crossover.workloads import Cost

DTYPES = ("float64",)
HEAVY = ("torch", "pandas", "scipy", "matplotlib", "snakemake", "yaml", "jsonschema", "pynvml")
FORKED_AND_NOT_EXECUTED = 0x40  # PF_FORKNOEXEC of Linux's sched.h


def look():
    found = [f"{name} is imported" for name in HEAVY if name in sys.modules]
    if sys.orig_argv[1:] != ["-P", "-m", "crossover.child"]:
        found.append(f"started as {sys.orig_argv}")
    flags = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[6])
    if flags & FORKED_AND_NOT_EXECUTED:
        found.append("forked")
    parent = Path(f"/proc/{os.getppid()}/maps").read_text()
    found += [f"the job has loaded {name}" for name in ("numpy", "torch") if f"/{name}/" in parent]
    if found:
        raise ImportError(", ".join(found))


def inputs(rng, size, dtype):
    look()
    return (rng.random(size),)


def compute(xp, a, *, size, dtype, device):
    return a + a


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    return Cost(size, size * itemsize, size * itemsize)


def error(outputs, inputs, rng, dtype):
    look()
    return 0.0


def bound(size, dtype):
    return 0.0
"""

# A torch that can be found, but not imported; it counts the tries.
BROKEN_TORCH = """
from pathlib import Path

with (Path(__file__).parent / "imports").open("a") as file:
    file.write("once\\n")
raise ImportError("libtorch is broken here")
"""


@pytest.fixture
def without_torch(tmp_path):
    """An interpreter that has all our packages but torch: neither the module nor its version."""
    site = tmp_path / "site"
    site.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.lower().startswith(("torch", "functorch")):
            (site / entry.name).symlink_to(entry)
    venv.create(tmp_path / "venv")
    (packages,) = tmp_path.glob("venv/lib/python*/site-packages")
    (packages / "ours.pth").write_text(str(site))
    return str(tmp_path / "venv/bin/python")


@pytest.fixture
def nosy(project):
    (project.root / "nosy.py").write_text(NOSY)
    project.configure(
        {
            "workloads": {"nosy": {"file": "nosy.py", "sizes": [10], "dtypes": ["float64"]}},
            "backends": {"numpy": {}, "torch": {}},
            "rounds": 2,
            "budget_s": 0.01,
        }
    )
    return project


def first_rows(project, **environment):
    """Run the probes and both rounds; round 2's first row by backend."""
    cells = {name: Cell("nosy", name, "float64", 10) for name in ("numpy", "torch")}
    # The probes are no input of the cells: their priority alone puts them first.
    wanted = [*map(probe_json, cells), *(c.csv(n) for c in cells.values() for n in (1, 2))]
    project.sweep(*map(str, wanted), **environment)
    return {name: record.read(project.root / cell.csv(2))[0] for name, cell in cells.items()}


def test_numpy_is_measured_alone_and_without_torch_installed(nosy, without_torch, monkeypatch):
    monkeypatch.setattr("conftest.sys.executable", without_torch)
    rows = first_rows(nosy)
    assert rows["numpy"]["status"] == "ok", rows["numpy"]["reason"]
    assert rows["torch"]["status"] == "unavailable"
    assert rows["torch"]["reason"] == "No module named 'torch'"
    found = json.loads((nosy.root / probe_json("torch")).read_text())
    assert not found["available"] and found["version"] == ""
    assert "cpu" in found["machine_facts"]


def test_a_broken_torch_is_imported_once(nosy, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "torch.py").write_text(BROKEN_TORCH)
    rows = first_rows(nosy, PYTHONPATH=str(broken))
    assert rows["numpy"]["status"] == "ok", rows["numpy"]["reason"]
    assert rows["torch"]["status"] == "unavailable"
    assert rows["torch"]["reason"].endswith("libtorch is broken here")
    # By the probe: not by planning, not by the cells.
    assert (broken / "imports").read_text() == "once\n"
