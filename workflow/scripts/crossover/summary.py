"""Raw samples -> one row per cell and scope: exactly the configured cells, never a glob.

A time is the median of the rounds' medians, a speedup the geometric mean over pairs: backend and
baseline in the same round, machine and boot, near in time. Both with their 95 % interval from the
rounds (intervals.py); quartiles, p95 and min are over all samples. From end to end, with drawing,
is the sum of the medians of both, round by round. A cell whose rounds were measured on machines
that differ has rows for each of them (machines.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from statistics import median, quantiles
from typing import Any

from crossover import apart, grades, intervals, machines
from crossover.cells import DRAWN_BY, END_TO_END, Cell, Picture
from crossover.outcomes import Outcome, Timed, compared, drawn, paired, unpaired
from crossover.status import OK
from crossover.table import COLUMNS

FROM_ROUNDS = (
    *("threads_requested", "threads_granted", "threads_effective"),
    *("precision", "memory", "environment", "flop", "input_bytes", "output_bytes"),
    *("assumed", "n_is"),
    *("machine", "cpu", "cores", "device", "driver", "library", "version"),
)
# What a speedup is asked for; the other scopes have no counterpart on a host.
COMPARED = ("compute", "round_trip", END_TO_END)
TRANSFERS = ("upload", "download", "round_trip")
PINNED = "_pinned"


def summarize(
    cells: Sequence[Cell],
    rounds: int,
    baseline: str,
    partial: bool = False,
    mixed: str = machines.APART,
    asked: Mapping[str, str] | None = None,
    baselines: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """The summary's rows. With `partial`, for a sweep under way, rounds may still be missing.
    `mixed` is what becomes of machines that differ, `asked` the GPU model that each backend's entry
    in the config asks for, where it does, and `baselines` those that are not compared with
    `baseline`, by backend."""
    drawings: dict[tuple[str, str, int], Outcome] = {}
    rows_of_pictures: list[dict[str, Any]] = []
    for outcomes in compared([c for c in cells if isinstance(c, Picture)], rounds, partial):
        for outcome in outcomes:
            parts = apart.by_rig(outcome)
            for part in parts:
                rows_of_pictures += _rows(part, None, baseline, mixed, [apart.where_else(parts)])
            if outcome.cell.backend == DRAWN_BY:
                drawings[_output_of(outcome.cell)] = outcome
    rows: list[dict[str, Any]] = []
    for outcomes in compared([c for c in cells if not isinstance(c, Picture)], rounds, partial):
        drawing = drawings.get(_output_of(outcomes[0].cell))
        outcomes = [drawn(outcome, drawing) for outcome in outcomes]
        by_backend = {outcome.cell.backend: outcome for outcome in outcomes}
        for outcome in outcomes:
            parts = apart.by_rig(outcome)
            own = (baselines or {}).get(outcome.cell.backend, baseline)
            theirs = by_backend.get(own)
            model = (asked or {}).get(outcome.cell.backend, "")
            for part in parts:
                partner = apart.partner(part, theirs) if theirs else None
                notes = [apart.where_else(parts), *_not_as_asked(part, model)]
                rows += _rows(part, partner, own, mixed, notes, drawing)
    rows += rows_of_pictures
    return machines.refuse(rows) if mixed == machines.REFUSE else rows


def _output_of(cell: Cell) -> tuple[str, str, int]:
    return cell.workload, cell.dtype, cell.size


def _not_as_asked(outcome: Outcome, model: str) -> list[str]:
    return [apart.not_as_asked(model, round.facts) for round in outcome.rounds.values()]


def _rows(
    outcome: Outcome,
    partner: Outcome | None,
    baseline: str,
    mixed: str,
    notes: Sequence[str],
    drawing: Outcome | None = None,
) -> list[dict[str, Any]]:
    """The rows of a cell in one place; `notes` are what is said of it beside its own."""
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
    row |= {name: _middle(facts, name) for name in ("import_s", "page_faults")}
    every = [*(fact["note"] for fact in facts), *notes]
    row["note"] = "; ".join(dict.fromkeys(filter(None, every)))
    row["call_s"] = outcome.call_s()
    scopes = list(dict.fromkeys(s for r in outcome.rounds.values() for s in r.scopes))
    on_device = "download" in scopes
    # Where the data is and where it is needed are the same on a host, and so are the two scopes.
    same = {"round_trip": "compute"} if "round_trip" not in scopes else {}
    rows = []
    for scope in [*scopes, *(same if cell.scope == "compute" else ())]:
        measured = same.get(scope, scope)
        entry = row | _statistics(outcome.timed(measured)) | {"scope": scope}
        if on_device:
            entry["transfer"] = _transfer(scope)
        found = outcome.grades(measured)
        if scope == END_TO_END and drawing is not None:
            found |= drawing.grades("render")
        if scope == "compute":
            entry["joules"] = _middle(facts, "joules")
        if scope in COMPARED and partner is not None and partner.status == OK:
            entry |= _speedup(outcome, partner, scope, mixed)
            if unpaired(outcome, partner) or entry["pairs"] == 0:
                found.add(grades.NOT_PAIRED)
            if entry["pairs"] == 0 and not apart.same_machine(outcome, partner):
                words = apart.across(outcome, partner)
                entry["note"] = "; ".join(filter(None, [entry["note"], words]))
        rows.append(entry | {"grade": grades.joined(found)})
    return rows


def _statistics(timed: Sequence[Timed]) -> dict[str, Any]:
    medians = [one.median_s for one in timed]
    pooled = [seconds for one in timed for seconds in one.seconds]
    parts = quantiles(pooled, n=20, method="inclusive") if len(pooled) > 1 else pooled * 19
    device_s = [one.device_s for one in timed if one.device_s is not None]
    found = {
        "rounds": len(timed),
        "samples": len(pooled),
        "calls": max(one.calls for one in timed),
        "median_s": median(medians),
        "q1_s": parts[4],
        "q3_s": parts[14],
        "p95_s": parts[18],
        "min_s": min(pooled),
        "device_s": median(device_s) if device_s else "",
    }
    if interval := intervals.of([log(seconds) for seconds in medians]):
        # It is around the rounds' geometric mean. Where a few rounds of many are far off, the
        # median can lie beside it: then the interval reaches there too, which only makes it safer.
        found["low_s"] = min(interval.low, found["median_s"])
        found["high_s"] = max(interval.high, found["median_s"])
    return found


def _speedup(ours: Outcome, baseline: Outcome, scope: str, mixed: str) -> dict[str, Any]:
    """Geometric mean over the pairs and its interval; without a pair the ratio of medians.

    Empty where nothing may be divided: a baseline on too few threads, or on another machine unless
    the config says so.
    """
    if baseline.few_threads:
        return {}
    if ours is baseline:
        return {"speedup": 1.0, "pairs": len(ours.rounds)}
    ratios = {
        number: theirs.median_s(scope) / mine.median_s(scope)
        for number, mine in ours.rounds.items()
        if (theirs := baseline.rounds.get(number))
        and paired(mine, theirs)
        and mine.has(scope)
        and theirs.has(scope)
    }
    logs = [log(ratio) for ratio in ratios.values()]
    by_round = " ".join(f"{number}:{ratio!r}" for number, ratio in ratios.items())
    if interval := intervals.of(logs):
        return {
            "speedup": interval.point,
            "speedup_low": interval.low,
            "speedup_high": interval.high,
            "finding": intervals.finding(interval),
            "detectable": intervals.detectable(interval),
            "pairs": len(logs),
            "speedup_by_round": by_round,
        }
    if logs:
        return {"speedup": exp(logs[0]), "pairs": 1, "speedup_by_round": by_round}
    if mixed != machines.DIVIDE and not apart.same_machine(ours, baseline):
        return {}
    both = (ours, baseline)
    mine_s, theirs_s = (
        [round.median_s(scope) for round in one.rounds.values() if round.has(scope)] for one in both
    )
    return {"speedup": median(theirs_s) / median(mine_s), "pairs": 0} if theirs_s else {}


def _transfer(scope: str) -> str:
    """Through which kind of host memory a device's data went, where it went."""
    if scope.removesuffix(PINNED) not in TRANSFERS:
        return ""
    return "pinned" if scope.endswith(PINNED) else "pageable"


def _distinct(facts: Iterable[Mapping[str, str]], name: str) -> str:
    """The rounds' value, or all of them where they differ: a difference must show."""
    found = list(dict.fromkeys(fact[name] for fact in facts))
    return " + ".join(value or "none" for value in found) if len(found) > 1 else "".join(found)


def _middle(facts: Iterable[Mapping[str, str]], name: str) -> float | str:
    """The median of the rounds' values, '' where there are none."""
    found = [float(fact[name]) for fact in facts if fact[name]]
    return median(found) if found else ""


def _most(facts: Iterable[Mapping[str, str]], name: str) -> str:
    """The largest of the rounds' values, as it was written."""
    return max((fact[name] for fact in facts if fact[name]), key=float, default="")
