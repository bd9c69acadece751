"""Was somebody else using the cores while we measured? Read before and after, from the kernel.

Spread alone does not tell: a neighbour that takes half of the cores all the time makes every sample
slow alike. The time that our own threads stood in the run queue does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from crossover.machine import cgroup_folders, read

DISTURBED_SHARE = 0.1  # quiet machines show 0 to 0.01, one busy neighbour on two cores 0.7


@dataclass(frozen=True)
class Counters:
    """Seconds since some moment: clock, each own thread's waiting for a core, cgroup throttling."""

    clock_s: float
    queue_wait_s: Mapping[str, float]
    throttled_s: float

    @staticmethod
    def now() -> "Counters":
        return Counters(perf_counter(), _queue_wait_s(), _throttled_s())

    def since(self, start: "Counters") -> dict[str, float]:
        """The columns of the raw file: what happened from `start` to here.

        Of all threads the one that waited longest counts: the others wait for it at the end of
        every loop that they share. A sum would grow with the number of cores.
        """
        waits = [
            wait - start.queue_wait_s.get(thread, 0.0) for thread, wait in self.queue_wait_s.items()
        ]
        return {
            "timed_s": self.clock_s - start.clock_s,
            "queue_wait_s": max([0.0, *waits]),  # no thread shows it on some kernels
            "throttled_s": max(0.0, self.throttled_s - start.throttled_s),
        }


def disturbed(signals: Mapping[str, float]) -> bool:
    """True where the time waited is too large a share of the time measured."""
    waited = signals["queue_wait_s"] + signals["throttled_s"]
    return waited > DISTURBED_SHARE * signals["timed_s"]


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
