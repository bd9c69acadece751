"""Joules of a call, from the counter that an NVIDIA GPU keeps of its own energy.

The counter is the whole card's: its memory, what it draws when idle, and whatever others do on it
are in it; the host's energy is not. Warm-up calls do the same work as those of the samples, so all
calls of a scope count, and it is read before the first and after the last: never within a sample.

It moves in steps, every 10 ms on one card (github.com/gpuopenanalytics/pynvml, pull request 18),
and the sensor behind it may take up to 100 ms (Yang, Adámek and Armour, "Part-time power
measurements: nvidia-smi's lack of attention", arXiv:2312.02741, 2023). Each end may be off by such
a step, so a scope that is shorter than ten of them has no joules. Run with a fake of NVML only.
"""

from time import perf_counter

from crossover import nvml

STEP_S = 0.1  # the longest between two changes of the counter
LONG_ENOUGH_S = 10 * STEP_S  # so that a step at one end is a tenth


class Meter:
    """Reads the counter of the GPU with this uuid ('' for none) when it is made."""

    def __init__(self, device_uuid: str) -> None:
        self.device_uuid = device_uuid
        self.before_j = nvml.energy_j(device_uuid)
        self.started_s = perf_counter()

    def per_call(self, calls: int) -> float | None:
        """Joules per call since it was made, `calls` of them, all to completion; None where the
        counter cannot be read, did not move, began again, or the time was too short for it."""
        elapsed_s = perf_counter() - self.started_s
        if self.before_j is None or elapsed_s < LONG_ENOUGH_S:
            return None
        after_j = nvml.energy_j(self.device_uuid)
        if after_j is None or after_j <= self.before_j:
            return None
        return (after_j - self.before_j) / calls
