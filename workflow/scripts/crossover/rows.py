"""What the rows of a summary say of where they were measured, and why not; rows are texts."""

from collections.abc import Iterable, Mapping

from crossover.status import OK
from crossover.words import count, short

ON_HOST = ("", "none", "cpu")
COARSE = ("tf32", "float16", "bfloat16")  # a `precision` that is less than float32

Row = Mapping[str, str]


def cell(row: Row) -> tuple[str, ...]:
    return row["workload"], row["backend"], row["dtype"], row["size"]


def is_device(row: Row) -> bool:
    """Whether a cell was to run elsewhere than on the CPU."""
    return any(part not in ON_HOST for part in row["device"].split(" + "))


def why(row: Row) -> str:
    """'unavailable, Torch not compiled with CUDA enabled'."""
    return ", ".join(part for part in (row["status"], short(row["reason"])) if part)


def machines(rows: Iterable[Row]) -> dict[str, str]:
    """In words, by their hash."""
    found: dict[str, str] = {}
    for row in rows:
        if row["status"] == OK:
            for part in row["machine"].split(" + "):
                found.setdefault(part, where(row))
    return found


def where(row: Row) -> str:
    """CPU and usable cores."""
    cores = count(int(row["cores"]), "core") if row["cores"].isdigit() else f"{row['cores']} cores"
    return f"{short(row['cpu']) or 'unknown CPU'}, {cores}"
