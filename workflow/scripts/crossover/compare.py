"""Machines beside each other: each cell of every archive, and how it compares with the first's.

An archive is one machine at one time: of one machine there may be several. Times are compared cell
by cell, never between other cells, and what differs in code and settings stands beside each ratio.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from crossover import differences, intervals, welch
from crossover.archive import Archive
from crossover.cells import Cell
from crossover.intervals import Interval
from crossover.machines import RIG
from crossover.outcomes import Round
from crossover.rows import Row
from crossover.status import OK
from crossover.welch import Difference
from crossover.words import plain

SCOPES = ("compute", "round_trip")
COLUMNS = (
    *("workload", "dtype", "backend", "size", "scope", "archive", "status", "reason", "grade"),
    *("rounds", "median_s", "low_s", "high_s"),
    *("against", "speedup", "speedup_low", "speedup_high", "p", "p_adjusted", "finding"),
    *("other_code", "other_settings", "machine", "device"),
)


@dataclass(frozen=True)
class Side:
    """One cell and scope in one archive: its row in the summary there, and its rounds where it is
    ok."""

    row: Row
    rounds: Sequence[Round]

    def seconds(self, scope: str) -> list[float]:
        """The median of each round, in seconds."""
        return [round.median_s(scope) for round in self.rounds]

    @property
    def facts(self) -> list[Mapping[str, str]]:
        return [round.facts for round in self.rounds]

    @property
    def mixed(self) -> str:
        """What a time belongs to that its rounds do not share, so that a median over them would be
        nobody's: 'machine and driver', '' where it is one."""
        differ = [name for name in RIG if len({fact[name] for fact in self.facts}) > 1]
        return " and ".join(name.replace("_", " ") for name in differ)


@dataclass(frozen=True)
class Pair:
    """One cell and scope on two machines. `difference` is None without an interval, and where
    `refused` says why nothing may be divided."""

    cell: Cell
    scope: str
    archive: str
    against: str
    ours: Side
    theirs: Side
    refused: str
    other_code: Sequence[str]
    other_settings: Sequence[str]
    difference: Difference | None
    p_adjusted: float = 1.0

    @property
    def finding(self) -> str:
        """What welch.finding says of it, '' where nothing was divided."""
        return welch.finding(self.difference, self.p_adjusted) if self.difference else ""

    @property
    def differs(self) -> list[str]:
        """The names of all that is not the same: code first, then settings."""
        return [*self.other_code, *self.other_settings]


Sides = Mapping[tuple[Cell, str], Side]


def labels(paths: Sequence[Path]) -> list[str]:
    """A name for each archive: its file's, with as many folders as tell it from the others, and a
    number where the same file is given twice."""
    parts = {path: path.with_suffix("").parts for path in paths}
    names = {path: part[-1] for path, part in parts.items()}
    for count in range(2, 1 + max(map(len, parts.values()), default=0)):
        known = list(names.values())
        for path, name in names.items():
            if known.count(name) > 1:
                names[path] = "/".join(parts[path][-count:]).lstrip("/")
    # A file's name may have line breaks, and bytes that are no text.
    found = [plain(names[path].encode(errors="replace").decode()) for path in paths]
    return [
        f"{name} ({1 + found[:i].count(name)})" if found.count(name) > 1 else name
        for i, name in enumerate(found)
    ]


def sides(archive: Archive) -> dict[tuple[Cell, str], Side]:
    """What an archive has of each cell that computes, in the summary's order."""
    found: dict[tuple[Cell, str], Side] = {}
    for row in archive.rows:
        if row["scope"] not in SCOPES:
            continue
        cell = Cell(row["workload"], row["backend"], row["dtype"], int(row["size"]))
        rounds = archive.rounds.get(cell, {})
        kept = [rounds[number] for number in sorted(rounds)] if row["status"] == OK else []
        if row["scope"] == "round_trip" and not any("round_trip" in r.scopes for r in kept):
            continue  # on a host it is the computation
        # Of several machines each has a row, that with most rounds first.
        of_scope = [one for one in kept if one.has(row["scope"])]
        found.setdefault((cell, row["scope"]), Side(row, of_scope))
    return found


