"""What is damaged, unavailable or too slow is said, and tried again when asked; and no more."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CONFIG, ROOT, Project, copy_to, drop_seals
from crossover import config, record, table
from crossover.config import ConfigError
from test_rerun import DECISION, DRAWN, SUMMARY

pytestmark = pytest.mark.whole


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
    # What is made of all cells, and what is measured beside them.
    around = ("draw ", "render ", "ceilings ", "decide ", "make the page")
    planned = [job for job in done.plan() if not job.startswith(around)]
    assert planned == sorted([*jobs, SUMMARY])


def test_fresh_removes_and_the_next_sweep_measures_both_sides(done):
    """Round 2 of the baseline is another day's: the other rounds stay as they are."""
    done.calm()
    path = done.root / "results/cells/add/numpy/float64/100/2.csv"
    record.write(path, [drop_seals(row) | {"boot": "another"} for row in record.read(path)])
    freshened = done.crossover("fresh")
    assert freshened.returncode == 0, freshened.stderr
    cells = [f"results/cells/add/{name}/float64/100/2.csv" for name in ("fake", "numpy")]
    assert sorted(re.findall(r"^(\S+): ", freshened.stdout, re.M)) == cells
    assert "Removed 2 files" in freshened.stdout
    jobs = [f"add, {name}, float64, n=100, round 2 of 2" for name in ("fake", "numpy")]
    planned = done.plan()
    assert [job for job in planned if "n=100, round 2" in job and job.startswith("add")] == jobs
    assert "nothing to remove" in done.crossover("fresh").stdout


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
CONFIG_OF_ONE = {"workloads": {"add": {"sizes": [100]}}, "backends": {"numpy": {}}}
OWN_CEILINGS = [f"ceilings of own, float64, round {round} of 2" for round in (1, 2)]
FAULTY_DRAWN = [
    *("summarize 3 cells of 2 rounds", DECISION, "draw add, float64"),
    *("draw how accurate each workload is", "draw how near to the machine each dtype is"),
    "make the page",
]


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
    project.calm()
    before = set(project.root.glob("results/**/*"))
    done = project.crossover("retry")
    assert done.returncode == 0, done.stderr
    gone = {str(p.relative_to(project.root)) for p in before if not p.exists()}
    # Rounds of the good backend may drift, as short as they are: not this test's matter.
    gone = {name for name in gone if "/numpy/" not in name}
    assert gone == {
        "results/backends/own.json",
        *(
            f"results/cells/add/{backend}/float64/100/{name}"
            for backend in ("own", "stuck")
            for name in ("1.csv", "2.csv", "output.npy")
        ),
        *(f"results/ceilings/own/float64/{round}.csv" for round in (1, 2)),
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
            *OWN_CEILINGS,
            *FAULTY_DRAWN,
        ]
    )


def test_close_is_strict_where_asked_and_says_everything_before(faulty, tmp_path):
    project = faulty.copy(tmp_path / "clone")
    lenient, strict = project.crossover("close"), project.crossover("close", "--strict")
    assert (lenient.returncode, lenient.stderr) == (0, "")
    assert (strict.returncode, strict.stderr) == (1, "strict: 2 cells are not ok\n")
    assert "Not ok: 2 of 3 cells" in lenient.stdout and strict.stdout == lenient.stdout
    project.configure(FAULTY | {"strict": True})
    assert project.crossover("close").returncode == 1
    assert project.crossover("close", "--no-strict").returncode == 0


def test_make_sweep_is_strict_with_nothing_to_do_as_well(faulty, tmp_path):
    project = faulty.copy(tmp_path / "clone")
    shutil.copy2(ROOT / "Makefile", project.root)
    tools = Path(sys.executable).parent
    make = ["make", "sweep", f"BIN={tools}", "--assume-old", f"{tools}/.installed"]
    environment = os.environ | {"PYTHONPATH": library(project, 1)}
    for strict, status in (("STRICT=1", 2), ("STRICT=0", 0)):
        done = subprocess.run(
            [*make, strict], cwd=project.root, env=environment, capture_output=True, text=True
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert "Nothing to be done" in done.stdout + done.stderr
        assert "Not ok: 2 of 3 cells" in done.stdout
        assert ("strict: 2 cells are not ok" in done.stderr) == (status != 0)


@pytest.mark.parametrize("value", [1, "yes", "true"])
def test_strict_is_true_or_false(value):
    assert config.read(CONFIG_OF_ONE, ROOT).strict is False
    assert config.read(CONFIG_OF_ONE | {"strict": True}, ROOT).strict is True
    with pytest.raises(ConfigError, match=r"strict: .* is not true or false"):
        config.read(CONFIG_OF_ONE | {"strict": value}, ROOT)


def test_another_version_of_a_library_is_for_its_own_backend(faulty):
    assert faulty.plan(PYTHONPATH=library(faulty, 2)) == sorted(
        [
            "probe own",
            *(f"add, own, float64, n=100, round {round} of 2" for round in (1, 2)),
            *OWN_CEILINGS,
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
