"""Raw samples -> one row per cell and scope: exactly the configured cells, never a glob.

Plain statistics for now: the median of the rounds' medians, quartiles over all samples. A speedup
is made of pairs (backend and baseline, same round, machine and boot, near in time).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp, log
from statistics import fmean, median, quantiles
from typing import Any

from crossover import record
from crossover.cells import Cell
from crossover.interference import disturbed
from crossover.status import ERROR, NOT_MEASURED, OK
from crossover.table import COLUMNS

FROM_ROUNDS = (
    *("threads_requested", "threads_granted", "threads_effective"),
    *("machine", "cpu", "cores", "device", "library", "version", "input_bytes", "output_bytes"),
)
# What a speedup is asked for; the other scopes have no counterpart on a host.
COMPARED = ("compute", "round_trip")
LARGEST_POOL = 64  # NumPy's wheels build OpenBLAS for no more
PAIR_WITHIN_S = 3600.0  # longer apart, the machine may be another: warmer, or busy


@dataclass(frozen=True)
class Round:
    """One round of one cell: its facts, and where it is ok the seconds per call by scope."""

    facts: Mapping[str, str]
    seconds: Mapping[str, list[float]]

    @property
    def started_at(self) -> float:
        return float(self.facts["started_at"])


@dataclass(frozen=True)
class Outcome:
    """All that is known of a cell: its rounds by number, or why there is nothing to compare."""

    cell: Cell
    rounds: Mapping[int, Round]
    status: str = OK
    reason: str = ""

    @property
    def few_threads(self) -> bool:
        return any(_few_threads(round.facts) for round in self.rounds.values())

    def grade(self) -> str:
        if self.few_threads:
            return "few_threads"
        signals = ("queue_wait_s", "throttled_s", "timed_s")
        if any(disturbed({s: float(r.facts[s]) for s in signals}) for r in self.rounds.values()):
            return "disturbed"
        return "good"


def summarize(
    cells: Sequence[Cell], rounds: int, baseline: str, partial: bool = False
) -> list[dict[str, Any]]:
    """The summary's rows. With `partial`, for a sweep under way, rounds may still be missing."""
    outcomes = {cell: outcome_of(cell, rounds, partial) for cell in cells}
    rows: list[dict[str, Any]] = []
    for cell, outcome in outcomes.items():
        partner = outcomes.get(Cell(cell.workload, baseline, cell.dtype, cell.size))
        rows += _rows(outcome, partner, baseline)
    return rows


def outcome_of(cell: Cell, rounds: int, partial: bool = False, first: int = 1) -> Outcome:
    """Read a cell's rounds `first` to `rounds`; the first that is not ok says what became of it."""
    found: dict[int, Round] = {}
    for number in range(first, rounds + 1):
        path = cell.csv(number)
        try:
            rows = record.read(
                path,
                workload=cell.workload,
                backend=cell.backend,
                dtype=cell.dtype,
                size=cell.size,
                round=number,
            )
            if number == 1 and (crc32 := rows[0]["array_crc32"]):
                record.check_array(cell.array, crc32)
        except FileNotFoundError as error:
            if partial:
                continue
            return Outcome(cell, {}, ERROR, f"{error.filename} is not there; run the sweep again")
        except record.Damaged as error:
            return Outcome(cell, {}, ERROR, f"{error}; 'make retry' removes it")
        if (status := rows[0]["status"]) != OK:
            where = f" (round {number} of {rounds})" if number > 1 else ""
            return Outcome(cell, {number: Round(rows[0], {})}, status, rows[0]["reason"] + where)
        found[number] = _reduce(rows)
    if not found:
        return Outcome(cell, {}, NOT_MEASURED, "not measured yet")
    return Outcome(cell, found)


def _reduce(rows: list[dict[str, str]]) -> Round:
    """A disturbed round was measured twice: the last attempt counts."""
    last = max(row["attempt"] for row in rows)
    counted = [row for row in rows if row["attempt"] == last or row["scope"] == "first_call"]
    by_scope = {
        scope: [float(row["seconds"]) for row in group]
        for scope, group in groupby(counted, key=lambda row: row["scope"])
    }
    return Round(next(row for row in counted if row["scope"] != "first_call"), by_scope)


