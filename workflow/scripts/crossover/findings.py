"""What is known of one workload in one dtype, for the sentences of the verdict.

Rows are those of summary.csv and break_even.csv as texts, and those of reuse.csv.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover import break_even
from crossover.break_even import FROM, FROM_SMALLEST, NEVER, NOT_CLEAR, BreakEven
from crossover.decide import BEST_CPU, Curves, in_money
from crossover.intervals import finding
from crossover.machines import View
from crossover.rows import Row, why
from crossover.words import speedup

AHEAD = (FROM, FROM_SMALLEST)


@dataclass(frozen=True)
class Speedup:
    """At one size; `finding` is '' where there is no interval, and low and high are then 0."""

    size: int
    finding: str
    point: float
    low: float = 0.0
    high: float = 0.0

    def words(self) -> str:
        return speedup(self.finding, self.point, self.low, self.high)


class Findings:
    """`gpus` and `hosts` are the backends that the view is about and that were measured, without
    the baselines."""

    def __init__(
        self,
        view: View,
        rows: Sequence[Row],
        evens: Sequence[Row],
        reuses: Iterable[Mapping[str, Any]],
    ) -> None:
        of = rows[0]["workload"], rows[0]["dtype"]
        self.curves = Curves(rows, view.backends(*of))
        self.workload, self.dtype = self.curves.workload, self.curves.dtype
        self.name = f"{self.workload} {self.dtype}"
        self.baselines = list(dict.fromkeys(self.curves.baselines.values()))
        measured = self.curves.backends
        others = [name for name in self.curves.own if name not in self.baselines]
        self.gpus = [backend for backend in others if backend in self.curves.devices]
        self.hosts = [backend for backend in others if backend not in self.curves.devices]
        self.failed = _failed([row for row in rows if row["backend"] not in measured])
        self.reuses = {(row["backend"], int(row["size"])): row for row in reuses}
        self._evens = {
            (row["backend"], row["scope"], row["against"]): found
            for row in evens
            if (found := break_even.of_row(row))
        }
        self._in_money = {
            (row["backend"], row["scope"], row["against"]): found
            for row in evens
            if (found := in_money(row))
        }

    def baseline(self, backend: str) -> str:
        """What a backend's speedups are over."""
        return self.curves.baselines[backend]

    def elsewhere(self, backend: str) -> bool:
        """Was it measured on another machine than its baseline?"""
        if (baseline := self.baseline(backend)) not in self.curves.backends:
            return False
        return self.facts(backend)["machine"] != self.facts(baseline)["machine"]

    def even(self, backend: str, scope: str, against: str = "") -> BreakEven | None:
        """Against the baseline, or what is named."""
        return self._evens.get((backend, scope, against or self.baseline(backend)))

    def in_money(self, backend: str, scope: str, against: str = "") -> BreakEven | None:
        """The same in money; None also where a price is not known, or all are the same."""
        return self._in_money.get((backend, scope, against or self.baseline(backend)))

    def strict(self, backend: str, scope: str) -> BreakEven | None:
        """Against the best CPU backend where there is another one than the baseline."""
        return self.even(backend, scope, BEST_CPU) or self.even(backend, scope)

    def row(self, backend: str, scope: str, size: int) -> Row | None:
        return self.curves.rows.get((backend, scope, size))

    def facts(self, backend: str) -> Row:
        """Any row of a backend that was measured."""
        return next(row for (name, _, _), row in self.curves.rows.items() if name == backend)

    def labelled(self, backend: str) -> str:
        """Its name, and where an option makes it compute in less than the dtype, in what."""
        return " in ".join(filter(None, [backend, self.curves.coarse.get(backend)]))

    def library(self, backend: str) -> str:
        """Of any backend, '' of one that was not measured."""
        return self.facts(backend)["library"] if backend in self.curves.backends else ""

    def fastest_first(self, backends: Iterable[str], scope: str = "compute") -> list[str]:
        """By their speedups at the largest sizes; those without one last."""
        found = {name: self.at_largest(name, scope) for name in backends}
        return sorted(found, key=lambda name: -(at.point if (at := found[name]) else 0.0))

    def seconds(self, backend: str, scope: str, size: int) -> float | None:
        """The median of one call in seconds; None where it was not measured."""
        row = self.row(backend, scope, size)
        return float(row["median_s"]) if row else None

    def sizes(self, backend: str, scope: str) -> list[int]:
        """The sizes n at which it was measured, ascending."""
        return sorted(s for name, where, s in self.curves.rows if (name, where) == (backend, scope))

    def at_largest(self, backend: str, scope: str) -> Speedup | None:
        """Over the baseline, at the largest size that has a speedup."""
        for size in reversed(self.sizes(backend, scope)):
            if found := self.at(backend, scope, size):
                return found
        return None

    def at(self, backend: str, scope: str, size: int) -> Speedup | None:
        """Over the baseline, at one size."""
        row = self.row(backend, scope, size)
        if row is None or not row["speedup"]:
            return None
        if not row["finding"]:
            return Speedup(size, "", float(row["speedup"]))
        columns = ("speedup", "speedup_low", "speedup_high")
        return Speedup(size, row["finding"], *(float(row[name]) for name in columns))

    def best_at_largest(self, backend: str, scope: str) -> tuple[str, Speedup] | None:
        """The same over the best CPU backend, and which that is, as far as can be seen."""
        for size in reversed(self.sizes(backend, scope)):
            logs = {
                rival: list(self.curves.over(backend, rival, scope).get(size, {}).values())
                for rival in self.curves.rivals(backend)
            }
            if found := break_even.over_best(logs):
                rival, at = found
                return rival, Speedup(size, finding(at), at.point, at.low, at.high)
        return None


def findings(
    view: View, evens: Iterable[Row], reuses: Iterable[Mapping[str, Any]]
) -> list[Findings]:
    """One for each workload and dtype of a view, in the summary's order."""
    own: dict[tuple[str, str], tuple[list[Row], list[Row], list[Row]]] = {}
    decided = ([row for row in table if row["apart"] == view.words] for table in (evens, reuses))
    for place, table in enumerate((view.rows, *decided)):
        for row in table:
            key = row["workload"], row["dtype"]
            own.setdefault(key, ([], [], []))[place].append(row)
    return [Findings(view, *tables) for tables in own.values() if tables[0]]


def phrase(found: BreakEven | None, ahead: str = "faster", behind: str = "slower") -> str:
    """'faster from n = 500 on (95 %: 400 to 600)', 'never faster up to n = 500'."""
    if found is None:
        return "no interval"
    words = found.words(ahead, behind)
    if found.kind == NEVER:
        return words.replace("never", f"never {ahead}", 1)
    return words if found.kind == NOT_CLEAR else f"{ahead} {words}"


def _failed(rows: Iterable[Row]) -> dict[str, str]:
    """By backend that was to compute and has no times: why, in the words of most of its cells."""
    reasons: dict[str, Counter[str]] = {}
    for row in rows:
        if row["scope"] == "compute":
            reasons.setdefault(row["backend"], Counter())[why(row)] += 1
    return {backend: found.most_common(1)[0][0] for backend, found in reasons.items()}
