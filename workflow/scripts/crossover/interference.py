"""Was somebody else using what we measure on? Read before and after, from the kernel and NVML.

Spread alone does not tell: a neighbour that takes half of the cores all the time makes every sample
slow alike. The time that our own threads stood in the run queue does. What a quiet and a busy
machine showed is in tests/interference_records.py, and `benchmarks/quiet.py` tries it on this one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time

from crossover import machine, nvml
from crossover.machine import cgroup_folders, read

# Columns of the raw file, each empty or 0 where nothing was seen or nothing can be read.
SIGNALS = (
    *("timed_s", "queue_wait_s", "throttled_s", "steal_s", "pressure_s"),
    *("gpu_reasons", "gpu_others", "gpu_clock_mhz"),
)
DISTURBED_SHARE = 0.1  # quiet machines show 0 to 0.02, one busy neighbour on two cores 0.3 to 0.7
TICK_S = 1 / os.sysconf("SC_CLK_TCK")  # what steal is counted in: one says nothing of a short round


@dataclass(frozen=True)
class Counters:
    """Seconds since some moment: clock, each own thread's waiting for a core, cgroup throttling,
    each usable core's steal, and when some task on the machine stood waiting for a core."""

    clock_s: float
    queue_wait_s: Mapping[str, float]
    throttled_s: float
    steal_s: Mapping[str, float]
    pressure_s: float
    epoch_s: float
    device_uuid: str

    @staticmethod
    def now(device_uuid: str = "") -> "Counters":
        """With the uuid of the GPU that will be measured, if one is."""
        nvml.device(device_uuid)  # the first time takes a while
        return Counters(
            perf_counter(),
            _queue_wait_s(),
            _throttled_s(),
            _steal_s(),
            _pressure_s(),
            time(),
            device_uuid,
        )

    def since(self, start: "Counters") -> dict[str, float]:
        """The columns SIGNALS: what happened from `start` to here.

        Of all threads, and of all cores, the one that waited longest counts: the others wait for it
        at the end of every loop that they share. A sum would grow with the number of cores.
        """
        seconds = {
            "timed_s": self.clock_s - start.clock_s,
            "queue_wait_s": _longest(self.queue_wait_s, start.queue_wait_s),
            "throttled_s": max(0.0, self.throttled_s - start.throttled_s),
            "steal_s": _longest(self.steal_s, start.steal_s),
            "pressure_s": max(0.0, self.pressure_s - start.pressure_s),
        }
        return {
            **{name: round(value, 6) for name, value in seconds.items()},
            **nvml.signals(start.device_uuid, start.epoch_s),
        }


def disturbed(signals: Mapping[str, float | str]) -> bool:
    """True where too large a share of the time measured was waited, or the GPU was held back.

    `signals` are SIGNALS as `since` gives them, or as texts of a raw file.

    - queue_wait_s, throttled_s, steal_s: our own threads stood still, for others, for the control
      group's quota, for the other guests of a virtual machine's host.
    - pressure_s: others stood waiting while we ran. It sees the neighbour who waits behind us, and
      takes caches and clock with him: 5 % slower samples at a queue wait of 1 %.
    - gpu_reasons: the GPU held its clock down by its hardware or for its heat. Not for its power
      cap, which is how a GPU runs under full load.
    - gpu_others: per cent of the GPU's time that other processes used. Their mere presence is
      none: an idle notebook holds a context as well.
    """
    values = {name: float(signals.get(name) or 0) for name in SIGNALS}
    waited = values["queue_wait_s"] + values["throttled_s"]
    waited += max(0.0, values["steal_s"] - TICK_S)
    most = DISTURBED_SHARE * values["timed_s"]
    return (
        waited > most
        or values["pressure_s"] > most
        or bool(int(values["gpu_reasons"]) & nvml.HELD_BACK)
        or values["gpu_others"] > 100 * DISTURBED_SHARE
    )


def _longest(now: Mapping[str, float], before: Mapping[str, float]) -> float:
    """No thread shows its waiting on some kernels: 0."""
    return max([0.0, *(value - before.get(name, 0.0) for name, value in now.items())])


def _queue_wait_s() -> dict[str, float]:
    """By thread. One that ends meanwhile takes its waiting with it; pools keep theirs."""
    waits = {}
    for task in Path("/proc/self/task").glob("*/schedstat"):
        fields = read(task).split()
        if len(fields) == 3:
            waits[task.parent.name] = int(fields[1]) / 1e9
    return waits


def _throttled_s() -> float:
    for folder in cgroup_folders():
        for line in read(folder / "cpu.stat").splitlines():
            key, _, value = line.partition(" ")
            if key == "throttled_usec":
                return int(value) / 1e6
            if key == "throttled_time":  # version 1, in ns
                return int(value) / 1e9
    return 0.0


def _steal_s() -> dict[str, float]:
    """By core of ours. What the run queue does not see: the host ran somebody else's guest."""
    ours = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    rows = (line.split() for line in read(machine.PROC / "stat").splitlines())
    return {row[0]: int(row[8]) * TICK_S for row in rows if row and row[0] in ours and row[8:]}


def _pressure_s() -> float:
    """Of the whole machine where all of its cores are ours, else of our own control group: what
    others do on cores of their own is no concern of ours."""
    files = [folder / "cpu.pressure" for folder in cgroup_folders()]
    if machine.usable_cores() == os.cpu_count():
        files = [machine.PROC / "pressure/cpu"]
    for file in files:
        for line in read(file).splitlines():
            kind, *averages = line.split()
            if kind == "some":
                return int(averages[-1].removeprefix("total=")) / 1e6
    return 0.0
