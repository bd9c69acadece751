"""What the speedup is worth in money, in one line: speedup, ratio of prices, from which size on.

Only where both prices are known and differ: where they do not, what is faster is cheaper. Where the
break-even says that nothing is clear, so does the line.
"""

from collections.abc import Iterable, Mapping, Sequence

from crossover.decide import BEST_CPU
from crossover.findings import AHEAD, Findings, phrase
from crossover.words import listed, short, times

COMPUTE, ROUND_TRIP = "compute", "round_trip"
# Of a GPU, in this order: the first in which it is cheaper is what is said.
SCOPES = {ROUND_TRIP: "with transfers ", COMPUTE: "computing "}
MOST_CELLS = 6  # of one backend


def line(found: Sequence[Findings]) -> str:
    """'' where no two prices are known and differ."""
    by_backend: dict[str, list[Findings]] = {}
    for one in found:
        for name in [*one.gpus, *one.hosts]:
            by_backend.setdefault(name, []).append(one)
    text = [part for name, ones in by_backend.items() if (part := _of_backend(name, ones))]
    return f"In money, {'. '.join(text)}." if text else ""


def _of_backend(name: str, found: Iterable[Findings]) -> str:
    """'torch_cuda is 3x the price of numpy (3 against 1 USD an hour): add float64 ...'."""
    priced = [one for one in found if any(one.in_money(name, scope) for scope in SCOPES)]
    if not priced:
        return ""
    one, baseline = priced[0], priced[0].baseline(name)
    mine, theirs = one.curves.prices[name], one.curves.prices[baseline]
    unit = f" {short(one.curves.currency)}".rstrip()
    prices = f"{mine:,.6g} against {theirs:,.6g}{unit} an hour"
    cells = listed([f"{one.name} {_cell(one, name)}" for one in priced], MOST_CELLS, last="; ")
    return f"{name} is {times(mine / theirs)} the price of {baseline} ({prices}): {cells}"


def _cell(one: Findings, name: str) -> str:
    """'with transfers 8x as fast (7.6x to 8.4x) at n = 10,000,000: cheaper from n = 31,600 on'."""
    scopes: Mapping[str, str] = SCOPES if name in one.gpus else {COMPUTE: ""}
    there = [scope for scope in scopes if one.in_money(name, scope)]
    ahead = [scope for scope in there if (even := one.in_money(name, scope)) and even.kind in AHEAD]
    return ", ".join(_scope(one, name, scope, scopes[scope]) for scope in (ahead or there)[:1])


def _scope(one: Findings, name: str, scope: str, label: str) -> str:
    """The speedup is that of the largest size that the break-even knows: beyond it a single round
    may say otherwise."""
    even = one.in_money(name, scope)
    last = one.at(name, scope, even.largest) if even else None
    speedup = f"{last.words()} at n = {last.size:,}: " if last else ""
    text = f"{label}{speedup}{_phrase(one, name, scope)}"
    if one.in_money(name, scope, BEST_CPU) and name in one.gpus:
        text += f", against the cheapest CPU backend {_phrase(one, name, scope, BEST_CPU)}"
    return text


def _phrase(one: Findings, name: str, scope: str, against: str = "") -> str:
    return phrase(one.in_money(name, scope, against), "cheaper", "dearer")
