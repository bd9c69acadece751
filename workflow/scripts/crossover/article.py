"""article.csv: the figures of the article that started this, beside the same ones measured here.

Where the article did not compare like with like, its way stands first, with what was different, and
the like-for-like figures stand below it. A figure that was not measured here is empty and says why.
Rows are those of summary.csv, as texts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover import words
from crossover.cells import END_TO_END, Cell
from crossover.intervals import FASTER, NO_DIFFERENCE
from crossover.rows import Row, is_device, why
from crossover.status import OK

ADD, MATMUL, POLAR = ("add", 300_000_000), ("matmul", 10_000), ("polar", 100_000_000)
SINGLE, DOUBLE = "float32", "float64"
CELLS = {(*ADD, DOUBLE), (*MATMUL, SINGLE), (*POLAR, SINGLE), (*POLAR, DOUBLE)}
NUMPY, TORCH, GPU = "NumPy", "torch on the CPU", "torch on the GPU"
ITS_GPU = "RTX 4070 Ti"

COLUMNS = (
    *("workload", "size", "what", "backend", "dtype", "scope", "like_for_like"),
    *("article_s", "article_ratio", "ours_s", "ours_min_s"),
    *("ours_ratio", "ours_ratio_low", "ours_ratio_high", "finding"),
    *("note", "reason"),
)

BEST = "the best of several calls: our best is its like, not our median"
MADE_THERE = "its data was made on the device: nothing was transferred"
OF_TWO = "over 0.1285 s, the faster of its two figures of NumPy; 0.1335 s make it {} times"
PRINTED = "printing was inside its clock; ours covers the product alone"
MIXED = "its NumPy computed in float64, its torch in float32"
BOTH_WAYS = "from host arrays to host arrays, transfers included"
DRAWN = "from host arrays to the picture; drawn by a raster of all points, its by one line"


@dataclass(frozen=True)
class Figure:
    """A figure of the article (seconds, or times as fast as NumPy), or its like-for-like.

    `over` is the dtype of the NumPy that the ratio is over, '' where there is none.
    """

    cell: tuple[str, int]
    what: str
    who: str
    dtype: str
    scope: str = "compute"
    over: str = ""
    like: bool = True
    article_s: float | None = None
    article_ratio: float | None = None
    note: str = ""


FIGURES = (
    Figure(ADD, "a += 1", NUMPY, DOUBLE, article_s=0.1335, note=BEST),
    Figure(ADD, "a += 1, its other figure", NUMPY, DOUBLE, article_s=0.1285, note=BEST),
    *(
        Figure(ADD, "a += 1", who, DOUBLE, over=DOUBLE, like=who == TORCH, article_s=seconds,
               article_ratio=round(0.1285 / seconds, 3),
               note="; ".join([*more, OF_TWO.format(round(0.1335 / seconds, 3))]))
        for who, seconds, more in ((TORCH, 0.1018, []), (GPU, 0.0113, [MADE_THERE]))
    ),
    Figure(ADD, "a += 1, both ways", GPU, DOUBLE, "round_trip", over=DOUBLE, note=BOTH_WAYS),
    Figure(MATMUL, "C = A B", NUMPY, SINGLE, like=False, article_s=1.4451, note=PRINTED),
    Figure(MATMUL, "C = A B", GPU, SINGLE, over=SINGLE, like=False, article_s=0.0708,
           article_ratio=round(1.4451 / 0.0708, 3), note=f"{PRINTED}; {MADE_THERE}"),
    Figure(MATMUL, "C = A B, both ways", GPU, SINGLE, "round_trip", over=SINGLE, note=BOTH_WAYS),
    Figure(POLAR, "the calculation", GPU, SINGLE, over=DOUBLE, like=False, article_ratio=10.0,
           note=f"about 10 times; {MIXED}"),
    Figure(POLAR, "of that, NumPy in float32 over NumPy in float64", NUMPY, SINGLE, over=DOUBLE,
           note="what the change of dtype gives without torch and without a GPU"),
    *(
        Figure(POLAR, f"the calculation{more}, {dtype} on both sides", GPU, dtype, scope,
               over=dtype, note=note)
        for scope, more, note in (("compute", "", ""), ("round_trip", ", both ways", BOTH_WAYS))
        for dtype in (SINGLE, DOUBLE)
    ),
    Figure(POLAR, "the total", GPU, SINGLE, END_TO_END, over=DOUBLE, like=False,
           article_ratio=round(1 / 0.6, 3), note=f"about 40 % off; {MIXED}; {DRAWN}"),
    *(
        Figure(POLAR, f"the total, {dtype} on both sides", GPU, dtype, END_TO_END, over=dtype,
               note=DRAWN)
        for dtype in (SINGLE, DOUBLE)
    ),
)  # fmt: skip


def wanted(cells: Iterable[Cell]) -> bool:
    """Whether there is something to stand beside the article's figures."""
    return any((cell.workload, cell.size, cell.dtype) in CELLS for cell in cells)


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows of article.csv: those of the article's cells that the sweep has."""
    there = {(row["workload"], int(row["size"])) for row in rows}
    return [
        found
        for figure in FIGURES
        if figure.cell in there
        for found in _beside(figure, [row for row in rows if _cell(row) == figure.cell])
    ]


