"""The lines that every sweep ends with, made from summary.csv alone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from crossover.status import NOT_MEASURED, OK

Row = Mapping[str, str]
FASTER = 1.05


def lines(rows: list[dict[str, str]], folder: Path, retry: str = "make retry") -> list[str]:
    """Where the results are, who is faster from which size on, what is not ok and why."""
    text = [f"Results: {folder}/summary.csv, charts in {folder}/plots/"]
    machine = next((row for row in rows if row["status"] == OK), None)
    if machine:
        text.append(
            f"Measured on {machine['cpu']}, {machine['cores']} cores. "
            f"Speedups over {machine['baseline']}; faster means by more than 5 %."
        )
    text += verdicts(rows)
    return text + not_ok(rows, retry) + not_good(rows, retry)


def verdicts(rows: Iterable[Row]) -> list[str]:
    """For each workload and dtype, one line per backend that is not the baseline."""
    text = []

    def curve_of(row: Row) -> tuple[str, str, str]:
        return row["workload"], row["dtype"], row["backend"]

    compared = (row for row in rows if row["backend"] != row["baseline"])
    for (workload, dtype, backend), curve in groupby(sorted(compared, key=curve_of), curve_of):
        scopes: dict[str, dict[int, float]] = {"compute": {}, "round_trip": {}}
        on_host = True
        for row in curve:
            on_host &= row["scope"] not in ("download", "upload")
            if row["scope"] in scopes and row["speedup"]:
                scopes[row["scope"]][int(row["size"])] = float(row["speedup"])
        if not scopes["compute"]:
            continue
        words = f"{workload} {dtype}: {backend} {faster_from(scopes['compute'])}"
        if not on_host:
            words += f"; with transfers {faster_from(scopes['round_trip'])}"
        text.append(words)
    return text


def faster_from(speedups: Mapping[int, float]) -> str:
    """'is faster from n = 1,000,000 on (3.1x at 10,000,000)': plain medians, no interval yet.

    `speedups` by size. The crossing is the smallest measured size from which all are above
    FASTER, since two processes with the same code differ by several per cent.
    """
    sizes = sorted(speedups)
    last = sizes[-1]
    at_last = f"{speedups[last]:.2g}x at n = {last:,}"
    if all(1 / FASTER <= speedup <= FASTER for speedup in speedups.values()):
        return f"is as fast, within 5 %, at every size measured ({at_last})"
    ahead = [size for size in sizes if all(speedups[s] > FASTER for s in sizes if s >= size)]
    if not ahead:
        if best := [size for size in sizes if speedups[size] > FASTER]:
            some = ", ".join(f"{size:,}" for size in best)
            return f"is faster only at n = {some} ({at_last})"
        return f"is never faster up to n = {last:,} ({at_last})"
    if ahead == sizes:
        only = "the one size measured" if len(sizes) == 1 else f"the smallest size, {sizes[0]:,},"
        return f"is faster from {only} on ({at_last})"
    return f"is faster from n = {ahead[0]:,} on ({at_last})"


def not_ok(rows: Iterable[Row], retry: str = "make retry") -> list[str]:
    """How many cells are not ok, each reason once, and the way to try them again."""
    failed = [row for row in rows if row["status"] != OK]
    if not failed:
        return []
    reasons = Counter((row["backend"], row["status"], row["reason"]) for row in failed)
    total = len({_cell(row) for row in rows})
    text = [f"Not ok: {len(failed)} of {total} cells"]
    text += [
        f"  {count} x {backend}: {status}" + (f" ({reason})" if status != NOT_MEASURED else "")
        for (backend, status, reason), count in reasons.items()
    ]
    if all(row["status"] == NOT_MEASURED for row in failed):
        return text
    return [*text, f"  '{retry}' lists and removes them; the next sweep measures them again"]


def not_good(rows: Iterable[Row], retry: str = "make retry") -> list[str]:
    """Cells to trust less, by grade."""
    grades = {_cell(row): row["grade"] for row in rows if row["grade"] not in ("", "good")}
    if not grades:
        return []
    counts = ", ".join(f"{count} {grade}" for grade, count in Counter(grades.values()).items())
    text = f"Trusted less: {counts}"
    if set(grades.values()) == {"few_threads"}:
        return [f"{text}: fewer threads than asked for, see threads_* in summary.csv"]
    return [f"{text}; '{retry}' lists and removes them, to be measured again"]


def _cell(row: Row) -> tuple[str, str, str, str]:
    return row["workload"], row["backend"], row["dtype"], row["size"]
