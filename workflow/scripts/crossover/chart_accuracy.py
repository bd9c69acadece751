"""What does a number type cost, and what does it buy? Error against time, at one size for all.

The size is the one at which most cells are ok, the largest of several: times at different sizes
cannot be compared.
"""

from math import ceil

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crossover import charts, hover, notes, status, style, svg, ticks
from crossover.style import Entry, Look

SCOPE = "compute"
COLUMNS = 4  # panels beside each other
HEIGHTS = {1: 3.6, 2: 2.8}  # inches of a panel, by the number of rows of panels


def accuracy(summary: pd.DataFrame, workload: str) -> Figure:
    """A panel for each dtype, in it a point for each backend, and a line up to its bound."""
    rows = charts.of_cells(summary[summary["workload"] == workload])
    ok = rows[(rows["status"] == status.OK) & (rows["scope"] == SCOPE)]
    known = ok[ok["error"].notna()]
    title = f"{workload}: accuracy against time"
    if known.empty:
        missing = notes.by_group(rows, "dtype") or [f"the summary has no {workload}"]
        return style.no_data(title, ["no error is known"] if len(ok) else missing)
    counts = known["size"].value_counts()
    size = max(counts[counts == counts.max()].index)
    drawn = known[known["size"] == size]
    drawn = drawn.assign(
        low=drawn["low_s"].fillna(drawn["q1_s"]),
        high=drawn["high_s"].fillna(drawn["q3_s"]),
        hollow=notes.doubted(drawn, notes.OF_TIMES),
        title=hover.titles(drawn, hover.error),
    )
    baseline = charts.baseline_words(summary)
    looks = style.looks(charts.backends(summary), charts.baselines(summary))
    names = list(drawn["backend"].unique())
    entries: list[Entry] = [(looks[name].solid(), name) for name in names]
    dtypes = list(drawn["dtype"].unique())
    lines, columns = ceil(len(dtypes) / COLUMNS), min(len(dtypes), COLUMNS)
    unknown = sorted(set(ok[ok["error"].isna()]["backend"]))
    with style.look():
        figure, top = style.page(
            f"{title}, n = {style.size_words(size)}",
            notes.machine(drawn, baseline),
            [
                *_how(drawn),
                *notes.trust(drawn, notes.OF_TIMES),
                *([f"No error is known of {', '.join(unknown)}."] if unknown else []),
                *notes.by_group(rows, "dtype"),
            ],
            body=lines * HEIGHTS[min(lines, 2)],
            above=style.room_for(entries),
        )
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        floor = _axes(panels[0, 0], drawn, 6.6 / columns)
        for place, axes in enumerate(panels.flat):
            axes.set_visible(place < len(dtypes))
        for place, dtype in enumerate(dtypes):
            axes = panels.flat[place]
            axes.set_title(dtype, loc="left", color=style.DARK)
            for row in hover.records(drawn[drawn["dtype"] == dtype]):
                _draw(axes, row, looks[row["backend"]].solid(), floor)
            if place + columns >= len(dtypes):  # no panel below it
                axes.set_xlabel("time per call" + (" (left is faster)" if columns < 3 else ""))
                axes.xaxis.set_tick_params(labelbottom=True)
        for axes in panels[:, 0]:
            axes.set_ylabel("error (lower is better)")
        style.legend(figure, top, entries)
    return figure


def _how(drawn: pd.DataFrame) -> list[str]:
    lines = [
        "Points: the error that was found, against a float64 reference; lines up: to the largest "
        "that a correct answer can have. Compute, medians; bars: 95 % intervals of the time."
    ]
    if (drawn["error"] == 0).any():
        lines.append("At 0: the very numbers of the reference.")
    return lines


def _axes(axes: Axes, drawn: pd.DataFrame, width: float) -> float:
    """Both logarithmic, and the same in all panels; returns where an error of 0 is drawn."""
    left, right = ticks.limits(charts.reach(drawn, "median_s"), 4, 0.12)
    ticks.across(axes, left, right, style.seconds_words, "", max(2, int(width / 0.75)))
    errors = pd.concat([drawn["error"], drawn["error_bound"]])
    low, high = ticks.limits(errors[errors > 0].tolist() or [1e-16], 100, 0.1)
    if not (drawn["error"] == 0).any():
        ticks.value_axis(axes, low, high, error_words, "")
        return low
    at = ticks.log_ticks(low, high)
    step = (high / low) ** 0.1
    zero = float(low / step)  # below all others, and apart from them
    ticks.value_axis(axes, zero / step**0.6, high, error_words, "")
    axes.set_yticks([zero, *at], ["0", *map(error_words, at)])
    return zero


def error_words(error: float) -> str:
    return f"{error:.0e}".replace("e-0", "e-")


def _draw(axes: Axes, row: hover.Row, look: Look, floor: float) -> None:
    x, error, bound = row["median_s"], row["error"], row["error_bound"]
    y = error or floor
    if bound > 0:
        axes.vlines(x, y, bound, look.colour, lw=1, ls=(0, (2, 1.5)), zorder=2)
        axes.add_line(look.line([x], [bound], ls="", marker="_", ms=11, mew=1.6, zorder=2.4))
    axes.hlines(y, row["low"], row["high"], look.colour, lw=1.4, zorder=2.5)
    face = "white" if row["hollow"] else look.colour
    point = look.line([x], [y], ls="", mfc=face, zorder=3, label=row["backend"])
    axes.add_line(svg.titled(point, [row["title"]]))
