"""From which size on is it faster, and by how much? Speedup over the baseline against size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from crossover import break_even, charts, hover, notes, status, style, svg, ticks
from crossover.cells import END_TO_END
from crossover.charts import Rows
from crossover.decide import BEST_CPU
from crossover.style import Look

PANELS = {
    "compute": "compute: data already where it is needed",
    "round_trip": "round trip: host arrays in and out",
    END_TO_END: "end to end: round trip and drawing the picture",
}
PANEL_WIDTH = {2: 2.9, 3: 1.85}  # inches, by the number of panels
STEP = 9.0  # points between two marks at one place of the line at 1
LEVELS = [sign * step for step in range(200) for sign in (1, -1)]


@dataclass(frozen=True)
class Mark:
    """Where a backend's curve crosses 1: n* and its 95 % interval."""

    backend: str
    scope: str
    size: float
    low: float
    high: float
    words: str  # the whole answer


def speedup(summary: pd.DataFrame, workload: str, dtype: str, break_evens: Rows = ()) -> Figure:
    """Speedup over the baseline against size, a panel for each scope, a line at 1, and on it the
    break-even sizes (`break_evens`: the rows of break_even.csv)."""
    rows = charts.of_cells(charts.select(summary, workload, dtype))
    baseline = charts.baseline_words(summary)
    title = f"{workload}, {dtype}: speedup over {baseline}"
    ok = rows[(rows["status"] == status.OK) & rows["scope"].isin(list(PANELS))]
    others = ok[ok["backend"] != ok["baseline"]]
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
        title=hover.titles(drawn, hover.speedup),
    )
    looks = style.looks(charts.backends(summary), charts.baselines(summary))
    sizes = sorted(set(rows["size"]))
    series = {
        scope: {name: part for (name, _), part in charts.series(drawn, scope).items()}
        for scope in PANELS
    }
    shown = [scope for scope in PANELS if series[scope] or scope != END_TO_END]
    last = {
        name: part["speedup"].iloc[-1]
        for scope in reversed(shown)
        for name, part in series[scope].items()
    }
    of = {"workload": workload, "dtype": dtype, "apart": ""}
    mine = [row for row in break_evens if of.items() <= row.items()]
    marks = {scope: list(_marks(mine, scope, series[scope])) for scope in shown}
    over = dict(zip(drawn["backend"], drawn["baseline"], strict=True))
    several = len(set(over.values())) > 1
    entries = [
        (looks[name], f"{name} over {over[name]}" if several else name)
        for name in sorted(last, key=lambda name: -last[name])
    ]
    low, high = ticks.limits([*charts.reach(drawn, "speedup"), 0.5, 2.0], 4)
    # room for the words at the line, whichever side of it the points are on
    edge = (high / low) ** 0.17
    low, high = min(low, 1 / edge), max(high, edge)
    with style.look():
        how = [*_break_even_words(marks), *notes.speedups(drawn, baseline)]
        how += notes.contradicted(ok)
        figure, top = style.page(
            title,
            notes.machine(ok, baseline),
            [*how, *notes.trust(drawn, notes.OF_SPEEDUPS), *missing],
            above=style.room_for(entries),
        )
        width = PANEL_WIDTH[len(shown)]
        panels = figure.subplots(1, len(shown), sharey=True)
        for axes, scope in zip(panels, shown, strict=True):
            heading = style.wrap(PANELS[scope], width + 0.15, style.SMALL + 1)
            axes.set_title("\n".join(heading), loc="left", color=style.DARK)
            ticks.size_axis(axes, sizes, width)
            ticks.value_axis(axes, low, high, style.times_words, "")
            axes.axhline(1, color="black", lw=1.2, zorder=1.8, label=f"as fast as {baseline}")
            axes.axhspan(low, 1, color="#F4F4F4", zorder=0.4, lw=0)
            for name, part in series[scope].items():
                beside = style.beside(axes, list(last).index(name), len(last))
                charts.draw(axes, name, part.reindex(sizes), "speedup", looks[name], beside)
            _draw_marks(axes, marks[scope], looks)
            if not series[scope]:
                axes.text(
                    0.5, 0.7, "no data", transform=axes.transAxes, color=style.GREY, ha="center"
                )
        label = style.wrap(f"speedup over {baseline}", 3.0, style.SMALL)
        panels[0].set_ylabel("\n".join(label))
        _words_at_line(panels[-1], baseline)
        style.legend(figure, top, entries)
    return figure


