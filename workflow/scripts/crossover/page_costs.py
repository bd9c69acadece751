"""What the page says of money and energy."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from crossover import words
from crossover.decide import BEST_CPU
from crossover.page_parts import SCOPES
from crossover.rows import Row


@dataclass(frozen=True)
class Cost:
    """What a backend's calls cost at the largest size that has an answer: by scope the cost of a
    million calls, the energy of one, and by scope from which size on that is cheaper."""

    place: str
    size: str
    backend: str
    price: str
    calls: dict[str, str]
    joules: str
    cheaper: dict[str, str]


def costs(rows: Iterable[Row], break_even: Iterable[Row]) -> list[Cost]:
    """One for each workload, dtype, backend and machine that has a price or an energy."""
    cheaper: dict[tuple[str, ...], dict[str, str]] = {}
    for row in break_even:
        if row["cheaper_words"] and row["against"] != BEST_CPU:
            cheaper.setdefault(_rig(row), {})[row["scope"]] = row["cheaper_words"]
    by_rig: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["cost_per_million_calls"] or row["joules"]:
            by_rig.setdefault(_rig(row), []).append(row)
    return [_cost(mine, cheaper.get(rig, {})) for rig, mine in by_rig.items()]


def _rig(row: Row) -> tuple[str, ...]:
    return row["workload"], row["dtype"], row["backend"], row["machine"]


def _cost(mine: Sequence[Row], cheaper: dict[str, str]) -> Cost:
    largest = max(int(row["size"]) for row in mine)
    rows = [row for row in mine if int(row["size"]) == largest]
    one = rows[0]
    unit = f" {words.short(one['currency'])}".rstrip()
    return Cost(
        place=f"{one['workload']}, {one['dtype']}",
        size=one["size"],
        backend=one["backend"],
        price=f"{float(one['price_per_hour']):,.6g}{unit}" if one["price_per_hour"] else "",
        calls={
            row["scope"]: f"{_three(row['cost_per_million_calls'])}{unit}"
            for row in rows
            if row["cost_per_million_calls"]
        },
        joules=next((f"{_three(row['joules'])} J" for row in rows if row["joules"]), ""),
        cheaper=cheaper,
    )


def _three(text: str) -> str:
    """Three digits: '0.0123', '12,300', '1.23e-07'."""
    return f"{float(f'{float(text):.3g}'):,.15g}"


def scopes(found: Iterable[Mapping[str, str]]) -> list[str]:
    """The scopes that something is said of, in the order in which they are explained."""
    there = {scope for one in found for scope in one}
    return [name for name in SCOPES if name in there]
