"""Raw files -> what became of each cell: its rounds reduced to what a summary is made of.

Files are read group by group and checked on the way; whatever is wrong with one is an outcome too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median

from crossover import grades, record
from crossover.cells import END_TO_END, Cell
from crossover.interference import disturbed
from crossover.status import ERROR, NOT_MEASURED, OK

PAIR_WITHIN_S = 3600.0  # longer apart, the machine may be another: warmer, or busy


@dataclass(frozen=True)
class Timed:
    """One scope in one round, times in seconds per call: the samples in the order taken, their
    median, the median of the device's own clock where it has one, and the calls in a sample."""

    seconds: list[float]
    median_s: float
    device_s: float | None
    calls: int

    @property
    def single_call(self) -> bool:
        return len(self.seconds) == self.calls == 1


@dataclass(frozen=True)
class Round:
    """One round of one cell: its facts, and where it is ok the samples by scope."""

    facts: Mapping[str, str]
    scopes: Mapping[str, Timed]

    @property
    def started_at(self) -> float:
        return float(self.facts["started_at"])

    def median_s(self, scope: str) -> float:
        """The median of the samples of a scope, in seconds per call."""
        return self.scopes[self._measured_as(scope)].median_s

    def has(self, scope: str) -> bool:
        return self._measured_as(scope) in self.scopes

    def _measured_as(self, scope: str) -> str:
        """A host's round trip is its computation."""
        return "compute" if scope == "round_trip" and scope not in self.scopes else scope

    def grades(self, *scopes: str) -> set[str]:
        """What speaks against this round, and against these scopes of it."""
        found = set()
        if grades.few_threads(self.facts):
            found.add(grades.FEW_THREADS)
        if grades.recompiled(self.facts):
            found.add(grades.RECOMPILED)
        if disturbed(self.facts):
            found.add(grades.DISTURBED)
        if grades.shared_node(self.facts):
            found.add(grades.SHARED_NODE)
        if any(grades.drifting(self.scopes[s].seconds) for s in scopes if s in self.scopes):
            found.add(grades.DRIFTING)
        return found


@dataclass(frozen=True)
class Outcome:
    """All that is known of a cell: its rounds by number, or why there is nothing to compare."""

    cell: Cell
    rounds: Mapping[int, Round]
    status: str = OK
    reason: str = ""

    @property
    def few_threads(self) -> bool:
        return any(grades.few_threads(round.facts) for round in self.rounds.values())

    def timed(self, scope: str) -> list[Timed]:
        return [round.scopes[scope] for round in self.rounds.values() if scope in round.scopes]

    def call_s(self) -> float | None:
        """Of one empty call of the timing loop; None where no round knows."""
        found = [float(r.facts["call_s"]) for r in self.rounds.values() if r.facts["call_s"]]
        return median(found) if found else None

    def grades(self, scope: str) -> set[str]:
        """What speaks against one scope of the cell: of any of its rounds, and of all together."""
        found = set[str]().union(*(round.grades(scope) for round in self.rounds.values()))
        main = self.timed(self.cell.scope)
        if grades.launch_bound(self.call_s(), median(timed.median_s for timed in main)):
            found.add(grades.LAUNCH_BOUND)
        if any(timed.single_call for timed in main):
            found.add(grades.SINGLE_CALL)
        return found


def compared(cells: Iterable[Cell], rounds: int, partial: bool = False) -> Iterator[list[Outcome]]:
    """What became of the cells that differ in their backend alone, so that the samples of only so
    many are in memory at a time."""
    groups: dict[tuple[str, str, str, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.scope, cell.workload, cell.dtype, cell.size), []).append(cell)
    for group in groups.values():
        yield [outcome_of(cell, rounds, partial) for cell in group]


def outcome_of(cell: Cell, rounds: int, partial: bool = False, first: int = 1) -> Outcome:
    """Read a cell's rounds `first` to `rounds`; the first that is not ok says what became of it."""
    found: dict[int, Round] = {}
    for number in range(first, rounds + 1):
        path = cell.csv(number)
        try:
            parts = record.parts(
                path,
                workload=cell.workload,
                backend=cell.backend,
                dtype=cell.dtype,
                size=cell.size,
                round=number,
            )
            if number == 1 and (crc32 := parts[0].facts["array_crc32"]):
                record.check_array(cell.array, crc32)
        except FileNotFoundError as error:
            if partial:
                continue
            return Outcome(cell, {}, ERROR, f"{error.filename} is not there; run the sweep again")
        except record.Damaged as error:
            return Outcome(cell, {}, ERROR, f"{error}; 'make retry' removes it")
        facts = parts[0].facts
        if (status := facts["status"]) != OK:
            where = f" (round {number} of {rounds})" if number > 1 else ""
            return Outcome(cell, {number: Round(facts, {})}, status, facts["reason"] + where)
        found[number] = reduced(parts, cell.scope)
    if not found:
        return Outcome(cell, {}, NOT_MEASURED, "not measured yet")
    return Outcome(cell, found)


def drawn(ours: Outcome, drawing: Outcome | None) -> Outcome:
    """With the scope END_TO_END in the rounds that drawing has too, on the same machine: the sum of
    both medians, as one sample."""
    if drawing is None or not ours.status == drawing.status == OK:
        return ours
    rounds = dict(ours.rounds)
    for number, mine in ours.rounds.items():
        picture = drawing.rounds.get(number)
        if picture is None or picture.facts["machine"] != mine.facts["machine"]:
            continue
        seconds = mine.median_s("round_trip") + picture.median_s("render")
        whole = Timed([seconds], seconds, device_s=None, calls=1)
        rounds[number] = replace(mine, scopes={**mine.scopes, END_TO_END: whole})
    return replace(ours, rounds=rounds)


def unpaired(ours: Outcome, baseline: Outcome) -> list[int]:
    """The rounds that both have, but measured apart: at another time, or on another machine."""
    return [
        number
        for number, mine in ours.rounds.items()
        if (theirs := baseline.rounds.get(number)) and not paired(mine, theirs)
    ]


def paired(mine: Round, theirs: Round) -> bool:
    """Measured next to each other, so that what the machine did meanwhile hit both."""
    same = all(mine.facts[name] == theirs.facts[name] for name in ("machine", "boot", "node"))
    return same and abs(mine.started_at - theirs.started_at) <= PAIR_WITHIN_S


def reduced(parts: list[record.Part], scope: str) -> Round:
    """A disturbed round was measured twice: the last attempt counts. Its facts are those of
    `scope`, which every cell of that kind has."""
    last = max(part.facts["attempt"] for part in parts)
    counted: dict[str, list[record.Part]] = {}
    for part in parts:
        if part.facts["attempt"] == last or part.facts["scope"] == "first_call":
            counted.setdefault(part.facts["scope"], []).append(part)
    return Round(counted[scope][0].facts, {name: _timed(own) for name, own in counted.items()})


def _timed(parts: list[record.Part]) -> Timed:
    seconds = [float(text) for part in parts for text in part.column("seconds")]
    device_s = [float(text) for part in parts for text in part.column("device_s") if text]
    return Timed(
        seconds,
        median(seconds),
        median(device_s) if device_s else None,
        int(parts[0].facts["calls"]),
    )
