"""The files that are kept: sealed tables, and arrays and facts beside them.

The main one is that of one cell and round: raw samples, one row each, readable alone. Files are
written once, by renaming. Each row of a table carries the number of rows and a checksum that runs
on from row to row, so that a file that was cut, edited or swapped is told from a good one.
"""

import csv
import io
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

OF_BACKEND = ("device", "device_uuid", "driver", "precision")  # what its facts() may have
FACTS = (
    *("workload", "backend", "dtype", "size", "round", "attempt"),
    *("scope", "sample", "seconds", "device_s", "calls", "started_at"),
    *("status", "reason", "note", "error", "error_bound"),
    *("flop", "input_bytes", "output_bytes", "output_shape", "assumed", "n_is"),
    *("host_peak_bytes", "device_peak_bytes", "page_faults", "joules"),
    *("timed_s", "queue_wait_s", "throttled_s", "steal_s", "pressure_s"),
    *("gpu_reasons", "gpu_others", "gpu_clock_mhz"),
    *("call_s", "import_s", "budget_s", "seed"),
    *(
        "threads_requested",
        "threads_granted",
        "threads_effective",
        "precision",
        "recompiled",
        "memory",
        "environment",
        "conditions",
    ),
    *("device", "device_uuid", "driver", "machine", "cpu", "cores"),
    *("memory_bytes", "cache_bytes", "boot", "host"),
    *("node", "partition", "job_id", "cores_requested", "node_use"),
    *("library", "version", "numpy_version", "python_version", "code", "array_crc32"),
)
OWN = ("sample", "seconds", "device_s", "calls", "started_at")  # what samples do not share
FIRST_OWN = FACTS.index(OWN[0])
FIRST_SHARED = FIRST_OWN + len(OWN)
SEALS = ("rows", "crc32")

# An array of no elements as NumPy's format 1.0 has it, for jobs that do not import NumPy.
_HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }"
EMPTY_NPY = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + _HEADER.ljust(117) + b"\n"


class NotWritten(OSError):
    """A file could not be written whole, and is as it was before; the message names it and why."""


class Damaged(ValueError):
    """A file that is not what this program wrote there; the message names it and says why."""


@contextmanager
def or_exit() -> Iterator[None]:
    """For scripts: where a file cannot be written or read, the job fails with one line."""
    try:
        yield
    except NotWritten as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def write(path: Path, rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...] = FACTS) -> None:
    """Write rows, all of them or nothing; their keys are columns, and a missing one is empty."""
    rows = list(rows)
    lines = [_line((*columns, *SEALS))]
    crc = zlib.crc32(lines[0].encode())
    for row in rows:
        if unknown := row.keys() - set(columns):
            raise ValueError(f"no such column: {', '.join(sorted(unknown))}")
        values = [_text(row.get(name)) for name in columns] + [str(len(rows))]
        crc = zlib.crc32(_line(values).encode(), crc)
        lines.append(_line([*values, f"{crc:08x}"]))
    replace(path, "".join(lines).encode())


