"""How near to the machine is it? Cells under the roofs that were measured through their backend.

Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52, 2009. Operations and bytes are those of roofline.py:
inputs and outputs once each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf, log10
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from crossover import charts, hover, notes, status, style, svg, ticks
from crossover.roofline import Place, Roofs
from crossover.style import Entry, Look

SCOPE = "compute"
NAME = 2.0  # inches, of a workload's name at most
STRIP = 0.2  # inches, of a row of workloads over the axes
WIDTH = 5.9  # inches, of the axes, about
ROOF: dict[str, Any] = {"lw": 1.1, "zorder": 1.6, "alpha": 0.8}
CACHE = 1.2  # faster than memory by so much, it has a roof of its own


def roofline(summary: pd.DataFrame, dtype: str, roofs: Mapping[Place, Roofs]) -> Figure:
    """FLOP/s against FLOP per byte moved, of all workloads' computations in one dtype."""
    rows = charts.of_cells(summary[summary["dtype"] == dtype])
    title = f"{dtype}: how near to the machine"
    missing = notes.by_group(rows, "workload")
    ok = rows[(rows["status"] == status.OK) & (rows["scope"] == SCOPE)]
    counted = (ok["gflop_per_s"] > 0) & (ok["gb_per_s"] > 0)
    missing += [
        f"Left out: {name}: its operations, or the bytes that it moves, are not counted"
        for name in ok[~counted]["workload"].unique()
    ]
    drawn = ok[counted]
    if drawn.empty:
        return style.no_data(title, missing or [f"the summary has nothing in {dtype}"])
    baseline = charts.baseline_words(summary)
    looks = style.looks(charts.backends(summary), charts.baselines(summary))
    flop = 1e9 * drawn["gflop_per_s"]
    drawn = drawn.assign(
        flop_per_s=flop,
        flop_per_byte=drawn["gflop_per_s"] / drawn["gb_per_s"],
        low=flop * drawn["median_s"] / drawn["high_s"],
        high=flop * drawn["median_s"] / drawn["low_s"],
        hollow=notes.doubted(drawn, notes.OF_TIMES),
        ringed=False,
    )
    drawn = drawn.assign(title=hover.titles(drawn, hover.rate))
    places = list(dict.fromkeys(zip(drawn["machine"], drawn["backend"], strict=True)))
    known = {place: roofs[place] for place in places if place in roofs}
    left, right = ticks.limits(drawn["flop_per_byte"], 30, 0.08)
    over = [roof for best in known.values() for roof in _tops(best, dtype, left, right)]
    low, high = ticks.limits([*charts.reach(drawn, "flop_per_s"), *over], 30)
    names = list(dict.fromkeys(name for _, name in places))
    entries: list[Entry] = [(looks[name], name) for name in names]
    strips = _strips(drawn, left, right)
    with style.look():
        figure, top = style.page(
            title,
            notes.machine(ok, baseline),
            [*_how(known, places, dtype), *notes.trust(drawn, notes.OF_TIMES), *missing],
            body=4.2 + STRIP * (1 + max(strips.values())),
            above=style.room_for(entries),
        )
        axes = figure.add_subplot()
        label = "operations per byte that has to be moved (FLOP per byte)"
        ticks.across(axes, left, right, lambda tick: f"{tick:g}", label)
        label = "operations per second (higher is faster)"
        ticks.value_axis(axes, low, high, style.rate_words, label)
        for (_, name), best in known.items():
            _draw_roofs(axes, name, best, dtype, looks[name], names.index(name))
        for (workload, name), part in _lines(drawn):
            beside = style.beside(axes, names.index(name), len(names))
            at = None
            if part.index.max() < part.index.min() * 1.01:  # one above the other at every size
                beside = at = style.beside(axes, names.index(name), len(names), 8 * len(names))
            label = f"{workload}, {name}"
            charts.draw(axes, label, part, "flop_per_s", looks[name].solid(), beside, at)
        _name_workloads(axes, drawn, strips)
        style.legend(figure, top, entries)
    return figure


# --- rows