def pairs(archives: Mapping[str, Archive]) -> list[Pair]:
    """Each archive's cells beside the first's, those that both have and that are ok in both."""
    (first, theirs), *others = archives.items()
    before = sides(theirs)
    found = [
        _pair(cell, scope, (name, ours, mine), (first, theirs, before[cell, scope]))
        for name, ours in others
        for (cell, scope), mine in sides(ours).items()
        if mine.rounds and (cell, scope) in before and before[cell, scope].rounds
    ]
    known = [pair.difference.p for pair in found if pair.difference]
    allowing = iter(welch.adjusted(known))
    return [replace(p, p_adjusted=next(allowing)) if p.difference else p for p in found]


def _pair(
    cell: Cell, scope: str, ours: tuple[str, Archive, Side], theirs: tuple[str, Archive, Side]
) -> Pair:
    (name, archive, mine), (first, before, other) = ours, theirs
    refused = "; ".join(
        f"the rounds of {label} differ in {side.mixed}"
        for label, side in ((name, mine), (first, other))
        if side.mixed
    )
    configs = archive.config, before.config
    return Pair(
        cell=cell,
        scope=scope,
        archive=name,
        against=first,
        ours=mine,
        theirs=other,
        refused=refused,
        other_code=differences.of_code(mine.facts, other.facts),
        other_settings=differences.of_settings(mine.facts, other.facts, *configs, cell.backend),
        difference=None if refused else welch.compared(mine.seconds(scope), other.seconds(scope)),
    )


def rows(archives: Mapping[str, Archive], found: Sequence[Pair]) -> Iterator[dict[str, Any]]:
    """The rows of compare.csv: every archive's cells, those that failed too."""
    by_key = {(pair.archive, pair.cell, pair.scope): pair for pair in found}
    first = next(iter(archives))
    for name, archive in archives.items():
        for (cell, scope), side in sides(archive).items():
            row: dict[str, Any] = dict.fromkeys(COLUMNS, "") | {
                "workload": cell.workload,
                "dtype": cell.dtype,
                "backend": cell.backend,
                "size": cell.size,
                "scope": scope,
                "archive": name,
                "status": side.row["status"],
                "reason": side.row["reason"],
                "grade": side.row["grade"],
                "machine": side.row["machine"],
                "device": side.row["device"],
            }
            if side.mixed:
                row["reason"] = f"its rounds differ in {side.mixed}"
            elif side.rounds:
                row |= _time(side.seconds(scope))
            if pair := by_key.get((name, cell, scope)):
                row |= {"against": first, **_compared(pair)}
            yield row


def _time(seconds: Sequence[float]) -> dict[str, Any]:
    """As summary.csv has it: the median of the rounds' medians, and its interval."""
    middle = median(seconds)
    found: dict[str, Any] = {"rounds": len(seconds), "median_s": middle}
    if interval := intervals.of([log(value) for value in seconds]):
        found |= {"low_s": min(interval.low, middle), "high_s": max(interval.high, middle)}
    return found


def _compared(pair: Pair) -> dict[str, Any]:
    found: dict[str, Any] = {
        "other_code": "; ".join(pair.other_code),
        "other_settings": "; ".join(pair.other_settings),
    }
    if pair.refused:
        return found | {"reason": pair.refused}
    if pair.difference is None:
        ratio = median(pair.theirs.seconds(pair.scope)) / median(pair.ours.seconds(pair.scope))
        return found | {"speedup": ratio}
    interval: Interval = pair.difference.speedup
    return found | {
        "speedup": interval.point,
        "speedup_low": interval.low,
        "speedup_high": interval.high,
        "p": pair.difference.p,
        "p_adjusted": pair.p_adjusted,
        "finding": pair.finding,
    }
