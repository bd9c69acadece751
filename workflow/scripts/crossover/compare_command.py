"""The make target `compare`: archives in, charts, a table and a text out; with a factor, a gate.

Exit status: 0, or with a factor 0 no slowdown, 1 a slowdown, 2 could not measure. Whatever goes
wrong is 2, so that no mistake of ours or of a file's is taken for a slowdown.
"""

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from math import isfinite
from pathlib import Path

from crossover import archive, chart_compare, compare, compare_text, gate, record, style
from crossover.archive import Archive
from crossover.gate import NOT_MEASURED
from crossover.spelling import number
from crossover.turn import turn
from crossover.unzip import Refused
from crossover.words import plain

FOLDER = Path("results/compare")
TABLE, TEXT, CHARTS = "compare.csv", "compare.txt", "charts"


def run(files: Sequence[str], factor: str, allow: bool, folder: Path | None) -> int:
    """`factor` is the gate's, '' where there is none. The exit status."""
    try:
        status, lines = _compared([Path(name) for name in files], factor, allow, folder or FOLDER)
    except (Refused, record.NotWritten) as error:
        status, lines = NOT_MEASURED, [plain(error)]
    except KeyboardInterrupt:
        status, lines = NOT_MEASURED, ["interrupted"]
    except Exception:  # ours: 1, as Python ends with, would be a slowdown
        traceback.print_exc()
        status, lines = NOT_MEASURED, ["This is a mistake in Crossover, not in your files"]
    try:
        print("\n".join(lines), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # whose reader has seen enough
            print(f"What was found cannot be printed: {error.strerror}", file=sys.stderr)
            return NOT_MEASURED
    return status


def _compared(paths: list[Path], factor: str, allow: bool, folder: Path) -> tuple[int, list[str]]:
    if len(paths) < 2:
        raise Refused('Name two archives or more: make compare FILES="old.zip new.zip"')
    if factor and len(paths) > 2:
        raise Refused(f"GATE={factor}: name two archives, the old one and the new one")
    limit = _factor(factor) if factor else None
    archives = dict(zip(compare.labels(paths), map(archive.read, paths), strict=True))
    _refuse_twins(archives)
    pairs = compare.pairs(archives)
    lines = compare_text.lines(archives, pairs)
    judged = gate.judge(archives, pairs, limit, allow) if limit else None
    rows = list(compare.rows(archives, pairs))
    if not rows:
        raise Refused("Nothing in these archives computes: there is nothing to compare")
    with turn(shared=True):  # not while something is measured here
        _forget(folder)
        machines = [compare_text.machine(name, one) for name, one in archives.items()]
        drawn = _draw(rows, machines, pairs, folder)
    record.write(folder / TABLE, rows, compare.COLUMNS)
    if judged:
        lines += ["", *judged.lines]
    record.replace(folder / TEXT, ("\n".join(lines) + "\n").encode())
    what = f"{TABLE} (every cell), {TEXT} (this), {CHARTS}/ ({drawn}, svg and png)"
    where = f"Written to {folder}/: {what}"
    if judged:
        return judged.status, [*lines[:-1], where, lines[-1]]  # the answer stays the last line
    return 0, [*lines, "", where]


def _refuse_twins(archives: Mapping[str, Archive]) -> None:
    """The same measurements have no difference, and a gate would pass."""
    for (one, mine), (other, theirs) in combinations(archives.items(), 2):
        if mine.rounds == theirs.rounds != {}:
            raise Refused(f"{one} and {other} are the same measurements: nothing to compare")


def _draw(
    rows: Sequence[dict[str, object]],
    machines: Sequence[str],
    pairs: Sequence[compare.Pair],
    folder: Path,
) -> int:
    """A chart for each workload and dtype; how many."""
    frame = chart_compare.frame(rows)
    charts = dict.fromkeys(zip(frame["workload"], frame["dtype"], strict=True))
    for workload, dtype in charts:
        figure = chart_compare.compared(frame, workload, dtype, machines, pairs)
        style.save(figure, *_charts(folder, workload, dtype))
    return len(charts)


def _charts(folder: Path, workload: str, dtype: str) -> list[Path]:
    return [folder / CHARTS / workload / f"{dtype}.{kind}" for kind in ("svg", "png")]


def _forget(folder: Path) -> None:
    """Remove the charts of the comparison that was there, and nothing else."""
    with suppress(FileNotFoundError, record.Damaged):
        for row in record.read(folder / TABLE, compare.COLUMNS):
            for path in _charts(folder, row["workload"], row["dtype"]):
                path.unlink(missing_ok=True)


def _factor(text: str) -> float:
    value = number(text)
    if not isinstance(value, float) or not isfinite(value) or value <= 1:
        raise Refused(f"GATE={text}: give a factor above 1, such as 1.10")
    return value
