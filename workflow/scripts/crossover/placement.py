"""Where arrays lie in memory: the same for every backend, or at random, but never by accident.

It moves short times: NumPy's add on 80 kB takes 14 % longer where the array does not start at a
multiple of 32 bytes, its polar on 40 kB and its matmul of 256 rows 5 to 8 % from one layout of the
heap to another (measured). What a process has imported decides the layout, the same in each round:
a bias that no interval would see (Mytkowicz et al., "Producing wrong data without doing anything
obviously wrong!", ASPLOS 2009).
"""

import os
from typing import Any

ALIGNMENT = 64  # bytes: a cache line, and what torch allocates by
SCATTERED = 60  # blocks of up to 64 kB

_held: list[bytearray] = []


def empty(count: int, dtype: str) -> Any:
    """A NumPy array like np.empty, that starts at a multiple of ALIGNMENT."""
    import numpy as np

    size = count * np.dtype(dtype).itemsize
    memory = np.empty(size + ALIGNMENT, "uint8")
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype)


def scatter() -> None:
    """Let what is allocated from here on lie elsewhere in every process, so that the layout is
    noise, which intervals show."""
    for _ in range(SCATTERED):
        _held.append(bytearray(600 + int.from_bytes(os.urandom(2), "little")))
