"""One timed job at a time on a machine, in the right order, and waiting costs nothing."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from itertools import groupby, pairwise
from pathlib import Path

import psutil
import pytest

from conftest import ROOT, copy_to
from crossover import record
from crossover.turn import turn
from processes import CHILD, JOB, running, until

pytestmark = pytest.mark.whole

SUMMARY = "results/summary.csv"
CONFIG = {
    "workloads": {
        "add": {"sizes": [100], "dtypes": ["float64"]},
        "polar": {"sizes": [100], "dtypes": ["float32"]},
    },
    "backends": {"numpy": {}, "fake": {"file": "tests/fake_device.py", "device": "fake"}},
    "rounds": 2,
    "budget_s": 0.01,
}
JOBS = 6 * 2  # four cells and a picture by two methods, two rounds
# A process that holds a turn, says so, and stays; with an argument it has a child do it instead.
HOLDER = """
import subprocess, sys, time
from pathlib import Path
from crossover.turn import turn

with turn(path=Path(sys.argv[1])) as lock:
    child = subprocess.Popen(["sleep", "60"], pass_fds=[lock]).pid if sys.argv[2:] else 0
    print(child, flush=True)
    time.sleep(60)
"""


def timed_parts(project):
    """(start, end, row) of each job, in the order of time: from its first sample to its last."""
    parts = []
    results = project.root / "results"
    for path in [*results.glob("cells/**/*.csv"), *results.glob("render/**/*.csv")]:
        rows = record.read(path)
        starts = [float(row["started_at"]) for row in rows]
        ends = [
            float(row["started_at"]) + float(row["seconds"]) * int(row["calls"]) for row in rows
        ]
        assert all(end > start for start, end in zip(starts, ends, strict=True))
        parts.append((min(starts), max(ends), rows[0]))
    return sorted(parts, key=lambda part: part[:2])


def assert_apart(parts):
    for (_, end, before), (start, _, after) in pairwise(parts):
        assert end <= start, f"{before} and {after} overlap"


@pytest.mark.parametrize("cores", ["1", "2", "all"])
def test_one_at_a_time_and_in_order_whatever_the_cores(project, cores):
    project.configure(CONFIG)
    project.sweep(SUMMARY, cores=cores)
    parts = timed_parts(project)
    assert len(parts) == JOBS
    assert_apart(parts)
    rows = [row for _, _, row in parts]
    assert [row["round"] for row in rows] == ["1"] * (JOBS // 2) + ["2"] * (JOBS // 2)
    for first in (0, JOBS // 2):
        order = [(r["workload"], r["dtype"], r["size"]) for r in rows[first : first + JOBS // 2]]
        groups = [group for group, _ in groupby(order)]
        assert len(groups) == len(set(groups)) == 2, "backends to be compared are torn apart"


def test_snakemake_itself_leaves_the_cores_alone(project):
    """It would start a timer for each job, and each would wake its scheduler every second."""
    project.configure(CONFIG | {"rounds": 4})
    sweep = subprocess.Popen(
        project.command(SUMMARY),
        cwd=project.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    threads = [0]
    while sweep.poll() is None:
        with suppress(psutil.Error):
            threads.append(psutil.Process(sweep.pid).num_threads())
        time.sleep(0.1)
    assert sweep.returncode == 0
    assert max(threads) < JOBS, threads


def test_two_sweeps_at_once_take_turns(tmp_path):
    projects = [copy_to(tmp_path / name) for name in ("one", "two")]
    running = []
    for project in projects:
        project.configure(CONFIG | {"timeout_s": 20})
        with (project.root / "screen.txt").open("w") as screen:
            command = project.command(SUMMARY, cores="all")
            running.append(
                subprocess.Popen(command, cwd=project.root, stdout=screen, stderr=subprocess.STDOUT)
            )
    for project, process in zip(projects, running, strict=True):
        assert process.wait(timeout=300) == 0, (project.root / "screen.txt").read_text()
    one, two = map(timed_parts, projects)
    assert len(one) == len(two) == JOBS
    assert one[0][0] < two[-1][1] and two[0][0] < one[-1][1], "they did not run at once"
    both = sorted(one + two, key=lambda part: part[:2])
    assert all(row["status"] == "ok" for _, _, row in both)
    assert_apart(both)


def test_waiting_is_no_timeout(project):
    timeout_s = 2
    project.configure(
        {
            "workloads": {"add": {"sizes": [10], "dtypes": ["float64"]}},
            "backends": {"numpy": {}},
            "rounds": 1,
            "budget_s": 0.01,
            "timeout_s": timeout_s,
        }
    )
    with turn():
        command = project.command(SUMMARY)
        sweep = subprocess.Popen(command, cwd=project.root, stderr=subprocess.DEVNULL)
        until(lambda: running(project.root, JOB), "the measuring job")
        time.sleep(2 * timeout_s)
        assert sweep.poll() is None
        assert not running(project.root, CHILD) and not timed_parts(project)
    assert sweep.wait(timeout=120) == 0
    ((_, _, row),) = timed_parts(project)
    assert row["status"] == "ok", row["reason"]


@pytest.mark.parametrize(
    "script",
    ["summarize", "decide", "article", "charts", "accuracy", "roofline", "curve", "page"],
)
def test_what_is_not_timed_shares_the_machine_only_with_its_like(script):
    assert "turn(shared=True)" in (ROOT / f"workflow/scripts/{script}.py").read_text()


# --- the lock itself


def free(path, how):
    """Could this process have the lock now?"""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def holder(path, *arguments):
    """A process that holds the lock, and the pid of its child if it has one."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow/scripts")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def test_measuring_is_alone_and_drawing_shares(tmp_path):
    path = tmp_path / "lock"
    with turn(path=path):
        assert not free(path, fcntl.LOCK_EX) and not free(path, fcntl.LOCK_SH)
    with turn(shared=True, path=path):
        assert free(path, fcntl.LOCK_SH) and not free(path, fcntl.LOCK_EX)
        with turn(shared=True, path=path):
            pass
        assert not free(path, fcntl.LOCK_EX)
    assert free(path, fcntl.LOCK_EX)


def test_an_exception_gives_the_turn_back(tmp_path):
    with pytest.raises(ZeroDivisionError), turn(path=tmp_path / "lock"):
        raise ZeroDivisionError
    assert free(tmp_path / "lock", fcntl.LOCK_EX)


def test_a_killed_holder_gives_the_turn_back(tmp_path):
    path = tmp_path / "lock"
    with holder(path) as (process, _):
        assert not free(path, fcntl.LOCK_SH)
        process.send_signal(signal.SIGKILL)
        with turn(path=path):  # waits for as long as it takes the kernel
            pass


def test_an_orphan_that_measures_keeps_the_turn(tmp_path):
    path = tmp_path / "lock"
    with holder(path, "child") as (process, child):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not free(path, fcntl.LOCK_EX)
        os.kill(child, signal.SIGKILL)
        with turn(path=path):
            pass


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_lock_of_another_user_works(umask):
    """As in /tmp: everybody may write there, and nobody may touch another's file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o1777)
        before = os.umask(umask)
        try:
            with turn(path=folder / "lock"):
                pass
        finally:
            os.umask(before)
        if pid := os.fork():
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            return
        try:  # the other user, where we may become one; else a file that may only be read
            if os.getuid() == 0:
                os.setuid(65534)
            else:
                (folder / "lock").chmod(0o444)
            with turn(path=folder / "lock"), turn(shared=True, path=folder / "other"):
                os._exit(0)
        finally:
            os._exit(1)