def markdown(table: Sequence[Mapping[str, Any]]) -> str:
    """The same to read: `table` is of article.csv, as `table` makes it or as texts."""
    text = [
        f"The article's figures (on its own machine, GPU {ITS_GPU}) beside those measured here. A",
        "ratio is over NumPy: above 1 is faster. Where its comparison was not like for like, the",
        "rows below it are. Ours are medians, with the best behind them and the ratio's 95 %",
        "interval in brackets, where there is one.",
        "",
        "| | backend | the article | here | like for like | |",
        "|---|---|---|---|---|---|",
    ]
    for row in table:
        name = f"{row['workload']} {int(row['size']):.0e}".replace("e+0", "e")
        cells = (
            f"{name}, {row['dtype']}: {row['what']}",
            row["backend"],
            _figures(row["article_s"], row["article_ratio"]),
            _ours(row) or f"not measured: {row['reason']}",
            row["like_for_like"],
            row["note"],
        )
        text.append(f"| {' | '.join(words.markdown(words.plain(cell)) for cell in cells)} |")
    return "\n".join(text) + "\n"


def _cell(row: Row) -> tuple[str, int]:
    return row["workload"], int(row["size"])


def _beside(figure: Figure, rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """A row for each backend of that kind: one for NumPy and torch, and every GPU."""
    names = _backends(figure.who, rows)
    for name in (names if figure.who == GPU else names[:1]) or [""]:
        found, reason = _measured(figure, name, rows)
        workload, size = figure.cell
        yield dict.fromkeys(COLUMNS, "") | {
            "workload": workload,
            "size": size,
            "what": figure.what,
            "backend": name or figure.who,
            "dtype": figure.dtype,
            "scope": figure.scope,
            "like_for_like": "yes" if figure.like else "no",
            "article_s": "" if figure.article_s is None else figure.article_s,
            "article_ratio": "" if figure.article_ratio is None else figure.article_ratio,
            "note": figure.note,
            **found,
            "reason": reason,
        }


def _backends(who: str, rows: Sequence[Row]) -> list[str]:
    """Those of one kind: the baseline and ordinary settings first."""

    def order(row: Row) -> tuple[bool, ...]:
        ordinary = row["memory"] in ("", "fresh"), row["threads_requested"] in ("", "all")
        return (row["backend"] != row["baseline"], *(not one for one in ordinary))

    library = "numpy" if who == NUMPY else "torch"
    mine = [
        row
        for row in sorted(rows, key=order)
        if row["scope"] not in ("render", "first_call")
        and is_device(row) == (who == GPU)
        and (who == GPU or library in row["library"].split(" + "))
    ]
    return list(dict.fromkeys(row["backend"] for row in mine))


def _measured(figure: Figure, name: str, rows: Sequence[Row]) -> tuple[dict[str, float | str], str]:
    """Ours, as far as it is there, and why not."""
    mine = _row(rows, name, figure.dtype, figure.scope)
    if mine is None:
        return {}, _why(figure.who, name, figure.dtype, rows)
    found: dict[str, float | str] = {"ours_s": float(mine["median_s"])}
    if mine["min_s"]:
        found["ours_min_s"] = float(mine["min_s"])
    if not figure.over:
        return found, ""
    numpy = (_backends(NUMPY, rows) or [""])[0]
    if figure.over == figure.dtype and numpy == mine["baseline"] and mine["speedup"]:
        found["ours_ratio"] = float(mine["speedup"])
        if mine["finding"]:
            found["ours_ratio_low"] = float(mine["speedup_low"])
            found["ours_ratio_high"] = float(mine["speedup_high"])
            found["finding"] = mine["finding"]
        return found, ""
    theirs = _row(rows, numpy, figure.over, figure.scope)
    if theirs is None:
        return found, f"no ratio: {_why(NUMPY, numpy, figure.over, rows)}"
    if theirs["machine"] != mine["machine"]:
        return found, "no ratio: the times are of several machines"
    return found | {"ours_ratio": float(theirs["median_s"]) / float(mine["median_s"])}, ""


def _row(rows: Iterable[Row], name: str, dtype: str, scope: str) -> Row | None:
    for row in rows:
        if (row["backend"], row["dtype"], row["scope"], row["status"]) == (name, dtype, scope, OK):
            return row
    return None


def _why(who: str, name: str, dtype: str, rows: Iterable[Row]) -> str:
    """Why there is no such time."""
    if not name:
        return f"this sweep has no {who}"
    own = [row for row in rows if (row["backend"], row["dtype"]) == (name, dtype)]
    if not own:
        return f"{dtype} is not in this sweep"
    failed = next((row for row in own if row["status"] != OK), None)
    return f"{name}: {why(failed)}" if failed else "not drawn, or not in the same rounds"


def _figures(seconds: Any, ratio: Any) -> str:
    """'0.0113 s, 11.4x'."""
    parts = [f"{float(seconds):.4g} s"] if seconds != "" else []
    return ", ".join([*parts, *([words.times(float(ratio))] if ratio != "" else [])])


def _ours(row: Mapping[str, Any]) -> str:
    """'0.0113 s (best 0.011 s), 11.4x (11 to 12)', as far as it was measured."""
    if row["ours_s"] == "":
        return ""
    parts = [_figures(row["ours_s"], "")]
    if row["ours_min_s"] != "":
        parts[0] += f" (best {_figures(row['ours_min_s'], '')})"
    if row["ours_ratio"] != "":
        ratio = _figures("", row["ours_ratio"])
        if row["finding"]:
            low, high = (words.times(float(row[f"ours_ratio_{end}"])) for end in ("low", "high"))
            ratio += f" ({low} to {high})"
        parts.append(f"{NO_DIFFERENCE}, {ratio}" if row["finding"] == NO_DIFFERENCE else ratio)
        if row["scope"] == END_TO_END and row["finding"] in ("", FASTER):
            parts.append(f"{words.percent(1 - 1 / float(row['ours_ratio']))} off")
    if row["reason"]:
        parts.append(row["reason"])
    return ", ".join(parts)
