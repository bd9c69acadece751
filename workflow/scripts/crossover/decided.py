"""What `decide` wrote, as texts. Each raises what record.read does."""

from os import PathLike
from pathlib import Path

from crossover import decide, record


def break_evens(path: str | PathLike[str]) -> list[dict[str, str]]:
    """The rows of break_even.csv."""
    return _read(Path(path), decide.COLUMNS)


def reuses(path: str | PathLike[str]) -> list[dict[str, str]]:
    """The rows of reuse.csv."""
    return _read(Path(path), decide.REUSE_COLUMNS)


def _read(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    if path.read_text(encoding="utf-8") == ",".join((*columns, *record.SEALS)) + "\n":
        return []  # there was nothing to decide, which record.read takes for a file that was cut
    return record.read(path, columns)
