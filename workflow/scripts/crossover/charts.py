"""Time and speedup against size, from summary.csv.

What is not shown is said, with its reason, under the chart.
"""

import re
from collections.abc import Iterable
from os import PathLike

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crossover import status, style
from crossover.style import Entry, Look, save, size_words

__all__ = ["read", "save", "speedup", "time"]

COLUMNS = (
    *("workload", "backend", "dtype", "size", "scope", "status", "reason", "grade"),
    *("rounds", "samples", "calls", "median_s", "q1_s", "q3_s", "min_s"),
    *("speedup", "baseline", "pairs", "error", "error_bound"),
    *("input_bytes", "output_bytes", "host_peak_bytes", "device_peak_bytes", "import_s"),
    *("threads_requested", "threads_granted", "threads_effective"),
    *("machine", "cpu", "cores", "device", "library", "version"),
)
NUMBERS = ("size", "median_s", "q1_s", "q3_s", "speedup")  # the numbers that are drawn
CURE = "make it again: snakemake --cores 1 --forcerun summarize"
PANELS = {
    "compute": "compute: data already where it is needed",
    "round_trip": "round trip: host arrays in and out",
}
Series = dict[tuple[str, str], pd.DataFrame]  # rows by size, of a backend in a scope


# --- reading


def read(path: str | PathLike[str]) -> pd.DataFrame:
    """The summary, one row per cell and scope: numbers in NUMBERS, text in all other columns.

    Raises ValueError, one line with file and cure, where the file is not what summarize writes.
    """
    try:
        return _checked(path)
    except (OSError, ValueError) as error:
        reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
        raise ValueError(f"{path}: {style.short(reason)}; {CURE}") from None


def _checked(path: str | PathLike[str]) -> pd.DataFrame:
    with open(path, "rb") as file:
        content = file.read()
    if not content.strip():
        raise ValueError("the file is empty")
    if not content.endswith(b"\n"):
        raise ValueError("the last line is cut")
    # The header is read as a row: as a header it would let longer rows pass, shifted by a column.
    # Text everywhere, nothing taken for missing: a backend may be called NA.
    with open(path, encoding="utf-8", newline="") as text:
        cells = pd.read_csv(text, header=None, dtype=str, keep_default_na=False)
    summary = cells.iloc[1:].set_axis(cells.iloc[0].tolist(), axis="columns")
    if absent := [name for name in COLUMNS if list(summary.columns).count(name) != 1]:
        raise ValueError(f"column {absent[0]} is missing or there twice")
    if summary.isna().any(axis=None):
        line = int(summary.isna().any(axis=1).idxmax()) + 1
        raise ValueError(f"line {line} is cut")
    summary = summary.reset_index(drop=True)
    for name in NUMBERS:
        # float, not pandas' own parser: it reads '.' as the decimal mark and every digit exactly
        summary[name] = [_number(value, name) for value in summary[name]]
    _check_values(summary)
    return summary.astype({"size": "int64"})


def _number(text: str, column: str) -> float:
    try:
        value = float(text) if text else float("nan")
    except ValueError:
        value = float("inf")
    if value == float("inf"):
        raise ValueError(f"{column} is {text!r}, which is not a number")
    return value


def _check_values(summary: pd.DataFrame) -> None:
    if summary.empty:
        raise ValueError("there are no rows")
    if unknown := set(summary["status"]) - {*status.ALL, status.NOT_MEASURED}:
        raise ValueError(f"there is no status {min(unknown)!r}")
    if not ((summary["size"] >= 1) & (summary["size"] % 1 == 0)).all():
        raise ValueError("a size is not a whole number of 1 or more")
    drawn = summary[(summary["status"] == status.OK) & summary["scope"].isin(list(PANELS))]
    if not (drawn["median_s"] > 0).all():
        raise ValueError("an ok cell has no time")
    if (drawn["speedup"] <= 0).any():
        raise ValueError("a speedup is not above 0")
    if summary.duplicated(["workload", "backend", "dtype", "size", "scope"]).any():
        raise ValueError("a cell is there twice")


# --- charts


def time(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Median seconds per call against size, one line per backend (solid compute, dashed round trip)."""
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
    how += " Dashed: round trip, host arrays in and out." if dashed else ""
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
    """CPU, usable cores, threads, baseline, and the devices that are not the CPU."""
    on_host = ok[ok["device"] == "cpu"]
    machines = list(dict.fromkeys(
        f"{_cpu(str(row.cpu))}, {row.cores or '?'} usable {'core' if row.cores == '1' else 'cores'}"
        for row in ok[["machine", "cpu", "cores"]].itertuples()
    ))  # fmt: skip
    parts = [
        " and ".join(machines) + (" (times from several machines)" if len(machines) > 1 else "")
    ]
    threads: dict[str, list[str]] = {}
    for name in dict.fromkeys(on_host["backend"]):
        counts = sorted(set(on_host[on_host["backend"] == name]["threads_effective"]) - {""})
        threads.setdefault(" or ".join(counts) or "?", []).append(name)
    if len(threads) == 1:
        count = next(iter(threads))
        parts.append(f"{count} {'thread' if count == '1' else 'threads'}")
    elif threads:
        parts.append(", ".join(f"{count}: {', '.join(names)}" for count, names in threads.items()))
        parts[-1] = f"threads {parts[-1]}"
    devices: dict[str, list[str]] = {}
    for row in ok[(ok["device"] != "cpu") & (ok["device"] != "")].itertuples():
        names = devices.setdefault(str(row.device), [])
        if row.backend not in names:
            names.append(str(row.backend))
    parts += [f"{', '.join(names)} on {device}" for device, names in devices.items()]
    return "; ".join([*parts, f"baseline {baseline}"]) + "."


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
    order = {name: i for i, name in enumerate(rows["backend"].unique())}
    cells: dict[tuple[str, str, str], dict[int, str]] = {}
    for row in failed.itertuples():
        pattern = re.sub(r"[\d.,]+", "#", str(row.reason))
        key = str(row.backend), str(row.status), pattern
        cells.setdefault(key, {}).setdefault(row.size, str(row.reason))
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
    less = drawn[~drawn["grade"].isin(["good", ""])]
    if less.empty:
        return []
    grades = {
        grade: ", ".join(less[less["grade"] == grade]["backend"].unique())
        for grade in less["grade"].unique()
    }
    what = "; ".join(f"{grade.replace('_', ' ')} ({names})" for grade, names in grades.items())
    return [f"Hollow points are trusted less: {what}."]


# --- drawing


def _draw(axes: Axes, label: str, part: pd.DataFrame, column: str, look: Look) -> None:
    """One line over all sizes, broken where a size is missing, and its points on top."""
    axes.add_line(look.line(part.index, part[column], marker="", zorder=2.2, label=label))
    hollow = ~part["grade"].isin(["good", ""])
    for points, face in ((part[~hollow], look.colour), (part[hollow], "white")):
        if points[column].notna().any():
            axes.add_line(look.line(points.index, points[column], ls="", mfc=face, zorder=3,
                                    label=f"{label} points"))  # fmt: skip


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
