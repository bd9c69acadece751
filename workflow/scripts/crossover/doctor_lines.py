"""A line of the doctor, and how it is written."""

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

OK, LOOK, STOP = "ok", "look", "stop"
MOST_WORDS, MOST_OF_TOPIC = 300, 40  # characters
WIDTH = 100
QUOTED, GLUE = re.compile(r"(?<!\w)'[^']+'(?!\w)"), "\0"  # a command stays on one line


@dataclass(frozen=True)
class Line:
    """What was found about one topic, and what to do where it is not as it should be."""

    mark: str
    topic: str
    found: str
    advice: str = ""


def text(lines: Iterable[Line]) -> str:
    """Aligned: mark, topic, what was found, and the advice below it after '->'."""
    rows = []
    for line in lines:
        head = f"{line.mark:5} {plain(line.topic, MOST_OF_TOPIC):12} "
        margin = " " * 19
        for start, after, words in (
            (head, margin, line.found),
            (f"{margin}-> ", f"{margin}   ", line.advice),
        ):
            if words:
                rows += textwrap.wrap(
                    QUOTED.sub(lambda quoted: quoted[0].replace(" ", GLUE), plain(words)),
                    WIDTH,
                    initial_indent=start,
                    subsequent_indent=after,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
    return "\n".join(rows).replace(GLUE, " ")


def plain(words: str, most: int = MOST_WORDS) -> str:
    """One line without control characters: names and variables come from anywhere."""
    words = "".join(c if c.isprintable() else "?" for c in " ".join(words.split()))
    return words if len(words) <= most else words[: most - 3] + "..."


def gib(count: float) -> str:
    """Bytes of memory, as a person says them."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.0f} MiB"
