"""The words above and under the charts: whose times they are, what the marks mean, what is missing.

Rows are the summary's, numbers in those columns that are drawn (charts.NUMBERS), else text.
"""

import re
from collections.abc import Collection, Iterable

import pandas as pd

from crossover import grades, status, style, words
from crossover.intervals import NO_DIFFERENCE
from crossover.style import size_words

# What makes a point hollow. A speedup needs a partner, a time does not; launch_bound and
# single_call say what kind of cell it is, and get a line of their own.
OF_TIMES = (
    *(grades.FEW_THREADS, grades.DISTURBED, grades.DRIFTING, grades.ABOVE_CEILING),
    grades.RECOMPILED,
)
OF_SPEEDUPS = (*OF_TIMES, grades.NOT_PAIRED)
CLEARLY = 1.1  # a ratio that is no matter of rounding
KINDS = (grades.LAUNCH_BOUND, grades.SINGLE_CALL)
# What a backend's option makes of float32, by the column `precision`.
COARSE = {
    "tf32": "with products in tf32",
    "float16": "in float16, converted on the way in and out",
    "bfloat16": "in bfloat16, converted on the way in and out",
}


# --- whose times


def machine(ok: pd.DataFrame, baseline: str) -> str:
    """CPU, usable cores, threads, the devices that are not the CPU, and the baseline."""
    hosts = ok[["machine", "cpu", "cores"]].drop_duplicates()
    cores = [f"{count or '?'} usable {_plural('core', count)}" for count in hosts["cores"]]
    machines = [f"{_cpu(cpu)}, {count}" for cpu, count in zip(hosts["cpu"], cores, strict=True)]
    several = " (times from several machines)" if len(machines) > 1 else ""
    devices = _names_by(ok[(ok["device"] != "cpu") & (ok["device"] != "")], "device")
    parts = [
        " and ".join(dict.fromkeys(machines)) + several,
        *_threads(ok[ok["device"] == "cpu"]),
        *(f"{names} on {device}" for device, names in devices.items()),
        *precisions(ok),
        f"baseline {baseline}",
    ]
    return "; ".join(parts) + "."


def precisions(rows: pd.DataFrame) -> list[str]:
    """Which backends compute in less than their cells' number type, and in what."""
    found = _names_by(rows[rows["precision"].isin(COARSE)], "precision")
    return [f"{names} {COARSE[name]}" for name, names in found.items()]


def _threads(on_host: pd.DataFrame) -> list[str]:
    """'2 threads', or which backends have how many."""
    found = _names_by(on_host[on_host["threads_effective"] != ""], "threads_effective")
    if len(found) == 1:
        count = next(iter(found))
        return [f"{count} {_plural('thread', count)}"]
    each = "; ".join(
        f"{count} {_plural('thread', count)}: {names}" for count, names in found.items()
    )
    return [each] if each else []


def _names_by(rows: pd.DataFrame, column: str) -> dict[str, str]:
    """Each value of a column, and the backends that have it."""
    return {
        value: ", ".join(rows[rows[column] == value]["backend"].unique())
        for value in rows[column].unique()
    }


def _plural(word: str, count: str) -> str:
    return word if count == "1" else f"{word}s"


def _cpu(model: str) -> str:
    """The model's name without what only lengthens it."""
    return re.sub(r"\((R|TM)\)| CPU(?= @)", "", model) or "unknown CPU"


# --- what the marks mean


def times(drawn: pd.DataFrame) -> str:
    """What the points and bars of a chart of times are."""
    words = "Points: medians; bars, where longer than a point: "
    middle_half = "the middle half of the samples (one round gives no interval)"
    within, without = drawn[drawn["low_s"].notna()], drawn[drawn["low_s"].isna()]
    if within.empty:
        return f"{words}{middle_half}."
    words += f"95 % intervals from {_span(within['rounds'])} rounds"
    return f"{words}; {_where(without, drawn)}: {middle_half}." if len(without) else f"{words}."


def speedups(drawn: pd.DataFrame, baseline: str) -> list[str]:
    """What the bars and rings of a chart of speedups are, and where there are none."""
    lines = []
    within, without = drawn[drawn["speedup_low"].notna()], drawn[drawn["speedup_low"].isna()]
    if not within.empty:
        pairs = _span(within["pairs"])
        lines.append(
            f"Bars, where longer than a point: 95 % intervals from {pairs} pairs of rounds."
        )
    for rows, why in (
        (without[without["pairs"] == "1"], "one pair of rounds gives none"),
        (without[without["pairs"] == "0"], f"not measured next to {baseline}; 'make fresh' does"),
    ):
        if not rows.empty:
            lines.append(f"No interval: {_where(rows, drawn)} ({why}).")
    if (alike := drawn[no_difference(drawn)]["detectable"]).size:
        smallest = style.percent_words(*alike)
        lines.append(
            f"Ringed: {NO_DIFFERENCE} from {baseline}; the smallest that could have been seen "
            f"there: {smallest}."
        )
    if kinds := memory(drawn):
        lines.append(f"Round trips through {kinds} memory.")
    return lines


