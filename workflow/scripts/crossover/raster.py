"""Our way to draw a line through very many points: only what the picture can show of them.

matplotlib takes a line through all points apart one by one, in float64. Most of them lie in the
pixel of the one before. `path` reads the points in blocks and keeps those that a picture of up to
about a thousand pixels can tell apart; it is drawn as matplotlib draws any line. Where even that is
too much, as for points that jump at random, `ink` draws it. Memory beyond x and y: up to 200 MB.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from crossover import ink

Array = np.ndarray
Piece = tuple[Array, Array]  # x and y of a part of a path
Pieces = Iterator[Piece]  # in the path's order

CELLS = 8192  # a picture is looked at in so many columns and rows: 1/16 of a pixel of the article's
THIN = 2  # a block of points that is no wider, or no higher, than so many cells is drawn as a whole
LEAST_BLOCK, MOST_BLOCKS = 64, 2**17
LARGER = 16  # a block of blocks
ALIKE = 2**11  # points of smaller blocks that are drawn alike
GROUP = 2**14  # the most that are taken apart together
CHUNK = 2**17  # points looked at at once, whole blocks: a few of the like fit into a core's cache

# Agg takes about 0.1 us for a vertex and 0.1 to 0.3 us for a pixel's length of line. Up to these it
# draws in about a tenth of a second.
MOST_POINTS = 500_000
MOST_CROSSINGS = 1500  # the path's length, in widths of the picture


def plot(axes: Axes, x: Array, y: Array, **settings: Any) -> None:
    """Like axes.plot(x, y, **settings), of linear axes that show all of the points.

    x, y: one dimension, real numbers, of one length. A point that is not finite is a gap. Where the
    line is drawn as an image, its dashes and markers are not.
    """
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x and y of one dimension and length, not {x.shape} and {y.shape}")
    points = Points.of(x, y)
    found = path(points) if points.known else (np.empty(0), np.empty(0))
    if found and x.size <= CELLS:
        found = x, y  # no need to leave any out
    (line,) = axes.plot(*found or ([], []), **settings)
    if not found:  # the empty line says how it looks, also to a legend
        axes.add_artist(ink.Ink(line, points.pieces))
    axes.update_datalim([points.low, points.high])
    axes.autoscale_view()


@dataclass(frozen=True)
class Points:
    """All points, and the bounds of each block of them."""

    x: Array
    y: Array
    block: int  # points
    bounds: Array  # of each block: low x, high x, low y, high y; nan or inf where any point is
    low: tuple[float, ...]  # the finite points' smallest x and y
    high: tuple[float, ...]

    @classmethod
    def of(cls, x: Array, y: Array) -> "Points":
        """x and y: one dimension, one length. Each point is looked at once, in pieces of CHUNK."""
        block = LEAST_BLOCK
        while block * MOST_BLOCKS < x.size:
            block *= 2
        bounds = np.empty((4, -(-x.size // block)))
        low, high = np.full(2, np.inf), np.full(2, -np.inf)
        step = max(CHUNK, block)
        for start in range(0, x.size, step):
            both = _real(x[start : start + step]), _real(y[start : start + step])
            found = _bounds(*both, block)
            bounds[:, start // block : start // block + found.shape[1]] = found
            whole = np.isfinite(found).all(axis=0)
            spoilt = np.repeat(~whole, block)[: both[0].size]
            rest = np.stack([values[spoilt] for values in both])
            rest = rest[:, np.isfinite(rest).all(axis=0)]
            lows, highs = (np.append(found[i::2, whole], rest, axis=1) for i in (0, 1))
            low = np.minimum(low, lows.min(axis=1, initial=np.inf))
            high = np.maximum(high, highs.max(axis=1, initial=-np.inf))
        return cls(x, y, block, bounds, tuple(low.tolist()), tuple(high.tolist()))

    @property
    def known(self) -> bool:
        """Whether any point is finite."""
        return self.low[0] <= self.high[0]

    def pieces(self) -> Pieces:
        """The path through all points, as far as CELLS columns and rows show it."""
        low, high = self.low, self.high
        cell = (high[0] - low[0]) / CELLS or 1.0, (high[1] - low[1]) / CELLS or 1.0
        larger = np.arange(0, self.bounds.shape[1], LARGER)
        large = np.empty((4, larger.size))
        for number, extreme in enumerate((np.minimum, np.maximum) * 2):
            extreme.reduceat(self.bounds[number], larger, out=large[number])
        levels = [(self.block * LARGER, large), (self.block, self.bounds)]
        waiting, count = [], 0
        for x, y in _divided(self.x, self.y, levels, cell):
            waiting.append((x, y))
            count += x.size
            if count > CHUNK:
                yield _distinct(*_joined(waiting), self.low, cell)
                waiting, count = [], 0
        yield _distinct(*_joined(waiting), self.low, cell)


def path(points: Points) -> Piece | None:
    """x and y of a line that looks the same, or None where matplotlib would take long for it too.

    No point of a picture's line is farther from it than THIN cells. The first and the last point
    are there.
    """
    found, count, crossings = [], 0, 0.0
    width, height = (high - low or 1.0 for low, high in zip(points.low, points.high, strict=True))
    before = np.empty(0), np.empty(0)
    for x, y in points.pieces():
        found.append((x, y))
        count += x.size
        steps = (np.diff(x, prepend=before[0][-1:]), np.diff(y, prepend=before[1][-1:]))
        crossings += float(np.nansum(np.hypot(steps[0] / width, steps[1] / height)))
        if count > MOST_POINTS or crossings > MOST_CROSSINGS:
            return None
        before = x, y
    return _joined(found)


def _divided(
    x: Array, y: Array, levels: Sequence[tuple[int, Array]], cell: tuple[float, float]
) -> Pieces:
    """Thin blocks as a few points each, in the place of others smaller ones, or their points."""
    if not levels:
        yield _sparse(_real(x), _real(y), cell)
        return
    (block, bounds), *smaller = levels
    low_x, high_x, low_y, high_y = bounds
    with np.errstate(invalid="ignore"):  # inf - inf, of a block with gaps
        thick = (high_x - low_x > THIN * cell[0]) & (high_y - low_y > THIN * cell[1])
    thick |= ~np.isfinite(bounds).all(axis=0)
    group = max(1, ALIKE // block)
    thick = np.logical_or.reduceat(thick, np.arange(0, thick.size, group))
    edges = (np.flatnonzero(thick[1:] != thick[:-1]) + 1).tolist()
    for first, last in zip([0, *edges], [*edges, thick.size], strict=True):
        part = slice(first * group * block, last * group * block)
        if not thick[first]:
            blocks = slice(first * group, last * group)
            yield _outline(x[part], y[part], block, bounds[:, blocks], cell)
            continue
        size = max(GROUP, block)
        for start in range(part.start, min(part.stop, x.size), size):
            stop = min(start + size, part.stop)
            inner = [(few, found[:, start // few : -(-stop // few)]) for few, found in smaller]
            yield from _divided(x[start:stop], y[start:stop], inner, cell)


def _sparse(x: Array, y: Array, cell: tuple[float, float]) -> Piece:
    """Every k-th point and the last, where k steps together are no longer than a cell."""
    both = zip((x, y), cell, strict=True)
    with np.errstate(invalid="ignore"):  # inf - inf
        longest = max(float(abs(np.diff(values)).max(initial=0)) / size for values, size in both)
    if not longest <= 1 / 2:  # nan, of points with gaps
        return x, y
    every = min(int(1 / longest), x.size) if longest else x.size
    chosen = np.append(np.arange(0, x.size - 1, every), x.size - 1)
    return x[chosen], y[chosen]


def _outline(x: Array, y: Array, block: int, bounds: Array, cell: tuple[float, float]) -> Piece:
    """Of each block its first and last point, and its farthest where it goes beyond these."""
    first = np.arange(0, x.size, block)
    last = np.minimum(first + block, x.size) - 1
    found = np.empty((2, first.size, 4))
    for points, values, low, high, size in zip(
        found, (x, y), bounds[::2], bounds[1::2], cell, strict=True
    ):
        start, end = values[first].astype(float), values[last].astype(float)
        beyond = np.minimum(start, end) - low > size
        beyond |= high - np.maximum(start, end) > size
        down = start > end  # no detour: a line that comes by twice looks bolder
        points[:, 0], points[:, 3] = start, end
        points[:, 1] = np.where(beyond, np.where(down, high, low), start)
        points[:, 2] = np.where(beyond, np.where(down, low, high), start)
    return found[0].ravel(), found[1].ravel()


def _distinct(x: Array, y: Array, origin: tuple[float, ...], cell: tuple[float, float]) -> Piece:
    """The points that are not in the cell of the one before, both sides of a gap, and the ends."""
    gap = ~(np.isfinite(x) & np.isfinite(y))
    gaps = gap.any()
    columns, rows = (
        np.where(gap, -1, (values - low) / size).astype(np.int32)
        for values, low, size in zip((x, y), origin, cell, strict=True)
    )
    keep = np.ones(x.size, bool)
    keep[1:] = (columns[1:] != columns[:-1]) | (rows[1:] != rows[:-1])
    keep[-1:] = True
    if gaps:
        keep[:-1] |= gap[1:] & ~gap[:-1]
        x, y = np.where(gap, np.nan, x), np.where(gap, np.nan, y)
    return x[keep], y[keep]


def _joined(pieces: Sequence[Piece]) -> Piece:
    if not pieces:
        return np.empty(0), np.empty(0)
    return np.concatenate([x for x, _ in pieces]), np.concatenate([y for _, y in pieces])


def _bounds(x: Array, y: Array, block: int) -> Array:
    starts = np.arange(0, x.size, block)
    lows_and_highs = (
        extreme.reduceat(values, starts)
        for values in (x, y)
        for extreme in (np.minimum, np.maximum)
    )
    return np.stack(list(lows_and_highs))


def _real(values: Array) -> Array:
    """As float32 where nothing is lost, else float64."""
    return values.astype(np.promote_types(values.dtype, np.float32), copy=False)
