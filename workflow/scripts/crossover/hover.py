"""The words for one point, shown on hover: 'numpy, n = 1e6, compute 1.2 ms (95 %: ...), good'.

Rows are those of charts.read, with numbers in the columns that are drawn.
"""

from collections.abc import Callable, Mapping
from math import isnan
from typing import Any

import pandas as pd

from crossover import style

Row = Mapping[str, Any]


def words(backend: str, size: float, value: str, *others: str) -> str:
    """The words of one point, without signs that a chart cannot show."""
    parts = (backend, f"n = {style.size_words(size)}", value, *others)
    return style.plain(", ".join(part for part in parts if part))


def titles(rows: pd.DataFrame, of: Callable[[Row], str]) -> list[str]:
    """`of` each row, in order."""
    return [of(row) for row in records(rows)]


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Row by row, by the names of the columns."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def time(row: Row) -> str:
    """Of a point of the chart of times, in seconds, with its 95 % interval."""
    return words(row["backend"], row["size"], _time(row), _grade(row["grade"]))


def error(row: Row) -> str:
    """Of a point of the chart of accuracy: relative error and its bound, without a unit."""
    found = f"{row['dtype']} error {row['error']:.2g} (at most {row['error_bound']:.2g})"
    return words(row["backend"], row["size"], found, _time(row), _grade(row["grade"]))


def _time(row: Row) -> str:
    seconds = style.seconds_words(row["median_s"])
    if isnan(row["low_s"]):
        around = _between("middle half", row["q1_s"], row["q3_s"], style.seconds_words)
    else:
        around = _between("95 %", row["low_s"], row["high_s"], style.seconds_words)
    return f"{_scope(row)} {seconds}{around}"


def speedup(row: Row) -> str:
    """Of a point of the chart of speedups: a ratio of times, with its 95 % interval."""
    around = _between("95 %", row["speedup_low"], row["speedup_high"], times_words)
    value = f"{_scope(row)} {times_words(row['speedup'])} as fast as {row['baseline']}{around}"
    return words(row["backend"], row["size"], value, row["finding"], _grade(row["grade"]))


def rate(row: Row) -> str:
    """Of a point under the roofs: FLOP per second and FLOP per byte, from a row with `low` and
    `high`."""
    around = _between("95 %", row["low"], row["high"], style.rate_words)
    value = f"{row['workload']} {style.rate_words(row['flop_per_s'])}{around}"
    at = f"{row['flop_per_byte']:.3g} FLOP per byte"
    return words(row["backend"], row["size"], value, at, _grade(row["grade"]))


def times_words(factor: float) -> str:
    """A ratio with three digits."""
    return style.times_words(float(f"{factor:.3g}"))


def _between(what: str, low: float, high: float, say: Callable[[float], str]) -> str:
    return "" if isnan(low) or isnan(high) else f" ({what}: {say(low)} to {say(high)})"


def _scope(row: Row) -> str:
    return str(row["scope"]).replace("_", " ")


def _grade(grade: str) -> str:
    return grade.replace("_", " ")