# --- break-even


def _marks(rows: Rows, scope: str, drawn: Mapping[str, pd.DataFrame]) -> Iterator[Mark]:
    """The crossings of the backends that have a line in this panel, over their baselines."""
    found = {(row["backend"], row["scope"]): row for row in rows if row["against"] != BEST_CPU}
    for name in drawn:
        row = found.get((name, scope))
        if row is None and scope == "round_trip":  # on a host the two are the same
            row = found.get((name, "compute"))
        answer = break_even.of_row(row) if row else None
        if answer is None:
            continue
        for size, low, high in (
            (answer.size, answer.low, answer.high),
            (answer.until, answer.until_low, answer.until_high),
        ):
            # other kinds than a crossing lack one of the three
            if size is not None and low is not None and high is not None:
                yield Mark(name, scope, size, low, high, answer.words())


def _draw_marks(axes: Axes, marks: Sequence[Mark], looks: Mapping[str, Look]) -> None:
    """On the line at 1, or where another one is there a little above or below it."""
    edges = axes.get_xlim()
    apart = (edges[1] / edges[0]) ** (1 / 15)  # as wide as a mark is at least
    taken: list[tuple[int, Mark]] = []
    for mark in marks:
        busy = {
            level
            for level, other in taken
            if mark.low < other.high * apart and other.low < mark.high * apart
        }
        level = next(level for level in LEVELS if level not in busy)
        taken.append((level, mark))
        shift = STEP * level / 72
        at = axes.transData + ScaledTranslation(0, shift, axes.figure.dpi_scale_trans)
        look, ends = looks[mark.backend], (mark.low, mark.high)
        label = f"{mark.backend} break-even"
        axes.add_line(
            Line2D(ends, (1, 1), color=look.colour, lw=3, marker="|", ms=9, mew=1.6, zorder=3.4,
                   transform=at, label=f"{label} interval", solid_capstyle="butt")
        )  # fmt: skip
        point = look.line((mark.size,), (1,), ls="", mec="black", ms=7, zorder=3.5, label=label)
        point.set_transform(at)
        title = hover.words(
            mark.backend,
            _rounded(mark.size),
            f"break-even (95 %: {_interval(mark)})",
            mark.scope.replace("_", " "),
            mark.words,
        )
        axes.add_line(svg.titled(point, [title]))


def _break_even_words(marks: Mapping[str, Sequence[Mark]]) -> list[str]:
    """'a n = 61,000 (50,000 to 83,000; compute, round trip)', equal ones of scopes together."""
    found: dict[tuple[str, float, str], list[str]] = {}
    for mark in (mark for of_scope in marks.values() for mark in of_scope):
        key = mark.backend, _rounded(mark.size), _interval(mark)
        found.setdefault(key, []).append(mark.scope.replace("_", " "))
    each = [
        f"{name} n = {style.size_words(size)} ({interval}; {', '.join(scopes)})"
        for (name, size, interval), scopes in found.items()
    ]
    words = "Break-even, on the line at 1 with its 95 % interval"
    return [f"{words}: {'; '.join(each)}."] if each else []


def _interval(mark: Mark) -> str:
    low, high = (style.size_words(_rounded(size)) for size in (mark.low, mark.high))
    return f"{low} to {high}"


def _rounded(size: float) -> float:
    """A measured size exactly, another one with three digits."""
    return size if size == int(size) else float(f"{size:.3g}")


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