def _rows(outcome: Outcome, partner: Outcome | None, baseline: str) -> list[dict[str, Any]]:
    cell = outcome.cell
    facts = [round.facts for round in outcome.rounds.values()]
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "") | {
        "workload": cell.workload,
        "backend": cell.backend,
        "dtype": cell.dtype,
        "size": cell.size,
        "scope": cell.scope,
        "status": outcome.status,
        "reason": outcome.reason,
        "baseline": baseline,
    }
    row |= {name: _distinct(facts, name) for name in FROM_ROUNDS}
    if outcome.status != OK:
        return [row | {name: _most(facts, name) for name in ("error", "error_bound")}]
    most = ("error", "error_bound", "host_peak_bytes", "device_peak_bytes")
    row |= {name: _most(facts, name) for name in most}
    row["import_s"] = median(float(fact["import_s"]) for fact in facts)
    scopes = dict.fromkeys(scope for r in outcome.rounds.values() for scope in r.seconds)
    rows = [row | _statistics(outcome, scope) | {"scope": scope} for scope in scopes]
    if cell.scope == "compute" and "round_trip" not in scopes:  # on the host they are the same
        rows.append(row | _statistics(outcome, "compute") | {"scope": "round_trip"})
    for entry in rows:
        entry["grade"] = outcome.grade()
        if entry["scope"] in COMPARED and partner is not None and partner.status == OK:
            entry |= _speedup(outcome, partner, entry["scope"], entry["grade"])
    return rows


def _statistics(outcome: Outcome, scope: str) -> dict[str, Any]:
    rounds = [r for r in outcome.rounds.values() if scope in r.seconds]
    pooled = [seconds for r in rounds for seconds in r.seconds[scope]]
    quarters = quantiles(pooled, n=4, method="inclusive") if len(pooled) > 1 else pooled * 3
    return {
        "rounds": len(rounds),
        "samples": len(pooled),
        "calls": max(int(r.facts["calls"]) for r in rounds) if scope == outcome.cell.scope else "",
        "median_s": median(median(r.seconds[scope]) for r in rounds),
        "q1_s": quarters[0],
        "q3_s": quarters[2],
        "min_s": min(pooled),
    }


def _speedup(ours: Outcome, baseline: Outcome, scope: str, grade: str) -> dict[str, Any]:
    """Geometric mean over the pairs; without a pair the ratio of medians, marked `not_paired`.

    Empty where nothing may be divided: a baseline on too few threads, or another machine.
    """
    if baseline.few_threads:
        return {}
    ratios = [
        _median(theirs, scope) / _median(mine, scope)
        for number, mine in ours.rounds.items()
        if (theirs := baseline.rounds.get(number)) and _paired(mine, theirs)
    ]
    if ratios:
        return {"speedup": exp(fmean(map(log, ratios))), "pairs": len(ratios)}
    machines = {r.facts["machine"] for o in (ours, baseline) for r in o.rounds.values()}
    if len(machines) > 1:
        return {}
    point = median(_median(r, scope) for r in baseline.rounds.values()) / median(
        _median(r, scope) for r in ours.rounds.values()
    )
    return {"speedup": point, "pairs": 0, "grade": "not_paired" if grade == "good" else grade}


def _paired(mine: Round, theirs: Round) -> bool:
    same = all(mine.facts[name] == theirs.facts[name] for name in ("machine", "boot"))
    return same and abs(mine.started_at - theirs.started_at) <= PAIR_WITHIN_S


def _median(round: Round, scope: str) -> float:
    """A host's round trip is its computation."""
    return median(round.seconds.get(scope) or round.seconds["compute"])


def _few_threads(facts: Mapping[str, str]) -> bool:
    """Fewer threads than asked for, `all` being all the usable cores that a pool can have."""
    if not facts["threads_effective"]:
        return False
    requested = facts["threads_requested"]
    asked = min(int(facts["cores"]), LARGEST_POOL) if requested == "all" else int(requested)
    return int(facts["threads_effective"]) < asked


def _distinct(facts: Iterable[Mapping[str, str]], name: str) -> str:
    """The rounds' value, or all of them where they differ: a difference must show."""
    return " + ".join(dict.fromkeys(fact[name] for fact in facts))


def _most(facts: Iterable[Mapping[str, str]], name: str) -> str:
    """The largest of the rounds' values, as it was written."""
    return max((fact[name] for fact in facts if fact[name]), key=float, default="")
