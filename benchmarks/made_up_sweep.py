"""The raw files of a big sweep that never ran, with as many samples as a budget of 0.2 s gives and
facts as long as real ones."""

import json
import zlib
from collections.abc import Iterator
from math import log10
from pathlib import Path
from random import Random
from unittest import mock

from crossover import record
from crossover.cells import Ceiling, Cell

ROUNDS = 3
WORKLOADS, DTYPES = ("add", "matmul", "polar"), ("float32", "float64")
BASELINE, DEVICE = "numpy", "torch_cuda"
SPEEDS = {BASELINE: 1.0, "numpy_recycled": 1.2, "torch_cpu": 1.5, DEVICE: 40.0}
SCOPES = ("compute", "download", "download_pinned", "upload", "upload_pinned", "round_trip")
SMALLEST, LARGEST = 100, 100_000_000
MARK = "?"
BUDGET_S, SAMPLE_S, FEWEST = 0.2, 1.1e-3, 3


def make(folder: Path, count: int) -> tuple[list[Cell], int]:
    """Write about so many cells below a folder; the cells, and how many samples they have."""
    made = cells(count)
    random, samples = Random(0), 0
    with mock.patch.object(record.os, "fsync"):  # it is not the writing that is measured
        for cell in made:
            record.replace(folder / cell.array, record.EMPTY_NPY)
            for number in range(1, ROUNDS + 1):
                samples += write(folder / cell.csv(number), list(scopes_of(cell, number, random)))
        for ceiling in [Ceiling(backend, dtype) for backend in SPEEDS for dtype in DTYPES]:
            for number in range(1, ROUNDS + 1):
                record.write(folder / ceiling.csv(number), rows_of_ceiling(ceiling, number))
    return made, samples


def cells(count: int) -> list[Cell]:
    """All workloads, dtypes and backends, at as many sizes as it takes, no two of them alike."""
    sizes = max(2, round(count / len(WORKLOADS) / len(DTYPES) / len(SPEEDS)))
    step = log10(LARGEST / SMALLEST) / (sizes - 1)
    return [
        Cell(workload, backend, dtype, number + round(SMALLEST * 10 ** (step * number)))
        for workload in WORKLOADS
        for dtype in DTYPES
        for number in range(sizes)
        for backend in SPEEDS
    ]


Scope = tuple[dict[str, object], list[tuple[object, ...]]]  # what its samples share, and each one's


def scopes_of(cell: Cell, round: int, random: Random) -> Iterator[Scope]:
    on_device = cell.backend == DEVICE
    call_s = (1e-5 if on_device else 1e-6) + cell.size / (1e9 * SPEEDS[cell.backend])
    calls, spent_s = max(1, int(SAMPLE_S / call_s)), max(call_s, SAMPLE_S)
    scopes = SCOPES if on_device else SCOPES[:1]
    count = max(FEWEST, int(BUDGET_S / len(scopes) / spent_s))
    started = 1.7e9 + round * 1000 + random.random()
    facts = facts_of(cell.backend, cell.dtype, round) | {
        **{"workload": cell.workload, "size": cell.size, "call_s": 1e-7}
    }
    yield facts | {"scope": "first_call"}, [(1, call_s * 2, "", 1, started)]
    for scope in scopes:
        samples = []
        for number in range(1, count + 1):
            seconds = call_s * random.lognormvariate(0, 0.02)
            device_s = seconds * 0.9 if on_device else ""
            samples.append((number, seconds, device_s, calls, started + number * spent_s))
        yield facts | {"scope": scope}, samples


def write(path: Path, scopes: list[Scope]) -> int:
    """What record.write makes of these, in a tenth of its time; how many rows."""
    total = sum(len(samples) for _, samples in scopes)
    header = ",".join((*record.FACTS, *record.SEALS)) + "\n"
    lines, crc = [header], zlib.crc32(header.encode())
    for facts, samples in scopes:
        # One line as it is written, cut where the samples differ.
        record.write(path, [facts | dict.fromkeys(record.OWN, MARK)])
        line = path.read_text().splitlines()[1]
        before, after = line.split(",".join([MARK] * len(record.OWN)))
        after = after.rsplit(",", 2)[0]
        for sample in samples:
            text = f"{before}{','.join(map(str, sample))}{after},{total}"
            crc = zlib.crc32(f"{text}\n".encode(), crc)
            lines.append(f"{text},{crc:08x}\n")
    path.write_text("".join(lines))
    return total


def rows_of_ceiling(ceiling: Ceiling, round: int) -> Iterator[dict[str, object]]:
    speed = 1e11 * SPEEDS[ceiling.backend]
    facts = facts_of(ceiling.backend, ceiling.dtype, round) | {"sample": 1, "calls": 1}
    moved = {"input_bytes": 10**8, "output_bytes": 10**8}
    yield facts | {"scope": "launch", "seconds": 1e-7}
    yield facts | {"scope": "arithmetic", "seconds": 1e-2, "flop": speed}
    yield facts | {"scope": "memory", "seconds": 2e8 / speed} | moved


def facts_of(backend: str, dtype: str, round: int) -> dict[str, object]:
    array_crc32 = f"{zlib.crc32(record.EMPTY_NPY):08x}"
    return {
        **{"backend": backend, "dtype": dtype, "round": round, "attempt": 1, "status": "ok"},
        **{"error": 1.1102230246251565e-16, "error_bound": 2.220446049250313e-16},
        **{"flop": 1e6, "input_bytes": 8_000_000, "output_bytes": 8_000_000},
        **{"output_shape": "1000000", "host_peak_bytes": 16_123_904, "device_peak_bytes": 16e6},
        **{"page_faults": 227, "timed_s": 0.23, "queue_wait_s": 0.0012, "throttled_s": 0.0},
        **{"steal_s": 0.0, "pressure_s": 0.001, "import_s": 0.12, "budget_s": 0.2, "seed": 0},
        **{"threads_requested": "all", "threads_granted": 8, "threads_effective": 8},
        **{"precision": "highest", "memory": "fresh"},
        "environment": "OMP_PROC_BIND=close PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "conditions": json.dumps({"governor": "performance", "boost": 1, "load": 0.31}),
        **{"device": "NVIDIA H200" if backend == DEVICE else "cpu", "machine": "d71cd249d6"},
        **{"cpu": "Intel(R) Xeon(R) Processor", "cores": 8, "memory_bytes": 2**36},
        **{"cache_bytes": 2**25, "boot": "bd84a176-5808-4192-9ca9-0b5c95844da1", "host": "vm"},
        **{"library": "numpy", "version": "2.4.6", "numpy_version": "2.4.6"},
        **{"python_version": "3.11.7", "array_crc32": array_crc32 if round == 1 else ""},
    }
