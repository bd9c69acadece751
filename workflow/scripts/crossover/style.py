"""How every picture looks: colours, markers, numbers as words, the page around the axes, saving.

Only matplotlib's object-oriented API, never pyplot: neither MPLBACKEND nor a missing display can
matter. Lengths are inches, font sizes points.
"""

import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation, Transform

from crossover import record, svg, words

WIDTH = 8.0  # 768 CSS px as SVG, 1,200 px as PNG: Snakemake's report cuts what is much wider
MARGIN = 0.15
DPI = 150
TITLE, SMALL, NOTE = 13.0, 9.0, 8.5
GREY, DARK = "#595959", "#222222"
LINE_HEIGHT = 1.35  # of the font size
NOTE_LINES = 10
BARS_WIDTH = 3.0  # points, from the first bar at one size to the last: a marker is twice as wide

# Okabe and Ito's colours, which colour-blind readers can tell apart; their yellow is too pale for
# lines on white, so grey takes its place, and black is the baseline's.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
MARKERS = ("s", "^", "D", "v", "P", "X", "p", "<", "*", ">", "h")
DASHES: tuple[tuple[float, ...], ...] = (
    *((), (6, 1.5), (1.2, 1.2), (6, 1.5, 1.2, 1.5), (3, 1.2)),
    *((8, 1.5, 3, 1.5), (6, 1.5, 1.2, 1.5, 1.2, 1.5), (1.2, 3)),
)

# The shipped defaults first: a user's matplotlibrc (usetex, say) must not change or break a chart.
_LOOK = {key: value for key, value in matplotlib.rcParamsDefault.items() if key != "backend"} | {
    "text.parse_math": False,  # a backend may be called $x$
    "svg.hashsalt": "crossover",  # the same picture is the same bytes
    "font.size": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": DARK,
    "axes.titlesize": SMALL + 1,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": DARK,
    "ytick.labelcolor": DARK,
    "legend.frameon": False,
    "lines.solid_joinstyle": "round",
}


@dataclass(frozen=True)
class Look:
    """What tells one backend from another, in colour and in black and white."""

    colour: str
    marker: str
    dashes: tuple[float, ...]
    half: bool = False  # points half filled

    def solid(self) -> "Look":
        return replace(self, dashes=())

    def dashed(self) -> "Look":
        """How a round trip is told from a computation on the same axes."""
        return replace(self, dashes=(4, 1.5), half=True)

    def line(self, x: Any, y: Any, **others: Any) -> Line2D:
        """A line that looks like this; x and y of one length, `others` go to matplotlib."""
        settings: dict[str, Any] = {
            "color": self.colour,
            "marker": self.marker,
            "ms": 6,
            "mew": 1.2,
            "lw": 1.6,
        }
        settings |= {"fillstyle": "bottom" if self.half else "full", "mfcalt": "white"}
        line = Line2D(x, y, **(settings | others))
        if self.dashes and "ls" not in others:
            line.set_dashes(self.dashes)
        return line


Entry = tuple[Look | Patch, str]  # of a legend


def beside(axes: Axes, place: int, places: int, width: float = BARS_WIDTH) -> Transform:
    """Where the bars of one of several backends are drawn: through its points, but a little beside
    the others', so that bars at one size do not hide each other. `width` points for all of them."""
    shift = width * (place / (places - 1) - 0.5) / 72 if places > 1 else 0.0
    return axes.transData + ScaledTranslation(shift, 0, axes.figure.dpi_scale_trans)


def bars(x: Any, low: Any, high: Any, look: Look, at: Transform, label: str) -> Line2D:
    """Upright bars as one line with gaps: a tenth of the bytes that a line for each would be."""
    ends = np.column_stack([low, high, np.full(len(low), np.nan)])
    return Line2D(np.repeat(x, 3), ends.ravel(), color=look.colour, lw=1.4, zorder=2.5,
                  solid_capstyle="butt", transform=at, label=label)  # fmt: skip


