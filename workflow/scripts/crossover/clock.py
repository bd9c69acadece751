"""Taking samples: synchronize, clock, run `calls` times, synchronize, clock.

Nothing here knows what runs. `now` is a clock in nanoseconds and `synchronize` waits for the
device, so that tests put a clock and a device of known durations in their place.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import repeat
from math import ceil
from statistics import median

SAMPLE_S = 1e-3  # a sample lasts at least this long, ...
OVERHEAD_SHARE = 0.01  # ... and so long that reading the clock is less than this share of it
MOST_CALLS = 1_000_000
FEWEST_SAMPLES = 3  # unless one call is longer than the budget
STEADY = 1.25  # warm when this many calls in a row are within this factor of each other
STEADY_CALLS = 3

Call = Callable[[], object]
Clock = Callable[[], int]


@dataclass
class Samples:
    """`seconds` per call of each sample, `calls` in each, and when it started (`now`, in s)."""

    calls: int = 1
    seconds: list[float] = field(default_factory=list)
    started: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Stopwatch:
    """The only place that reads the clock."""

    synchronize: Call
    now: Clock = time.perf_counter_ns

    def run(self, call: Call, calls: int) -> tuple[float, float]:
        """Start, and seconds for all `calls` calls together, in seconds of `now`.

        A result is dropped before the next call starts, so that never two are in memory.
        """
        times = repeat(None, calls)
        self.synchronize()
        start = self.now()
        for _ in times:
            call()
        self.synchronize()
        return start / 1e9, (self.now() - start) / 1e9

    def overhead_s(self) -> float:
        """What a sample of nothing takes: both synchronizations and both looks at the clock."""
        return median(self.run(_nothing, 0)[1] for _ in range(9))

    def step_s(self) -> float:
        """The smallest step that the clock is seen to make."""
        steps = []
        for _ in range(5):
            start = self.now()
            while (end := self.now()) == start:
                pass
            steps.append(end - start)
        return min(steps) / 1e9


def _nothing() -> None:
    pass


def sample(
    watch: Stopwatch,
    call: Call,
    budget_s: float,
    most: int,
    slow_s: float | None = None,
    before_s: float | None = None,
) -> Samples:
    """Warm up for at most about `budget_s`, then take samples until `budget_s` is spent again or
    there are `most`.

    At least FEWEST_SAMPLES are taken, but for a call that alone is longer than `slow_s` (default:
    the budget): where the call before it took as long, that was the warm-up, and this one is the
    sample. `before_s` is what a call took that was made before, if there was one.
    """
    slow_s = budget_s if slow_s is None else slow_s
    overhead_s = max(watch.overhead_s(), watch.step_s())
    shortest_s = max(SAMPLE_S, overhead_s / OVERHEAD_SHARE, budget_s / most)
    samples = Samples()
    start, last_s = _warm_up(watch, call, samples, shortest_s, budget_s, slow_s, before_s)
    if samples.calls == 1 and last_s >= slow_s:
        samples.seconds.append(last_s)
        samples.started.append(start)
        return samples
    spent_s = 0.0
    while len(samples.seconds) < most:
        if spent_s >= budget_s and len(samples.seconds) >= FEWEST_SAMPLES:
            break
        start, duration_s = watch.run(call, samples.calls)
        spent_s += duration_s
        samples.seconds.append(duration_s / samples.calls)
        samples.started.append(start)
    return samples


def _warm_up(
    watch: Stopwatch,
    call: Call,
    samples: Samples,
    shortest_s: float,
    limit_s: float,
    slow_s: float,
    before_s: float | None,
) -> tuple[float, float]:
    """Call until the times are steady, finding `samples.calls` on the way; the last run's start
    and seconds. Bounded by `limit_s`, but not before STEADY_CALLS calls: the first few calls of a
    process can be slow by a factor of hundreds.
    """
    spent_s, runs = 0.0, 0
    history: list[float] = []
    while True:
        start, duration_s = watch.run(call, samples.calls)
        spent_s += duration_s
        runs += 1
        if samples.calls == 1 and duration_s >= slow_s:
            if runs > STEADY_CALLS or _steady([before_s or 0.0, duration_s]):
                return start, duration_s
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
            return start, duration_s
        if spent_s >= limit_s and runs > STEADY_CALLS:
            return start, duration_s


def _steady(seconds: list[float]) -> bool:
    return max(seconds) <= STEADY * min(seconds)
