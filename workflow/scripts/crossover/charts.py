"""What the charts share: reading the files, choosing rows, and drawing one backend's line.

Each chart is a file of its own, chart_*.py. What is not shown is said, with its reason, under it.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import Transform

from crossover import machines, style, svg, table
from crossover.style import Look

NUMBERS = (  # those that are drawn
    *("size", "median_s", "low_s", "high_s", "q1_s", "q3_s"),
    *("speedup", "speedup_low", "speedup_high", "detectable"),
    *("error", "error_bound", "gb_per_s", "gflop_per_s"),
)
FARTHEST = 4.0  # a bar reaches so many times beyond the points, then leaves the chart
RENDER = "render"  # the scope whose "backends" are ways of drawing
Series = dict[tuple[str, str], pd.DataFrame]  # rows by size, of a backend in a scope
Rows = Sequence[Mapping[str, str]]


# --- reading


def read(path: str | PathLike[str]) -> pd.DataFrame:
    """The summary, one row per cell and scope: numbers in NUMBERS, text in other columns. Of
    several machines the first view; `apart` says what that leaves out, in every row.

    Raises what table.read does.
    """
    main, *others = machines.views(table.read(Path(path)))
    summary = pd.DataFrame(main.rows, dtype="str")
    summary["apart"] = "; and ".join(machines.elsewhere(others))
    for name in NUMBERS:
        summary[name] = [float(text or "nan") for text in summary[name]]
    return summary.astype({"size": "int64"})


# --- rows


def select(summary: pd.DataFrame, workload: str, dtype: str) -> pd.DataFrame:
    return summary[(summary["workload"] == workload) & (summary["dtype"] == dtype)]


def of_cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Without what drawing costs: its "backends" are ways of drawing, and have no computation."""
    computing = set(rows[rows["scope"] == "compute"]["backend"])
    return rows[(rows["scope"] != RENDER) & rows["backend"].isin(computing)]


def backends(summary: pd.DataFrame) -> list[str]:
    """All of them, in the summary's order; looks go by it, so that they are the same everywhere."""
    return list(of_cells(summary)["backend"].unique())


def baselines(summary: pd.DataFrame) -> list[str]:
    """What speedups are over: one, or where GPUs are on several kinds of nodes one for each."""
    return [name for name in summary["baseline"].unique() if name]


def baseline_words(summary: pd.DataFrame) -> str:
    return " or ".join(baselines(summary)) or "the baseline"


def series(rows: pd.DataFrame, scope: str) -> Series:
    """The rows of each backend in one scope, by size."""
    of_scope = rows[rows["scope"] == scope].sort_values("size")
    return {
        (name, scope): of_scope[of_scope["backend"] == name].set_index("size", drop=False)
        for name in of_scope["backend"].unique()
    }


# --- drawing


def draw(
    axes: Axes,
    label: str,
    part: pd.DataFrame,
    column: str,
    look: Look,
    beside: Transform,
    at: Transform | None = None,
) -> None:
    """One line over the part's index, broken where a value is missing; its bars, and its points on
    top. Besides `column`: low, high, hollow, ringed, and the words for each point in `title`.
    `beside` is where bars are drawn, `at` where the rest is, if that is not the data's place."""
    there = part[part[column].notna()]
    bars = there.dropna(subset=["low", "high"])
    hollow = there["hollow"].astype(bool)
    ringed = there[there["ringed"].astype(bool)]
    place: dict[str, Any] = {"transform": at or axes.transData}
    axes.add_line(
        look.line(part.index, part[column].to_numpy(), marker="", zorder=2.2, label=label, **place)
    )
    axes.add_line(style.bars(bars.index, bars["low"], bars["high"], look, beside, f"{label} bars"))
    for points, face in ((there[~hollow], look.colour), (there[hollow], "white")):
        if not points.empty:
            marks = {"ls": "", "mfc": face, "zorder": 3, "label": f"{label} points", **place}
            line = look.line(points.index, points[column].to_numpy(), **marks)
            axes.add_line(svg.titled(line, points["title"].tolist()))
    if not ringed.empty:
        axes.add_line(style.rings(ringed.index, ringed[column], f"{label} ringed points"))


def reach(drawn: pd.DataFrame, column: str) -> list[float]:
    """What an axis has to hold: the points, and their bars unless they go very far."""
    points = drawn[column]
    bars = pd.concat([drawn["low"], drawn["high"]]).dropna()
    return [*points, *bars.clip(points.min() / FARTHEST, points.max() * FARTHEST)]
