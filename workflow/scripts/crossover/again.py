"""What the next sweep is to measure again when asked, and why: files to remove, by path.

`retry` is for what another try may cure: what is not ok, or not good. `fresh` is for rounds that
may be good, but were not measured next to their baseline's.
"""

from collections.abc import Sequence
from pathlib import Path

from crossover import grades, outcomes, record, table
from crossover.cells import Ceiling, Cell, ceilings_of, probe_json
from crossover.config import Config
from crossover.interference import disturbed
from crossover.status import ERROR, OK, UNAVAILABLE


def retry(config: Config) -> dict[Path, str]:
    """The probes, ceilings and rounds that are not ok, or are graded with what a retry may cure."""
    found: dict[Path, str] = {}
    for name in config.backends:
        path = probe_json(name)
        if path.exists() and (why := why_not_available(path)):
            found[path] = why
    for cell in [*config.cells(), *config.pictures()]:
        for number in range(1, config.rounds + 1):
            if cell.csv(number).exists() and (why := _why_not_good(cell, number)):
                found |= _round(cell, number, why)
    for ceiling in ceilings_of(config.cells()):
        for number in range(1, config.rounds + 1):
            if why := _why_no_roof(ceiling, number):
                found[ceiling.csv(number)] = why
    return found | _found_in_summary(config, found)


def fresh(config: Config) -> dict[Path, str]:
    """Both sides of the rounds that are no pair. Where the baseline's is measured again, the other
    backends' of that round are too: they would have lost their partner."""
    found: dict[Path, str] = {}
    for group in outcomes.compared(config.cells(), config.rounds, partial=True):
        by_baseline: dict[str, list[outcomes.Outcome]] = {}
        for one in group:
            if one.status == OK:
                own = config.baselines.get(one.cell.backend, config.baseline)
                by_baseline.setdefault(own, []).append(one)
        for name, ok in by_baseline.items():
            if baseline := next((one for one in ok if one.cell.backend == name), None):
                found |= _no_pairs(baseline, ok)
    return found


def _no_pairs(baseline: outcomes.Outcome, ok: Sequence[outcomes.Outcome]) -> dict[Path, str]:
    found: dict[Path, str] = {}
    apart = {one.cell: outcomes.unpaired(one, baseline) for one in ok}
    for number in sorted({number for numbers in apart.values() for number in numbers}):
        for one in ok:
            if number in apart[one.cell]:
                why = grades.NOT_PAIRED
            elif one is baseline:
                why = "its partner was measured apart"
            else:
                why = "its baseline is measured again"
            if number in one.rounds:
                found |= _round(one.cell, number, why)
    return found


def why_not_available(path: Path) -> str:
    """What a probe says against its backend, '' where that is there."""
    try:
        probe = record.read_json(path)
    except record.Damaged as error:
        return str(error)
    return "" if probe["available"] else f"{probe.get('status', UNAVAILABLE)} ({probe['reason']})"


def _why_not_good(cell: Cell, number: int) -> str:
    outcome = outcomes.outcome_of(cell, number, first=number)
    if outcome.status != OK:
        return f"{outcome.status} ({outcome.reason})"
    round = outcome.rounds[number]
    return " + ".join(grades.parts(grades.joined(round.grades(*round.scopes))))


def _why_no_roof(ceiling: Ceiling, number: int) -> str:
    try:
        rows = record.read(
            ceiling.csv(number), backend=ceiling.backend, dtype=ceiling.dtype, round=number
        )
    except FileNotFoundError:
        return ""
    except record.Damaged as error:
        return str(error)
    if rows[0]["status"] != OK:
        return f"{rows[0]['status']} ({rows[0]['reason']})"
    return grades.DISTURBED if all(disturbed(row) for row in rows) else ""


def _found_in_summary(config: Config, known: dict[Path, str]) -> dict[Path, str]:
    """What only a look at all rounds of all cells tells: a cell that is faster than the machine.
    A round that is newer than the summary was measured again already."""
    path = config.folder / "summary.csv"
    try:
        rows = table.read(path)
    except FileNotFoundError:
        return {}
    except record.Damaged:
        return {path: "was cut or edited, and is made again"}
    above = {
        (row["workload"], row["backend"], row["dtype"], row["size"]): row
        for row in rows
        if row["status"] == ERROR or grades.ABOVE_CEILING in grades.parts(row["grade"])
    }
    found: dict[Path, str] = {}
    for cell in config.cells():
        row = above.get((cell.workload, cell.backend, cell.dtype, str(cell.size)))
        rounds = range(1, config.rounds + 1)
        if row is None or any(cell.csv(number) in known for number in rounds):
            continue
        why = row["grade"] if row["status"] == OK else f"{ERROR} ({row['reason']})"
        for number in rounds:
            if _older(cell.csv(number), path):
                found |= _round(cell, number, why)
            # It may also be the roof that was measured too low.
            if _older(roof := Ceiling(cell.backend, cell.dtype).csv(number), path):
                found[roof] = "a cell is above it"
    return found


def _older(file: Path, summary: Path) -> bool:
    return file.exists() and file.stat().st_mtime <= summary.stat().st_mtime


def _round(cell: Cell, number: int, why: str) -> dict[Path, str]:
    """The files of one round."""
    files = {cell.csv(number): why}
    if number == 1 and cell.array.exists():
        files[cell.array] = "its table is removed"
    return files
