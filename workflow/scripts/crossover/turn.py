"""One timed job at a time on a machine, whoever started it: a lock that every sweep asks for."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Not TMPDIR: two users, or two sweeps of one, must mean the same file.
LOCK = Path("/tmp/crossover.lock")


@contextmanager
def turn(shared: bool = False, path: Path = LOCK) -> Iterator[int]:
    """Wait for, and hold, the machine; yields the lock's file descriptor, to hand to a child.

    Measuring holds it alone; drawing shares it with other drawing. The kernel lets go when the
    last process that inherited the lock is gone, so a killed job cannot keep it, and its orphaned
    child still guards its own measurement.
    """
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """Another user's file in a sticky folder can be opened, but not with O_CREAT."""
    while True:
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            try:
                made = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            except FileExistsError:
                continue
            os.fchmod(made, 0o644)  # a umask of 077 would shut the other users out
            os.close(made)
