"""What a benchmark prints: where it ran, tables, and each bound with whether it holds."""

import os
import platform
import sys
import time
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from crossover import machine

VERSIONS = ("numpy", "torch", "snakemake", "pandas", "pyperf")


class Report:
    """Lines, shown as they come and kept for a file; remembers whether a bound failed."""

    def __init__(self, title: str) -> None:
        self.lines: list[str] = []
        self.failed: list[str] = []
        self.line(title)
        self.line(f"On {where()}")

    def line(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines.append(text)

    def table(self, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Columns as wide as their widest text; the first to the left, figures to the right."""
        texts = [list(header), *([str(value) for value in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        for row in texts:
            first, *others = zip(row, widths, strict=True)
            cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
            self.line("  ".join(cells).rstrip())

    def most(self, name: str, value: float, bound: float, unit: str = "") -> None:
        """A figure that must not be above its bound; NaN is above everything."""
        self._judge(name, value <= bound, f"{value:.3g}{unit}, at most {bound:g}{unit}")

    def least(self, name: str, value: float, bound: float, unit: str = "") -> None:
        self._judge(name, value >= bound, f"{value:.3g}{unit}, at least {bound:g}{unit}")

    def within(self, name: str, value: float, low: float, high: float) -> None:
        self._judge(name, low <= value <= high, f"{value:.4f}, within {low:g} to {high:g}")

    def _judge(self, name: str, holds: bool, words: str) -> None:
        if not holds:
            self.failed.append(name)
        self.line(f"{'holds ' if holds else 'FAILS '} {name}: {words}")

    def end(self, out: Path | None) -> int:
        """Write what was printed to `out`, where one is named; the exit status."""
        self.line(f"{len(self.failed)} bounds failed" if self.failed else "All bounds hold")
        if out:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text("\n".join([*self.lines, ""]), encoding="utf-8")
        return 1 if self.failed else 0


def where() -> str:
    """The machine, the versions, the day, and how busy the machine was before we started."""
    found = []
    for name in VERSIONS:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    versions = ", ".join([f"Python {platform.python_version()}", *found])
    load = os.getloadavg()[0]
    return f"{machine.words()}; {versions}; {time.strftime('%Y-%m-%d')}; load {load:.1f} before"


def progress(text: str) -> None:
    """What is going on, for whoever waits; no part of the report."""
    print(text, file=sys.stderr, flush=True)
