"""Is the new sweep slower than the old one by more than a factor? For machines that decide on it.

A slowdown counts where the whole 95 % interval of new over old is beyond the factor, and there is
none where it is below in every cell; anything between is too noisy to say. With a factor of 1.10
each equal cell is called slower in far less than the 2.5 % that its interval alone would allow,
since chance has to cross the factor as well: `benchmarks/comparing.py` simulates whole sweeps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crossover.archive import Archive
from crossover.cells import Cell
from crossover.compare import Pair, Side, sides
from crossover.rows import why
from crossover.status import OK
from crossover.words import count, listed, plain, times

NO_SLOWDOWN, SLOWDOWN, NOT_MEASURED = 0, 1, 2  # exit statuses
MOST_LINES = 10


@dataclass(frozen=True)
class Judged:
    """The exit status, and what is said for it."""

    status: int
    lines: Sequence[str]


def judge(
    archives: Mapping[str, Archive], pairs: Sequence[Pair], factor: float, allow: bool
) -> Judged:
    """`archives` are the old and the new one, `pairs` what they have in common; with `allow`, other
    code and settings are no reason to refuse."""
    if not pairs:
        return Judged(NOT_MEASURED, ["Gate: could not measure: no cell is ok in both"])
    if not allow and (differing := [pair for pair in pairs if pair.differs]):
        what = list(dict.fromkeys(words for pair in differing for words in pair.differs))
        return Judged(
            NOT_MEASURED,
            [
                f"Gate: could not measure: {len(differing)} of {_comparisons(len(pairs))} are "
                f"of other code or settings: {plain(listed(what))}; ALLOW=1 compares them all the "
                "same"
            ],
        )
    slow = [pair for pair in pairs if _longer(pair)[0] > factor]
    unsure = [pair for pair in pairs if _longer(pair)[0] <= factor < _longer(pair)[1]]
    refused = [pair for pair in unsure if pair.refused]
    noisy = [pair for pair in unsure if not pair.refused]
    broken = _broken(archives)
    lines = _lines(f"Slower by more than {times(factor)}:", [_words(pair) for pair in slow])
    lines += _lines("Failed, and were ok before:", broken)
    lines += _lines("Not divided:", [_words(pair) for pair in refused])
    lines += _lines(
        f"Too noisy to exclude {times(factor)} (more rounds make it narrower):",
        [_words(pair) for pair in noisy],
    )
    if slow:
        said = f"{len(slow)} of {_comparisons(len(pairs))} slower than {times(factor)}"
        return Judged(SLOWDOWN, [*lines, f"Gate: a slowdown: {said}"])
    if unsure or broken:
        said = f"{len(noisy)} of {_comparisons(len(pairs))} too noisy, {len(broken)} failed"
        said += f", {len(refused)} not divided" if refused else ""
        return Judged(NOT_MEASURED, [*lines, f"Gate: could not measure: {said}"])
    said = f"none of {_comparisons(len(pairs))} takes more than {times(factor)} as long"
    if gone := _gone(archives):
        said += f"; {count(gone, 'cell')} that the old one has ok, the new one does not have"
    return Judged(NO_SLOWDOWN, [f"Gate: no slowdown: {said}"])


def _longer(pair: Pair) -> tuple[float, float]:
    """The ends of the interval of new over old; without an interval it may be anything."""
    if pair.difference is None:
        return 0.0, float("inf")
    return 1 / pair.difference.speedup.high, 1 / pair.difference.speedup.low


def _words(pair: Pair) -> str:
    name = f"{_name(pair.cell)}, {pair.scope.replace('_', ' ')}"
    doubt = "" if pair.ours.row["grade"] == "good" else f" ({plain(pair.ours.row['grade'])})"
    if pair.refused:
        return f"{name}: {pair.refused}"
    if pair.difference is None:
        return f"{name}: one round has no interval"
    low, high = _longer(pair)
    ratio = times(1 / pair.difference.speedup.point)
    return f"{name}: {ratio} as long ({times(low)} to {times(high)}){doubt}"


def _broken(archives: Mapping[str, Archive]) -> list[str]:
    """Cells that were ok in the old one and failed in the new one."""
    old, new = (_cells(archive) for archive in archives.values())
    return [
        f"{_name(cell)}: {why(side.row)}"
        for cell, side in new.items()
        if side.row["status"] != OK and cell in old and old[cell].row["status"] == OK
    ]


def _gone(archives: Mapping[str, Archive]) -> int:
    """How many cells were ok in the old one and are not in the new one's config."""
    old, new = (_cells(archive) for archive in archives.values())
    return sum(side.row["status"] == OK for cell, side in old.items() if cell not in new)


def _cells(archive: Archive) -> dict[Cell, Side]:
    return {cell: side for (cell, scope), side in sides(archive).items() if scope == cell.scope}


def _name(cell: Cell) -> str:
    return f"{cell.workload}, {cell.backend}, {cell.dtype}, n={cell.size:,}"


def _comparisons(number: int) -> str:
    return count(number, "comparison")


def _lines(title: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    more = len(items) - MOST_LINES
    rest = [f"  and {more} more, see compare.csv"] if more > 0 else []
    return [title, *(f"  {item}" for item in items[:MOST_LINES]), *rest]
