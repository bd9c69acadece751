"""A disk that is full: one line, a failed job, nothing half-written, and the next run goes on."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import drop_seals
from crossover import job, record
from crossover.cells import Cell
from one_cell import task
from processes import private_lock, snapshot

pytestmark = pytest.mark.whole

SUMMARY = "results/summary.csv"
SIZES = [9000, 9001, 9002]  # arrays of 72 kB
CONFIG = {
    "workloads": {"add": {"sizes": SIZES, "dtypes": ["float64"]}},
    "backends": {"numpy": {}},
    "rounds": 1,
    "budget_s": 0.01,
}


def tables():
    return [str(Cell("add", "numpy", "float64", size).csv(1)) for size in SIZES]


def assert_nothing_is_half_written(root):
    for path in root.rglob("*.csv"):
        assert [drop_seals(row) for row in record.read(path)]
    for path in root.rglob("*.npy"):
        np.load(path, allow_pickle=False)
        assert path.with_name("1.csv").exists()
    assert not list(root.rglob("*.tmp"))


@pytest.fixture
def small_disk(project):
    """A file system of 120 kB below the project's results/cells, which only root can make."""
    place = project.root / "results/cells"
    place.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=120k", "crossover-test", str(place)],
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_one_line_and_the_next_run_goes_on(project, small_disk):
    private_lock(project)
    project.configure(CONFIG)
    done = project.run(*tables())
    words = done.stdout + done.stderr
    assert done.returncode != 0
    assert "Traceback" not in words
    (line,) = [line for line in words.splitlines() if "No space left on device" in line]
    assert line.startswith("results/cells/add/numpy/float64/") and " cannot be written: " in line
    assert_nothing_is_half_written(small_disk)
    before = {name: stamp for name, stamp in snapshot(small_disk).items() if name.endswith(".csv")}
    assert 0 < len(before) < len(SIZES)

    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    project.sweep(*tables())
    after = snapshot(small_disk)
    assert before.items() <= after.items(), "a finished cell ran again"
    for name in tables():
        assert record.read(project.root / name)[0]["status"] == "ok"


def limited(kilobytes, command):
    """`ulimit -f`: no file may grow beyond it. The kernel refuses a write as on a full disk."""
    return ["bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash", *command]


def test_a_file_that_may_not_be_so_large_is_the_same(project):
    private_lock(project)
    project.configure(CONFIG)
    done = subprocess.run(
        limited(64, project.command(tables()[0])),
        cwd=project.root,
        capture_output=True,
        text=True,
    )
    words = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in words
    array = Cell("add", "numpy", "float64", SIZES[0]).array
    assert f"\n{array} cannot be written: File too large\n" in words
    assert_nothing_is_half_written(project.root / "results")
    assert not (project.root / tables()[0]).exists()


# --- one job, where not even its log can be written

ONE_JOB = """
import sys
from pathlib import Path
from crossover import job
from one_cell import task

folder = Path(sys.argv[1])
job.measure(task(folder, **eval(sys.argv[2])), 60, folder / "log")
"""


@pytest.mark.parametrize(
    ("changes", "name"),
    [({}, "output.npy"), ({"array": None}, "1.csv"), ({"dtype": "float99"}, "output.npy")],
    ids=["the array", "the table", "the row of a failure"],
)
def test_the_line_names_the_file_and_the_cause(tmp_path, changes, name):
    done = subprocess.run(
        limited(0, [sys.executable, "-c", ONE_JOB, str(tmp_path), repr(changes)]),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path / name} cannot be written: File too large\n"
    assert {path.name for path in tmp_path.iterdir()} == {"log"}


def test_the_row_of_a_killed_child_cannot_be_written_either(tmp_path):
    """Then it is the job that tries."""
    (tmp_path / "dead.py").write_text("import os\n\nos.kill(os.getpid(), 9)\n")
    done = subprocess.run(
        limited(0, [sys.executable, "-c", ONE_JOB, str(tmp_path), "{'workload': 'dead'}"]),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path / 'output.npy'} cannot be written: File too large\n"


def test_a_log_that_is_full_costs_no_row(tmp_path):
    made = task(tmp_path, dtype="float99")
    job.measure(made, 60, Path("/dev/full"))  # every write there fails with 'No space left'
    row = record.read(Path(made["csv"]))[0]
    assert (row["status"], row["reason"]) == ("unsupported", "numpy has no dtype float99")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as exit:
        job.measure(task(tmp_path), 60, tmp_path / "file/log")
    assert str(exit.value) == f"{tmp_path / 'file'}: File exists"


def test_a_sweep_does_not_begin_on_a_disk_that_is_full_already(project, small_disk):
    (small_disk / "config.yaml").write_text("backends: {numpy: {}}\nworkloads: {add: {sizes: 9}}")
    done = subprocess.run(
        [sys.executable, "-m", "crossover", "check"],
        cwd=small_disk,
        env=os.environ | {"PYTHONPATH": str(project.root / "workflow/scripts")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == (f"{small_disk}: 0.1 MB left on its disk; a sweep needs 10 MB at least\n")