def rings(x: Any, y: Any, label: str) -> Line2D:
    """Circles around points, whatever those look like."""
    return Line2D(
        x, y, ls="", marker="o", ms=13, mfc="none", mec=DARK, mew=0.9, zorder=2.8, label=label
    )


def look() -> AbstractContextManager[None]:
    """The settings under which pictures are made and saved."""
    return matplotlib.rc_context(_LOOK)


def looks(backends: Iterable[str], baselines: Sequence[str]) -> dict[str, Look]:
    """One look for each backend, by its place in the list; a baseline is black, the first of them a
    line of dots."""
    others = [name for name in backends if name not in baselines]
    found = {
        name: Look(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)])
        for i, name in enumerate(others)
    }
    more = {
        name: Look("#000000", MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)])
        for i, name in enumerate(baselines[1:])
    }
    return found | {name: Look("#000000", "o", ()) for name in baselines[:1]} | more


# --- words


plain = words.plain
seconds_words = words.seconds


def size_words(size: float) -> str:
    """10,000 and 1e6 and 1,234,567: exact, in the shorter of the spellings that a config has."""
    if size < 100_000:
        return f"{size:,.0f}"
    mantissa, exponent = f"{size:.16e}".split("e")
    digits = mantissa.rstrip("0").rstrip(".")
    return f"{digits}e{int(exponent)}" if len(digits) <= 4 else f"{size:,.0f}"


def rate_words(per_second: float) -> str:
    """10 GFLOP/s."""
    for unit, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= 0.9999 * scale:
            return f"{float(f'{per_second / scale:.3g}'):g} {unit}FLOP/s"
    return f"{float(f'{per_second:.3g}'):g} FLOP/s"


def times_words(factor: float) -> str:
    """0.5x, 10x, 1,000x."""
    text = f"{factor:,.0f}" if factor >= 1000 else f"{factor:g}"
    return f"{text}x"


def percent_words(*ratios: float) -> str:
    """By how much ratios are above 1: 23 %, or 0.42 to 150 %."""
    percents = [100 * (ratio - 1) for ratio in sorted(ratios)]
    words = [f"{float(f'{p:.2g}'):g}" if p <= 1000 else "more than 1,000" for p in percents]
    return f"{' to '.join(dict.fromkeys((words[0], words[-1])))} %"


