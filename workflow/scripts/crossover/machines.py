"""Sweeps on more than one machine: what is kept apart, and how it is told.

A time belongs to a machine, a device and its driver, the threads that it had and a library's
version: its rig. Rounds of one cell from several rigs are rows of their own, since a median over
them would be nobody's. Nodes that are alike are one rig, and what differs between them is in the
intervals. What reads a summary takes it view by view: in each there is one row per cell and scope.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover.status import ERROR, OK

APART, DIVIDE, REFUSE = "apart", "divide", "refuse"  # config.yaml: mixed_machines
DIVIDED = "divided across machines"  # in the note of a row with such a speedup

RIG = ("machine", "device", "driver", "threads_effective", "version")
MACHINE = ("cpu", "cores")  # of what `machine` is a hash of, what tells most
# How each fact is said.
WORDS: dict[str, Callable[[str], str]] = {
    "cpu": lambda value: value,
    "cores": lambda value: f"{value} cores",
    "device": lambda value: value,
    "driver": lambda value: f"driver {value or 'none'}",
    "threads_effective": lambda value: f"{value or 'no'} threads",
    "version": lambda value: f"version {value or 'none'}",
}

# What a row keeps when it is refused.
IDENTITY = (
    *("workload", "backend", "dtype", "size", "baseline"),
    *("machine", "cpu", "cores", "device", "driver", "library", "version"),
)

Rig = tuple[str, ...]
Row = Mapping[str, Any]


def rig(facts: Row) -> Rig:
    return tuple(str(facts[name]) for name in RIG)


def differing(own: Row, every: Sequence[Row], names: Iterable[str] = WORDS) -> str:
    """The facts of one that others do not share."""
    words = [
        WORDS[name](str(own[name]))
        for name in names
        if name in own and len({str(facts[name]) for facts in every}) > 1
    ]
    return ", ".join(words) or f"machine {own['machine']}"


Key = tuple[str, str, str]  # workload, dtype, backend: a curve


def key_of(row: Row) -> Key:
    return row["workload"], row["dtype"], row["backend"]


@dataclass(frozen=True)
class View:
    """Rows with one rig for each curve. `words` say which, '' for the first view; `own` are the
    curves that it is about, the others are there to compare with."""

    rows: list[Row]
    own: frozenset[Key]
    words: str = ""

    def backends(self, workload: str, dtype: str) -> set[str]:
        """Those that it is about, in one workload and dtype."""
        return {backend for *of, backend in self.own if of == [workload, dtype]}


def views(rows: Iterable[Row]) -> list[View]:
    """The first has every curve, on its baseline's machine where it was there, and all that is not
    ok; each other one what a machine, or a second device or version on it, has beside."""
    rows = list(rows)
    ok = [row for row in rows if row["status"] == OK]
    found: dict[Key, Counter[Rig]] = {}
    for row in ok:
        found.setdefault(key_of(row), Counter())[rig(row)] += 1
    if all(len(rigs) == 1 for rigs in found.values()):
        return [View(rows, frozenset(map(key_of, rows)))]
    ranks = _ranks(ok)
    baselines = {key_of(row): (row["workload"], row["dtype"], row["baseline"]) for row in ok}
    first: dict[Key, Rig] = {}
    slots: dict[tuple[int, int], dict[Key, Rig]] = {}
    for key, counts in found.items():
        there = Counter(where[0] for where in found.get(baselines[key], Counter()).elements())
        first[key], *others = sorted(
            counts, key=lambda p: (-there[p[0]], ranks[p[0]], -counts[p], p)
        )
        seen: Counter[int] = Counter()
        for other in others:
            rank = ranks[other[0]]
            slots.setdefault((rank, seen[rank]), {})[key] = other
            seen[rank] += 1
    kept = [row for row in rows if row["status"] != OK or first[key_of(row)] == rig(row)]
    main = View(kept, frozenset(map(key_of, kept)))
    return [main, *(_apart(ok, slots[slot], first, found) for slot in sorted(slots))]


def _ranks(ok: Sequence[Row]) -> dict[str, int]:
    """Machines in the order in which they are told: where baselines have most rows, first."""
    baseline = Counter(row["machine"] for row in ok if row["backend"] == row["baseline"])
    every = Counter(row["machine"] for row in ok)
    order = sorted(every, key=lambda name: (-baseline[name], -every[name], name))
    return {name: rank for rank, name in enumerate(order)}


def _apart(
    ok: Iterable[Row],
    own: Mapping[Key, Rig],
    first: Mapping[Key, Rig],
    found: Mapping[Key, Counter[Rig]],
) -> View:
    """What is on one machine beside the first view, and what there is to compare it with."""
    machine = next(iter(own.values()))[0]
    groups = {key[:2] for key in own}
    taken = dict(own)
    for key, counts in found.items():
        if key[:2] in groups and (here := [where for where in counts if where[0] == machine]):
            taken.setdefault(key, max(here, key=lambda where: (where == first[key], counts[where])))
    kept = [row for row in ok if taken.get(key_of(row)) == rig(row)]
    return View(kept, frozenset(own), _words(kept, own, first))


def _words(kept: Sequence[Row], own: Mapping[Key, Rig], first: Mapping[Key, Rig]) -> str:
    """'CPU, 8 cores (machine 0a1b2c); torch_cuda on NVIDIA V100': the machine, and what else is not
    as in the first view."""
    machine = next(row for row in kept if key_of(row) in own)
    words = [f"{machine['cpu']}, {machine['cores']} cores (machine {machine['machine']})"]
    for key, where in own.items():
        both = [dict(zip(RIG, found, strict=True)) for found in (where, first[key])]
        if both[0] | {"machine": ""} != both[1] | {"machine": ""}:
            words.append(f"{key[2]} on {differing(both[0], both)}")
    return "; ".join(dict.fromkeys(words))


def elsewhere(others: Iterable[View]) -> list[str]:
    """What is not in the first view, one line for each other one."""
    return [f"{', '.join(sorted({key[2] for key in view.own}))} on {view.words}" for view in others]


def refuse(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows; a cell that was measured on another machine than its baseline in the first view, or
    in any rig outside of that view, is an error that names both."""
    first, *others = views(rows)
    ok = [row for row in first.rows if row["status"] == OK]
    mains = {row["backend"]: row for row in reversed(ok) if row["backend"] == row["baseline"]}
    here = {key_of(row): row for row in ok}
    reasons: dict[tuple[Any, ...], str] = {}
    for view in others:
        for row in view.rows:
            if key_of(row) in view.own:
                reasons.setdefault(_cell(row), _both(row, here[key_of(row)]))
    for row in ok:
        main = mains.get(row["baseline"])
        if main and row["machine"] != main["machine"]:
            reasons.setdefault(_cell(row), _both(row, main, MACHINE))
    kept: list[dict[str, Any]] = []
    told = set()
    for row in rows:
        cell = _cell(row)
        if cell not in reasons:
            kept.append(dict(row))
        elif cell not in told:
            told.add(cell)
            scope = "render" if row["scope"] == "render" else "compute"
            empty = {name: value if name in IDENTITY else "" for name, value in row.items()}
            kept.append(empty | {"scope": scope, "status": ERROR, "reason": reasons[cell]})
    return kept


def _both(row: Row, other: Row, names: Iterable[str] = WORDS) -> str:
    mine, theirs = (differing(one, (row, other), names) for one in (row, other))
    where = f"measured on {mine}, and {other['backend']} mostly on {theirs}"
    return f"{where} (mixed_machines: {REFUSE})"


def _cell(row: Row) -> tuple[Any, ...]:
    return (*(row[name] for name in IDENTITY[:4]), row["scope"] == "render")
