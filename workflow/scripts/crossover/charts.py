"""Time and speedup against size, from summary.csv.

What is not shown is said, with its reason, under the chart.
"""

from os import PathLike
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform

from crossover import machines, notes, status, style, table
from crossover.style import Entry, Look, save

__all__ = ["read", "save", "speedup", "time"]

NUMBERS = (  # those that are drawn
    *("size", "median_s", "low_s", "high_s", "q1_s", "q3_s"),
    *("speedup", "speedup_low", "speedup_high", "detectable"),
)
PANELS = {
    "compute": "compute: data already where it is needed",
    "round_trip": "round trip: host arrays in and out",
}
FARTHEST = 4.0  # a bar reaches so many times beyond the points, then leaves the chart
Series = dict[tuple[str, str], pd.DataFrame]  # rows by size, of a backend in a scope


# --- reading


def read(path: str | PathLike[str]) -> pd.DataFrame:
    """The summary, one row per cell and scope: numbers in NUMBERS, text in other columns. Of
    several machines the first view; `apart` says what that leaves out, in every row.

    Raises what table.read does.
    """
    rows = table.read(Path(path))
    summary = pd.DataFrame(machines.views(rows)[0].rows, dtype="str")
    summary["apart"] = "; and ".join(machines.elsewhere(rows))
    for name in NUMBERS:
        summary[name] = [float(text or "nan") for text in summary[name]]
    return summary.astype({"size": "int64"})


# --- charts


