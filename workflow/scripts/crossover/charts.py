"""Time and speedup against size, from summary.csv.

What is not shown is said, with its reason, under the chart.
"""

import re
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crossover import status, style, table
from crossover.style import Entry, Look, save, size_words

__all__ = ["read", "save", "speedup", "time"]

NUMBERS = ("size", "median_s", "q1_s", "q3_s", "speedup")  # those that are drawn
PANELS = {
    "compute": "compute: data already where it is needed",
    "round_trip": "round trip: host arrays in and out",
}
Series = dict[tuple[str, str], pd.DataFrame]  # rows by size, of a backend in a scope


# --- reading


def read(path: str | PathLike[str]) -> pd.DataFrame:
    """The summary, one row per cell and scope: numbers in NUMBERS, text in other columns.

    Raises what table.read does.
    """
    summary = pd.DataFrame(table.read(Path(path)), dtype="str")
    for name in NUMBERS:
        summary[name] = [float(text or "nan") for text in summary[name]]
    return summary.astype({"size": "int64"})


# --- charts


def time(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Median seconds per call against size, a line per backend; round trips dashed."""
    rows = _select(summary, workload, dtype)
    title = f"{workload}, {dtype}: time against size"
    notes = _not_shown(rows)
    ok = rows[rows["status"] == status.OK]
    drawn = ok[ok["scope"].isin(list(PANELS))]
    if drawn.empty:
        return style.no_data(title, notes or [f"the summary has no {workload} in {dtype}"])
    baseline = _baseline(summary)
    series = _series(drawn, "compute") | {
        (name, scope): part
        for (name, scope), part in _series(drawn, "round_trip").items()
        if not _same_times(part, drawn[drawn["backend"] == name])
    }
    looks = style.looks(summary["backend"].unique(), baseline)
    sizes = sorted(set(rows["size"]))
    dashed = any(scope == "round_trip" for _, scope in series)
    how = "Points: medians; bars: the middle half of the samples."
    how += " Dashed, half filled: round trip, host arrays in and out." if dashed else ""
    entries = _slowest_first(series, looks, baseline)
    beside = style.fits_beside(entries)
    with style.look():
        figure, top = style.page(
            title,
            _machine(ok, baseline),
            [how, *_hollow(drawn), *notes],
            above=0 if beside else style.room_for(entries),
        )
        axes = figure.add_subplot()
        for (name, scope), part in series.items():
            part = part.reindex(sizes)
            look = looks[name].solid() if scope == "compute" else looks[name].dashed()
            _draw(axes, name if scope == "compute" else f"{name} {scope}", part, "median_s", look)
            bars = part.dropna(subset=["median_s", "q1_s", "q3_s"])
            axes.vlines(bars.index, bars["q1_s"], bars["q3_s"], look.colour, lw=1, zorder=2.5)
        values = pd.concat([drawn["median_s"], drawn["q1_s"].dropna(), drawn["q3_s"].dropna()])
        style.size_axis(axes, sizes, 5.2)
        low, high = style.limits(values, 10)
        style.value_axis(axes, low, high, style.seconds_words, "time per call (lower is faster)")
        style.legend(axes if beside else figure, top, entries)
    return figure


def speedup(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Speedup over the baseline against size: compute and round trip side by side, a line at 1."""
    rows = _select(summary, workload, dtype)
    baseline = _baseline(summary)
    title = f"{workload}, {dtype}: speedup over {baseline}"
    ok = rows[(rows["status"] == status.OK) & rows["scope"].isin(list(PANELS))]
    others = ok[ok["backend"] != baseline]
    drawn = others[others["speedup"].notna()]
    notes = _not_shown(rows) + _no_partner(others, rows, baseline)
    if drawn.empty:
        alone = f"there is no backend but {baseline}, the baseline"
        if rows.empty:
            alone = f"the summary has no {workload} in {dtype}"
        return style.no_data(title, notes or [alone])
    looks = style.looks(summary["backend"].unique(), baseline)
    sizes = sorted(set(rows["size"]))
    series = _series(drawn, "round_trip") | _series(drawn, "compute")
    last = {name: part["speedup"].iloc[-1] for (name, _), part in series.items()}
    entries = [(looks[name], name) for name in sorted(last, key=lambda name: -last[name])]
    low, high = style.limits([*drawn["speedup"], 0.5, 2.0], 4)
    # room for the words at the line, whichever side of it the points are on
    edge = (high / low) ** 0.17
    low, high = min(low, 1 / edge), max(high, edge)
    with style.look():
        figure, top = style.page(
            title, _machine(ok, baseline), [*_hollow(drawn), *notes], above=style.room_for(entries)
        )
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (scope, heading) in zip(panels, PANELS.items(), strict=True):
            axes.set_title(heading, loc="left", color=style.DARK)
            axes.axhline(1, color="black", lw=1.2, zorder=1.8, label=f"as fast as {baseline}")
            axes.axhspan(low, 1, color="#F4F4F4", zorder=0.4, lw=0)
            parts = {name: part for (name, where), part in series.items() if where == scope}
            for name, part in parts.items():
                _draw(axes, name, part.reindex(sizes), "speedup", looks[name])
            if not parts:
                axes.text(
                    0.5, 0.7, "no data", transform=axes.transAxes, color=style.GREY, ha="center"
                )
            style.size_axis(axes, sizes, 2.9)
            style.value_axis(axes, low, high, style.times_words, "")
        label = style.wrap(f"speedup over {baseline}", 3.0, style.SMALL)
        panels[0].set_ylabel("\n".join(label))
        _words_at_line(panels[1], baseline)
        style.legend(figure, top, entries)
    return figure


# --- rows


def _select(summary: pd.DataFrame, workload: str, dtype: str) -> pd.DataFrame:
    return summary[(summary["workload"] == workload) & (summary["dtype"] == dtype)]


def _baseline(summary: pd.DataFrame) -> str:
    return next((name for name in summary["baseline"] if name), "the baseline")


def _series(rows: pd.DataFrame, scope: str) -> Series:
    """The rows of each backend in one scope, by size."""
    of_scope = rows[rows["scope"] == scope].sort_values("size")
    return {
        (name, scope): of_scope[of_scope["backend"] == name].set_index("size")
        for name in of_scope["backend"].unique()
    }


def _same_times(round_trip: pd.DataFrame, rows: pd.DataFrame) -> bool:
    """Whether the backend is on the host, where a round trip is the computation itself."""
    compute = rows[rows["scope"] == "compute"].set_index("size")["median_s"]
    return round_trip["median_s"].equals(compute.reindex(round_trip.index))


# --- words


def _machine(ok: pd.DataFrame, baseline: str) -> str:
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
        f"baseline {baseline}",
    ]
    return "; ".join(parts) + "."


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


