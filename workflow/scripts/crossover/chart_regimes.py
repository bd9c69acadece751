"""What kind of work is worth moving? Speedups at the largest sizes, grouped by kind of work.

Sizes of different workloads do not compare, so each one's stands beside it, and so does n*, from
which size on a backend stays faster, in the words of break_even.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import blended_transform_factory

from crossover import break_even, charts, hover, notes, status, style, svg, ticks
from crossover.break_even import FROM, FROM_SMALLEST, NEVER, ONLY_BETWEEN
from crossover.charts import Rows
from crossover.decide import BEST_CPU
from crossover.regimes import described, in_order
from crossover.style import Entry, Look

COMPUTE, ROUND_TRIP = "compute", "round_trip"
LINE, GAP, HEADING = 0.15, 0.09, 0.32  # inches of height: of a mark, between workloads, of a kind
NAMES = 1.75  # inches, of a name of a workload and dtype
COLUMNS = (52, 200)  # points right of the axes, where sizes end and n* ends
MOST = 4  # backends of a workload; more would be a wall

Lane = tuple[str, str]  # backend and scope: a line of marks in every workload


@dataclass(frozen=True)
class Place:
    """Where a workload and dtype stands: inches from the top of the axes, of its first lane."""

    workload: str
    dtype: str
    top: float


def by_regime(summary: pd.DataFrame, kinds: Mapping[str, str], break_evens: Rows) -> Figure:
    """A row for each workload and dtype, in it a line for each backend and scope: the speedup at
    the largest size that has one, with its interval. `kinds` is the kind of work of each workload,
    `break_evens` the rows of break_even.csv."""
    rows = charts.of_cells(summary)
    baseline = charts.baseline_words(summary)
    title = "What kind of work is worth moving?"
    others = rows[(rows["status"] == status.OK) & (rows["backend"] != rows["baseline"])]
    others = others[others["scope"].isin([COMPUTE, ROUND_TRIP])]
    missing = [*notes.by_group(rows, "workload"), *notes.no_partner(others, rows, baseline)]
    drawn = _largest(others[others["speedup"].notna()])
    names = list(drawn["backend"].unique())
    if not names:
        return style.no_data(title, missing or [f"there is no backend but {baseline}"])
    devices = set(rows[rows["scope"] == "download"]["backend"])
    left = sorted(names, key=lambda name: name not in devices)[MOST:]  # the GPUs are the question
    shown = [name for name in names if name not in left]
    lanes = [
        (name, scope)
        for name in shown
        for scope in ((COMPUTE, ROUND_TRIP) if name in devices else (COMPUTE,))
    ]
    drawn = drawn[drawn["backend"].isin(shown)]
    drawn = drawn[drawn["backend"].isin(devices) | (drawn["scope"] == COMPUTE)]
    drawn = drawn.assign(
        low=drawn["speedup_low"],
        high=drawn["speedup_high"],
        hollow=notes.doubted(drawn, notes.OF_SPEEDUPS),
        ringed=notes.no_difference(drawn),
        title=hover.titles(drawn, lambda row: f"{_name(row)}: {hover.speedup(row)}"),
    )
    looks = style.looks(charts.backends(summary), charts.baselines(summary))
    marks = {(name, scope): _look(looks[name], scope) for name, scope in lanes}
    entries: list[Entry] = [
        (marks[lane], _words(lane, several=lane[0] in devices)) for lane in lanes
    ]
    headings, places, height = _places(rows, kinds, len(lanes))
    low, high = ticks.limits([*charts.reach(drawn, "speedup"), 0.5, 2.0], 4)
    with style.look():
        figure, top = style.page(
            title,
            notes.machine(rows[rows["status"] == status.OK], baseline),
            [
                *_how(devices, baseline, shown, left),
                *notes.speedups(drawn, baseline),
                *notes.trust(drawn, notes.OF_SPEEDUPS),
                *missing,
            ],
            body=height + 0.45,
            above=style.room_for(entries) + 0.2,
        )
        axes = figure.add_subplot()
        axes.set_ylim(height, 0)
        ticks.across(axes, low, high, style.times_words, f"times as fast as {baseline}", 7)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.axvspan(low, 1, color="#F4F4F4", zorder=0.4, lw=0)
        axes.axvline(1, color="black", lw=1.2, zorder=1.8, label=f"as fast as {baseline}")
        for kind, at in headings.items():
            _heading(axes, figure, kind, at)
        for words, right in zip(("largest n", "n*: faster"), COLUMNS, strict=True):
            _beside(axes, words, 0.0, right, style.GREY, "bottom")
        for place in places:
            _row(axes, place, drawn, marks, break_evens)
        style.legend(figure, top, entries)
    return figure


# --- rows


def _largest(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each workload, dtype, backend and scope the largest size."""
    found = rows.sort_values("size", kind="stable")
    found = found.drop_duplicates(["workload", "dtype", "backend", "scope"], keep="last")
    return found.loc[[i for i in rows.index if i in set(found.index)]]


def _places(
    rows: pd.DataFrame, kinds: Mapping[str, str], lanes: int
) -> tuple[dict[str, float], list[Place], float]:
    """Where each kind's heading and each workload is, and the height of all."""
    headings: dict[str, float] = {}
    places: list[Place] = []
    at = 0.0
    for kind, workloads in in_order(kinds).items():
        headings[kind] = at
        at += HEADING
        for workload in workloads:
            for dtype in rows[rows["workload"] == workload]["dtype"].unique():
                places.append(Place(workload, dtype, at))
                at += LINE * lanes + GAP
    return headings, places, at