@cache
def width_of(text: str, size: float, bold: bool = False) -> float:
    """The width of one line of text in inches, rather too much: renderers widen small letters."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72 * 1.03


def fitted(text: object, width: float, size: float) -> str:
    """One line no wider than width inches; what is too long has … in its middle."""
    words, cut = plain(text), 0
    fit = words
    while width_of(fit, size) > width:
        cut += 1
        half = (len(words) - cut) // 2
        fit = f"{words[:half]}…{words[half + cut :]}"
    return fit


def wrap(text: object, width: float, size: float, bold: bool = False) -> list[str]:
    """Lines no wider than width inches; too long a word is cut, after a _ where possible."""
    lines: list[str] = []
    line, used = "", 0.0
    for part in re.findall(r" |[^ _/-]+[_/-]*|[_/-]+", plain(text)):
        while part and used + width_of(part, size, bold) > width:
            if line.strip():
                lines.append(line.strip())
                line, used, part = "", 0.0, part.lstrip()
            else:
                cut = max(1, len(part) - 1)
                while cut > 1 and width_of(part[:cut], size, bold) > width:
                    cut -= 1
                lines.append(part[:cut])
                part = part[cut:]
        line, used = line + part, used + width_of(part, size, bold)
    return [*lines, line.strip()] if line.strip() else lines


# --- legends


def legend(where: Axes | Figure, top: float, entries: Sequence[Entry]) -> None:
    """Beside the axes, one below the other, or across the page from `top` down."""
    handles = [look.line([], []) if isinstance(look, Look) else look for look, _ in entries]
    labels = [plain(label) for _, label in entries]
    if isinstance(where, Axes):
        where.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0),
                     handlelength=2.8, borderaxespad=0, labelspacing=0.7)  # fmt: skip
        return
    where.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(MARGIN / WIDTH, top), borderaxespad=0,
        borderpad=0, handlelength=3.2, columnspacing=1.6, ncols=_shape(entries)[1],
    ).set_in_layout(False)  # fmt: skip


def fits_beside(entries: Sequence[Entry]) -> bool:
    return len(entries) <= 12 and _widest(entries) <= 1.6


def room_for(entries: Sequence[Entry]) -> float:
    """The inches that a legend across the page needs."""
    return 0.02 + 0.2 * _shape(entries)[0]


def _shape(entries: Sequence[Entry]) -> tuple[int, int]:
    """Rows and columns of a legend across the page."""
    columns = max(1, min(len(entries), int((WIDTH - 2 * MARGIN) / (_widest(entries) + 0.75))))
    return ceil(len(entries) / columns), columns


def _widest(entries: Sequence[Entry]) -> float:
    return max(width_of(plain(label), SMALL) for _, label in entries)


# --- the page


def page(
    title: str,
    subtitle: str,
    notes: Sequence[str],
    body: float = 3.75,
    above: float = 0.0,
    width: float = WIDTH,
) -> tuple[Figure, float]:
    """A figure with title, subtitle and notes, and where its body begins (from the bottom, 0 to 1).

    The body, `body` inches for the axes and `above` inches over them, never shrinks: the page grows
    with its words.
    """
    room = width - 2 * MARGIN
    head = wrap(title, room, TITLE, bold=True)
    under = wrap(subtitle, room, SMALL)
    foot = [line for note in notes for line in wrap(note, room, NOTE)]
    if len(foot) > NOTE_LINES:
        foot = [*foot[: NOTE_LINES - 1], "… more in summary.csv"]
    top = MARGIN + _height(head, TITLE) + 0.05 + _height(under, SMALL) + 0.08
    bottom = (_height(foot, NOTE) + 0.08 if foot else 0.05) + MARGIN / 2
    height = top + above + body + bottom
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.set_label(plain(title))
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0.01, bottom / height, 0.98, body / height))  # type: ignore[call-arg]
    left = MARGIN / width
    y = 1 - MARGIN / height
    figure.text(left, y, "\n".join(head), size=TITLE, weight="bold", color=DARK, va="top")
    y -= (_height(head, TITLE) + 0.05) / height
    figure.text(left, y, "\n".join(under), size=SMALL, color=GREY, va="top", linespacing=1.2)
    y = MARGIN / 2 / height
    figure.text(left, y, "\n".join(foot), size=NOTE, color=GREY, va="bottom", linespacing=1.2)
    return figure, (bottom + body + above) / height


def no_data(title: str, reasons: Sequence[str], width: float = WIDTH) -> Figure:
    """A page that says that there is nothing to draw, and why."""
    with look():
        figure, top = page(title, "", reasons or ["no reason is known"], body=1.2, width=width)
        figure.text(0.5, top - 0.6 / figure.get_figheight(), "no data", size=20, color=GREY,
                    ha="center", va="center")  # fmt: skip
    return figure


def _height(lines: Sequence[str], size: float) -> float:
    return len(lines) * size * LINE_HEIGHT / 72


def save(figure: Figure, *paths: str | os.PathLike[str]) -> None:
    """Write the figure as SVG or PNG, by each path's ending; a file appears at once or not at all.

    The same figure gives the same bytes: no dates, no random ids.
    """
    metadata: Mapping[str, dict[str, None]] = {"svg": {"Date": None}, "png": {"Software": None}}
    for path in map(Path, paths):
        kind = path.suffix[1:].lower()
        if kind not in metadata:
            raise ValueError(f"{path}: a picture is saved as .svg or .png")
        picture = io.BytesIO()
        with look():
            figure.savefig(picture, format=kind, dpi=DPI, metadata=metadata[kind])
        content = picture.getvalue()
        if kind == "svg":
            content = svg.finished(content, str(figure.get_label()))
        record.replace(path, content)