def _sizes_words(sizes: Iterable[int], every: Iterable[int]) -> str:
    """'all sizes', or which of every size."""
    chosen = sorted(set(sizes))
    if chosen == sorted(set(every)):
        return "all sizes"
    return "n = " + ", ".join(map(size_words, chosen))


def _not_shown(rows: pd.DataFrame) -> list[str]:
    """A line for each reason why cells are missing: which backends, which sizes.

    Reasons that differ in their numbers only (bytes, seconds) are one, told by the smallest size.
    """
    failed = rows[rows["status"] != status.OK].sort_values("size", kind="stable")
    columns = (failed[name] for name in ("backend", "status", "size", "reason"))
    order = {name: i for i, name in enumerate(rows["backend"].unique())}
    cells: dict[tuple[str, str, str], dict[int, str]] = {}
    for name, state, size, reason in zip(*columns, strict=True):
        key = name, state, re.sub(r"[\d.,]+", "#", reason)
        cells.setdefault(key, {})[size] = reason
    merged: dict[tuple[str, str, str], list[str]] = {}
    for (name, state, _), reasons in sorted(cells.items(), key=lambda item: order[item[0][0]]):
        reason = style.short(next(iter(reasons.values())))
        if len(set(reasons.values())) > 1:
            reason = f"n = {size_words(min(reasons))}: {reason}"
        where = _sizes_words(reasons, rows[rows["backend"] == name]["size"])
        merged.setdefault((where, state, reason), []).append(name)
    return [
        f"Not shown: {', '.join(names)}, {where}: {state.replace('_', ' ')}"
        + (f" ({reason})" if reason else "")
        for (where, state, reason), names in merged.items()
    ]


