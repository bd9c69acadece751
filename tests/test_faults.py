"""Whatever dies, and whenever: every file is whole or absent, and the same command goes on."""

import base64
import csv
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

from conftest import copy_to
from crossover import record
from crossover.cells import Cell, probe_json
from processes import CHILD, JOB, alive, measuring, private_lock, running, snapshot, until

pytestmark = pytest.mark.whole

SUMMARY = "results/summary.csv"
VERDICT = "results/verdict.md"
# A library that starts a process of its own and never comes back.
HANGING = """
import subprocess
import time

from crossover.backends.numpy import Backend as Numpy

OPTIONS = ("pid_file",)


class Backend(Numpy):
    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        self.pid_file = options["pid_file"]

    def dtype(self, name):  # the probe does not ask for it
        sleeper = subprocess.Popen(["sleep", "3600"])
        with open(self.pid_file, "w") as file:
            file.write(str(sleeper.pid))
        time.sleep(3600)
"""
KILLS = ["child"] * 4 + ["job"] * 3 + ["snakemake"] * 3
SIZES = list(range(10, 20))
ROUNDS = 2
FAKE = {"file": "tests/fake_device.py", "device": "fake"}


def targets():
    """All but charts and page, which take longest and are not what is killed here."""
    cells = [Cell("add", "fake", "float64", size) for size in SIZES]
    tables = [str(cell.csv(round)) for cell in cells for round in range(1, ROUNDS + 1)]
    return [str(probe_json("fake")), *tables, SUMMARY, VERDICT]


def start(project, *wanted):
    """The sweep as a user starts it, in the background; its screen goes to a file."""
    with (project.root / "screen.txt").open("a") as screen:
        return subprocess.Popen(
            project.command(*(wanted or targets())), cwd=project.root, stdout=screen, stderr=screen
        )


def in_flight(project):
    """The files of the jobs that Snakemake began and did not see the end of."""
    marks = (project.root / ".snakemake/incomplete").glob("*")
    return {base64.b64decode(mark.name).decode() for mark in marks}


def finished(project):
    """Inode and date of each file whose job has ended."""
    found = {f"results/{name}": stamp for name, stamp in snapshot(project.root / "results").items()}
    begun = in_flight(project)
    return {name: stamp for name, stamp in found.items() if name not in begun}


def assert_nothing_is_half_written(project):
    cells = project.root / "results/cells"
    for path in cells.rglob("*.csv"):
        assert record.read(path)
    for path in cells.rglob("*.npy"):
        np.load(path, allow_pickle=False)


def kill(kind, project, sweep):
    """Kill one process of a kind, if possible while it measures; False if it got away."""
    if kind == "snakemake":
        os.kill(sweep.pid, signal.SIGKILL)
        return True
    for process in running(project.root, {"child": CHILD, "job": JOB}[kind]):
        with suppress(psutil.NoSuchProcess):
            process.kill()
            return True
    return False


def statuses(project):
    tables = (project.root / "results/cells").rglob("*.csv")
    return [record.read(path)[0]["status"] for path in tables]


def at_work(project, sweep, word):
    """Wait until a process of the sweep is there, or the sweep has ended."""
    until(lambda: sweep.poll() is not None or running(project.root, word), word)