def _how(devices: set[str], baseline: str, shown: list[str], left: list[str]) -> list[str]:
    computing = "data already where it is needed"
    lines = [
        f"Each at its own largest size, which stands right of it; {computing}"
        + (", or (half filled) from host arrays to host arrays, transfers included."
           if devices.intersection(shown)
           else ".")
    ]  # fmt: skip
    lines.append(
        f"n*: the smallest size from which on it stays faster than {baseline}, with its 95 % "
        "interval; empty where no size has two pairs of rounds."
    )
    if not devices:
        lines.append("No GPU was measured: this is not about moving anything to one.")
    if left:
        lines.append(f"Left out for room: {', '.join(left)}; see summary.csv.")
    return lines


# --- drawing


def _row(
    axes: Axes, place: Place, drawn: pd.DataFrame, marks: Mapping[Lane, Look], evens: Rows
) -> None:
    """The name at the left, the marks, and what is said right of them."""
    mine = charts.select(drawn, place.workload, place.dtype)
    middle = place.top + LINE * len(marks) / 2
    name = style.fitted(f"{place.workload}, {place.dtype}", NAMES, style.SMALL)
    axes.annotate(
        name, (0, middle), (-6, 0), ha="right", va="center", textcoords="offset points",
        xycoords=axes.get_yaxis_transform(), color=style.DARK, annotation_clip=False,
    )  # fmt: skip
    if mine.empty:
        axes.text(1, middle, "  no speedup", size=style.NOTE, color=style.GREY, va="center")
    for number, ((backend, scope), look) in enumerate(marks.items()):
        at = place.top + LINE * (number + 0.5)
        for row in hover.records(mine[(mine["backend"] == backend) & (mine["scope"] == scope)]):
            _draw(axes, at, row, look)
            _beside(axes, _size(row["size"]), at, COLUMNS[0])
            words = _n_star(evens, place, backend, scope)
            _beside(axes, words, at, COLUMNS[1])


def _draw(axes: Axes, at: float, row: hover.Row, look: Look) -> None:
    axes.hlines(at, row["low"], row["high"], look.colour, lw=1.4, zorder=2.5)
    face = "white" if row["hollow"] else look.colour
    label = f"{_name(row)}, {row['backend']}, {row['scope']}"
    point = look.line([row["speedup"]], [at], ls="", mfc=face, ms=5, zorder=3, label=label)
    axes.add_line(svg.titled(point, [row["title"]]))
    if row["ringed"]:
        ring = style.rings([row["speedup"]], [at], f"{label} ringed")
        ring.set_markersize(9)
        axes.add_line(ring)


def _n_star(evens: Rows, place: Place, backend: str, scope: str) -> str:
    """The answer over the baseline in few words, '' where there is none."""
    key = place.workload, place.dtype, backend, scope, ""
    columns = ("workload", "dtype", "backend", "scope", "apart")
    mine = (row for row in evens if tuple(row[name] for name in columns) == key)
    found = next((row for row in mine if row["against"] != BEST_CPU), None)
    even = break_even.of_row(found) if found else None
    if even is None:
        return ""
    size, low, high, until = map(_size, (even.size, even.low, even.high, even.until))
    if even.kind == FROM:
        return f"from {size} ({low} to {high})"
    if even.kind == FROM_SMALLEST:
        return f"from the smallest, {_size(even.smallest)}"
    if even.kind == NEVER:
        return f"never up to {_size(even.largest)}"
    if even.kind == ONLY_BETWEEN:
        return f"only from {size or high} to {until}"
    return f"not clear from {low} to {high}" if low != high else f"not clear at {low}"


def _size(size: float | None) -> str:
    """A measured size exactly where that is short, else three digits; break_even.csv has all."""
    if size is None:
        return ""
    exact = style.size_words(size) if size == int(size) else ""
    return exact if 0 < len(exact) <= 6 else style.size_words(float(f"{size:.3g}"))


def _heading(axes: Axes, figure: Figure, kind: str, at: float) -> None:
    """Across the page, from where its title begins."""
    name, _, rest = described(kind).partition(" (")
    looks: tuple[dict[str, Any], ...] = (
        {"weight": "bold", "color": style.DARK},
        {"weight": "normal", "color": style.GREY},
    )
    place = blended_transform_factory(figure.transFigure, axes.transData)
    left = style.MARGIN
    for text, how in zip((name, rest.removesuffix(")")), looks, strict=True):
        axes.text(
            left / style.WIDTH, at + HEADING * 0.62, text, transform=place, size=style.SMALL,
            va="center", clip_on=False, in_layout=False, **how,
            bbox={"fc": "white", "ec": "none", "pad": 0.5},
        )  # fmt: skip
        left += style.width_of(f"{name}  ", style.SMALL, bold=True)


def _beside(
    axes: Axes, words: str, at: float, right: float, colour: str = style.DARK, va: str = "center"
) -> None:
    axes.annotate(
        words, (1, at), (right, 4 if va == "bottom" else 0), ha="right", va=va,
        textcoords="offset points", size=style.NOTE, xycoords=axes.get_yaxis_transform(),
        color=colour, annotation_clip=False,
    )  # fmt: skip


# --- words


def _look(look: Look, scope: str) -> Look:
    return look.dashed() if scope == ROUND_TRIP else look.solid()


def _words(lane: Lane, several: bool) -> str:
    backend, scope = lane
    if not several:
        return backend
    return f"{backend}, {'computing' if scope == COMPUTE else 'with transfers'}"


def _name(row: hover.Row) -> str:
    return f"{row['workload']} {row['dtype']}"
