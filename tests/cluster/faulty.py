"""A backend file like a user's: NumPy, but the cell of one size breaks its whole job.

Until the file `cured` is there: a cure must be no reason to measure anything else again.
"""

import time
from pathlib import Path

from crossover.backends.numpy import Backend as Numpy

OPTIONS = ("fault", "fault_at", "megabytes")


class Backend(Numpy):
    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        self.faults = options

    def to_device(self, array, dtype):
        if array.size == self.faults.get("fault_at") and not Path("cured").exists():
            if self.faults["fault"] == "memory":
                self.kept = b"x" * (1_000_000 * self.faults["megabytes"])
                time.sleep(5)  # Slurm looks once a second
            while self.faults["fault"] == "stuck" and not Path("cured").exists():
                time.sleep(0.2)
        return super().to_device(array, dtype)