@pytest.fixture
def guarded(project):
    """A project whose processes end with the test, however that ends."""
    private_lock(project)
    yield project
    for process in running(project.root):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def test_kill_at_random_moments_and_go_on(guarded):
    project, dice = guarded, random.Random(0)
    project.configure(
        {
            "workloads": {"add": {"sizes": SIZES, "dtypes": ["float64"]}},
            # Seven calls: most moments are within one.
            "backends": {"fake": FAKE | {"options": {"work_s": 0.05}}},
            "baseline": "fake",
            "rounds": ROUNDS,
            "budget_s": 0.01,
        }
    )
    before = {}
    sweep = start(project)
    for kind in dice.sample(KILLS, len(KILLS)):
        if sweep.poll() is not None:
            sweep = start(project)
        while True:
            at_work(project, sweep, JOB if kind == "job" else CHILD)
            time.sleep(dice.uniform(0, 0.6))
            if kill(kind, project, sweep):
                break
            assert sweep.poll() is None, (project.root / "screen.txt").read_text()[-2000:]
        if kind == "job":
            assert sweep.wait(timeout=60) != 0
        if kind == "snakemake":
            sweep.wait()
            # At once, as an impatient user would: the orphaned job may still be at work.
            project.sweep("--unlock")
        assert_nothing_is_half_written(project)
        now = finished(project)
        assert before.items() <= now.items(), "a finished cell ran again"
        before = now
    sweep.wait(timeout=120)
    project.sweep(*targets())
    assert before.items() <= finished(project).items(), "a finished cell ran again"

    # A killed child is a row, not a failed job, and not measured again before it is asked for.
    found = statuses(project)
    assert len(found) == len(SIZES) * ROUNDS
    killed = found.count("killed")
    assert 1 <= killed <= KILLS.count("child") and set(found) == {"killed", "ok"}
    assert "killed by SIGKILL" in project.crossover("close").stdout
    project.crossover("retry")
    project.sweep(*targets())
    assert statuses(project) == ["ok"] * len(SIZES) * ROUNDS

    assert not list((project.root / "results").rglob("*.tmp"))
    until(lambda: not measuring(project.root), "the end of all measuring processes", 5)


def test_neither_a_child_nor_its_children_outlive_the_job(guarded):
    project = guarded
    (project.root / "hanging.py").write_text(HANGING)
    sleeper = project.root / "sleeper"
    project.configure(
        {
            "workloads": {"add": {"sizes": SIZES, "dtypes": ["float64"]}},
            "backends": {"fake": {"file": "hanging.py", "options": {"pid_file": str(sleeper)}}},
            "baseline": "fake",
        }
    )
    sweep = start(project, str(Cell("add", "fake", "float64", SIZES[0]).csv(1)))
    pid = int(until(lambda: sleeper.exists() and sleeper.read_text(), "the child's own child"))
    assert alive(pid)
    assert kill("job", project, sweep)
    assert sweep.wait(timeout=60) != 0
    until(lambda: not measuring(project.root), "the end of the child", 10)
    until(lambda: not alive(pid), "the end of the child's own child", 10)


# --- every status, through the whole workflow

# One that has no float32 and says so as libraries do: in several lines.
OLD = """
from crossover.backends.numpy import Backend as Numpy


class Backend(Numpy):
    def dtype(self, name):
        raise RuntimeError(f'"add" not implemented for {name}, "sorry"\\nand more words')
"""
SIZE = 100
EXPECTED = {
    "numpy": ("ok", ""),
    "wrong": ("mismatch", "the result is on elsewhere, not on fake"),
    "old": ("unsupported", 'RuntimeError: "add" not implemented for float32, "sorry"'),
    "missing": ("unavailable", "no such card, sorry"),
    "full": ("out_of_memory", "MemoryError: the fake device has no room"),
    "hanging": ("timeout", "took more than 3 s (timeout_s)"),
    "killed": ("killed", "killed by SIGKILL; the kernel does this when memory runs out"),
    "crashed": ("killed", "killed by SIGSEGV"),
    "broken": ("error", "ValueError: the fake device broke"),
}


def faulty(fault):
    return FAKE | {"options": {"fault": fault, "fault_at": SIZE}}


