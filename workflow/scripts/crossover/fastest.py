"""Which code was the fastest on the CPU, and which on a GPU, where there was a choice of libraries.

At the largest size of each workload and dtype, computing alone: what comes with the data is in the
lines before. Codes between which no difference was seen are named together.
"""

from collections.abc import Iterable, Mapping, Sequence

from crossover import intervals
from crossover.findings import Findings
from crossover.intervals import NO_DIFFERENCE
from crossover.words import listed

SCOPE = "compute"
FEW = 2  # that are named beside the fastest, where they are not told apart from it


def on_the_cpu(found: Sequence[Findings]) -> str:
    """'' where at most one backend computed with another library than the baseline's."""
    others = {
        host
        for one in found
        for host in one.hosts
        if one.library(host) != one.library(one.baselines[0])
    }
    if len(others) < 2:
        return ""
    hosts = {one.name: [one.baselines[0], *one.hosts] for one in found}
    return _line("on the CPU", found, hosts)


def on_a_gpu(found: Sequence[Findings]) -> str:
    """'' where at most one backend was on a GPU."""
    if len({gpu for one in found for gpu in one.gpus}) < 2:
        return ""
    return _line("on a GPU", found, {one.name: one.gpus for one in found})


def _line(where: str, found: Sequence[Findings], rivals: Mapping[str, Sequence[str]]) -> str:
    won: dict[str, list[str]] = {}
    for one in found:
        if first := _first(one, [name for name in rivals[one.name] if _beside(one, name)]):
            names, words = first
            won.setdefault(names, []).append(f"{one.name} ({words})")
    parts = [f"{names} for {listed(cells, last=' and for ')}" for names, cells in won.items()]
    start = f"The fastest code {where}, computing at the largest sizes, against "
    start += found[0].baselines[0]
    return f"{start}: {listed(parts, most=6, last='; ')}." if parts else ""


def _beside(one: Findings, name: str) -> bool:
    """Was it measured beside the first baseline, so that it can be told from the others?"""
    return one.curves.baselines.get(name) == one.baselines[0] and not one.elsewhere(name)


def _first(one: Findings, rivals: Iterable[str]) -> tuple[str, str] | None:
    """'numba or jax', and how fast; None where no speedup is known."""
    last = {name: at for name in rivals if (at := one.at_largest(name, SCOPE))}
    if not last:
        return None
    size = max(at.size for at in last.values())
    there = {name: at for name, at in last.items() if at.size == size}
    best = max(there, key=lambda name: there[name].point)
    alike = [name for name in there if name != best and _alike(one, best, name, size)]
    shown = [one.labelled(name) for name in (best, *alike)]
    many = len(alike) > FEW
    names = f"{shown[0]} or one of {len(alike)} others" if many else listed(shown, last=" or ")
    if best == one.baselines[0]:
        return names, f"n = {size:,}"
    return names, f"{there[best].words()} at n = {size:,}"


def _alike(one: Findings, best: str, other: str, size: int) -> bool:
    """Whether intervals do not tell two codes apart."""
    pair = (best, other) if other == one.baselines[0] else (other, best)
    logs = list(one.curves.over(*pair, SCOPE).get(size, {}).values())
    return intervals.finding(intervals.of(logs)) == NO_DIFFERENCE
