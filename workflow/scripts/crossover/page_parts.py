"""What the page's tables say: rows of results, turned into words and figures for readers.

Everything here is text that the template escapes. Figures keep three digits; the files beside the
page have all of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isinf
from typing import Any

from crossover import grades, words
from crossover.rows import Row, cell, is_device, machines
from crossover.status import OK

# What each scope covers, in the order in which they are explained. docs/results.md says the same.
SCOPES = {
    "compute": "data already where it is needed, result left there",
    "round_trip": "host arrays in, host arrays out, transfers included; on a host it is compute",
    "end_to_end": "round_trip and then the picture of the result (render, raster)",
    "first_call": "the first round trip of a process, with the start of the device",
    "upload": "host to device alone, from ordinary memory",
    "download": "device to host alone, to ordinary memory",
    "upload_pinned": "host to device from page-locked memory",
    "download_pinned": "device to host to page-locked memory",
    "pin": "page-locking the arrays, once",
    "render": "drawing a curve: line is one matplotlib line through all points, raster is ours",
}
# Facts of a probe that say nothing to a reader, or more about a place than a reader needs to know.
NOT_SHOWN = (
    *("asked", "available", "backend", "boot", "conditions", "device_uuid", "host", "reason"),
    *("code", "cpu", "cores", "machine", "memory_bytes", "library_version", "status"),
    *("uuid", "serial", "pci_bus_id"),
)
UNITS = re.compile(r"_(s|bytes)$")  # the value says it
BACKEND, MACHINE = "backend", "machine_facts"


# --- figures as words


def seconds(text: str) -> str:
    """'0.00123' -> '1.23 ms'."""
    return words.seconds(float(text)) if text else ""


def count(text: str) -> str:
    """A number of calls, or a size: '1234' -> '1,234', 'inf' -> 'never'."""
    if not text:
        return ""
    value = float(text)
    return "never" if isinf(value) else f"{value:,.0f}"


def calls(row: Row, name: str) -> str:
    """k* and its interval: '12 (95 %: 10 to 15)'."""
    point, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if point and low and high and low != high:
        return f"{count(point)} (95 %: {count(low)} to {count(high)})"
    return count(point)


def plain(name: str) -> str:
    return name.replace("_", " ")


# --- break-even


@dataclass(frozen=True)
class Crossing:
    """A row of the break-even table: what each scope says, '' where there is nothing to say; and
    where, if that was on another machine than the first."""

    workload: str
    dtype: str
    backend: str
    against: str
    apart: str
    findings: dict[str, str]


def crossings(rows: Sequence[Row]) -> list[Crossing]:
    """One for each workload, dtype, backend and rival, with the scopes side by side."""
    found: dict[tuple[str, str, str, str, str], dict[str, str]] = {}
    for row in rows:
        key = row["workload"], row["dtype"], row["backend"], row["against"], row["apart"]
        found.setdefault(key, {})[row["scope"]] = row["words"] or "no interval"
    return [Crossing(*key, words) for key, words in found.items()]


def scopes_of(rows: Iterable[Row]) -> list[str]:
    """The scopes that rows have, in the order in which they are explained."""
    seen = {row["scope"] for row in rows}
    return [*(name for name in SCOPES if name in seen), *sorted(seen - {"", *SCOPES})]


# --- reuse


def reuses(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows of reuse.csv by workload, dtype and backend, under what they are called."""
    ordered = sorted(rows, key=lambda r: (_reuse_of(r), int(r["size"])))
    return [
        (", ".join([workload, dtype, backend, *([f"on {apart}"] if apart else [])]), list(group))
        for (workload, dtype, backend, apart), group in groupby(ordered, _reuse_of)
    ]


def _reuse_of(row: Row) -> tuple[str, str, str, str]:
    return row["workload"], row["dtype"], row["backend"], row["apart"]


def paid_once(row: Row) -> str:
    """Upload and download together, where both are known."""
    if not (row["upload_s"] and row["download_s"]):
        return ""
    return seconds(str(float(row["upload_s"]) + float(row["download_s"])))


# --- what went wrong


@dataclass(frozen=True)
class Failure:
    """Cells of one backend that failed for one reason."""

    backend: str
    status: str
    reason: str
    cells: list[str]
    count: int


