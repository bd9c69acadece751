"""verdict.md: is it worth moving this to the GPU, from which size on, and what eats the gain?

At most ten lines, and no more than the intervals support. The first is the answer: for each
workload the best that holds against the best CPU backend (the baseline, where no other one was
measured): with transfers, only for data that stays on the GPU, and so on. Then which of several
GPUs, a line for each workload and dtype, what was measured on other machines, what it is worth in
money, what eats the gain, what a CPU gives without a GPU, what failed, and how far to trust it.
Rows are those of summary.csv, break_even.csv and reuse.csv, as texts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crossover import cheaper, costs, fastest, machines, trust, words
from crossover.break_even import NEVER, ONLY_BETWEEN, BreakEven
from crossover.cells import END_TO_END
from crossover.decide import BEST_CPU
from crossover.findings import AHEAD, Findings, findings, phrase
from crossover.rows import Row, is_device, where, why
from crossover.status import OK, UNSUPPORTED
from crossover.words import count, listed

MOST_LINES = 10
MOST_BACKENDS = 3  # in one line
MOST_MACHINES = 2  # beside the first, a line each

COMPUTE, ROUND_TRIP = "compute", "round_trip"
OF_GPUS = {
    COMPUTE: "computing",
    ROUND_TRIP: "with transfers",
    END_TO_END: "with transfers and drawing",
}
OF_HOSTS = {COMPUTE: "", END_TO_END: "with drawing"}


def lines(
    rows: Sequence[Row], evens: Iterable[Row], reuses: Iterable[Mapping[str, Any]]
) -> list[str]:
    """In plain words, a sentence or a few in each; `rows` are of at least one cell."""
    evens, reuses = list(evens), list(reuses)
    main, *others = machines.views(rows)
    found = findings(main, evens, reuses)
    measured = any(one.gpus for one in found)
    absent = {} if measured or _from_gpu(found) else _absent(rows)
    said = next(iter(absent)) if len(absent) == 1 else ""  # whose reason is in the first line
    after = [
        *_elsewhere({view.words: findings(view, evens, reuses) for view in others}),
        cheaper.line(found),
        costs.eaten(found),
        fastest.on_the_cpu(found) or (costs.on_the_cpu(found) if measured else ""),
        fastest.on_a_gpu(found),
        trust.not_ok(rows, said),
        trust.beware(rows),
        trust.trust(rows),
    ]
    before = [_first(found) if measured else _no_gpu(absent, found), *_which_gpu(found)]
    after = _within(MOST_LINES - len(before) - 1, [line for line in after if line])
    return [*before, *_workloads(found, MOST_LINES - len(before) - len(after), said), *after]


def _within(most: int, text: Sequence[str]) -> list[str]:
    """So many lines: where there are more, the last ones together in one."""
    return list(text) if len(text) <= most else [*text[: most - 1], " ".join(text[most - 1 :])]


def markdown(text: Iterable[str]) -> str:
    """The file: the answer, and the other lines as a list below it."""
    first, *others = map(words.markdown, text)
    return "\n".join([first, *(f"- {line}" for line in others)]) + "\n"


def read(text: str) -> list[str]:
    """The lines that `markdown` was given."""
    return [words.unmarked(line.removeprefix("- ")) for line in text.splitlines()]


def printed(text: Iterable[str]) -> list[str]:
    """The same for a terminal."""
    first, *others = text
    return [first, *(f"- {line}" for line in others)]


# --- the first line


def _absent(rows: Iterable[Row]) -> dict[str, str]:
    """The backends that were to run on a GPU and failed, and why."""
    return {row["backend"]: why(row) for row in rows if row["status"] != OK and is_device(row)}


def _from_gpu(found: Iterable[Findings]) -> bool:
    """Whether the baseline itself is on a GPU."""
    return any(name in one.curves.devices for one in found for name in one.baselines)


def _no_gpu(absent: Mapping[str, str], found: Sequence[Findings]) -> str:
    """That the question stays open, why, and what was measured instead."""
    baselines = found[0].baselines
    baseline = listed(baselines, last=" or ")
    measured = dict.fromkeys(name for one in found for name in one.curves.backends)
    if _from_gpu(found):
        return (
            f"Only the baseline, {baseline}, was on a GPU: this says what is faster than that, not "
            "whether moving to a GPU is worth it; choose a baseline on the CPU."
        )
    if len(absent) == 1:
        ((backend, reason),) = absent.items()
        because = f"{backend}: {reason}"
    else:
        because = "all on one failed" if absent else "no backend of this sweep is on one"
    if not measured:
        what = "nothing, no cell is ok"
    elif not any(name in measured for name in baselines):
        what = f"{listed(list(measured))}, without {baseline} to compare with"
    else:
        others = [name for name in measured if name not in baselines]
        what = f"{listed(others)} against {baseline}, on the CPU" if others else f"{baseline} alone"
    return (
        f"No GPU was measured here ({because}), so whether it is worth it stays open; "
        f"what was measured: {what}."
    )


def _first(found: Sequence[Findings]) -> str:
    """The answer in one line: the workloads by what is worth it."""
    by_answer = answers(found, gpus_of(found))
    parts = [
        f"{answer}: {listed(by_answer[answer], last='; ')}"
        for answer in ANSWERS
        if answer in by_answer
    ]
    return f"{'. '.join(parts)}. {compared(found)}"


def answers(found: Iterable[Findings], gpus: Sequence[str]) -> dict[str, list[str]]:
    """What is true of which workloads, and under which condition: each once for each of the GPUs,
    but where one of several does not support it."""
    by_answer: dict[str, list[str]] = {}
    for one in found:
        if not one.gpus:
            by_answer.setdefault(UNMEASURED, []).append(one.name)
            continue
        for gpu in gpus:
            if one.failed.get(gpu, "").startswith(UNSUPPORTED):
                continue
            name = f"{one.name} on {gpu}" if len(gpus) > 1 else one.name
            answer, condition = _answer(one, gpu) if gpu in one.gpus else (UNMEASURED, "")
            by_answer.setdefault(answer, []).append(f"{name} {condition}".rstrip())
    return by_answer


def gpus_of(found: Iterable[Findings]) -> list[str]:
    """All that have a time in some workload."""
    return list(dict.fromkeys(gpu for one in found for gpu in one.gpus))


def compared(found: Iterable[Findings]) -> str:
    """Which GPUs, and against whom."""
    found = list(found)
    gpus = dict.fromkeys(
        f"{one.labelled(gpu)} ({words.short(one.facts(gpu)['device'])})"
        for one in found
        for gpu in one.gpus
    )
    return f"(GPU: {listed(list(gpus))}; against {_rivals(found)}.)"


WORTH = "Worth moving to the GPU, every transfer paid"
RESIDENT = "Worth it only for data that stays on the GPU"
BASELINE_ONLY = "Faster than the baseline, but not seen faster than the best CPU backend"
RANGE = "Worth it in a range of sizes only"
NOT_WORTH = "Not worth it"
UNCLEAR = "Not clear"
SEVERAL = "Not compared, since it was never on the same machine as its baseline"
UNMEASURED = "No time on the GPU"
ANSWERS = (WORTH, RESIDENT, BASELINE_ONLY, RANGE, NOT_WORTH, UNCLEAR, SEVERAL, UNMEASURED)


def _answer(one: Findings, gpu: str) -> tuple[str, str]:
    """What holds at best of one workload on one GPU, and from which size on."""
    if one.elsewhere(gpu):
        return SEVERAL, ""
    trip, compute = one.strict(gpu, ROUND_TRIP), one.strict(gpu, COMPUTE)
    if _ahead(trip):
        drawn = one.strict(gpu, END_TO_END)
        but = f", but with drawing {_words(drawn)}" if drawn and not _ahead(drawn) else ""
        return WORTH, _words(trip) + but
    if _ahead(compute):
        return RESIDENT, f"{_words(compute)}, with transfers {_words(trip)}"
    for scope in (ROUND_TRIP, COMPUTE):
        if _ahead(even := one.even(gpu, scope)):
            return BASELINE_ONLY, f"{OF_GPUS[scope]} {_words(even)}"
    for scope, even in ((ROUND_TRIP, trip), (COMPUTE, compute)):
        if even and even.kind == ONLY_BETWEEN:
            return RANGE, f"{OF_GPUS[scope]} {even.words().removeprefix('only ')}"
    if trip and compute and trip.kind == compute.kind == NEVER:
        return NOT_WORTH, f"({phrase(trip)})"
    if trip is compute is None:
        return UNCLEAR, "(no interval)"
    return UNCLEAR, f"(computing {_words(compute)}, with transfers {_words(trip)})"


def _ahead(even: BreakEven | None) -> bool:
    return even is not None and even.kind in AHEAD


def _words(even: BreakEven | None) -> str:
    return even.words() if even else "without an interval"


def _rivals(found: Iterable[Findings]) -> str:
    """Against whom the first line compares."""
    ones = list(found)
    best = any(one.even(gpu, COMPUTE, BEST_CPU) for one in ones for gpu in one.gpus)
    baselines = dict.fromkeys(one.baseline(gpu) for one in ones for gpu in one.gpus)
    return "the best CPU backend measured" if best else listed(list(baselines), last=" or ")


# --- GPUs and machines beside each other


def _which_gpu(found: Sequence[Findings]) -> list[str]:
    """Which model, from which size on, against which CPU; none where there is one GPU alone."""
    facts = {gpu: one.facts(gpu) for one in found for gpu in one.gpus}
    if len({(row["device"], row["machine"]) for row in facts.values()}) < 2:
        return []
    text = []
    for gpu, row in facts.items():
        mine = [one for one in found if gpu in one.gpus]
        host = mine[0].baseline(gpu)
        cpu = next((where(one.facts(host)) for one in mine if host in one.curves.backends), "")
        sizes = [f"{one.name} {_words(one.even(gpu, ROUND_TRIP))}" for one in mine]
        on = f" on {cpu}" if cpu else ""
        device = words.short(row["device"])
        text.append(f"{gpu} ({device}) against {host}{on}: {listed(sizes, last='; ')}")
    return [f"Which GPU, every transfer paid: {'. '.join(text)}."]


def _elsewhere(apart: Mapping[str, Sequence[Findings]]) -> list[str]:
    """What else was measured, by the words for the machine: never compared with the rest."""
    text = []
    for machine, found in apart.items():
        parts = [f"{one.name} {_short(one, '')}" for one in found if one.gpus or one.hosts]
        if parts:
            text.append(f"Apart, on {machine}: {listed(parts, last='; ')}.")
    if len(text) <= MOST_MACHINES:
        return text
    left = len(text) - MOST_MACHINES + 1
    return [*text[: MOST_MACHINES - 1], f"{count(left, 'more machine')} in break_even.csv."]


# --- a line for each workload


def _workloads(found: Sequence[Findings], most: int, said: str) -> list[str]:
    """In full where there is room, else dtypes together and in short, else only the first ones."""
    if len(found) <= most:
        return [_full(one, said) for one in found]
    dtypes: dict[str, list[Findings]] = {}
    for one in found:
        dtypes.setdefault(one.workload, []).append(one)
    text = [
        f"{workload}: {'; '.join(f'{one.dtype} {_short(one, said)}' for one in ones)}."
        for workload, ones in dtypes.items()
    ]
    if len(text) <= most:
        return text
    left = len(text) - most + 1
    return [*text[: most - 1], f"{count(left, 'more workload')} in break_even.csv and summary.csv."]


def _full(one: Findings, said: str) -> str:
    """All scopes, with the speedup at the largest size."""
    if problem := _problem(one, said):
        return f"{one.name}: {problem}."
    if one.gpus:
        text = [_backend(one, gpu, gpu, OF_GPUS) for gpu in one.fastest_first(one.gpus)]
        return f"{one.name}, {_together(text)}."
    hosts = one.fastest_first(one.hosts)
    text = [_backend(one, host, costs.label([one], host), OF_HOSTS) for host in hosts]
    return f"{one.name}, {_together(text)}."


def _together(text: Sequence[str]) -> str:
    others = len(text) - MOST_BACKENDS
    rest = [f"{count(others, 'more backend')} in break_even.csv"] if others > 0 else []
    return ". ".join([*text[:MOST_BACKENDS], *rest])


def _problem(one: Findings, said: str) -> str:
    """Why nothing can be said about it."""
    new = [f"{name} {reason}" for name, reason in one.failed.items() if name != said]
    failed = f" ({'; '.join(new[:2])})" if new else ""
    if not one.curves.backends:
        return f"no cell is ok{failed}"
    baselines = listed(one.baselines, last=" or ")
    if not any(name in one.curves.backends for name in one.baselines):
        return f"no time of {baselines} to compare with{failed}"
    if not one.gpus and not one.hosts:
        return f"only {baselines} was measured{failed}"
    return ""


def _backend(one: Findings, name: str, shown: str, scopes: Mapping[str, str]) -> str:
    baseline = f"{shown} against {one.baseline(name)}: "
    if one.elsewhere(name) and not any(one.at_largest(name, scope) for scope in scopes):
        return f"{baseline}never on the same machine, so nothing is said about it"
    baseline += "; ".join(_scopes(one, name, scopes))
    parts: list[str] = []
    rivals: dict[str, None] = {}
    for scope, label in scopes.items():
        even, best = one.even(name, scope, BEST_CPU), one.best_at_largest(name, scope)
        if even and best and name in one.gpus:
            rival, last = best
            rivals[rival] = None
            mine = one.at_largest(name, scope)
            at = "" if mine and mine.size == last.size else f" at n = {last.size:,}"
            parts.append(f"{label} {phrase(even)}, {last.words()}{at}")
    if not parts:
        return baseline
    names = listed(list(rivals), last=" or ")
    return f"{baseline}. Against the best CPU backend, {names}: {'; '.join(parts)}"


def _scopes(one: Findings, name: str, scopes: Mapping[str, str]) -> Iterator[str]:
    """'computing faster from n = 500 on (95 %: 400 to 600), 40x as fast (38x to 42x) at n = 2,048';
    a size is named once."""
    named = 0
    for scope, label in scopes.items():
        even, last = one.even(name, scope), one.at_largest(name, scope)
        if last is None:
            continue
        at = "" if last.size == named else f" at n = {last.size:,}"
        named = last.size
        found = f"{phrase(even)}, " if even else ""
        yield f"{label} {found}{last.words()}{at}".lstrip()


def _short(one: Findings, said: str) -> str:
    """From which size on, without the speedups."""
    if problem := _problem(one, said):
        return problem
    names = one.fastest_first(one.gpus or one.hosts)
    scopes = {COMPUTE: OF_GPUS[COMPUTE], ROUND_TRIP: OF_GPUS[ROUND_TRIP]} if one.gpus else OF_HOSTS
    text = []
    for name in names[:1]:
        parts = [
            f"{label} {phrase(one.even(name, scope))}".lstrip()
            for scope, label in scopes.items()
            if one.at_largest(name, scope)
        ]
        text.append(f"{name} {', '.join(parts)}")
    others = f", {count(len(names) - 1, 'more backend')}" if len(names) > 1 else ""
    return "".join(text) + others
