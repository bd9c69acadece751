"""Is the work done when the clock stops? A synchronize that does not wait makes every time a lie.

The answer is timed as a user would get it: until a value has been read on the host. What that takes
beyond the clock's end, and beyond reading the same value once more, is work that was not waited
for: queued on a device, or put off until somebody looks.
"""

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from crossover.clock import Clock
from crossover.status import Failed

TRY_S = 2e-3  # to the value; a scheduler's hiccup is shorter
TRIES = 5  # the majority decides
LONG_S = 20e-3  # beyond this, one honest try is enough
LATE_SHARE = 0.5  # of what the clock said: reading twice differs by some microseconds


class Try(NamedTuple):
    """Seconds: until synchronize returned, and from there until a value could be read."""

    clock_s: float
    late_s: float

    @property
    def honest(self) -> bool:
        return self.late_s <= LATE_SHARE * self.clock_s


def check(
    synchronize: Callable[[], object],
    now: Clock,
    call: Callable[[], Any],
    read: Callable[[Any], object],
) -> None:
    """Raises Failed where the results of k calls, and of 2k calls, come after the clock's end.

    k is the number of calls that takes TRY_S to the value, so that neither a short call nor a queue
    of long ones is misjudged. An honest device costs a few milliseconds, or one call.
    """

    def attempt(calls: int) -> Try:
        return _attempt(synchronize, now, call, read, calls)

    def long_enough(calls: int) -> bool:
        """Twice, unless it is longer than any hiccup: else one that came while nothing was done
        would leave k so small that the noise of reading is all there is to see."""
        total = sum(attempt(calls))
        return total > LONG_S or (total >= TRY_S and sum(attempt(calls)) >= TRY_S)

    calls = 1
    while not long_enough(calls):
        calls *= 2
    late: list[Try] = []
    for count in (calls, 2 * calls):
        late = _majority_late(partial(attempt, count))
        if not late:
            return
    clock_s = min(found.clock_s for found in late)
    late_s = min(found.late_s for found in late)
    raise Failed(
        f"{2 * calls} calls took {clock_s:.2g} s by the clock, but their result came {late_s:.2g} s"
        " later: the backend's synchronize() does not wait for the work"
    )


def _majority_late(attempt: Callable[[], Try]) -> list[Try]:
    """The late tries where they are the most, else none."""
    late: list[Try] = []
    honest = 0
    while max(len(late), honest) <= TRIES // 2:
        found = attempt()
        if not found.honest:
            late.append(found)
            continue
        honest += 1
        if sum(found) > LONG_S:
            break
    return late if len(late) > TRIES // 2 else []


def _attempt(
    synchronize: Callable[[], object],
    now: Clock,
    call: Callable[[], Any],
    read: Callable[[Any], object],
    calls: int,
) -> Try:
    synchronize()
    start = now()
    for _ in repeat(None, calls - 1):
        call()
    outputs = call()
    synchronize()
    stopped = now()
    read(outputs)
    there = now()
    read(outputs)
    again_s = (now() - there) / 1e9
    return Try((stopped - start) / 1e9, max(0.0, (there - stopped) / 1e9 - again_s))
