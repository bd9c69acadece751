"""Joules of a call: from the GPU's counter where it tells something, and empty where it does not.

On a fake of NVML, whose counter shows what it is told to, and on the fake device.
"""

from itertools import pairwise

import pytest

import rounds
from crossover import energy, measurement, nvml
from crossover.clock import Stopwatch
from test_measurement import measured

PARTS = {"work_s": 0.001}


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still, for `energy` alone; the list's last value is now."""
    now = [100.0]
    monkeypatch.setattr(energy, "perf_counter", lambda: now[-1])
    return now


def per_call(clock, seconds=2.0, calls=400, uuid="FAKE-1"):
    meter = energy.Meter(uuid)
    clock.append(clock[-1] + seconds)
    return meter.per_call(calls)


def test_what_the_counter_moved_by_is_of_all_calls(pynvml, clock):
    pynvml.energy_mj[:] = [7_000_000_000, 7_001_000_000]  # 1 kJ in 2 s
    assert per_call(clock) == 1000 / 400
    assert pynvml.energy_reads == 2


@pytest.mark.parametrize("shown", [[5000], [5000, 4999], [2**64 - 1, 20], [0]], ids=str)
def test_a_counter_that_does_not_move_or_begins_again_says_nothing(pynvml, clock, shown):
    pynvml.energy_mj[:] = shown
    assert per_call(clock) is None


@pytest.mark.parametrize("broken", ["nvmlInit", "nvmlDeviceGetTotalEnergyConsumption"])
def test_a_counter_that_cannot_be_read_says_nothing(pynvml, clock, broken):
    pynvml.energy_mj[:] = [5000, 9000]
    pynvml.broken.add(broken)
    assert per_call(clock) is None


def test_a_counter_that_fails_at_the_end_says_nothing(pynvml, clock):
    pynvml.energy_mj[:] = [5000, 9000]
    meter = energy.Meter("FAKE-1")
    clock.append(clock[-1] + 9)
    pynvml.broken.add("nvmlDeviceGetTotalEnergyConsumption")
    assert meter.per_call(1) is None


def test_too_short_a_time_for_the_counters_steps_says_nothing(pynvml, clock):
    pynvml.energy_mj[:] = [5000, 9000]
    assert per_call(clock, seconds=0.99 * energy.LONG_ENOUGH_S) is None
    pynvml.energy_mj[:] = [5000, 9000]
    assert per_call(clock, seconds=1.01 * energy.LONG_ENOUGH_S) == 4 / 400


@pytest.mark.parametrize("uuid", ["FAKE-2", "FAKE-3"])  # a GPU that has slices, and a slice
def test_the_counter_of_a_whole_gpu_is_not_that_of_a_slice(pynvml, clock, uuid):
    pynvml.energy_mj[:] = [5000, 9000]
    assert per_call(clock, uuid=uuid) is None
    assert pynvml.energy_reads == 0


def test_without_a_mode_for_slices_there_are_none(pynvml):
    pynvml.broken |= {"nvmlDeviceGetMigMode", "nvmlDeviceIsMigDeviceHandle"}
    assert nvml.energy_j("FAKE-1") == 5000


def test_of_a_host_nothing_is_asked(pynvml, clock):
    assert per_call(clock, uuid="") is None
    assert pynvml.init_calls == 0


def test_a_measurement_has_it_for_its_computation_alone(pynvml, monkeypatch):
    """The counter is read right before the first and right after the last call of `compute`, and
    never while a sample is timed."""
    monkeypatch.setattr(energy, "LONG_ENOUGH_S", 0.0)
    monkeypatch.setattr(measurement, "ATTEMPTS", 1)
    pynvml.energy_mj[:] = [1_000, 4_000]
    seen, ran = [], []
    run = Stopwatch.run

    def watched(self, call, calls):
        before = pynvml.energy_reads
        found = run(self, call, calls)
        seen.append((before, pynvml.energy_reads))
        ran.append((before, calls))
        return found

    monkeypatch.setattr(Stopwatch, "run", watched)
    made = measured(options=PARTS)
    assert all(before == after for before, after in seen)  # none within what is timed
    assert [after - before for (before, _), (after, _) in pairwise(seen)].count(1) == 2
    values = {row["scope"]: row.get("joules") for row in made.rows}
    calls = sum(number for reads, number in ran if reads == 1)
    assert values.pop("compute") == 3 / calls
    assert len(values) > 3 and set(values.values()) == {None}


def test_a_short_measurement_has_none(pynvml):
    pynvml.energy_mj[:] = [1_000, 4_000, 9_000, 16_000]
    assert {row.get("joules") for row in measured(options=PARTS).rows} == {None}


def test_the_summary_has_the_median_of_the_rounds_that_know(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scopes = ("compute", "download", "round_trip")
    for number, joules in ((1, 0.5), (2, ""), (3, 0.3), (4, 0.9)):
        rounds.measured("numpy", 2.0, number)
        rounds.measured("gpu", 1.0, number, scopes=scopes, joules=joules, device="H200")
    found = rounds.rows("gpu", rounds=4)
    values = {key: row["joules"] for key, row in found.items()}
    assert values.pop(("gpu", rounds.SIZE, "compute")) == 0.5
    assert set(values.values()) == {""}
