"""What is assumed of a workload whose file does not say it, in words, by the name that would."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MEANING = {
    "cost": "how many operations it takes is not known, so there are no Gflop/s and no place on "
    "the roofline; bytes are those of the arrays that went in and came out",
    "output_shapes": "the shapes of the results are those that NumPy gives",
    "error": "right is what the same code gives with NumPy in float64 (complex128; integers as "
    "they are) on the same inputs; the error is relative to it, in the worse of two norms",
    "bound": "an answer may be off by 16 (u + sqrt(n) u'), u being the unit roundoff of the dtype "
    "and u' that of its sums, and by 0.1 at most; integers are exact",
    "DTYPES": "every dtype of the config makes sense",
    "SIZE": "n is what its inputs were made with; what it counts is not said",
}


@dataclass(frozen=True)
class Assumption:
    """What the files of these workloads do not say, and what stands for it."""

    name: str
    meaning: str
    workloads: list[str]


def of(rows: Iterable[Mapping[str, str]]) -> list[Assumption]:
    """What a summary's rows say in their column `assumed`."""
    by_name: dict[str, dict[str, None]] = {}
    for row in rows:
        for name in filter(None, row["assumed"].replace(" + ", ", ").split(", ")):
            by_name.setdefault(name, {})[row["workload"]] = None
    return [
        Assumption(name, meaning, list(by_name[name]))
        for name, meaning in MEANING.items()
        if name in by_name
    ]


def units(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """By workload, what n counts, where its file says so."""
    return {row["workload"]: row["n_is"] for row in rows if row["n_is"]}
