"""The archive that `make pack` writes: its format, written and read.

A zip file with five entries: `crossover.json` (format and version of Crossover), `config.json` (the
config as it was understood), `machine.json` (what the probes found, by backend), `summary.csv`, and
`rounds.csv`: a row for each round, attempt and scope, which has the facts of the raw file and its
samples in the order taken, as texts of numbers with spaces between them. The same results are the
same bytes.

Formats: 1 is the first. A reader refuses a newer format than it knows; columns and keys that it
does not know it leaves alone, and those that it misses are empty. So a column may be added or fall
out of use within a format; one that changes its meaning makes a new one.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crossover import __version__, outcomes, record
from crossover.cells import Cell, Picture
from crossover.outcomes import Round
from crossover.record import Part
from crossover.status import OK
from crossover.table import COLUMNS
from crossover.unzip import LARGEST, Refused, entries

FORMAT = 1
MANIFEST, CONFIG, MACHINE = "crossover.json", "config.json", "machine.json"
SUMMARY, ROUNDS = "summary.csv", "rounds.csv"
SAMPLES = ("seconds", "device_s")  # one value for each sample; of the rest, the first one's
ROUND_COLUMNS = tuple(name for name in record.FACTS if name != "sample")
NEEDED = {
    SUMMARY: ("workload", "backend", "dtype", "size", "scope", "status"),
    ROUNDS: ("workload", "backend", "dtype", "size", "scope", "status", "round", "seconds"),
}
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")  # they name files: as a config may have
WHOLE = re.compile(r"[1-9][0-9]{0,15}")
TIMES_S = 1e-15, 1e9  # what one call can take; beyond, figures and ratios have no end
EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip file can say: when it was packed is no result

Row = Mapping[str, str]


@dataclass(frozen=True)
class Archive:
    """`rows`: the summary's; `rounds`: of each cell that is ok, by number; `version`: of the
    Crossover that packed it; `config` and `machine`: by key, as there."""

    path: Path
    version: str
    rows: Sequence[Row]
    rounds: Mapping[Cell, Mapping[int, Round]]
    config: Mapping[str, Any]
    machine: Mapping[str, Any]


def packed(
    rows: Iterable[Row],
    parts: Iterable[Part],
    config: Mapping[str, Any],
    machine: Mapping[str, Any],
) -> bytes:
    """The archive's bytes. Raises ValueError where it would be larger than may be read."""
    content = {
        MANIFEST: _json({"format": FORMAT, "crossover": __version__}),
        CONFIG: _json(config),
        MACHINE: _json(machine),
        SUMMARY: _csv(COLUMNS, rows),
        ROUNDS: _csv(ROUND_COLUMNS, map(_row, parts)),
    }
    if (size := sum(map(len, content.values()))) > LARGEST:
        raise ValueError(f"{size:,} bytes of results; an archive holds at most {LARGEST:,}")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, data in content.items():
            info = zipfile.ZipInfo(name, EARLIEST)
            info.create_system, info.external_attr = 3, 0o644 << 16
            file.writestr(info, data, zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def read(path: Path) -> Archive:
    """Raises Refused, with one line, for anything but an archive of a format known here."""
    content = entries(path)
    if MANIFEST not in content:
        raise Refused(f"{path} is a zip file, but not one of 'make pack'")
    version = _version(path, _mapping(path, MANIFEST, content))
    rows = _rows(path, SUMMARY, content, COLUMNS)
    rounds = _rounds(path, _rows(path, ROUNDS, content, ROUND_COLUMNS))
    for row in rows:
        if row["status"] == OK and row["scope"] == Cell.scope and _cell(row) not in rounds:
            raise Refused(f"{path} is damaged: {ROUNDS} has nothing of {_cell(row).words(1, 1)}")
    return Archive(
        path=path,
        version=version,
        rows=rows,
        rounds=rounds,
        config=_mapping(path, CONFIG, content),
        machine=_mapping(path, MACHINE, content),
    )


# --- written


def _json(value: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(value, indent=1, sort_keys=True)}\n".encode()


def _csv(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _row(part: Part) -> dict[str, str]:
    return part.facts | {name: " ".join(filter(None, part.column(name))) for name in SAMPLES}


# --- read


def _version(path: Path, manifest: Mapping[str, Any]) -> str:
    """The version of Crossover that packed it; Refused where its format is not known here."""
    found, by = manifest.get("format"), str(manifest.get("crossover"))[:40]
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise Refused(f"{path} does not say which format it has: it is no archive of 'make pack'")
    if found > FORMAT:
        raise Refused(
            f"{path} has format {found} (Crossover {by}); this Crossover {__version__} reads up to "
            f"format {FORMAT}: use a newer one"
        )
    return by


def _mapping(path: Path, name: str, content: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        found = json.loads(content[name])
    except KeyError:
        raise Refused(f"{path} has no {name}") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused(f"{path} is damaged: its {name} cannot be read")
    return found


def _rows(
    path: Path, name: str, content: Mapping[str, bytes], columns: Sequence[str]
) -> list[dict[str, str]]:
    """The rows of a table with every column that is known here, '' where there is none."""
    try:
        text = content[name].decode()
        reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", restval="", strict=True)
        given = set(reader.fieldnames or ())
        if missing := [column for column in NEEDED[name] if column not in given]:
            raise Refused(f"{path} is damaged: its {name} has no column {missing[0]}")
        found = [{column: row.get(column) or "" for column in columns} for row in reader]
    except KeyError:
        raise Refused(f"{path} has no {name}") from None
    except (UnicodeDecodeError, csv.Error):
        raise Refused(f"{path} is damaged: its {name} cannot be read") from None
    for number, row in enumerate(found, 1):
        for column in ("workload", "backend", "dtype"):
            if not NAME.fullmatch(row[column]):
                raise Refused(_wrong(path, name, number, column, row))
        if not WHOLE.fullmatch(row["size"]):
            raise Refused(_wrong(path, name, number, "size", row))
    return found


def _rounds(path: Path, rows: Sequence[Row]) -> dict[Cell, dict[int, Round]]:
    """What is in rounds.csv of cells that computed, as the summary's rounds are made."""
    parts: dict[tuple[Cell, int], list[Part]] = {}
    pictures = {_cell(row) for row in rows if row["scope"] == Picture.scope}
    for number, row in enumerate(rows, 1):
        cell = _cell(row)
        if row["status"] != OK or cell in pictures:
            continue
        try:
            part = _part(row)
        except ValueError as error:
            raise Refused(_wrong(path, ROUNDS, number, str(error), row)) from None
        parts.setdefault((cell, int(row["round"])), []).append(part)
    found: dict[Cell, dict[int, Round]] = {}
    for (cell, number), of_round in parts.items():
        if not _has(cell.scope, of_round):
            words = f"round {number} of {cell.workload}, {cell.backend}, n={cell.size}"
            raise Refused(f"{path} is damaged: {words} has no {cell.scope}")
        found.setdefault(cell, {})[number] = outcomes.reduced(of_round, cell.scope)
    return found


def _cell(row: Row) -> Cell:
    return Cell(row["workload"], row["backend"], row["dtype"], int(row["size"]))


def _has(scope: str, parts: Sequence[Part]) -> bool:
    """Whether it is there in the attempt that counts."""
    last = max(part.facts["attempt"] for part in parts)
    return any((p.facts["attempt"], p.facts["scope"]) == (last, scope) for p in parts)


def _part(row: Row) -> Part:
    """As it was read from the raw file. Raises ValueError, which names a column."""
    seconds, device_s = (row[name].split() for name in SAMPLES)
    for name, values in (("seconds", seconds), ("device_s", device_s)):
        if not all(map(_is_time, values)):
            raise ValueError(name)
    if not seconds or len(device_s) not in (0, len(seconds)):
        raise ValueError("seconds")
    for name in ("round", "attempt", "calls"):
        if not WHOLE.fullmatch(row[name]):
            raise ValueError(name)
    device_s = device_s or [""] * len(seconds)
    own = [
        [str(number), *pair, row["calls"], row["started_at"]]
        for number, pair in enumerate(zip(seconds, device_s, strict=True), 1)
    ]
    return Part(dict(row), own)


def _is_time(text: str) -> bool:
    try:
        return TIMES_S[0] < float(text) < TIMES_S[1]
    except ValueError:
        return False


def _wrong(path: Path, name: str, number: int, column: str, row: Row) -> str:
    return f"{path} is damaged: {name}, row {number}: {column} is {row[column][:40]!r}"
