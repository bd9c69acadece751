"""How many calls on data that stays on the device pay for bringing it there and back?

A device can be used in three ways: the data is there anyway (resident), it is uploaded once and
downloaded once around k calls (once), or it makes the round trip at every call (each). The second
wins from k* calls on, the smallest k with

    upload + k device + download < k host.

In a fresh process the first call is a cold one: start of the device, upload, a computation and
download together, as the scope `first_call` has them. Then it is the smallest k with

    first call + (k - 1) device < host's first call + (k - 1) host.

The import of a library is no part of either. Times are seconds, medians of their scopes.

The intervals of k* follow that of the speedup, host / device, which can move k* to never. That of
what is paid once is left out: some percent of it are the same percent of k*.
"""

from dataclasses import dataclass
from math import floor, inf, isinf

from crossover.intervals import Interval

SECONDS = (
    *("host_s", "device_s", "upload_s", "download_s", "round_trip_s"),
    *("first_call_s", "host_first_call_s"),
)
COLUMNS = (*SECONDS, "warm_low", "warm", "warm_high", "cold_low", "cold", "cold_high")


@dataclass(frozen=True)
class Calls:
    """k* and its 95 % interval; inf where it never pays, None where that is not known."""

    low: float | None
    point: float | None
    high: float | None


@dataclass(frozen=True)
class Ways:
    """Seconds for a number of calls in all, None where a figure is missing."""

    host_s: float
    resident_s: float
    once_s: float | None
    cold_s: float | None  # once, in a fresh process
    each_s: float | None


@dataclass(frozen=True)
class Reuse:
    """What one size costs in each way. `warm` and `cold` are the calls that pay for it: in a
    process that has used the device before, and in a fresh one."""

    host_s: float
    device_s: float
    upload_s: float | None
    download_s: float | None
    round_trip_s: float | None
    first_call_s: float | None
    host_first_call_s: float | None
    warm: Calls
    cold: Calls

    def ways(self, calls: float) -> Ways:
        """Seconds for this many calls (1 or more) in each way; None where a part was not
        measured."""
        once_s = cold_s = each_s = None
        if self.upload_s is not None and self.download_s is not None:
            once_s = self.upload_s + calls * self.device_s + self.download_s
        if self.first_call_s is not None:
            cold_s = self.first_call_s + (calls - 1) * self.device_s
        if self.round_trip_s is not None:
            each_s = calls * self.round_trip_s
        return Ways(calls * self.host_s, calls * self.device_s, once_s, cold_s, each_s)


def reuse(
    host_s: float,
    device_s: float,
    *,
    upload_s: float | None,
    download_s: float | None,
    round_trip_s: float | None = None,
    first_call_s: float | None = None,
    host_first_call_s: float | None = None,
    speedup: Interval | None = None,
) -> Reuse:
    """host_s and device_s are of compute, and `speedup` that of compute. upload_s is 0 where there
    is nothing to upload; None where a figure is missing. Raises ValueError for no times."""
    given = [host_s, device_s, upload_s, download_s, round_trip_s, first_call_s, host_first_call_s]
    if not all(seconds is None or 0 <= seconds < inf for seconds in given):
        raise ValueError(f"not all of these are seconds: {given}")
    if min(host_s, device_s) == 0:
        raise ValueError("a computation takes more than 0 s")
    paid_s = None if upload_s is None or download_s is None else upload_s + download_s
    late_s = None
    if first_call_s is not None:
        late_s = first_call_s - (host_s if host_first_call_s is None else host_first_call_s)
    return Reuse(
        *(host_s, device_s, upload_s, download_s, round_trip_s, first_call_s, host_first_call_s),
        warm=_calls(paid_s, host_s, device_s, speedup, before=0),
        cold=_calls(late_s, host_s, device_s, speedup, before=1),
    )


def to_row(found: Reuse) -> dict[str, float | str]:
    """For reuse.csv: empty where a figure is missing, inf where it never pays."""
    row = {name: getattr(found, name) for name in SECONDS}
    for name, calls in (("warm", found.warm), ("cold", found.cold)):
        row |= {f"{name}_low": calls.low, name: calls.point, f"{name}_high": calls.high}
    return {name: "" if value is None else value for name, value in row.items()}


def _calls(
    paid_s: float | None, host_s: float, device_s: float, speedup: Interval | None, before: int
) -> Calls:
    if paid_s is None:
        return Calls(None, None, None)
    point = _pays(paid_s, host_s / device_s, device_s, before)
    if speedup is None:
        return Calls(None, point, None)
    low, high = (_pays(paid_s, s, device_s, before) for s in (speedup.high, speedup.low))
    return Calls(min(low, point), point, max(high, point))


def _pays(paid_s: float, speedup: float, device_s: float, before: int) -> float:
    """The smallest number of calls of which all but `before` gain what was paid, and more."""
    if before and paid_s < 0:
        return 1
    gain_s = device_s * (speedup - 1)
    calls = paid_s / gain_s if gain_s > 0 else inf
    return inf if isinf(calls) else floor(calls) + 1 + before
