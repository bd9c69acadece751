"""How often must it be called before the device pays? And what is gained then, in three ways to use
it: the data is there, it is uploaded once, it makes a round trip at every call.

The numbers of calls on the left are those of reuse.csv. The curves on the right are its seconds,
put together as in reuse.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf, isinf, isnan
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from crossover import charts, hover, notes, status, style, svg, ticks
from crossover.charts import Rows
from crossover.reuse import Reuse, reuse
from crossover.style import Entry, Look

RESIDENT, ONCE, FRESH, EACH = "there", "once", "fresh", "each"
WAYS = {  # dashes, words
    RESIDENT: ((1.2, 1.2), "data is there"),
    ONCE: ((), "uploaded once"),
    FRESH: ((4, 1.5), "once, in a fresh process"),
    EACH: ((6, 1.5, 1.2, 1.5), "round trip at each call"),
}
COLUMNS = {ONCE: "warm", FRESH: "cold"}  # of reuse.csv, that say from how many calls on it pays
FEWEST, MOST = 1e3, 1e8  # calls on the right: as far as it pays, but not farther than between these
LEAST = 0.01  # the slowest that is shown
WIDTH = 2.7  # inches, of an axis, about


def calls(summary: pd.DataFrame, workload: str, dtype: str, reuses: Rows) -> Figure:
    """k* against size, and the speedup against the number of calls at the largest size."""
    rows = charts.of_cells(charts.select(summary, workload, dtype))
    of = {"workload": workload, "dtype": dtype, "apart": ""}
    mine = [row for row in reuses if of.items() <= row.items()]
    title = f"{workload}, {dtype}: how many calls pay for the transfers"
    missing = notes.not_shown(rows)
    if not mine:
        alone = "Asked only of a device that data is brought to; none has a result here."
        return style.no_data(title, [alone, *missing])
    baseline = charts.baseline_words(summary)
    looks = style.looks(charts.backends(summary), charts.baselines(summary))
    compute = rows[(rows["scope"] == "compute") & (rows["status"] == status.OK)]
    graded = {(row["backend"], row["size"]): row["grade"] for row in hover.records(compute)}
    names = list(dict.fromkeys(row["backend"] for row in mine))
    drawn = _points(mine, graded)
    largest = max(int(row["size"]) for row in mine)
    at_largest = {row["backend"]: _reuse(row) for row in mine if int(row["size"]) == largest}
    entries: list[Entry] = [(replace(looks[name], dashes=()), name) for name in names]
    entries += [(Look(style.GREY, "", dashes), words) for dashes, words in WAYS.values()]
    devices = compute[compute["backend"].isin(names)]
    with style.look():
        figure, top = style.page(
            title,
            notes.machine(compute, baseline),
            [*_how(drawn, baseline), *notes.trust(devices, notes.OF_SPEEDUPS), *missing],
            above=style.room_for(entries),
        )
        left, right = figure.subplots(1, 2)
        left.set_title("calls that pay for it", loc="left", color=style.DARK)
        never = _call_axis(left, drawn)
        ticks.size_axis(left, sorted(set(drawn["size"])), WIDTH)
        for number, (name, way) in enumerate((name, way) for name in names for way in COLUMNS):
            part = drawn[(drawn["backend"] == name) & (drawn["way"] == way)].set_index("size")
            part = part.replace({"calls": {inf: never}, "high": {inf: never}, "low": {inf: never}})
            look = looks[name].solid() if way == ONCE else looks[name].dashed()
            beside = style.beside(left, number, len(names) * len(COLUMNS))
            charts.draw(left, f"{name} {way}", part, "calls", look, beside)
        heading = f"speedup over {baseline}, n = {style.size_words(largest)}"
        heading = style.fitted(heading, 3.4, style.SMALL + 1)
        right.set_title(heading, loc="left", color=style.DARK)
        _draw_ways(right, at_largest, looks, drawn)
        style.legend(figure, top, entries)
    return figure


# --- rows


def _points(rows: Rows, graded: Mapping[tuple[str, int], str]) -> pd.DataFrame:
    """One row for each backend, size and way; numbers of calls, infinite for never."""
    found = []
    for row in rows:
        for way, column in COLUMNS.items():
            size = int(row["size"])
            point: dict[str, Any] = {
                "backend": row["backend"],
                "size": size,
                "way": way,
                "grade": graded.get((row["backend"], size), ""),
                "calls": _number(row[column]),
                "low": _number(row[f"{column}_low"]),
                "high": _number(row[f"{column}_high"]),
            }
            found.append(point | {"title": _title(point), "ringed": False})
    drawn = pd.DataFrame(found).sort_values("size", kind="stable")
    return drawn.assign(hollow=notes.doubted(drawn, notes.OF_SPEEDUPS))


def _number(text: str) -> float:
    return float(text or "nan")


def _title(point: Mapping[str, Any]) -> str:
    calls = point["calls"]
    value = "pays never" if isinf(calls) else f"pays from {_words(calls)} calls on"
    if not isnan(point["low"]):
        value += f" (95 %: {_words(point['low'])} to {_words(point['high'])})"
    grade = point["grade"].replace("_", " ")
    return hover.words(point["backend"], point["size"], value, WAYS[point["way"]][1], grade)


def _words(calls: float) -> str:
    if isnan(calls) or isinf(calls):
        return "unknown" if isnan(calls) else "never"
    return style.size_words(float(f"{calls:.3g}"))


def _reuse(row: Mapping[str, str]) -> Reuse:
    def seconds(name: str) -> float | None:
        return float(row[name]) if row[name] else None

    return reuse(
        float(row["host_s"]),
        float(row["device_s"]),
        upload_s=seconds("upload_s"),
        download_s=seconds("download_s"),
        round_trip_s=seconds("round_trip_s"),
        first_call_s=seconds("first_call_s"),
        host_first_call_s=seconds("host_first_call_s"),
    )


def _how(drawn: pd.DataFrame, baseline: str) -> list[str]:
    lines = [
        f"Points: from so many calls on, with one upload and one download for all of them, it is "
        f"faster than {baseline}; bars: 95 % intervals, from that of the speedup of compute alone.",
        "Fresh process: the first calls of both are counted. Curves: put together from medians.",
    ]
    if len(unknown := drawn[drawn["calls"].isna()]):
        names = ", ".join(unknown["backend"].unique())
        lines.append(f"Not known everywhere: {names}; a time is missing.")
    return lines


# --- drawing


def _call_axis(axes: Axes, drawn: pd.DataFrame) -> float:
    """Logarithmic, from 1 on; over all else, where needed, a place for never, which is returned."""
    numbers = pd.concat([drawn["calls"], drawn["low"], drawn["high"]]).dropna()
    finite = numbers[numbers < inf]
    _, high = ticks.limits([1.0, *finite], 100)
    low = high**-0.06
    never = float(high * (high / low) ** 0.08)
    at = {tick: _words(tick) for tick in ticks.log_ticks(1, high) if tick == int(tick)}
    if len(finite) < len(numbers):
        at[never] = "never"
    ticks.value_axis(axes, low, max(at) * (high / low) ** 0.05, _words, "calls")
    axes.set_yticks(list(at), list(at.values()))
    return never


def _draw_ways(
    axes: Axes, found: Mapping[str, Reuse], looks: Mapping[str, Look], drawn: pd.DataFrame
) -> None:
    finite = drawn["calls"][drawn["calls"] < inf]
    most = min(max(FEWEST, 10 * finite.max() if len(finite) else 0.0), MOST)
    steps = [most ** (i / 100) for i in range(101)]
    heights = [1.0]
    for place, (name, one) in enumerate(found.items()):
        for way, speedup in _speedups(one).items():
            curve = [speedup(calls) for calls in steps]
            heights += curve
            look = replace(looks[name], dashes=WAYS[way][0])
            line = look.line(steps, curve, ms=4, lw=1.4, label=f"{name} {way}")
            line.set_markevery([94 - 5 * (place % 15)])
            value = f"{hover.times_words(curve[-1])} at {_words(most)} calls"
            axes.add_line(svg.titled(line, [style.plain(f"{name}, {WAYS[way][1]}, {value}")]))
    low, high = ticks.limits([max(height, LEAST) for height in heights], 4)
    ticks.across(axes, 1, most, _words, "calls k", 6)
    ticks.value_axis(axes, low, high, style.times_words, "")
    axes.axhline(1, color="black", lw=1.2, zorder=1.8)
    axes.axhspan(low, 1, color="#F4F4F4", zorder=0.4, lw=0)


def _speedups(one: Reuse) -> dict[str, Callable[[float], float]]:
    """Host's seconds over the device's for so many calls, in each way whose times are known."""
    first_s = one.host_first_call_s or one.host_s
    ways: dict[str, Callable[[float], float | None]] = {
        RESIDENT: lambda k: one.ways(k).resident_s,
        ONCE: lambda k: one.ways(k).once_s,
        FRESH: lambda k: one.ways(k).cold_s,
        EACH: lambda k: one.ways(k).each_s,
    }

    def over(way: str) -> Callable[[float], float]:
        def speedup(k: float) -> float:
            seconds = ways[way](k)
            host_s = first_s + (k - 1) * one.host_s if way == FRESH else k * one.host_s
            assert seconds
            return host_s / seconds

        return speedup

    return {way: over(way) for way in ways if ways[way](1) is not None}
