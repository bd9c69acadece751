"""The lines that every sweep ends with: the verdict, and what to do next.

What the verdict says is not said again: here are the reasons that it has no room for, the commands
that measure again what is not ok or trusted less, and where everything is.
"""

from collections.abc import Sequence
from pathlib import Path

from crossover import grades, trust, verdict
from crossover.rows import Row
from crossover.status import NOT_MEASURED

# What there is to look at, and what it is; in this order, as far as it is there.
PLACES = {
    "report.html": "the page",
    "regimes.md": "what kind of work",
    "plots": "charts",
    "summary.csv": "every cell",
    "break_even.csv": "from which size on",
    "reuse.csv": "how many calls pay for the transfers",
    "article.md": "the article's figures beside these",
    "use_gpu.py": "the answer to take home",
}


def lines(text: Sequence[str], rows: Sequence[Row], folder: Path, config: str = "") -> list[str]:
    """`text` is the verdict's, `config` what a make target needs to mean this config, such as
    ' CONFIG=config/quick.yaml'."""
    return [*verdict.printed(text), "", *other_reasons(rows), *cures(rows, config), where(folder)]


def other_reasons(rows: Sequence[Row]) -> list[str]:
    """The reasons of cells that are not ok for which the verdict has no room."""
    others = trust.reasons(rows)[trust.NAMED :]
    return ["Also not ok:", *(f"  {reason}" for reason in others)] if others else []


def cures(rows: Sequence[Row], config: str = "") -> list[str]:
    """The commands after which the next sweep measures again what they may cure."""
    found = {grade for row in rows for grade in grades.parts(row["grade"])}
    why: dict[str, list[str]] = {}
    if any(row["status"] != NOT_MEASURED for row in trust.failed(rows)):
        why["retry"] = ["not ok"]
    for grade in grades.MEANING:
        if grade in found and grade in grades.CURE:
            why.setdefault(grades.CURE[grade], []).append(grade)
    return [
        f"'make {target}{config}' lists and removes what is {' or '.join(kinds)}; "
        "the next sweep measures it again."
        for target, kinds in why.items()
    ]


def where(folder: Path) -> str:
    """'Results in results/: report.html (the page), ...'."""
    there = [f"{name} ({what})" for name, what in PLACES.items() if (folder / name).exists()]
    return f"Results in {folder}/: {', '.join(there)}"