def time(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Median seconds per call against size, a line per backend; round trips dashed."""
    rows = _select(summary, workload, dtype)
    title = f"{workload}, {dtype}: time against size"
    missing = notes.not_shown(rows)
    ok = rows[rows["status"] == status.OK]
    drawn = ok[ok["scope"].isin(list(PANELS))]
    if drawn.empty:
        return style.no_data(title, missing or [f"the summary has no {workload} in {dtype}"])
    drawn = drawn.assign(
        low=drawn["low_s"].fillna(drawn["q1_s"]),
        high=drawn["high_s"].fillna(drawn["q3_s"]),
        hollow=notes.doubted(drawn, notes.OF_TIMES),
        ringed=False,
    )
    baseline = _baseline(summary)
    series = _series(drawn, "compute") | {
        (name, scope): part
        for (name, scope), part in _series(drawn, "round_trip").items()
        if not _same_times(part, drawn[drawn["backend"] == name])
    }
    looks = style.looks(summary["backend"].unique(), baseline)
    sizes = sorted(set(rows["size"]))
    dashed = any(scope == "round_trip" for _, scope in series)
    how = notes.times(drawn)
    if dashed:
        how += " Dashed, half filled: round trip, host arrays in and out"
        how += f" ({memory})." if (memory := notes.memory(drawn)) else "."
    entries = _slowest_first(series, looks, baseline)
    narrow = style.fits_beside(entries)
    with style.look():
        figure, top = style.page(
            title,
            notes.machine(ok, baseline),
            [how, *notes.trust(drawn, notes.OF_TIMES), *missing],
            above=0 if narrow else style.room_for(entries),
        )
        axes = figure.add_subplot()
        style.size_axis(axes, sizes, 5.2)
        low, high = style.limits(_reach(drawn, "median_s"), 10)
        style.value_axis(axes, low, high, style.seconds_words, "time per call (lower is faster)")
        for (name, scope), part in series.items():
            part = part.reindex(sizes)
            look = looks[name].solid() if scope == "compute" else looks[name].dashed()
            label = name if scope == "compute" else f"{name} {scope}"
            beside = style.beside(axes, list(looks).index(name), len(looks))
            _draw(axes, label, part, "median_s", look, beside)
        style.legend(axes if narrow else figure, top, entries)
    return figure


def speedup(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Speedup over the baseline against size: compute and round trip side by side, a line at 1."""
    rows = _select(summary, workload, dtype)
    baseline = _baseline(summary)
    title = f"{workload}, {dtype}: speedup over {baseline}"
    ok = rows[(rows["status"] == status.OK) & rows["scope"].isin(list(PANELS))]
    others = ok[ok["backend"] != baseline]
    drawn = others[others["speedup"].notna()]
    missing = notes.not_shown(rows) + notes.no_partner(others, rows, baseline)
    if drawn.empty:
        alone = f"there is no backend but {baseline}, the baseline"
        if rows.empty:
            alone = f"the summary has no {workload} in {dtype}"
        return style.no_data(title, missing or [alone])
    drawn = drawn.assign(
        low=drawn["speedup_low"],
        high=drawn["speedup_high"],
        hollow=notes.doubted(drawn, notes.OF_SPEEDUPS),
        ringed=notes.no_difference(drawn),
    )
    looks = style.looks(summary["backend"].unique(), baseline)
    sizes = sorted(set(rows["size"]))
    series = _series(drawn, "round_trip") | _series(drawn, "compute")
    last = {name: part["speedup"].iloc[-1] for (name, _), part in series.items()}
    entries = [(looks[name], name) for name in sorted(last, key=lambda name: -last[name])]
    low, high = style.limits([*_reach(drawn, "speedup"), 0.5, 2.0], 4)
    # room for the words at the line, whichever side of it the points are on
    edge = (high / low) ** 0.17
    low, high = min(low, 1 / edge), max(high, edge)
    with style.look():
        how = notes.speedups(drawn, baseline) + notes.trust(drawn, notes.OF_SPEEDUPS)
        figure, top = style.page(
            title,
            notes.machine(ok, baseline),
            [*how, *missing],
            above=style.room_for(entries),
        )
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (scope, heading) in zip(panels, PANELS.items(), strict=True):
            axes.set_title(heading, loc="left", color=style.DARK)
            style.size_axis(axes, sizes, 2.9)
            style.value_axis(axes, low, high, style.times_words, "")
            axes.axhline(1, color="black", lw=1.2, zorder=1.8, label=f"as fast as {baseline}")
            axes.axhspan(low, 1, color="#F4F4F4", zorder=0.4, lw=0)
            parts = {name: part for (name, where), part in series.items() if where == scope}
            for name, part in parts.items():
                beside = style.beside(axes, list(last).index(name), len(last))
                _draw(axes, name, part.reindex(sizes), "speedup", looks[name], beside)
            if not parts:
                axes.text(
                    0.5, 0.7, "no data", transform=axes.transAxes, color=style.GREY, ha="center"
                )
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


# --- drawing


def _draw(
    axes: Axes, label: str, part: pd.DataFrame, column: str, look: Look, beside: Transform
) -> None:
    """One line over all sizes, broken where a size is missing; its bars, and its points on top."""
    there = part[part[column].notna()]
    bars = there.dropna(subset=["low", "high"])
    hollow = there["hollow"].astype(bool)
    ringed = there[there["ringed"].astype(bool)]
    axes.add_line(
        look.line(part.index, part[column].to_numpy(), marker="", zorder=2.2, label=label)
    )
    axes.vlines(
        bars.index, bars["low"], bars["high"], look.colour, lw=1.4, zorder=2.5, transform=beside
    )
    for points, face in ((there[~hollow], look.colour), (there[hollow], "white")):
        if not points.empty:
            marks = {"ls": "", "mfc": face, "zorder": 3, "label": f"{label} points"}
            axes.add_line(look.line(points.index, points[column].to_numpy(), **marks))
    if not ringed.empty:
        axes.add_line(style.rings(ringed.index, ringed[column], f"{label} ringed points"))


def _reach(drawn: pd.DataFrame, column: str) -> list[float]:
    """What an axis has to hold: the points, and their bars unless they go very far."""
    points = drawn[column]
    bars = pd.concat([drawn["low"], drawn["high"]]).dropna()
    return [*points, *bars.clip(points.min() / FARTHEST, points.max() * FARTHEST)]


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
