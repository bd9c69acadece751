"""How far to trust a verdict, and what is missing from it, in a sentence each."""

from collections.abc import Iterable, Iterator, Sequence

from crossover import grades
from crossover.intervals import NO_DIFFERENCE
from crossover.machines import DIVIDED
from crossover.rows import COARSE, Row, cell, machines
from crossover.slowing import OFF, SLOWING
from crossover.status import NOT_MEASURED, OK
from crossover.words import alike, count, listed, percent, short

NAMED = 2  # reasons in the verdict; close lists the others


def failed(rows: Iterable[Row]) -> list[Row]:
    """One row per cell that is not ok."""
    return [row for row in rows if row["status"] != OK]


def reasons(rows: Iterable[Row], but: str = "") -> list[str]:
    """'4 x torch_cuda: unavailable (no driver)': each once, the most frequent first. Those that
    differ in their numbers only (bytes, seconds) are one; that of `but` was said before."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in failed(rows):
        found.setdefault((row["backend"], row["status"], alike(row["reason"])), []).append(
            row["reason"]
        )
    text = []
    for (backend, status, _), own in sorted(found.items(), key=lambda item: -len(item[1])):
        such = "such as: " if len(set(own)) > 1 else ""
        reason = f" ({such}{short(own[0])})" if own[0] and status != NOT_MEASURED else ""
        text.append(f"{len(own)} x {backend}: {status}{'' if backend == but else reason}")
    return text


def not_ok(rows: Sequence[Row], but: str = "") -> str:
    """Which cells failed and why; '' where none did."""
    if not (found := failed(rows)):
        return ""
    words = listed(reasons(rows, but), NAMED, noun="reason")
    return f"Not ok: {len(found)} of {len(_cells(rows))} cells: {words}."


def beware(rows: Sequence[Row]) -> str:
    """What makes the whole comparison doubtful; '' where nothing does."""
    parts = [*_machines(rows), *_threads(rows), *_slowed(rows), *_coarse(rows)]
    return f"Beware: {'; '.join(parts)}." if parts else ""


def trust(rows: Sequence[Row]) -> str:
    """The machine, rounds, grades, and what could not have been seen; '' where nothing is ok."""
    ok = [row for row in rows if row["status"] == OK]
    if not ok:
        return ""
    parts = [*_measured(ok), *_graded(ok), *_seen(ok)]
    return f"How far to trust it: {'; '.join(parts)}."


def _cells(rows: Iterable[Row]) -> set[tuple[str, ...]]:
    return {cell(row) for row in rows}


def _machines(rows: Sequence[Row]) -> Iterator[str]:
    found = machines(rows)
    if len(found) > 1:
        words = listed(list(dict.fromkeys(found.values())))
        divided = any(DIVIDED in row["note"] for row in rows)
        how = "compared with each other"
        how = f"{how}, without an interval, where a note says so" if divided else f"never {how}"
        yield f"the times are from {len(found)} machines ({words}), {how}"


def _threads(rows: Iterable[Row]) -> Iterator[str]:
    """Where the baseline had fewer threads than there are cores, whether asked for or not."""
    lone: dict[tuple[str, str, bool], None] = {}
    for row in rows:
        had, cores = row["threads_effective"], row["cores"]
        if row["status"] != OK or row["scope"] != "compute" or row["backend"] != row["baseline"]:
            continue
        if had.isdigit() and cores.isdigit() and int(had) < min(int(cores), grades.LARGEST_POOL):
            asked = grades.FEW_THREADS not in grades.parts(row["grade"])
            lone[had, cores, asked] = None
    baseline = next((row["baseline"] for row in rows), "")
    for had, cores, asked in lone:
        used = f"{baseline} used {count(int(had), 'thread')} on {count(int(cores), 'core')}"
        if asked:
            yield f"{used}, as asked: on all of them it may be faster"
        else:
            yield f"{used}, fewer than asked: nothing is compared with it there"


def _slowed(rows: Iterable[Row]) -> Iterator[str]:
    settings = dict.fromkeys(word for row in rows for word in row["environment"].split())
    for name, _, value in (setting.partition("=") for setting in settings):
        if name in SLOWING and value.lower() not in OFF:
            yield f"{name}={short(value)} was set ({SLOWING[name]})"


def _coarse(rows: Iterable[Row]) -> Iterator[str]:
    """Whose answers are coarser than those that they are compared with."""
    found: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["status"] == OK and row["precision"] in COARSE and row["error"]:
            key = row["backend"], row["precision"]
            found[key] = max(found.get(key, 0.0), float(row["error"]))
    for (backend, precision), error in found.items():
        yield f"{backend} computes float32 in {precision}, with errors up to {error:.1g}"


def _measured(ok: Iterable[Row]) -> Iterator[str]:
    found = machines(ok)
    rounds = sorted({int(row["rounds"]) for row in ok if row["rounds"]})
    spans = " to ".join(dict.fromkeys(map(str, (rounds[0], rounds[-1])))) if rounds else "?"
    where = f"measured on {next(iter(found.values()))}, in" if len(found) == 1 else "measured in"
    if spans == "1":
        yield f"{where} 1 round, which gives no interval, so no gain is claimed (rounds: 3 does)"
    else:
        yield f"{where} {spans} rounds, intervals of 95 %"


def _graded(ok: Sequence[Row]) -> Iterator[str]:
    cells: dict[str, set[tuple[str, ...]]] = {grade: set() for grade in grades.MEANING}
    for row in ok:
        for grade in grades.parts(row["grade"]):
            cells[grade] |= _cells([row])
    words = [
        f"{len(found)} {grade} ({grades.MEANING[grade]})" for grade, found in cells.items() if found
    ]
    every = count(len(_cells(ok)), "cell")
    if words:
        doubted = len(set().union(*cells.values()))
        several = ", some in several ways" if doubted < sum(map(len, cells.values())) else ""
        yield f"{doubted} of {every} trusted less{several}: {listed(words, len(words))}"
    else:
        yield f"{every} graded good"


def _seen(ok: Iterable[Row]) -> Iterator[str]:
    smallest = [
        float(row["detectable"]) - 1
        for row in ok
        if row["finding"] == NO_DIFFERENCE and row["detectable"]
    ]
    if smallest:
        best, worst = (percent(share) for share in (min(smallest), max(smallest)))
        ends = f"from {best} in the calmest cell to {worst} in the noisiest"
        least = ends if best != worst else f"of {best}"
        yield f"where no difference was seen, one {least} could have been missed"
