"""What is damaged, unavailable or too slow is said, and tried again when asked; and no more."""

import re
from pathlib import Path

import pytest

from conftest import CONFIG, Project, copy_to
from crossover import record, table
from test_rerun import DRAWN, SUMMARY


@pytest.fixture
def done(finished: Project, tmp_path: Path) -> Project:
    """A finished sweep of one's own, to change."""
    return finished.copy(tmp_path / "clone")


def test_a_file_that_was_cut_is_named_and_measured_again(done):
    path = done.root / "results/cells/add/numpy/float64/100/2.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    assert done.plan() == sorted(DRAWN)
    done.sweep("--until", "summarize")
    row = next(
        row
        for row in table.read(done.root / "results/summary.csv")
        if (row["backend"], row["size"], row["workload"]) == ("numpy", "100", "add")
    )
    assert row["status"] == "error" and row["median_s"] == ""
    assert str(path.relative_to(done.root)) in row["reason"] and "make retry" in row["reason"]

    retried = done.crossover("retry")
    assert retried.returncode == 0, retried.stderr
    assert not path.exists()
    # And, where others use this machine, rounds that they disturbed.
    found = re.findall(r"^results/cells/(.+)/(.+)/(.+)/(.+)/(.+)\.csv: ", retried.stdout, re.M)
    jobs = ["{}, {}, {}, n={}, round {} of 2".format(*names) for names in found]
    assert "add, numpy, float64, n=100, round 2 of 2" in jobs
    planned = [job for job in done.plan() if not job.startswith(("draw ", "render "))]
    assert planned == sorted([*jobs, SUMMARY])


OWN = """
from pathlib import Path

from crossover.backends import Host
from crossover.status import Unavailable

import numpy

LIBRARIES = ("somelib",)
DEVICES = ("cpu",)


class Backend(Host):
    xp = numpy

    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        if Path("unplugged").exists():
            raise Unavailable("it is not plugged in")
"""
FAULTY = {
    **CONFIG,
    "workloads": {"add": {"sizes": [100], "dtypes": ["float64"]}},
    "backends": {
        "numpy": {},
        "own": {"file": "own.py"},
        "stuck": {
            "file": "tests/fake_device.py",
            "device": "fake",
            "options": {"fault": "hang", "fault_at": 100},
        },
    },
}
FAULTY_DRAWN = ["summarize 3 cells of 2 rounds", "draw add, float64"]


def library(project: Project, version: int) -> str:
    """A folder for PYTHONPATH in which a library is installed."""
    folder = project.root / f"library-{version}"
    info = folder / f"somelib-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: somelib\nVersion: {version}\n"
    (info / "METADATA").write_text(text)
    return str(folder)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory) -> Project:
    """A finished sweep in which one backend is not there, and one takes too long."""
    made = copy_to(tmp_path_factory.mktemp("faulty") / "clone")
    (made.root / "own.py").write_text(OWN)
    (made.root / "unplugged").touch()
    made.configure(FAULTY)
    stuck = [f"results/cells/add/stuck/float64/100/{round}.csv" for round in (1, 2)]
    path = library(made, 1)
    # Too short for any cell, on any machine; for the others there is time enough.
    made.sweep(*stuck, "--config", "timeout_s=0.5", PYTHONPATH=path)
    made.sweep(PYTHONPATH=path)
    (made.root / "unplugged").unlink()
    return made


def test_what_was_unavailable_or_too_slow_is_not_tried_again_unasked(faulty):
    rows = table.read(faulty.root / "results/summary.csv")
    found = {row["backend"]: (row["status"], row["reason"]) for row in rows}
    assert found["own"] == ("unavailable", "it is not plugged in")
    assert found["stuck"] == ("timeout", "took more than 0.5 s (timeout_s)")
    assert found["numpy"][0] == "ok"
    assert faulty.plan(PYTHONPATH=library(faulty, 1)) == []


def test_retry_removes_and_the_next_run_measures_what_is_not_ok(faulty, tmp_path):
    project = faulty.copy(tmp_path / "clone")
    before = set(project.root.glob("results/**/*"))
    done = project.crossover("retry")
    assert done.returncode == 0, done.stderr
    gone = {str(p.relative_to(project.root)) for p in before if not p.exists()}
    # A machine this busy may have disturbed a round of the good backend: not this test's matter.
    gone = {name for name in gone if "/numpy/" not in name}
    assert gone == {
        "results/backends/own.json",
        *(
            f"results/cells/add/{backend}/float64/100/{name}"
            for backend in ("own", "stuck")
            for name in ("1.csv", "2.csv", "output.npy")
        ),
    }
    assert all(name in done.stdout for name in gone)
    assert "own.json: unavailable (it is not plugged in)" in done.stdout
    assert "timeout (took more than 0.5 s (timeout_s))" in done.stdout

    planned = project.plan(PYTHONPATH=library(project, 1))
    assert [job for job in planned if ", numpy," not in job] == sorted(
        [
            "probe own",
            *(
                f"add, {backend}, float64, n=100, round {round} of 2"
                for backend in ("own", "stuck")
                for round in (1, 2)
            ),
            *FAULTY_DRAWN,
        ]
    )


def test_another_version_of_a_library_is_for_its_own_backend(faulty):
    assert faulty.plan(PYTHONPATH=library(faulty, 2)) == sorted(
        [
            "probe own",
            *(f"add, own, float64, n=100, round {round} of 2" for round in (1, 2)),
            *FAULTY_DRAWN,
        ]
    )


def test_a_cell_believes_a_probe_that_was_asked_the_same_and_no_other(faulty, tmp_path):
    project = faulty.copy(
        tmp_path / "clone"
    )  # it is plugged in again, and the probe has not seen it
    path = project.root / "results/cells/add/own/float64/100/2.csv"
    found = []
    for version in (1, 2):
        path.unlink()
        target = str(path.relative_to(project.root))
        project.sweep(target, PYTHONPATH=library(project, version))
        found.append(record.read(path)[0]["status"])
    assert found == ["unavailable", "ok"]