@pytest.fixture(scope="module")
def swept():
    """A sweep in which all that can go wrong does, with what it said."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    project = copy_to(folder / "clone")
    private_lock(project)
    (project.root / "hanging.py").write_text(HANGING)
    (project.root / "old.py").write_text(OLD)
    sleeper = folder / "sleeper"
    project.configure(
        {
            "workloads": {"polar": {"sizes": [SIZE], "dtypes": ["float32"]}},
            "backends": {
                "numpy": {},
                "wrong": FAKE | {"options": {"wrong": "device"}},
                "old": {"file": "old.py"},
                "missing": FAKE | {"options": {"missing": "no such card, sorry"}},
                "full": faulty("out_of_memory"),
                "hanging": {"file": "hanging.py", "options": {"pid_file": str(sleeper)}},
                "killed": faulty("SIGKILL"),
                "crashed": faulty("SIGSEGV"),
                "broken": faulty("exception"),
            },
            "rounds": 1,
            "budget_s": 0.01,
            "timeout_s": 3,
        }
    )
    yield project, project.sweep()
    shutil.rmtree(folder)


def summary(project):
    with (project.root / SUMMARY).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("backend", EXPECTED)
def test_every_status_is_a_row_with_its_reason(swept, backend):
    project, _ = swept
    rows = [r for r in summary(project) if r["backend"] == backend]
    status, reason = EXPECTED[backend]
    assert {row["status"] for row in rows} == {status}, rows[0]["reason"]
    assert rows[0]["reason"].startswith(reason) and "\n" not in rows[0]["reason"]
    numbers = ("median_s", "q1_s", "q3_s", "min_s", "speedup", "rounds", "samples", "grade")
    if status == "ok":
        assert all(row["median_s"] for row in rows)
    else:
        (row,) = rows
        assert row["scope"] == "compute" and not any(row[name] for name in numbers)
    array = np.load(project.root / Cell("polar", backend, "float32", SIZE).array)
    assert array.shape == ((2, SIZE) if status == "ok" else (0,))


def test_the_traceback_is_in_the_log_of_the_cell(swept):
    project, _ = swept
    logs = project.root / "logs/cells/polar"
    text = (logs / f"broken/float32/{SIZE}/1.log").read_text()
    assert "Traceback" in text and text.rstrip().endswith("ValueError: the fake device broke")
    assert "and more words" in (logs / f"old/float32/{SIZE}/1.log").read_text()


def test_the_screen_shows_no_traceback(swept):
    _, done = swept
    assert "Traceback" not in done.stdout + done.stderr


def test_the_charts_are_there(swept):
    project, _ = swept
    plots = project.root / "results/plots/polar/float32"
    names = {path.name for path in plots.iterdir() if path.stat().st_size > 0}
    charts = ("time", "speedup", "parts", "reuse", "curve")
    assert names == {f"{name}.{kind}" for name in charts for kind in ("svg", "png")}


def test_the_closing_lines_count_and_explain(swept):
    project, _ = swept
    done = project.crossover("close")
    assert done.returncode == 0 and not done.stderr
    cells = len(EXPECTED) + 2  # two pictures, one by each method
    assert f"Not ok: {len(EXPECTED) - 1} of {cells} cells" in done.stdout
    for backend, (status, reason) in EXPECTED.items():
        assert status == "ok" or f"1 x {backend}: {status} ({reason}" in done.stdout
    assert "'make retry'" in done.stdout


def test_a_hang_is_ended_with_all_that_it_started(swept):
    project, _ = swept
    until(lambda: not running(project.root), "the end of all processes", 5)
    assert not alive(int((project.root.parent / "sleeper").read_text()))


def test_a_cell_in_the_foreground_shows_its_traceback_and_keeps_nothing(swept):
    project, _ = swept
    before = snapshot(project.root / "results")
    choice = ("--workload", "polar", "--size", str(SIZE), "--backend")
    done = project.crossover("cell", *choice, "broken")
    assert done.returncode == 1
    assert "Traceback" in done.stdout
    assert done.stderr == "error: ValueError: the fake device broke\n"
    done = project.crossover("cell", *choice, "numpy")
    assert done.returncode == 0 and "compute" in done.stdout, done.stderr
    assert snapshot(project.root / "results") == before


def test_retry_removes_all_that_is_not_ok_and_nothing_else(swept):
    """The last one here: it changes what the others look at."""
    project, _ = swept
    before = snapshot(project.root / "results")
    done = project.crossover("retry")
    assert done.returncode == 0
    gone = before.keys() - snapshot(project.root / "results").keys()
    for name in gone:
        assert f"results/{name}: " in done.stdout
    bad = [backend for backend, (status, _) in EXPECTED.items() if status != "ok"]
    for backend in bad:
        cell = Cell("polar", backend, "float32", SIZE)
        assert {str(cell.csv(1)), str(cell.array)} <= {f"results/{name}" for name in gone}
    # numpy, and the picture, may be removed as `disturbed` on a busy machine.
    assert not any("/plots/" in name or name == "summary.csv" for name in gone)
    assert {name for name in gone if name.startswith("backends/")} == {"backends/missing.json"}
