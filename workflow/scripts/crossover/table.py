"""summary.csv: one row per cell and scope; its columns, and how it is written and read."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crossover import record

COLUMNS = (
    *("workload", "backend", "dtype", "size", "scope", "status", "reason", "grade", "note"),
    *("rounds", "samples", "calls"),
    *("median_s", "low_s", "high_s", "q1_s", "q3_s", "p95_s", "min_s", "device_s", "call_s"),
    *("speedup", "speedup_low", "speedup_high", "finding", "detectable", "baseline"),
    *("pairs", "speedup_by_round"),
    *("error", "error_bound", "assumed", "n_is"),
    *("transfer", "gb_per_s", "gflop_per_s", "roof_s", "roof_share", "bound_by"),
    *("flop", "input_bytes", "output_bytes", "host_peak_bytes", "device_peak_bytes"),
    *("page_faults", "import_s", "joules"),
    *("cost_per_million_calls", "price_per_hour", "currency"),
    *("threads_requested", "threads_granted", "threads_effective"),
    *("precision", "memory", "environment"),
    *("machine", "cpu", "cores", "device", "driver", "library", "version"),
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
