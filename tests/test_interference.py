"""A busy machine is seen, a quiet one is left in peace: recorded, made up, and really busy."""

import os
import re
import subprocess
import sys

import pytest

import interference_records as recorded
from conftest import ROOT
from crossover import interference, machine
from crossover.interference import SIGNALS, TICK_S, disturbed

QUIET_NOISE = {"steal_s": TICK_S}  # one tick, as a shared host shows it now and then


def signals(timed_s, queue_wait_s=0.0, pressure_s=0.0, **others):
    known = {"timed_s": timed_s, "queue_wait_s": queue_wait_s, "pressure_s": pressure_s}
    return dict.fromkeys(SIGNALS, 0.0) | known | others


@pytest.mark.parametrize("rounds", [recorded.QUIET, recorded.ROOM_FOR_BOTH], ids=["quiet", "room"])
def test_recorded_rounds_of_a_quiet_machine(rounds):
    assert sum(disturbed(signals(*seen)) for seen in rounds) == 0
    assert sum(disturbed(signals(*seen, **QUIET_NOISE)) for seen in rounds) == 0


@pytest.mark.parametrize("name", ["BUSY_SUM", "BUSY_PRODUCT", "ONE_NEIGHBOUR", "BEHIND_US"])
def test_recorded_rounds_of_a_busy_machine(name):
    rounds = getattr(recorded, name)
    assert sum(disturbed(signals(*seen)) for seen in rounds) == len(rounds)


@pytest.mark.parametrize("name", ["BUSY_SUM", "BUSY_PRODUCT", "ONE_NEIGHBOUR"])
@pytest.mark.parametrize("blind", ["queue_wait_s", "pressure_s"])
def test_either_kind_of_waiting_is_enough(name, blind):
    """Kernels without schedstat, and kernels without PSI."""
    rounds = getattr(recorded, name)
    assert all(disturbed(signals(*seen) | {blind: 0.0}) for seen in rounds)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ({"steal_s": 0.02}, False),  # two ticks of 0.2 s: within what the first tick may hide
        ({"steal_s": 0.05}, True),
        ({"throttled_s": 0.01}, False),
        ({"throttled_s": 0.05}, True),
        ({"queue_wait_s": 0.009, "throttled_s": 0.009}, False),
        ({"queue_wait_s": 0.012, "throttled_s": 0.012}, True),  # both are ours, one after the other
        ({"queue_wait_s": "", "throttled_s": "", "steal_s": "", "gpu_reasons": ""}, False),
        ({"queue_wait_s": "0.05"}, True),  # as it stands in a raw file
    ],
)
def test_made_up_rounds(seen, expected):
    assert disturbed(signals(0.2) | seen) is expected


@pytest.mark.parametrize("seconds", [0.01, 0.05])
def test_a_single_tick_of_steal_says_nothing_of_a_short_round(seconds):
    assert not disturbed(signals(seconds, steal_s=TICK_S))


# --- where the numbers come from


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Files in the place of /proc; returns a function that writes one."""
    monkeypatch.setattr(machine, "PROC", tmp_path)
    monkeypatch.setattr(interference, "cgroup_folders", lambda: (tmp_path / "group", tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2})
    monkeypatch.setattr(machine, "usable_cores", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    return write


def stat(*steal):
    """/proc/stat, with each core's ticks of steal."""
    total = f"cpu  9 0 9 9 9 0 0 {sum(steal)} 0 0\n"
    cores = (f"cpu{core} 9 0 9 9 9 0 0 {ticks} 0 0\n" for core, ticks in enumerate(steal))
    return total + "".join(cores) + "intr 1 2 3 4 5 6 7 8 9\nctxt 5\n"


def test_steal_is_that_of_the_core_of_ours_that_was_robbed_most(kernel):
    kernel("stat", stat(10, 0, 100, 0))
    before = interference.Counters.now()
    kernel("stat", stat(12, 500, 107, 500))  # 1 and 3 are not ours
    assert interference.Counters.now().since(before)["steal_s"] == pytest.approx(7 * TICK_S)


def pressure(total):
    average = "avg10=0.00 avg60=0.00 avg300=0.00"
    return f"some {average} total={total}\nfull {average} total=99999999\n"


def waited(kernel, name):
    kernel(name, pressure(1_000_000))
    before = interference.Counters.now()
    kernel(name, pressure(1_250_000))
    return interference.Counters.now().since(before)["pressure_s"]


def test_pressure_is_the_machines_where_all_of_it_is_ours(kernel):
    kernel("group/cpu.pressure", pressure(1))
    assert waited(kernel, "pressure/cpu") == 0.25


def test_pressure_is_our_groups_where_others_have_cores_of_their_own(kernel, monkeypatch):
    monkeypatch.setattr(machine, "usable_cores", lambda: 2)
    kernel("pressure/cpu", pressure(1))
    kernel("cpu.pressure", pressure(1))  # the parent's
    assert waited(kernel, "group/cpu.pressure") == 0.25


def test_where_nothing_can_be_read_all_is_quiet(kernel, monkeypatch):
    monkeypatch.setattr(interference, "_queue_wait_s", dict)
    before = interference.Counters.now()
    seen = interference.Counters.now().since(before)
    assert {name: value for name, value in seen.items() if value and name != "timed_s"} == {}


# --- the real thing


@pytest.mark.whole
def test_as_many_busy_processes_as_cores_are_seen():
    """Twenty real rounds with the real counters, in a process of their own."""
    command = [sys.executable, ROOT / "benchmarks/quiet.py", "--seconds", "0.1"]
    done = subprocess.run(
        [*command, "--busy", str(machine.usable_cores())],
        env=os.environ | {"PYTHONPATH": str(ROOT / "workflow/scripts")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (seen,) = re.findall(r"^(\d+) of 20 rounds disturbed", done.stdout, re.MULTILINE)
    assert int(seen) >= 18
