"""Numbers and names as words, and words as markdown: for the verdict and the article's table."""

import re
from collections.abc import Sequence

from crossover.intervals import FASTER, NO_DIFFERENCE, SLOWER

LONGEST = 120  # characters of a reason
# In the middle of a word an underscore means nothing in markdown: torch_cpu stays as it is.
SPECIAL = re.compile(r"[\\`*\[\]<>#|$~&]|(?<![^\W_])_|_(?![^\W_])")
START = re.compile(r"^(\d*)([.)+-])(?=\s|$)")  # of a list within a line


def times(ratio: float) -> str:
    """2.19x, 12,345x: three digits."""
    return f"{ratio:.3g}x" if ratio < 100 else f"{ratio:,.0f}x"


def speedup(finding: str, point: float, low: float = 0, high: float = 0) -> str:
    """'2x as fast (1.8x to 2.2x)', said so that nobody reads a gain where none was seen."""
    span = f"{times(low)} to {times(high)}"
    if finding == FASTER:
        return f"{times(point)} as fast ({span})"
    if finding == SLOWER:
        return f"slower, {times(point)} ({span})"
    if finding == NO_DIFFERENCE:
        return f"{NO_DIFFERENCE}, {times(point)} ({span})"
    return f"{times(point)} without an interval"


def seconds(value: float) -> str:
    """2 µs, 500 ms, 10 s: three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= 0.9999 * scale:
            return f"{float(f'{value / scale:.3g}'):,g} {unit}"
    return f"{float(f'{value / 1e-9:.3g}'):,g} ns"


def percent(share: float) -> str:
    """Of 1: '97 %', '0.4 %'; near 100 as it is, so that nothing becomes all."""
    if share > 10:
        return "more than 1,000 %"
    if share < 0.0995:
        return f"{100 * share:.2g} %"
    return f"{100 * share:.0f} %" if share < 0.985 else f"{100 * share:.3g} %"


def count(number: int, word: str) -> str:
    """'1 cell', '2 cells'."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def listed(items: Sequence[str], most: int = 3, last: str = " and ", noun: str = "") -> str:
    """'a, b and c', and of too many 'a, b, c and 5 more'; with '; ' last, '; ' between all."""
    comma = last if last == "; " else ", "
    if (others := len(items) - most) > 0:
        rest = count(others, f"more {noun}") if noun else f"{others} more"
        return f"{comma.join(items[:most])} and {rest}"
    return last.join(part for part in (comma.join(items[:-1]), items[-1]) if part)


def plain(text: object) -> str:
    """One line of printable characters (others would make an SVG file invalid)."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(text))  # terminal colours
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def short(text: object) -> str:
    """On one line, cut to LONGEST signs."""
    words = plain(text)
    return words if len(words) <= LONGEST else words[: LONGEST - 3].rstrip() + "..."


def alike(reason: str) -> str:
    """The same for reasons that differ in their figures only (bytes, seconds)."""
    return re.sub(r"[\d.,]+", "#", reason)


def markdown(text: str) -> str:
    """The same words for a markdown file, whatever signs they have."""
    return START.sub(r"\1\\\2", SPECIAL.sub(r"\\\g<0>", text))


def unmarked(text: str) -> str:
    """What `markdown` was given."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
