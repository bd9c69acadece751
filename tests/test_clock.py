"""The sampling loop on clocks and devices whose true durations are known: nothing here waits."""

import random
from statistics import median

import pytest

from crossover import clock
from crossover.clock import (
    FEWEST_SAMPLES,
    SETTLED_AFTER,
    SETTLED_SHARE,
    Samples,
    Stopwatch,
    sample,
    settled,
)


class Device:
    """Asynchronous: a call returns after its launch, the work ends later, synchronize waits.

    Time is simulated. `now` shows it in steps of `step` ns, and reading it takes `look` ns.
    """

    def __init__(self, work_ns, launch_ns=0, step=1, look=20, slow=()):
        self.time = self.ready = 0.0
        self.work, self.launch, self.step, self.look = work_ns, launch_ns, step, look
        self.slow = list(slow)
        self.calls = 0

    def now(self):
        self.time += self.look
        return int(self.time // self.step * self.step)

    def pass_by(self, ns):
        self.time += ns

    def call(self):
        self.calls += 1
        self.time += self.launch
        self.ready = max(self.ready, self.time) + (self.slow.pop(0) if self.slow else self.work)

    def synchronize(self):
        self.time = max(self.time, self.ready)

    def sample(self, budget_s=0.2, most=1000, synchronize=None, **options) -> Samples:
        watch = Stopwatch(synchronize or self.synchronize, self.now)
        return sample(watch, self.call, budget_s, most, **options)


@pytest.mark.whole
@pytest.mark.parametrize("step", [1, 1_000, 16_000_000], ids=["1 ns", "1 us", "16 ms"])
@pytest.mark.parametrize("work_ns", [1e3, 37e3, 1e6, 42e6, 1e9])
def test_a_known_duration_is_recovered(work_ns, step):
    samples = Device(work_ns, step=step).sample(budget_s=2.0)
    assert median(samples.seconds) == pytest.approx(work_ns / 1e9, rel=0.02)


def test_without_synchronize_the_work_is_not_seen():
    """The trap that the harness exists to avoid: this is what its synchronize is for."""
    launch_ns, work_ns = 5e3, 10e6
    honest = Device(work_ns, launch_ns).sample()
    fooled = Device(work_ns, launch_ns).sample(synchronize=lambda: None)
    assert median(honest.seconds) == pytest.approx(work_ns / 1e9, rel=0.02)
    assert median(fooled.seconds) < 0.01 * work_ns / 1e9


def test_the_device_is_idle_when_the_clock_starts():
    """Work left over from before does not count."""
    device = Device(1e6)
    device.ready = 5e9
    start, seconds, _ = Stopwatch(device.synchronize, device.now).run(device.call, 1)
    assert start >= 5 and seconds == pytest.approx(1e-3, rel=0.01)


def test_three_slow_first_calls_do_not_reach_the_samples():
    samples = Device(160e3, slow=[38e6, 34e6, 4e6]).sample()
    assert max(samples.seconds) == pytest.approx(160e-6, rel=0.02)


def test_equally_slow_first_calls_do_not_pass_for_steady_ones():
    samples = Device(1e3, slow=[50e6, 50e6, 50e6]).sample()
    assert max(samples.seconds) == pytest.approx(1e-6, rel=0.05)


def test_a_call_longer_than_the_budget_gets_one_sample_and_no_other_warm_up():
    device = Device(3e9)
    samples = device.sample(budget_s=0.2, before_s=3.1)
    assert samples.seconds == [pytest.approx(3.0)]
    assert device.calls == 1


@pytest.mark.parametrize("slow", [[0.9e9], [0.9e9, 0.5e9], [0.9e9, 0.5e9, 0.3e9]])
def test_slow_first_calls_longer_than_the_budget_do_not_reach_the_samples(slow):
    samples = Device(1e6, slow=slow).sample(budget_s=0.2)
    assert max(samples.seconds) == pytest.approx(1e-3, rel=0.02)


def test_calls_longer_than_the_budget_that_never_agree_are_bounded():
    device = Device(1e9, slow=[k * 1e9 for k in (20, 10, 5, 2.5, 1.2)])
    assert device.sample(budget_s=0.2).seconds == [pytest.approx(2.5)]


def test_all_calls_are_counted():
    device = Device(1e6, slow=[38e6, 34e6, 4e6])
    assert device.sample().made == device.calls


def test_a_few_samples_where_one_call_is_nearly_the_budget():
    assert len(Device(0.19e9).sample(budget_s=0.2).seconds) == FEWEST_SAMPLES


def test_a_scope_with_a_share_of_the_budget_still_gets_a_few():
    samples = Device(0.1e9).sample(budget_s=0.05, slow_s=0.2)
    assert len(samples.seconds) == FEWEST_SAMPLES


def restless(base_ns, count=100_000):
    """Durations that vary by a fifth, as a process disturbs itself."""
    rng = random.Random(1)
    return [base_ns * rng.uniform(0.9, 1.1) for _ in range(count)]


def spent(samples):
    return sum(samples.seconds) * samples.calls


def test_samples_end_with_the_budget():
    samples = Device(1e6, slow=restless(1e6)).sample(budget_s=0.1)
    assert spent(samples) == pytest.approx(0.1, rel=0.2)


def test_samples_end_before_it_when_more_would_not_narrow_the_median():
    samples = Device(1e6).sample(budget_s=0.2)
    assert spent(samples) == pytest.approx(0.1, rel=0.1)
    assert len(samples.seconds) >= SETTLED_AFTER


@pytest.mark.parametrize("spread", [0.0005, 0.005, 0.05])
def test_settled_means_that_the_median_is_known_to_a_fifth_of_a_percent(spread):
    """Told from many medians of as many samples: a promise about the next ones."""
    rng = random.Random(0)

    def drawn(count):
        return [rng.gauss(1, spread) for _ in range(count)]

    samples = drawn(SETTLED_AFTER - 1)
    while not settled(samples) and len(samples) < 4000:
        samples.append(rng.gauss(1, spread))
    medians = sorted(median(drawn(len(samples))) for _ in range(200))
    width = medians[194] - medians[5]
    assert (width < 1.3 * SETTLED_SHARE) == settled(samples)


def test_samples_end_at_the_most_and_then_last_longer():
    samples = Device(1e5).sample(budget_s=10, most=20)
    assert len(samples.seconds) <= 20
    assert spent(samples) == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize("budget_s", [1e-9, 1e-3])
def test_there_is_always_a_sample_and_always_an_end(budget_s):
    samples = Device(1e6, slow=restless(1e6)).sample(budget_s=budget_s)
    assert 1 <= len(samples.seconds) <= 5


def test_what_the_loop_adds_to_a_call_is_measured(monkeypatch):
    """A loop that takes 50 ns more a call is seen to."""
    device = Device(0)
    monkeypatch.setattr(clock, "_nothing", lambda *_, **__: device.pass_by(50))
    assert Stopwatch(device.synchronize, device.now).empty_call_s() == pytest.approx(50e-9)


def test_the_devices_own_time_is_kept_beside_the_hosts():
    device = Device(1e6, launch_ns=9e6)

    class Events:
        def start(self):
            self.begin = max(device.time, device.ready)

        def stop(self):
            self.end = device.ready

        def seconds(self):
            return (self.end - self.begin) / 1e9

    watch = Stopwatch(device.synchronize, device.now, Events())
    samples = sample(watch, device.call, 0.2, 1000)
    assert len(samples.device_s) == len(samples.seconds)
    assert samples.device_s == pytest.approx([10e-3] * len(samples.seconds), rel=0.01)
    assert set(Device(1e6).sample().device_s) == {None}


def test_short_calls_are_repeated_until_the_clock_costs_less_than_a_hundredth():
    device = Device(1e3, look=50_000)
    samples = device.sample()
    assert samples.calls * 1e-6 >= 100 * 50e-6


def test_a_call_of_no_time_ends(monkeypatch):
    monkeypatch.setattr(clock, "MOST_CALLS", 10_000)
    samples = Device(0, look=1).sample(budget_s=0.001, most=5)
    assert 0 < len(samples.seconds) <= 5


def test_a_warm_up_that_never_steadies_is_bounded():
    times = [5e6 * 1.5**k for k in range(60)]  # each slower than the last
    device = Device(1e6, slow=times)
    device.sample(budget_s=0.05)
    assert device.calls < 20


def test_a_result_is_dropped_before_the_next_call():
    """Two results of an article's size at once would not fit."""
    alive = set()

    class Result:
        def __init__(self):
            assert not alive
            alive.add(id(self))

        def __del__(self):
            alive.discard(id(self))

    Stopwatch(lambda: None).run(Result, 5)
