"""summary.csv: one row per cell and scope; its columns, and how it is written and read."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crossover import record

COLUMNS = (
    *("workload", "backend", "dtype", "size", "scope", "status", "reason", "grade"),
    *("rounds", "samples", "calls", "median_s", "q1_s", "q3_s", "min_s"),
    *("speedup", "baseline", "pairs", "error", "error_bound"),
    *("input_bytes", "output_bytes", "host_peak_bytes", "device_peak_bytes", "import_s"),
    *("threads_requested", "threads_granted", "threads_effective"),
    *("machine", "cpu", "cores", "device", "library", "version"),
)


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a summary, all of it or nothing, sealed like the raw files."""
    record.write(path, rows, COLUMNS)


def read(path: Path) -> list[dict[str, str]]:
    """The rows, as texts; raises FileNotFoundError, and record.Damaged with file, fault and cure
    for anything but an untouched summary."""
    try:
        return record.read(path, COLUMNS)
    except record.Damaged as error:
        raise record.Damaged(f"{error}; remove it (rm '{path}') and run the sweep again") from None
