"""summary.csv: one row per cell and scope; its columns, and how it is written and read."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crossover import record, status

COLUMNS = (
    *("workload", "backend", "dtype", "size", "scope", "status", "reason", "grade"),
    *("rounds", "samples", "calls", "median_s", "q1_s", "q3_s", "min_s"),
    *("speedup", "baseline", "pairs", "error", "error_bound"),
    *("input_bytes", "output_bytes", "host_peak_bytes", "device_peak_bytes", "import_s"),
    *("threads_requested", "threads_granted", "threads_effective"),
    *("machine", "cpu", "cores", "device", "library", "version"),
)
NUMBERS = ("size", "median_s", "q1_s", "q3_s", "speedup")  # those that are drawn and compared
CURE = "make it again: snakemake --cores 1 --forcerun summarize"


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a summary, all of it or nothing."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: repr(v) if isinstance(v, float) else v for k, v in row.items()})
    record.replace(path, out.getvalue().encode())


def read(path: Path) -> list[dict[str, str]]:
    """The rows, as texts; raises FileNotFoundError, and record.Damaged with file, fault and cure
    for anything but a summary."""
    try:
        rows = _rows(path.read_bytes())
        _check(rows)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
        raise record.Damaged(f"{path}: {reason}; {CURE}") from None
    return rows


def _rows(content: bytes) -> list[dict[str, str]]:
    if not content.strip():
        raise ValueError("the file is empty")
    if not content.endswith(b"\n"):
        raise ValueError("the last line is cut")
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""), strict=True)
    if absent := [name for name in COLUMNS if header.count(name) != 1]:
        raise ValueError(f"column {absent[0]} is missing or there twice")
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} fields, not {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in rows]


def _check(rows: list[dict[str, str]]) -> None:
    if not rows:
        raise ValueError("there are no rows")
    seen = set()
    for row in rows:
        if row["status"] not in (*status.ALL, status.NOT_MEASURED):
            raise ValueError(f"there is no status {row['status']!r}")
        numbers = {name: _number(row[name], name) for name in NUMBERS if row[name]}
        if not numbers.get("size", 0.5).is_integer():
            raise ValueError("a size is not a whole number")
        if row["status"] == status.OK and "median_s" not in numbers:
            raise ValueError("an ok cell has no time")
        key = tuple(row[name] for name in ("workload", "backend", "dtype", "size", "scope"))
        if key in seen:
            raise ValueError("a cell is there twice")
        seen.add(key)


def _number(text: str, column: str) -> float:
    """A number above 0, as all of these are."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ValueError(f"{column} is {text!r}, which is not a number above 0")
    return value