def contradicted(ok: pd.DataFrame) -> list[str]:
    """Where the medians of rounds and the mean over pairs clearly say opposite things of who is
    faster; `ok` are rows of one workload and dtype, the baseline's too."""
    medians = ok.set_index(["backend", "scope", "size"])["median_s"].to_dict()
    places = zip(ok["baseline"], ok["scope"], ok["size"], strict=True)
    by_medians = pd.Series([medians.get(place) for place in places], ok.index, float)
    by_medians /= ok["median_s"]
    both = pd.concat([by_medians, ok["speedup"]], axis=1)
    found = ok[(both.min(axis=1) < 1 / CLEARLY) & (both.max(axis=1) > CLEARLY)]
    if found.empty:
        return []
    return [
        f"Rounds far from each other: {_where(found, ok)}; medians say the opposite of the "
        "mean over pairs, which is the speedup. More rounds would tell."
    ]


def no_difference(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Whether the interval of a speedup holds 1."""
    return rows["finding"] == NO_DIFFERENCE


def memory(drawn: pd.DataFrame) -> str:
    """Which host memory the round trips of devices go through: 'pageable'."""
    kinds = drawn[drawn["scope"] == "round_trip"]["transfer"].unique()
    return " and ".join(kind for kind in kinds if kind)


def trust(drawn: pd.DataFrame, doubts: Collection[str]) -> list[str]:
    """Why points are hollow, and which cells are of a kind of their own."""
    found = {name: drawn[doubted(drawn, [name])] for name in grades.MEANING}
    hollow = "; ".join(
        f"{_plain(name)} ({', '.join(found[name]['backend'].unique())})"
        for name in grades.MEANING
        if name in doubts and not found[name].empty
    )
    lines = [f"Hollow points are trusted less: {hollow}."] if hollow else []
    return lines + [
        f"{_plain(name).capitalize()}: {_where(found[name], drawn)} ({grades.MEANING[name]})."
        for name in KINDS
        if not found[name].empty
    ]


def doubted(rows: pd.DataFrame, doubts: Collection[str]) -> "pd.Series[bool]":
    """Whether a row's grade has any of these."""
    return rows["grade"].map(lambda grade: not grades_of(grade).isdisjoint(doubts))


def grades_of(grade: object) -> set[str]:
    """Of a row of the summary; a size that has no row has no grade either."""
    return set(grades.parts(grade)) if isinstance(grade, str) else set()


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _span(counts: Iterable[str]) -> str:
    """'3', or '2 to 3'."""
    found = [int(count) for count in counts]
    return " to ".join(dict.fromkeys(map(str, (min(found), max(found)))))


# --- what is missing


def not_shown(rows: pd.DataFrame) -> list[str]:
    """A line for each reason why cells are missing: which backends, which sizes.

    Reasons that differ in their numbers only (bytes, seconds) are one, told by the smallest size.
    """
    failed = rows[rows["status"] != status.OK].sort_values("size", kind="stable")
    columns = (failed[name] for name in ("backend", "status", "size", "reason"))
    order = {name: i for i, name in enumerate(rows["backend"].unique())}
    cells: dict[tuple[str, str, str], dict[int, str]] = {}
    for name, state, size, reason in zip(*columns, strict=True):
        key = name, state, words.alike(reason)
        cells.setdefault(key, {})[size] = reason
    merged: dict[tuple[str, str, str], list[str]] = {}
    for (name, state, _), reasons in sorted(cells.items(), key=lambda item: order[item[0][0]]):
        reason = words.short(next(iter(reasons.values())))
        if len(set(reasons.values())) > 1:
            reason = f"n = {size_words(min(reasons))}: {reason}"
        where = _sizes_words(reasons, rows[rows["backend"] == name]["size"])
        merged.setdefault((where, state, reason), []).append(name)
    lines = [
        f"Not shown: {', '.join(names)}, {where}: {_plain(state)}"
        + (f" ({reason})" if reason else "")
        for (where, state, reason), names in merged.items()
    ]
    return lines + [
        f"Not shown, as measured apart: {apart}." for apart in set(rows["apart"]) - {""}
    ]


def by_group(rows: pd.DataFrame, column: str) -> list[str]:
    """The same for a chart of several workloads or dtypes, each line with those of which it is true
    where that is not all of them."""
    groups = list(rows[column].unique())
    found: dict[str, list[str]] = {}
    for group in groups:
        for line in not_shown(rows[rows[column] == group]):
            found.setdefault(line, []).append(group)
    return [
        line if names == groups else f"{line}, in {', '.join(names)}"
        for line, names in found.items()
    ]


def no_partner(others: pd.DataFrame, rows: pd.DataFrame, baseline: str) -> list[str]:
    """Measured, but with nothing to divide by."""
    lost = others[others["speedup"].isna()]
    if lost.empty:
        return []
    return [f"Not shown: {_where(lost, rows)}: no time of {baseline} to compare with"]


def _where(rows: pd.DataFrame, every: pd.DataFrame) -> str:
    """'a, b, all sizes; c, n = 1e4': the backends and their sizes, of those in `every`."""
    names: dict[str, list[str]] = {}
    for name in rows["backend"].unique():
        sizes = _sizes_words(rows[rows["backend"] == name]["size"], every["size"])
        names.setdefault(sizes, []).append(name)
    return "; ".join(f"{', '.join(found)}, {sizes}" for sizes, found in names.items())


def _sizes_words(sizes: Iterable[int], every: Iterable[int]) -> str:
    """'all sizes', or which of every size."""
    chosen = sorted(set(sizes))
    if chosen == sorted(set(every)):
        return "all sizes"
    return "n = " + ", ".join(map(size_words, chosen))
