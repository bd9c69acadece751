"""A synchronize that does not wait is caught, whatever the work; one that waits never is."""

import time
from pathlib import Path

import numpy as np
import pytest

from crossover import measurement, plugin, synchronized
from crossover.measurement import Measurement
from crossover.status import Failed
from test_measurement import task

pytestmark = pytest.mark.whole

FAKE = plugin.load(Path(__file__).with_name("fake_device.py"))


def check(work_s, launch_s=0, **options):
    options = {"work_s": work_s, "launch_s": launch_s, **options}
    backend = FAKE.Backend("fake", 1, options)
    array = backend.to_device(np.zeros(10), "float64")
    synchronized.check(backend.synchronize, time.perf_counter_ns, lambda: array + 1, backend.read)


@pytest.mark.parametrize("work_s", [1e-4, 1e-3, 50e-3])
def test_a_missing_wait_is_caught(work_s):
    with pytest.raises(Failed, match=r"\d calls took .* s by the clock, but their result came"):
        check(work_s, asynchronous=True)


@pytest.mark.parametrize("work_s", [1e-4, 1e-3])
def test_a_device_that_waits_is_not_accused_in_100_of_100_tries(work_s):
    for _ in range(100):
        check(work_s)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("size", [1, 1000, 1_000_000])
def test_nor_is_a_host(library, size):
    backend = plugin.load(plugin.builtin("backends")[library]).Backend("cpu", 1, {})
    array = backend.to_device(np.zeros(size), "float64")
    for _ in range(5):
        synchronized.check(
            backend.synchronize, time.perf_counter_ns, lambda: array + 1, backend.read
        )


class Late:
    """A lazy library: nothing is computed before a value is asked for."""

    def __init__(self, work_s):
        self.work_s = work_s

    def read(self):
        time.sleep(self.work_s)
        self.work_s = 0


def test_work_put_off_until_somebody_looks_is_caught():
    with pytest.raises(Failed, match="does not wait"):
        synchronized.check(
            lambda: None, time.perf_counter_ns, lambda: Late(0.01), lambda late: late.read()
        )


def test_slow_reads_are_no_late_work():
    """Each read takes as long: a far device, not an unfinished one."""
    synchronized.check(
        lambda: None, time.perf_counter_ns, lambda: None, lambda _: time.sleep(0.005)
    )


def test_a_hiccup_while_reading_is_no_late_work():
    """Reads of 5 ms, the first of each try 10 us longer, and the very first one 3 ms: with a k from
    that one alone, 10 us would stand against the 50 ns of one call."""
    clock = {"ns": 0, "reads": 0}

    def call():
        clock["ns"] += 50

    def read(_):
        clock["reads"] += 1
        clock["ns"] += 5_000_000
        if clock["reads"] % 2:
            clock["ns"] += 10_000 if clock["reads"] > 1 else 3_000_000

    synchronized.check(lambda: None, lambda: clock["ns"], call, read)


@pytest.mark.parametrize("work_s", [1e-4, 50e-3])
def test_the_cell_is_an_error_before_anything_is_sampled(work_s):
    made = Measurement(task(options={"work_s": work_s, "asynchronous": True}))
    with pytest.raises(Failed, match="does not wait"):
        made.run()
    assert [row["scope"] for row in made.rows] == ["first_call"]
    assert made.status_of(Failed("")) == "error"


@pytest.mark.parametrize("forgetful", [False, True])
def test_a_slow_cell_is_checked_by_its_first_call_unless_that_looks_odd(monkeypatch, forgetful):
    """Where one computation takes seconds, no other is made for this."""
    asked = []
    monkeypatch.setattr(measurement, "SLOW_START_S", 0.0)
    monkeypatch.setattr(synchronized, "check", lambda *arguments: asked.append(arguments))
    Measurement(task(options={"work_s": 0.02, "asynchronous": forgetful})).run()
    assert bool(asked) == forgetful