def failures(rows: Iterable[Row]) -> list[Failure]:
    """Reasons that differ in their figures only are one, told by the first."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["status"] != OK:
            key = row["backend"], row["status"], words.alike(row["reason"])
            found.setdefault(key, []).append(row)
    return [
        Failure(backend, state, cells[0]["reason"], _cells(cells), len(cells))
        for (backend, state, _), cells in found.items()
    ]


def _cells(rows: Iterable[Row]) -> list[str]:
    """'add, float64: n = 1,000; 10,000', one text for each workload and dtype."""
    sizes: dict[str, list[str]] = {}
    for row in rows:
        name = f"{row['workload']}, {row['dtype']}"
        sizes.setdefault(name, []).append(f"{int(row['size']):,}")
    return [f"{name}: n = {'; '.join(dict.fromkeys(found))}" for name, found in sizes.items()]


@dataclass(frozen=True)
class Doubt:
    """A grade that cells have, what it means, and the make target that may cure it."""

    grade: str
    meaning: str
    cure: str
    count: int


def doubts(rows: Iterable[Row]) -> list[Doubt]:
    """The grades that rows have, each with its cure and how many cells have it."""
    cells: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        for grade in grades.parts(row["grade"]):
            cells.setdefault(grade, set()).add(cell(row))
    return [
        Doubt(name, meaning, grades.CURE.get(name, ""), len(cells[name]))
        for name, meaning in grades.MEANING.items()
        if name in cells
    ]


# --- the machine


def machine(rows: Sequence[Row]) -> str:
    """'Intel(R) Xeon(R) Processor, 2 cores; torch_cuda on NVIDIA H200', as the good rows say."""
    ok = [row for row in rows if row["status"] == OK]
    found = list(machines(ok).values())
    devices: dict[str, list[str]] = {}
    for row in ok:
        if is_device(row):
            devices.setdefault(row["device"], []).append(row["backend"])
    found += [f"{', '.join(dict.fromkeys(names))} on {name}" for name, names in devices.items()]
    return "; ".join(dict.fromkeys(found))


@dataclass(frozen=True)
class Fact:
    """One line of the table of facts: a value for each backend, or one where all say the same."""

    name: str
    values: list[str]
    shared: bool


def facts(probes: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, list[Fact]]]:
    """The facts of all backends in groups: what they say of themselves, processor, memory, ..."""
    flat = {backend: dict(_flat(probe)) for backend, probe in probes.items()}
    keys = dict.fromkeys(key for found in flat.values() for key in found)
    groups: dict[str, list[Fact]] = {}
    for group, name in keys:
        values = [found.get((group, name), "") for found in flat.values()]
        known = {value for value in values if value}
        shared = len(known) == 1 and group != BACKEND
        label = plain(UNITS.sub("", name))
        groups.setdefault(group, []).append(Fact(label, values, shared))
    return list(groups.items())


def _flat(probe: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    """Group and name of each fact, and its value as text."""
    available = probe.get("available")
    yield (BACKEND, "available"), "yes" if available else f"no: {probe.get('reason', '')}"
    found = {name: value for name, value in probe.items() if name != MACHINE}
    groups = dict(probe.get(MACHINE) or {})
    found |= {name: groups.pop(name) for name in list(groups) if not isinstance(groups[name], dict)}
    for group, facts_of in ((BACKEND, found), *groups.items()):
        for name, value in facts_of.items():
            if name not in NOT_SHOWN:
                yield (plain(group), name), _text(name, value)


def _text(name: str, value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return ""
        case float() if name.endswith("_s"):
            return seconds(str(value))
        case int() if name.endswith("_bytes"):
            return f"{value / 2**30:,.1f} GiB" if value else "0"
        case {"internal_api": pool, "num_threads": threads, **rest}:
            return ", ".join([pool, f"{threads} threads", *map(str, rest.values())])
        case dict():
            shown = {k: v for k, v in value.items() if k not in NOT_SHOWN}
            return ", ".join(f"{plain(k)} {_text(k, v)}" for k, v in shown.items())
        case list():
            return "; ".join(_text(name, one) for one in value)
    return str(value)


# --- the table


@dataclass(frozen=True)
class Column:
    """A column of summary.csv as the page's table has it; `kind` says how a value is written."""

    name: str
    kind: str = "text"
    label: str = ""
    shown: bool = False


def _columns(kind: str, *names: str, shown: bool = False) -> list[Column]:
    units = {"seconds": "_s", "bytes": "_bytes"}
    return [
        Column(name, kind, plain(name.removesuffix(units.get(kind, " "))), shown) for name in names
    ]


TABLE = [
    *_columns("text", "workload", "backend", "dtype", shown=True),
    Column("size", "integer", "n", True),
    *_columns("text", "scope", "status", "grade", shown=True),
    Column("median_s", "seconds", "median", True),
    Column("low_s", "seconds", "95 % from", True),
    Column("high_s", "seconds", "to", True),
    Column("speedup", "ratio", "speedup", True),
    Column("speedup_low", "ratio", "95 % from", True),
    Column("speedup_high", "ratio", "to", True),
    Column("finding", "text", "finding", True),
    Column("reason", "text", "reason", True),
    *_columns("ratio", "detectable"),
    *_columns("integer", "rounds", "samples", "pairs"),
    *_columns("seconds", "min_s", "p95_s", "device_s", "import_s"),
    *_columns("figure", "error", "error_bound"),
    Column("gb_per_s", "figure", "GB/s"),
    Column("gflop_per_s", "figure", "Gflop/s"),
    Column("roof_share", "figure", "share of the roof"),
    Column("cost_per_million_calls", "figure", "cost of a million calls"),
    Column("joules", "figure", "joules per call"),
    *_columns("text", "bound_by", "transfer"),
    *_columns("bytes", "host_peak_bytes", "device_peak_bytes"),
    *_columns("integer", "page_faults", "threads_effective"),
    *_columns("text", "precision", "memory", "machine", "device", "driver", "version", "note"),
    *_columns("text", "assumed"),
]


def columnar(rows: Sequence[Row], columns: Sequence[Column] = tuple(TABLE)) -> list[dict[str, Any]]:
    """The table by columns, for JSON: the values as summary.csv spells them. What repeats is told
    once, and then by its number. A column that is not shown at first and has no value is left out.
    """
    found = [(column, [row[column.name] for row in rows]) for column in columns]
    return [_coded(values, column) for column, values in found if column.shown or any(values)]


def _coded(values: Sequence[str], column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {
        **{"name": column.name, "kind": column.kind, "label": column.label},
        "shown": column.shown and any(values),
    }
    place = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if len(place) > len(values) / 4:
        return found | {"values": list(values)}
    return found | {"values": list(place), "codes": [place[value] for value in values]}