def _no_partner(others: pd.DataFrame, rows: pd.DataFrame, baseline: str) -> list[str]:
    """Measured, but with nothing to divide by."""
    lost = others[others["speedup"].isna()]
    where: dict[str, list[str]] = {}
    for name in lost["backend"].unique():
        sizes = _sizes_words(lost[lost["backend"] == name]["size"], rows["size"])
        where.setdefault(sizes, []).append(name)
    return [
        f"Not shown: {', '.join(names)}, {sizes}: no time of {baseline} to compare with"
        for sizes, names in where.items()
    ]


def _hollow(drawn: pd.DataFrame) -> list[str]:
    grades = _names_by(drawn[_less_trusted(drawn)], "grade")
    what = "; ".join(f"{grade.replace('_', ' ')} ({names})" for grade, names in grades.items())
    return [f"Hollow points are trusted less: {what}."] if what else []


def _less_trusted(rows: pd.DataFrame) -> "pd.Series[bool]":
    return rows["grade"].notna() & ~rows["grade"].isin(["good", ""])


# --- drawing


def _draw(axes: Axes, label: str, part: pd.DataFrame, column: str, look: Look) -> None:
    """One line over all sizes, broken where a size is missing, and its points on top."""
    sizes, values = part.index.to_numpy(), part[column].to_numpy()
    axes.add_line(look.line(sizes, values, marker="", zorder=2.2, label=label))
    hollow, there = _less_trusted(part).to_numpy(), part[column].notna().to_numpy()
    for chosen, face in ((there & ~hollow, look.colour), (there & hollow, "white")):
        if chosen.any():
            points = {"ls": "", "mfc": face, "zorder": 3, "label": f"{label} points"}
            axes.add_line(look.line(sizes[chosen], values[chosen], **points))


def _slowest_first(series: Series, looks: dict[str, Look], baseline: str) -> list[Entry]:
    """The entries of the time chart's legend, in the order of the lines' right ends."""
    last = {name: (part.index[-1], part["median_s"].iloc[-1]) for (name, _), part in series.items()}
    names = sorted(last, key=lambda name: last[name], reverse=True)
    entries = [
        (looks[name].solid(), name + (" (baseline)" if name == baseline else "")) for name in names
    ]
    if any(scope == "round_trip" for _, scope in series):
        key = Look(style.GREY, "o", ())
        entries += [(key, "compute"), (key.dashed(), "round trip")]
    return entries


def _words_at_line(axes: Axes, baseline: str) -> None:
    """Beside the panel, where no line can run through them."""
    lines = style.wrap(f"as fast as {baseline}", 0.85, style.NOTE)
    if len(lines) > 3:
        lines = ["as fast as", "the baseline"]
    half = len(lines) * style.NOTE * 0.62 + 3
    for text, shift, at in (
        ("\n".join(lines), 0.0, "center"),
        ("↑ faster", half, "bottom"),
        ("↓ slower", -half, "top"),
    ):
        axes.annotate(
            text, (1, 1), (6, shift), xycoords=axes.get_yaxis_transform(), color=style.DARK, va=at,
            textcoords="offset points", size=style.NOTE, annotation_clip=False,
        )  # fmt: skip
