"""Where does the time go? Upload, compute, download and drawing of each backend, size by size.

Bars of one size have one linear scale: on a logarithmic axis parts do not add up to what they look
like, and shares would hide which backend is faster. The first call is often a thousand times the
others, and so is a number beside the bar. Parts are measured apart and need not add up to the whole
that was measured in one go, which is a point on the bar.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from crossover import charts, hover, notes, status, style, svg
from crossover.cells import DRAWN_BY, END_TO_END
from crossover.style import Entry, Look

# In the order in which they happen, and told apart in grey too: colour, and that of words on it.
PARTS = {
    "upload": ("#C3E2F6", style.DARK),
    "compute": ("#0072B2", "white"),
    "download": ("#EDA93A", style.DARK),
    charts.RENDER: ("#F4F4F4", style.DARK),
}
WHOLES = (END_TO_END, "round_trip", "compute")  # the first one that there is
POINT = Look("#000000", "o", ())
MOST_SIZES, MOST_BARS = 6, 32
BAR, HEADING = 0.23, 0.36  # inches, of height
NAMES, BARS = 1.5, 4.2  # inches, of width: at most, about
COLUMNS = (52, 112)  # points right of the bars, where the columns of numbers end

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Bar:
    """One backend at one size: the rows of its parts and of the whole, seconds of its first call,
    and for a cell that is not ok its status."""

    backend: str
    parts: Mapping[str, Row]
    whole: Row | None
    first_s: float
    failed: str

    def reach(self) -> float:
        """How far the bar and its point go."""
        return max(self.sum(), self.whole["median_s"] if self.whole else 0.0)

    def sum(self) -> float:
        return float(sum(row["median_s"] for row in self.parts.values()))


def parts(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Median seconds of each part, stacked: a panel for each size, in it a bar for each backend."""
    rows = charts.select(summary, workload, dtype)
    by_line = (rows["scope"] == charts.RENDER) & (rows["backend"] != DRAWN_BY)
    rows, cells = rows[~by_line], charts.of_cells(rows)
    title = f"{workload}, {dtype}: where the time goes"
    missing = notes.not_shown(rows)
    ok = cells[cells["status"] == status.OK]
    if ok.empty:
        return style.no_data(title, missing or [f"the summary has no {workload} in {dtype}"])
    baseline = charts.baseline_words(summary)
    baselines = charts.baselines(summary)
    names = sorted(ok["backend"].unique(), key=lambda name: name not in baselines)
    every = sorted(set(ok["size"]))
    sizes = _chosen(every, max(2, min(MOST_SIZES, MOST_BARS // len(names))))
    bars = {n: [_bar(rows[rows["size"] == n], name) for name in names] for n in sizes}
    shown = [part for part in PARTS if any(part in bar.parts for n in sizes for bar in bars[n])]
    entries: list[Entry] = [(_patch(part), _words(part)) for part in shown]
    entries.append((POINT, "whole"))
    with style.look():
        figure, top = style.page(
            title,
            notes.machine(ok, baseline),
            [*_how(ok, sizes, every), *missing],
            body=len(sizes) * (HEADING + BAR * len(names)) + 0.1,
            above=style.room_for(entries) + 0.1,
        )
        panels = figure.subplots(len(sizes), 1, squeeze=False)[:, 0]
        for axes, n in zip(panels, sizes, strict=True):
            _panel(axes, n, bars[n])
        for words, right in zip(("whole", "first call"), COLUMNS, strict=True):
            _beside(panels[0], words, right)
        style.legend(figure, top, entries)
    return figure


# --- rows


def _chosen(sizes: Sequence[int], most: int) -> list[int]:
    """The smallest and the largest, and as many between them as there is room for."""
    if len(sizes) <= most:
        return list(sizes)
    return [sizes[round(i * (len(sizes) - 1) / (most - 1))] for i in range(most)]


def _bar(rows: pd.DataFrame, backend: str) -> Bar:
    mine = rows[(rows["backend"] == backend) & (rows["scope"] != charts.RENDER)]
    bad = mine[mine["status"] != status.OK]
    good = {row["scope"]: row for row in hover.records(mine[mine["status"] == status.OK])}
    if not good:
        return Bar(backend, {}, None, float("nan"), "".join(bad["status"][:1]))
    whole = next((good[scope] for scope in WHOLES if scope in good), None)
    if whole and whole["scope"] == WHOLES[0]:
        drawing = rows[(rows["scope"] == charts.RENDER) & (rows["status"] == status.OK)]
        good |= {row["scope"]: row for row in hover.records(drawing)}
    found = {part: good[part] for part in PARTS if part in good}
    first_s = good["first_call"]["median_s"] if "first_call" in good else float("nan")
    return Bar(backend, found, whole, first_s, "")


def _how(ok: pd.DataFrame, sizes: Sequence[int], every: Sequence[int]) -> list[str]:
    whole, first = "the round trip in one go", "the first round trip of a process"
    if (ok["scope"] == WHOLES[0]).any():
        whole += f" and the drawing ({DRAWN_BY}) of the same round"
    lines = [
        "Bars: medians of parts that were measured apart, to one linear scale for each size; they "
        f"need not add up. Whole: {whole}, with 95 % intervals.",
        f"First call: {first}, with the start of the device; no part of the bars.",
    ]
    if len(sizes) < len(every):
        lines.append(f"Drawn: {len(sizes)} of {len(every)} sizes; summary.csv has all.")
    if kinds := notes.memory(ok):
        lines.append(f"Transfers through {kinds} memory.")
    wholes = ok[ok["scope"].isin(WHOLES)]
    return [*lines, *notes.trust(wholes, notes.OF_TIMES)]


def _words(part: str) -> str:
    return "drawing" if part == charts.RENDER else part


# --- drawing


def _patch(part: str) -> Patch:
    return Patch(facecolor=PARTS[part][0], edgecolor=style.GREY, lw=0.5)


def _panel(axes: Axes, size: int, bars: Sequence[Bar]) -> None:
    most = max(bar.reach() for bar in bars)
    highs = [bar.whole["high_s"] for bar in bars if bar.whole and not isnan(bar.whole["high_s"])]
    limit = min(max([most, *highs]), 1.25 * most) * 1.03 or 1.0
    axes.set_xlim(0, limit)
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.grid(False)
    axes.spines["bottom"].set_visible(False)
    axes.set_xticks([])
    names = [style.fitted(bar.backend, NAMES, style.SMALL) for bar in bars]
    axes.set_yticks(range(len(bars)), names)
    axes.tick_params(axis="y", length=0)
    heading = f"n = {style.size_words(size)}"
    axes.set_title(heading, loc="left", size=style.SMALL, weight="bold", color=style.DARK, pad=3)
    for place, bar in enumerate(bars):
        _draw(axes, place, bar, limit)


def _draw(axes: Axes, place: int, bar: Bar, limit: float) -> None:
    if bar.failed:
        words = bar.failed.replace("_", " ")
        axes.text(limit / 100, place, words, size=style.NOTE, color=style.GREY, va="center")
        return
    whisker = (bar.whole["low_s"], bar.whole["high_s"]) if bar.whole else (limit, limit)
    start = 0.0
    for part, row in bar.parts.items():
        colour, on_it = PARTS[part]
        seconds, words = row["median_s"], style.seconds_words(row["median_s"])
        corner = (start, place - 0.36)
        patch = Rectangle(corner, seconds, 0.72, fc=colour, ec=style.GREY, lw=0.5, zorder=2)
        patch.set_label(part)
        title = hover.time({**row, "backend": bar.backend, "scope": _words(part)})
        axes.add_patch(svg.titled(patch, [title]))
        middle = start + seconds / 2
        half = (style.width_of(words, style.NOTE) / 2 + 0.15) * limit / BARS
        crossed = whisker[0] < middle + half and middle - half < whisker[1]
        if half < seconds / 2 and not crossed:
            axes.text(middle, place, words, size=style.NOTE, color=on_it,
                      ha="center", va="center", zorder=2.5)  # fmt: skip
        start += seconds
    if bar.whole:
        seconds = bar.whole["median_s"]
        axes.hlines(place, whisker[0], whisker[1], "black", lw=1.4, zorder=2.8)
        hollow = not notes.grades_of(bar.whole["grade"]).isdisjoint(notes.OF_TIMES)
        face = "white" if hollow else "black"
        point = POINT.line([seconds], [place], ls="", mfc=face, zorder=3, label=bar.backend)
        axes.add_line(svg.titled(point, [hover.time(bar.whole)]))
        _beside(axes, style.seconds_words(seconds), COLUMNS[0], place)
    if not isnan(bar.first_s):
        _beside(axes, style.seconds_words(bar.first_s), COLUMNS[1], place)


def _beside(axes: Axes, words: str, right: float, place: float | None = None) -> None:
    """Words right of the bars: at the place of a bar, or over them as a heading."""
    heading = place is None
    axes.annotate(
        words, (1, 1 if heading else place), (right, 4 if heading else 0), ha="right",
        va="bottom" if heading else "center", textcoords="offset points", size=style.NOTE,
        xycoords=axes.transAxes if heading else axes.get_yaxis_transform(),
        color=style.GREY if heading else style.DARK, annotation_clip=False,
    )  # fmt: skip
