"""Which machine is faster, and by how much? One workload and dtype on several machines."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crossover import charts, hover, notes, status, style, ticks
from crossover.compare import Pair
from crossover.compare_text import differing
from crossover.intervals import NO_DIFFERENCE
from crossover.style import Entry, Look
from crossover.welch import MAYBE

NUMBERS = (
    *("size", "median_s", "low_s", "high_s"),
    *("speedup", "speedup_low", "speedup_high"),
)
BODY = 1.75  # inches for each backend and scope
WIDTH = 2.9  # inches of a panel
NARROWEST = (0.65, 1.55)  # so that an axis has more ticks than that at 1


def frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of compare.csv, with numbers in NUMBERS and text in the other columns; `apart` as
    notes.py wants it, of which an archive's rows tell themselves."""
    found = pd.DataFrame([{name: str(value) for name, value in row.items()} for row in rows])
    found["apart"] = ""
    for name in NUMBERS:
        found[name] = [float(text or "nan") for text in found[name]]
    return found.astype({"size": "int64"})


def compared(
    every: pd.DataFrame, workload: str, dtype: str, machines: Sequence[str], pairs: Sequence[Pair]
) -> Figure:
    """For each backend and scope a row: times against size, a line for each archive, and how many
    times as fast as the first, with intervals. `every` are all rows of compare.csv, `machines` what
    each archive is of, `pairs` all that were compared."""
    rows = charts.select(every, workload, dtype)
    names = list(every["archive"].unique())
    first = names[0]
    looks = style.looks(names, [first])
    title = f"{workload}, {dtype}: {', '.join(names[1:])} beside {first}"
    mine = [p for p in pairs if (p.cell.workload, p.cell.dtype) == (workload, dtype)]
    said = _notes(rows, mine, names)
    drawn = rows[(rows["status"] == status.OK) & rows["median_s"].notna()]
    if drawn.empty:
        return style.no_data(title, said)
    sizes = sorted(set(rows["size"]))
    panels = list(dict.fromkeys(zip(drawn["backend"], drawn["scope"], strict=True)))
    entries: list[Entry] = [(looks[name].solid(), name) for name in names]
    with style.look():
        figure, top = style.page(
            title,
            "; ".join(machines),
            [*_how(drawn, first), *notes.trust(_named(drawn), notes.OF_TIMES), *said],
            body=BODY * len(panels) + 0.5,
            above=style.room_for(entries),
        )
        for axes, (backend, scope) in zip(
            figure.subplots(len(panels), 2, squeeze=False, sharex=True), panels, strict=True
        ):
            of_panel = drawn[(drawn["backend"] == backend) & (drawn["scope"] == scope)]
            last = (backend, scope) == panels[-1]
            _times(axes[0], of_panel, looks, sizes, last)
            _speedups(axes[1], of_panel, looks, sizes, last, first)
            heading = style.fitted(f"{backend}, {scope.replace('_', ' ')}", 3.2, style.SMALL + 1)
            axes[0].set_title(heading, loc="left", color=style.DARK)
            beside = style.fitted(f"beside {first}", 2.8, style.SMALL + 1)
            axes[1].set_title(beside, loc="left", color=style.DARK)
        style.legend(figure, top, entries)
    return figure


def _times(
    axes: Axes, rows: pd.DataFrame, looks: dict[str, Look], sizes: list[int], last: bool
) -> None:
    drawn = rows.assign(
        low=rows["low_s"],
        high=rows["high_s"],
        hollow=notes.doubted(rows, notes.OF_TIMES),
        ringed=False,
        title=hover.titles(_named(rows).assign(q1_s=float("nan"), q3_s=float("nan")), hover.time),
    )
    _size_axis(axes, sizes, last)
    low, high = ticks.limits(charts.reach(drawn, "median_s"), 10)
    ticks.value_axis(axes, low, high, style.seconds_words, "time per call")
    _lines(axes, drawn, "median_s", looks, sizes)


def _speedups(
    axes: Axes, rows: pd.DataFrame, looks: dict[str, Look], sizes: list[int], last: bool,
    first: str,
) -> None:  # fmt: skip
    """Over the first archive, whose line is the one at 1."""
    found = rows[rows["speedup"].notna()]
    drawn = found.assign(
        low=found["speedup_low"],
        high=found["speedup_high"],
        hollow=notes.doubted(found, notes.OF_TIMES),
        ringed=found["finding"].isin([NO_DIFFERENCE, MAYBE]),
        title=hover.titles(_named(found).assign(baseline=first), hover.speedup),
    )
    _size_axis(axes, sizes, last)
    reach = charts.reach(drawn, "speedup") if not drawn.empty else []
    low, high = ticks.limits([*reach, *NARROWEST], 1)
    ticks.value_axis(axes, low, high, style.times_words, "times as fast")
    axes.axhline(1, color="black", lw=1.2, zorder=1.8, label=f"as fast as {first}")
    axes.axhspan(low, 1, color="#F4F4F4", zorder=0.4, lw=0)
    _lines(axes, drawn, "speedup", looks, sizes)
    if drawn.empty:
        axes.text(0.5, 0.7, "nothing to compare", transform=axes.transAxes, color=style.GREY,
                  ha="center")  # fmt: skip


def _lines(
    axes: Axes, drawn: pd.DataFrame, column: str, looks: dict[str, Look], sizes: list[int]
) -> None:
    for place, (name, look) in enumerate(looks.items()):
        part = drawn[drawn["archive"] == name].set_index("size", drop=False)
        if not part.empty:
            beside = style.beside(axes, place, len(looks))
            charts.draw(axes, name, part.reindex(sizes), column, look.solid(), beside)


def _size_axis(axes: Axes, sizes: list[int], last: bool) -> None:
    ticks.size_axis(axes, sizes, WIDTH)
    if not last:
        axes.set_xlabel("")


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """With the archive where a chart of one machine has the backend."""
    return rows.assign(backend=rows["archive"])


def _how(drawn: pd.DataFrame, first: str) -> list[str]:
    ringed = drawn["finding"].isin([NO_DIFFERENCE, MAYBE]).any()
    lines = [
        f"Left: medians; right: how many times as fast as {first} (above 1 is faster). Bars, where "
        "longer than a point: 95 % intervals; on the right Welch's, of rounds that are no pairs."
    ]
    words = "Ringed: no difference, or one that may be chance among as many comparisons."
    return [*lines, words] if ringed else lines


def _notes(rows: pd.DataFrame, pairs: Sequence[Pair], names: Sequence[str]) -> list[str]:
    """What differs between the archives, what was not divided, and what is missing."""
    found = []
    for name in names[1:]:
        mine = [pair for pair in pairs if pair.archive == name]
        if any(pair.differs for pair in mine):
            found += [f"{name} against {names[0]}: {words}." for words in differing(mine)]
        refused = dict.fromkeys(pair.refused for pair in mine if pair.refused)
        found += [f"{name} against {names[0]}, not divided: {words}." for words in refused]
    where = rows["backend"] + " in " + rows["archive"]
    return [*found, *notes.not_shown(rows.assign(backend=where))]