def _lines(drawn: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """A line from size to size for each workload and backend."""
    for workload in drawn["workload"].unique():
        rows = drawn[drawn["workload"] == workload]
        for (name, _), part in charts.series(rows, SCOPE).items():
            yield (workload, name), part.set_index("flop_per_byte")


def _how(known: Mapping[Place, Roofs], places: list[Place], dtype: str) -> list[str]:
    lines = [
        "Points of one workload and backend are joined from size to size; where they are one above "
        "another, backends stand side by side."
    ]
    if known:
        lines.append(
            "Roofs, each with a small mark of its backend: the best that was measured through it; "
            "rising what memory allows (dotted: caches), flat what arithmetic does."
        )
    without = {name for place, name in places if (place, name) not in known}
    flat = {name for (_, name), best in known.items() if best.arithmetic(dtype) == inf}
    for names, what in ((without, "roof"), (flat - without, "roof of arithmetic")):
        if names:
            lines.append(f"No {what} is known of {', '.join(sorted(names))}.")
    return lines


# --- roofs


def _slopes(best: Roofs) -> list[float]:
    """Bytes per second of the memory, and of the caches where they are faster."""
    if not best.memory:
        return []
    memory, fastest = best.bandwidth(inf), max(best.memory.values())
    return [memory, fastest] if fastest > CACHE * memory else [memory]


def _tops(best: Roofs, dtype: str, left: float, right: float) -> list[float]:
    """What the axis has to hold of the roofs: their height where they end."""
    flat = best.arithmetic(dtype)
    heights = [min(slope * x, flat) for slope in _slopes(best) for x in (left, right)]
    return [*heights, flat] if flat < inf else heights


def _draw_roofs(axes: Axes, name: str, best: Roofs, dtype: str, look: Look, place: int) -> None:
    """Each with a small mark near its end that says whose it is, by its shape too."""
    left, right = axes.get_xlim()
    inside = (right / left) ** (0.02 + 0.035 * place)
    flat, slopes = best.arithmetic(dtype), _slopes(best)
    kinds = ("memory", ()), ("caches", (1.2, 1.6))
    for slope, (kind, dashes) in zip(slopes, kinds, strict=False):
        ridge, at = min(flat / slope, right), left * inside
        line = replace(look, dashes=dashes).line(
            (left, ridge), (slope * left, slope * ridge), marker="", **ROOF, label=f"{name} {kind}"
        )
        axes.add_line(line)
        if at < ridge:
            _mark(axes, at, slope * at, look, f"{name}, {kind}: {slope / 1e9:,.3g} GB/s")
    if flat < inf:
        start, at = min(flat / max(slopes), right) if slopes else left, right / inside
        axes.add_line(
            look.solid().line((start, right), (flat, flat), marker="", **ROOF,
                              label=f"{name} arithmetic")
        )  # fmt: skip
        if at > start:
            _mark(axes, at, flat, look, f"{name}, arithmetic: {style.rate_words(flat)}")


def _mark(axes: Axes, x: float, y: float, look: Look, words: str) -> None:
    mark = look.line([x], [y], ls="", ms=4, zorder=1.7, label=f"{words} roof")
    axes.add_line(svg.titled(mark, [style.plain(f"{words}, the best that was measured")]))


# --- workloads


def _strips(drawn: pd.DataFrame, left: float, right: float) -> dict[str, int]:
    """The row of each workload's name over the axes: the lowest one where it has room."""

    def at(x: float) -> float:
        return WIDTH * log10(x / left) / log10(right / left)

    taken: list[tuple[int, float, float]] = []
    found: dict[str, int] = {}
    for workload in drawn["workload"].unique():
        x = drawn[drawn["workload"] == workload]["flop_per_byte"]
        half = style.width_of(_short(workload), style.NOTE) / 2
        middle = (at(x.min()) + at(x.max())) / 2
        start, stop = min(at(x.min()), middle - half) - 0.1, max(at(x.max()), middle + half) + 0.1
        busy = {row for row, low, high in taken if low < stop and start < high}
        row = next(row for row in range(len(taken) + 1) if row not in busy)
        taken.append((row, start, stop))
        found[workload] = row
    return found


def _short(workload: str) -> str:
    return style.fitted(workload, NAME, style.NOTE)


def _name_workloads(axes: Axes, drawn: pd.DataFrame, strips: Mapping[str, int]) -> None:
    """Over the axes, each with a line as wide as its cells reach."""
    for workload, row in strips.items():
        x = drawn[drawn["workload"] == workload]["flop_per_byte"]
        ends, up = (x.min(), x.max()), 4 + 72 * STRIP * row
        shift = ScaledTranslation(0, up / 72, axes.figure.dpi_scale_trans)
        axes.add_line(
            Line2D(ends, (1, 1), color=style.GREY, lw=1.4, marker="|", ms=5, clip_on=False,
                   transform=axes.get_xaxis_transform() + shift, label=f"{workload} reach")
        )  # fmt: skip
        middle = (ends[0] * ends[1]) ** 0.5
        axes.annotate(
            _short(workload), (middle, 1), (0, up + 2), ha="center", va="bottom",
            xycoords=axes.get_xaxis_transform(), textcoords="offset points", size=style.NOTE,
            color=style.DARK, annotation_clip=False,
        )  # fmt: skip