def replace(path: Path, content: bytes) -> None:
    """Put a file in its place at once: a reader sees the old one or the new one, never a part.

    Raises NotWritten, as on a full disk.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise NotWritten(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


class Part(NamedTuple):
    """Rows that differ in the columns OWN alone: the samples of one scope, in the order taken."""

    facts: dict[str, str]  # the first row
    own: list[list[str]]  # the values of OWN, row by row

    def column(self, name: str) -> list[str]:
        """One column of the rows that are this round's own, as texts. Raises ValueError for
        another name."""
        at = OWN.index(name)
        return [values[at] for values in self.own]


def read(path: Path, columns: tuple[str, ...] = FACTS, **expected: Any) -> list[dict[str, str]]:
    """The rows of a file, as texts. `expected` are columns that every row must have as given.

    Raises FileNotFoundError, and Damaged for anything but an untouched file of this cell.
    """
    names = (*columns, SEALS[0])
    rows = [
        dict(zip(names, values, strict=True)) for values in csv.reader(_unsealed(path, columns))
    ]
    _must_be(path, rows, len(rows), expected)
    return rows


def parts(path: Path, **expected: Any) -> list[Part]:
    """The same of a raw file, several times as fast: what rows share is parsed once. A summary
    reads millions of samples."""
    found: list[Part] = []
    known = None
    for text in _unsealed(path, FACTS):
        *values, rest = text.split(",", FIRST_SHARED)
        shared = (values[:FIRST_OWN], rest)
        if shared == known and '"' not in text[: len(text) - len(rest)]:
            found[-1].own.append(values[FIRST_OWN:])
            continue
        (row,) = csv.reader([text])
        known = shared
        facts = dict(zip((*FACTS, SEALS[0]), row, strict=True))
        found.append(Part(facts, [row[FIRST_OWN:FIRST_SHARED]]))
    _must_be(path, [part.facts for part in found], sum(len(p.own) for p in found), expected)
    return found


def _must_be(
    path: Path, rows: list[dict[str, str]], count: int, expected: Mapping[str, Any]
) -> None:
    """Raises Damaged where rows were lost, or are another cell's."""
    if not rows or rows[0][SEALS[0]] != str(count):
        whole = rows[0][SEALS[0]] if rows else "more"
        raise Damaged(f"{path} was cut: {count} rows of {whole}")
    for row in rows:
        for name, value in expected.items():
            if row[name] != str(value):
                raise Damaged(f"{path} is another cell's: its {name} is {row[name]!r}")


def _unsealed(path: Path, columns: tuple[str, ...]) -> Iterator[str]:
    """The text of each row whose checksum holds, without it."""
    try:
        lines = _lines(path.read_bytes().decode())
    except UnicodeDecodeError:
        raise Damaged(f"{path} is not text") from None
    except IsADirectoryError:
        raise Damaged(f"{path} is a folder") from None
    header = ",".join((*columns, *SEALS))
    if (first := next(lines, None)) is None:
        raise Damaged(f"{path} is empty")
    if first.rstrip("\r\n") != header:
        raise Damaged(f"{path} has other columns than this version of Crossover writes")
    crc = zlib.crc32(f"{header}\n".encode())
    for number, line in enumerate(lines, 1):
        text, _, seal = line.rpartition(",")
        crc = zlib.crc32(f"{text}\n".encode(), crc)
        if seal.rstrip("\r\n") != f"{crc:08x}":
            raise Damaged(f"{path} was cut or edited: row {number} does not have its checksum")
        yield text


def _lines(text: str) -> Iterator[str]:
    """One for each row: where a quoted text has line breaks, they are part of it."""
    row, quotes = "", 0
    for line in io.StringIO(text, newline="\n"):
        row = row + line if row else line
        quotes += line.count('"')
        if quotes % 2 == 0:
            yield row
            row = ""
    if row:
        yield row


def read_json(path: Path) -> dict[str, Any]:
    """What a probe wrote; raises FileNotFoundError, and Damaged for anything else."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, IsADirectoryError):
        raise Damaged(f"{path} is not what a probe writes") from None
    facts: dict[str, Any] = found if isinstance(found, dict) else {}
    reasoned = facts.get("available") is False and isinstance(facts.get("reason"), str)
    if facts.get("available") is not True and not reasoned:
        raise Damaged(f"{path} is not what a probe writes")
    return facts


def check_array(path: Path, crc32: str) -> None:
    """Raises FileNotFoundError, and Damaged where it is not the array that its table was written
    with; `crc32` is the table's `array_crc32`."""
    if f"{zlib.crc32(path.read_bytes()):08x}" != crc32:
        raise Damaged(f"{path} was cut or edited")


def _text(value: Any) -> str:
    """repr() of a float is the shortest text that reads back as the same number, in any locale."""
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def _line(values: Iterable[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerow(list(values))
    return out.getvalue()
