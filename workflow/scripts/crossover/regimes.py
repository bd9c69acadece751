"""regimes.md: what kind of work is worth moving to the GPU, and what kind never is.

A kind of work is a regime of workloads/__init__.py, as each workload's file names its own. The
first line names the kinds of which every workload and number type that was measured says the same;
then a line for each kind, workload by workload, and how far to trust it. What each of them says is
what verdict.md says of it, from the same break-even sizes and intervals. Without a GPU it says so,
and what a CPU gives.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crossover import costs, machines, trust, verdict
from crossover.findings import Findings, findings
from crossover.intervals import FASTER, NO_DIFFERENCE, SLOWER
from crossover.rows import Row
from crossover.words import listed
from crossover.workloads import REGIMES

OTHERS = "other work"  # of files that do not say which kind it is
EVERY = 1000  # names in a line: all of them


def in_order(workloads: Mapping[str, str]) -> dict[str, list[str]]:
    """The workloads of each kind; `workloads` is the kind of each, '' where it is not known."""
    found: dict[str, list[str]] = {}
    for kind in (*REGIMES, ""):
        if names := [name for name, own in workloads.items() if own == kind]:
            found[kind or OTHERS] = names
    return found


def described(kind: str) -> str:
    """'memory-bound (each number is read once, and little is done with it)'."""
    return f"{kind} ({REGIMES[kind]})" if kind in REGIMES else kind


def lines(
    rows: Sequence[Row],
    evens: Sequence[Row],
    reuses: Sequence[Mapping[str, Any]],
    workloads: Mapping[str, str],
) -> list[str]:
    """In plain words; `rows` are of at least one cell."""
    main, *_ = machines.views(rows)
    found = findings(main, evens, reuses)
    kinds = {
        kind: ones
        for kind, names in in_order(workloads).items()
        if (ones := [one for one in found if one.workload in names])
    }
    if gpus := verdict.gpus_of(found):
        said = {kind: verdict.answers(ones, gpus) for kind, ones in kinds.items()}
        text = [_first(said, found), *(_line(kind, answers) for kind, answers in said.items())]
    else:
        first = verdict.lines(rows, evens, reuses)[0]
        text = [f"{first} So no kind of work can be called worth moving, or not."]
        text += [_on_hosts(kind, ones) for kind, ones in kinds.items()]
    return [line for line in (*text, trust.beware(rows), trust.trust(rows)) if line]


# --- with a GPU


def _first(said: Mapping[str, Mapping[str, list[str]]], found: Sequence[Findings]) -> str:
    """The kinds by what is true of all of their workloads, up to the sizes that were measured."""
    alike: dict[str, list[str]] = {}
    for kind, answers in said.items():
        answer = next(iter(answers)) if len(answers) == 1 else MIXED
        alike.setdefault(answer, []).append(kind)
    parts = [
        f"{answer}: {listed(alike[answer], EVERY)}"
        for answer in (*verdict.ANSWERS, MIXED)
        if answer in alike
    ]
    return f"By kind of work, at the sizes measured. {'. '.join(parts)}. {verdict.compared(found)}"


MIXED = "It depends on the workload, the number type or the GPU"


def _line(kind: str, answers: Mapping[str, list[str]]) -> str:
    parts = [
        f"{answer}: {listed(answers[answer], EVERY, last='; ')}"
        for answer in verdict.ANSWERS
        if answer in answers
    ]
    return f"{described(kind)}. {'. '.join(parts)}."


# --- without one


def _on_hosts(kind: str, ones: Sequence[Findings]) -> str:
    """Which CPU backends are faster than the baseline, at the largest size of each workload."""
    hosts = dict.fromkeys(host for one in ones for host in one.hosts)
    parts = [f"{costs.label(ones, host)}: {_beside(ones, host)}" for host in hosts]
    if not parts:
        return f"{described(kind)}. Nothing to compare: {listed([o.name for o in ones], EVERY)}."
    against = f"At the largest sizes, against {listed(ones[0].baselines, last=' or ')}"
    return f"{described(kind)}. {against}, {'. '.join(parts)}."


def _beside(ones: Iterable[Findings], host: str) -> str:
    by_finding: dict[str, list[str]] = {}
    for one, finding, words in _found(ones, host):
        by_finding.setdefault(finding, []).append(f"{one.name} {words}".rstrip())
    order = (FASTER, SLOWER, NO_DIFFERENCE, WITHOUT, SEVERAL, ALONE, UNMEASURED)
    parts = [f"{what}: {listed(by_finding[what], EVERY)}" for what in order if what in by_finding]
    return "; ".join(parts)


WITHOUT, SEVERAL = "without an interval", "of several machines"
ALONE, UNMEASURED = "nothing to compare with", "not measured"


def _found(ones: Iterable[Findings], host: str) -> Iterator[tuple[Findings, str, str]]:
    for one in ones:
        last = one.at_largest(host, "compute") if host in one.hosts else None
        if last is not None and one.elsewhere(host):
            yield one, SEVERAL, ""
        elif last is None:
            yield one, ALONE if host in one.hosts else UNMEASURED, ""
        else:
            words = last.words().removesuffix(f" {WITHOUT}")
            words = words.removeprefix(f"{SLOWER}, ").removeprefix(f"{NO_DIFFERENCE}, ")
            yield one, last.finding or WITHOUT, f"{words} at n = {last.size:,}"
