"""Axes of the charts: limits around what is drawn, and ticks at measured sizes and round values."""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, log10

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from crossover import style

MOST_MINOR = 40


def limits(values: Iterable[float], least: float, pad: float = 0.06) -> tuple[float, float]:
    """Limits of a logarithmic axis around positive values, at least a factor of `least` apart."""
    logs = [log10(value) for value in values]
    low, high = min(logs), max(logs)
    spare = max(0.0, log10(least) - (high - low)) / 2
    low, high = low - spare, high + spare
    edge = pad * (high - low)
    return 10 ** (low - edge), 10 ** (high + edge)


def log_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Round values between low and high: 1, 2, 5, 10, ... or decades, or every so many decades."""
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    fine = (1, 1.5, 2, 3, 5, 7)
    for step, mantissas in ((1, fine), (1, (1, 2, 5)), (1, (1,)), (2, (1,)), (3, (1,)), (6, (1,))):
        ticks = [float(f"{m}e{d}") for d in decades if d % step == 0 for m in mantissas]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= most:
            break
    return inside


def size_ticks(sizes: Sequence[int], low: float, high: float, width: float) -> dict[int, str]:
    """Those of the measured sizes whose labels fit beside each other on an axis `width` wide."""
    label = _size_label if max(sizes) >= 100_000 else style.size_words
    chosen: dict[int, tuple[float, float]] = {}
    for size in sorted(sizes, key=lambda size: (log10(size) % 1 != 0, size)):
        middle = width * log10(size / low) / log10(high / low)
        half = style.width_of(label(size), style.SMALL) / 2 + 0.06
        if all(abs(middle - other) >= half + room for other, room in chosen.values()):
            chosen[size] = middle, half
    return {size: label(size) for size in sorted(chosen)}


def _size_label(size: float) -> str:
    """1e4 and 1.68e7, so that all labels of an axis are spelled alike; small sizes as they are."""
    if size < 1000:
        return f"{size:.0f}"
    mantissa, exponent = f"{size:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def size_axis(axes: Axes, sizes: Sequence[int], width: float) -> None:
    """A logarithmic axis of about `width` inches with ticks at the measured sizes."""
    low, high = limits(sizes, 4)
    ticks = size_ticks(sizes, low, high, width)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.xaxis.set_minor_locator(FixedLocator(sizes, nbins=MOST_MINOR))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("size n")


def value_axis(
    axes: Axes, low: float, high: float, words: Callable[[float], str], label: str
) -> None:
    """A logarithmic y axis from low to high, its ticks in these words."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator(log_ticks(low, high)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words(value)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(label)


def across(
    axes: Axes, low: float, high: float, words: Callable[[float], str], label: str, most: int = 8
) -> None:
    """The same for the axis from left to right, with at most so many ticks."""
    ticks = log_ticks(low, high, most)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [words(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(label)
