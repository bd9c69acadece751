"""Taking samples: synchronize, clock, run `calls` times, synchronize, clock.

Nothing here knows what runs. `now` is a clock in nanoseconds and `synchronize` waits for the
device, so that tests put a clock and a device of known durations in their place.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from math import ceil, sqrt
from statistics import median
from typing import NamedTuple, Protocol

SAMPLE_S = 1e-3  # a sample lasts at least this long, ...
OVERHEAD_SHARE = 0.01  # ... and so long that reading the clock is less than this share of it
MOST_CALLS = 1_000_000
FEWEST_SAMPLES = 3  # unless one call is longer than the budget
STEADY = 1.25  # warm when this many calls in a row are within this factor of each other
STEADY_CALLS = 3
# Enough samples: the median's own 95 % interval is narrower than this share of it. Processes with
# the same code differ by ten times as much, which no sample of this one can tell.
SETTLED_SHARE = 0.002
SETTLED_AFTER = 25  # samples, and half of the budget: what comes and goes must have had its time
LOOK_EVERY = 8  # samples

Call = Callable[[], object]
Clock = Callable[[], int]


class Events(Protocol):
    """Two marks in the device's own stream of work."""

    def start(self) -> None:
        """Mark where the work given to the device from now on begins."""

    def stop(self) -> None:
        """Mark where it ends."""

    def seconds(self) -> float:
        """Between the two, by the device's clock; both are past when this is called."""


class Run(NamedTuple):
    """When it started (seconds of `now`), and seconds for all calls together: the host's clock to
    completion, and the device's own where it has one."""

    start_s: float
    seconds: float
    device_s: float | None = None


@dataclass
class Samples:
    """`seconds` per call of each sample, `calls` in each, and when it started (`now`, in s).
    `made` are all calls, those of the warm-up too."""

    calls: int = 1
    seconds: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)
    device_s: list[float | None] = field(default_factory=list)
    made: int = 0

    def add(self, run: Run) -> None:
        """The sample that a run of `calls` calls is."""
        self.seconds.append(run.seconds / self.calls)
        self.started.append(run.start_s)
        self.device_s.append(None if run.device_s is None else run.device_s / self.calls)


@dataclass(frozen=True)
class Stopwatch:
    """The only place that times samples."""

    synchronize: Call
    now: Clock = time.perf_counter_ns
    events: Events | None = None

    def run(self, call: Call, calls: int) -> Run:
        """All `calls` calls, to completion.

        A result is dropped before the next call starts, so that never two are in memory.
        """
        times, events = repeat(None, calls), self.events
        self.synchronize()
        if events:
            events.start()
        start = self.now()
        for _ in times:
            call()
        if events:
            events.stop()
        self.synchronize()
        seconds = (self.now() - start) / 1e9
        return Run(start / 1e9, seconds, events.seconds() if events else None)

    def overhead_s(self) -> float:
        """What a sample of nothing takes: both synchronizations and both looks at the clock."""
        return median(self.run(_nothing, 0).seconds for _ in range(9))

    def empty_call_s(self) -> float:
        """What the loop adds to every call: one call of a function that does nothing, with the
        arguments of a workload's."""
        call, calls = partial(_nothing, None, None, size=0, dtype=None, device=None), 1000
        loops = median(self.run(call, calls).seconds for _ in range(9))
        return max(0.0, loops - self.overhead_s()) / calls

    def step_s(self) -> float:
        """The smallest step that the clock is seen to make."""
        steps = []
        for _ in range(5):
            start = self.now()
            while (end := self.now()) == start:
                pass
            steps.append(end - start)
        return min(steps) / 1e9


def _nothing(*_: object, **__: object) -> None:
    pass


def sample(
    watch: Stopwatch,
    call: Call,
    budget_s: float,
    most: int,
    slow_s: float | None = None,
    before_s: float | None = None,
) -> Samples:
    """Warm up for at most about `budget_s`, then take samples until `budget_s` is spent again,
    there are `most`, or more would not narrow their median usefully.

    At least FEWEST_SAMPLES are taken, but for a call that alone is longer than `slow_s` (default:
    the budget): where the call before it took as long, that was the warm-up, and this one is the
    sample. `before_s` is what a call took that was made before, if there was one.
    """
    slow_s = budget_s if slow_s is None else slow_s
    overhead_s = max(watch.overhead_s(), watch.step_s())
    shortest_s = max(SAMPLE_S, overhead_s / OVERHEAD_SHARE, budget_s / most)
    samples = Samples()
    last = _warm_up(watch, call, samples, shortest_s, budget_s, slow_s, before_s)
    if samples.calls == 1 and last.seconds >= slow_s:
        samples.add(last)
        return samples
    spent_s = 0.0
    while len(samples.seconds) < most:
        if spent_s >= budget_s and len(samples.seconds) >= FEWEST_SAMPLES:
            break
        if spent_s >= budget_s / 2 and settled(samples.seconds):
            break
        run = watch.run(call, samples.calls)
        samples.made += samples.calls
        spent_s += run.seconds
        samples.add(run)
    return samples


def settled(seconds: list[float]) -> bool:
    """Whether more samples would not narrow the median usefully. Asked after every sample, it
    answers now and then: sorting has its price.

    The interval runs between the order statistics n/2 -+ 1.96 sqrt(n)/2, which hold the median with
    95 % whatever the distribution (Conover, Practical Nonparametric Statistics, 3.2).
    """
    count = len(seconds)
    if count < SETTLED_AFTER or count % LOOK_EVERY:
        return False
    ordered, half = sorted(seconds), 0.98 * sqrt(count)
    low, high = ordered[int(count / 2 - half)], ordered[min(ceil(count / 2 + half), count - 1)]
    return high - low <= SETTLED_SHARE * ordered[count // 2]


def _warm_up(
    watch: Stopwatch,
    call: Call,
    samples: Samples,
    shortest_s: float,
    limit_s: float,
    slow_s: float,
    before_s: float | None,
) -> Run:
    """Call until the times are steady, finding `samples.calls` on the way; the last run. Bounded by
    `limit_s`, but not before STEADY_CALLS calls: the first few calls of a process can be slow by a
    factor of hundreds.
    """
    spent_s, runs = 0.0, 0
    history: list[float] = []
    while True:
        run = watch.run(call, samples.calls)
        samples.made += samples.calls
        duration_s = run.seconds
        spent_s += duration_s
        runs += 1
        if samples.calls == 1 and duration_s >= slow_s:
            if runs > STEADY_CALLS or _steady([before_s or 0.0, duration_s]):
                return run
            before_s = duration_s
            continue
        if duration_s < shortest_s and samples.calls < MOST_CALLS:
            # Aim a tenth too high, since the next run may be faster; by a factor of 2 to 100, since
            # this one may have been disturbed, or shorter than the clock's step.
            factor = 1.1 * shortest_s / max(duration_s, 1e-9)
            samples.calls = min(ceil(samples.calls * min(max(factor, 2), 100)), MOST_CALLS)
            history.clear()
            continue
        history.append(duration_s)
        recent = history[-STEADY_CALLS:]
        if len(recent) == STEADY_CALLS and _steady(recent):
            return run
        if spent_s >= limit_s and runs > STEADY_CALLS:
            return run


def _steady(seconds: list[float]) -> bool:
    return max(seconds) <= STEADY * min(seconds)
