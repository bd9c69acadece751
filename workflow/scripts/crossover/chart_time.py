"""How long does it take? Seconds per call against size."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from crossover import charts, hover, notes, status, style, ticks
from crossover.charts import Series
from crossover.style import Entry, Look

SCOPES = ("compute", "round_trip")


def time(summary: pd.DataFrame, workload: str, dtype: str) -> Figure:
    """Median seconds per call against size, a line per backend; round trips dashed."""
    rows = charts.of_cells(charts.select(summary, workload, dtype))
    title = f"{workload}, {dtype}: time against size"
    missing = notes.not_shown(rows)
    ok = rows[rows["status"] == status.OK]
    drawn = ok[ok["scope"].isin(SCOPES)]
    if drawn.empty:
        return style.no_data(title, missing or [f"the summary has no {workload} in {dtype}"])
    drawn = drawn.assign(
        low=drawn["low_s"].fillna(drawn["q1_s"]),
        high=drawn["high_s"].fillna(drawn["q3_s"]),
        hollow=notes.doubted(drawn, notes.OF_TIMES),
        ringed=False,
        title=hover.titles(drawn, hover.time),
    )
    baseline = charts.baseline_words(summary)
    series = charts.series(drawn, "compute") | {
        (name, scope): part
        for (name, scope), part in charts.series(drawn, "round_trip").items()
        if not _same_times(part, drawn[drawn["backend"] == name])
    }
    looks = style.looks(charts.backends(summary), charts.baselines(summary))
    sizes = sorted(set(rows["size"]))
    dashed = any(scope == "round_trip" for _, scope in series)
    how = notes.times(drawn)
    if dashed:
        how += " Dashed, half filled: round trip, host arrays in and out"
        how += f" ({memory})." if (memory := notes.memory(drawn)) else "."
    entries = _slowest_first(series, looks, charts.baselines(summary))
    narrow = style.fits_beside(entries)
    with style.look():
        figure, top = style.page(
            title,
            notes.machine(ok, baseline),
            [how, *notes.contradicted(drawn), *notes.trust(drawn, notes.OF_TIMES), *missing],
            above=0 if narrow else style.room_for(entries),
        )
        axes = figure.add_subplot()
        ticks.size_axis(axes, sizes, 5.2)
        low, high = ticks.limits(charts.reach(drawn, "median_s"), 10)
        ticks.value_axis(axes, low, high, style.seconds_words, "time per call (lower is faster)")
        for (name, scope), part in series.items():
            look = looks[name].solid() if scope == "compute" else looks[name].dashed()
            label = name if scope == "compute" else f"{name} {scope}"
            beside = style.beside(axes, list(looks).index(name), len(looks))
            charts.draw(axes, label, part.reindex(sizes), "median_s", look, beside)
        style.legend(axes if narrow else figure, top, entries)
    return figure


def _same_times(round_trip: pd.DataFrame, rows: pd.DataFrame) -> bool:
    """Whether the backend is on the host, where a round trip is the computation itself."""
    compute = rows[rows["scope"] == "compute"].set_index("size")["median_s"]
    return round_trip["median_s"].equals(compute.reindex(round_trip.index))


def _slowest_first(series: Series, looks: dict[str, Look], baselines: Sequence[str]) -> list[Entry]:
    """The entries of the legend, in the order of the lines' right ends."""
    last = {name: (part.index[-1], part["median_s"].iloc[-1]) for (name, _), part in series.items()}
    names = sorted(last, key=lambda name: last[name], reverse=True)
    entries: list[Entry] = [
        (looks[name].solid(), name + (" (baseline)" if name in baselines else "")) for name in names
    ]
    if any(scope == "round_trip" for _, scope in series):
        key = Look(style.GREY, "o", ())
        entries += [(key, "compute"), (key.dashed(), "round trip")]
    return entries
