"""A line through points that jump so often that matplotlib cannot draw it: as an image.

The middle of the line is set in a grid of 8 x 8 cells a pixel, then widened to the line's width; a
pixel is as dark as the share of its cells that are covered. What is drawn already is skipped: a
piece of line inside pixels that are full, and a segment that came before.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np
from matplotlib import colors
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from numpy.lib.stride_tricks import sliding_window_view

Array = np.ndarray
Pieces = Iterator[tuple[Array, Array]]

CELLS = 8  # a pixel's, each way: a byte is a row of them
FINER = 16  # of a cell: where a segment is divided
STEP = 2  # cells between points that are set; widened by several cells, they leave no gap
LENGTHS = (2, 4, 8, 16, 32, 64)  # cells; a longer piece is divided, to skip what is drawn already
SEGMENTS = 2**12  # that are divided at once
SAMPLES = 2**20  # points that are set at once
KNOWN = 2**20  # segments that are remembered
# A line that covers 1/64 of a pixel blackens it when it comes by for the 64th time, as in Agg.
TIMES = (1, 2, 4, 8, 16, 32, 64)
HASH = 0x9E3779B97F4A7C15 - 2**64
SIDE = 2**16  # cells, the most that a picture's side can have


class Ink(Artist):
    """A line's picture. pieces: gives its path in data coordinates, again for each drawing."""

    def __init__(self, line: Line2D, pieces: Callable[[], Pieces]) -> None:
        super().__init__()
        self.line, self.pieces = line, pieces
        self.set_zorder(line.get_zorder())
        self.set_in_layout(False)  # it lies inside of the axes

    def draw(self, renderer: Any) -> None:
        """Called by matplotlib for each file. Raises ValueError on axes that are not linear."""
        assert self.axes is not None
        fine = renderer.get_image_magnification()  # pixels of an image for one of the picture
        box, transform = self.axes.bbox, self.axes.transData
        if not transform.is_affine:
            raise ValueError("only linear axes")
        left, low = np.floor([box.x0, box.y0]) - 1
        matrix = transform.get_matrix()
        scale = matrix[0, 0] * fine, matrix[1, 1] * fine
        offset = (matrix[0, 2] - left) * fine, (matrix[1, 2] - low) * fine
        sheet = Sheet(
            ceil((box.x1 + 1 - left) * fine),
            ceil((box.y1 + 1 - low) * fine),
            renderer.points_to_pixels(self.line.get_linewidth()) * fine,
        )
        for x, y in self.pieces():
            sheet.line(x * scale[0] + offset[0], y * scale[1] + offset[1])
        covered = sheet.covered()
        image = np.empty((*covered.shape, 4), np.uint8)
        red, green, blue, alpha = colors.to_rgba(self.line.get_color(), self.line.get_alpha())
        image[..., :3] = np.round(np.array([red, green, blue]) * 255)
        image[..., 3] = np.round(covered * (alpha * 255))
        settings = renderer.new_gc()
        settings.set_clip_rectangle(box)
        renderer.draw_image(settings, left, low, image)
        settings.restore()


class Sheet:
    """Cells of a picture of width x height pixels, row 0 at the bottom; a line so many wide."""

    def __init__(self, width: int, height: int, line_width: float) -> None:
        if CELLS * max(width, height) > SIDE:
            raise ValueError(f"a picture of {width} x {height} pixels is too large")
        self.width, self.height = width, height
        self.radius = CELLS * line_width / 2  # cells
        # How often the line's middle came by. Rows of whole 64-bit words, once they are bits.
        self.cells = np.zeros((height * CELLS, -(-width // 8) * 8 * CELLS), np.float32)
        self.end: Array | None = None  # the path's last point so far
        self.known = np.full(KNOWN, -1, np.int64), np.zeros(KNOWN, np.int64)
        self.open: Array | None = None  # sums, from the corner, over the pixels near light ones
        self.patience = 2**18  # points set until it is made again
        self.set = 0

    def line(self, x: Array, y: Array) -> None:
        """Go on through these points, in pixels from the lower left corner; nan is a gap."""
        points = np.stack([x, y]) * CELLS
        if self.end is not None:
            points = np.concatenate([self.end, points], axis=1)
        self.end = points[:, -1:]
        gap = np.isnan(points[0])
        low, high = np.nanmin(points, 1, initial=0), np.nanmax(points, 1, initial=0)
        if low.min() < 0 or high[0] >= CELLS * self.width or high[1] >= CELLS * self.height:
            raise ValueError("only axes that show all points")
        cells = np.where(gap, -1, points).astype(np.int64)
        joined = ~(gap[1:] | gap[:-1])
        moved = (cells[:, 1:] != cells[:, :-1]).any(axis=0)
        parts = np.concatenate([cells[:, :-1], cells[:, 1:]])
        found = [parts[:, joined & moved]]
        if gap.any():  # a line's end is a dot, and so is a line shorter than a cell
            starts, ends = joined[1:] & gap[:-2], joined[:-1] & gap[2:]
            found += [parts[[0, 1, 0, 1], 1:][:, starts], parts[[2, 3, 2, 3], :-1][:, ends]]
        segments = self._counted(self._seen(np.concatenate(found, axis=1)))
        for start in range(0, segments.shape[1], SEGMENTS):
            self._draw(segments[:, start : start + SEGMENTS])
            if self.set > self.patience:
                self._look()

    def covered(self, levels: Sequence[int] = TIMES) -> Array:
        """The share of each pixel that the line covers, added up where it comes by again."""
        found, before = np.zeros((self.height, self.width)), 0
        often = np.minimum(self.cells, TIMES[-1]).astype(np.uint8)
        for level in levels:
            hit = np.packbits(often >= level, axis=1, bitorder="little").view("<u8")
            if not hit.any():
                break
            rows = np.bitwise_count(_widened(hit, self.radius).view(np.uint8))
            rows = rows.reshape(self.height, CELLS, -1).sum(axis=1, dtype=np.uint8)
            found += (level - before) / CELLS**2 * rows[:, : self.width]
            before = level
        return np.minimum(found, 1)

    def _draw(self, segments: Array) -> None:
        """Segments in cells, with how often each is drawn."""
        pieces = segments.astype(np.int32)
        pieces[:4] = pieces[:4] * FINER + FINER // 2
        while pieces.size:
            x0, y0, x1, y1, times = pieces
            length = np.maximum(abs(x1 - x0), abs(y1 - y0))
            least = -1
            for most in LENGTHS:
                self._set(pieces[:, (length > least * FINER) & (length <= most * FINER)], most)
                least = most
            x0, y0, x1, y1, times = pieces[:, length > least * FINER]
            x, y = (x0 + x1) >> 1, (y0 + y1) >> 1
            halves = [x0, y0, x, y, times], [x, y, x1, y1, times]
            pieces = self._seen(np.concatenate(halves, axis=1), FINER)

    def _set(self, pieces: Array, most: int) -> None:
        """Set points along pieces that are up to `most` cells long, the end left to the next."""
        steps = most // STEP  # a power of two
        along = np.arange(steps, dtype=np.int32)
        shift = (steps * FINER).bit_length() - 1
        for start in range(0, pieces.shape[1], SAMPLES // steps):
            x0, y0, x1, y1, times = pieces[:, start : start + SAMPLES // steps, None]
            x = (x0 * steps + (x1 - x0) * along) >> shift
            y = (y0 * steps + (y1 - y0) * along) >> shift
            places = (y * self.cells.shape[1] + x).reshape(-1)
            often = np.repeat(times[:, 0].astype(np.float32), steps)
            np.add.at(self.cells.reshape(-1), places, often)
        self.set += pieces.shape[1] * steps

    def _look(self) -> None:
        """Find the pixels in which more of the line would change nothing."""
        light = self.covered(TIMES[:1]) < 1
        near = _spread(light, ceil(self.radius / CELLS))
        self.open = np.zeros((self.height + 1, self.width + 1), np.int32)
        np.cumsum(np.cumsum(near, axis=0), axis=1, out=self.open[1:, 1:])
        self.set = 0
        self.patience *= 2

    def _seen(self, pieces: Array, unit: int = 1) -> Array:
        """Those that would be seen, since a pixel near them is not dark yet."""
        if self.open is None:
            return pieces
        columns, rows = (pieces[i:4:2] // (unit * CELLS) for i in (0, 1))
        left, right = columns.min(axis=0), columns.max(axis=0) + 1
        low, high = rows.min(axis=0), rows.max(axis=0) + 1
        sums, side = self.open.reshape(-1), self.open.shape[1]
        low, high = low * side, high * side
        count = sums[high + right] - sums[high + left] - sums[low + right] + sums[low + left]
        return pieces[:, count > 0]

    def _counted(self, segments: Array) -> Array:
        """Each once, with how often it comes, without those that came often enough."""
        x0, y0, x1, y1 = segments
        keys = ((x0 * SIDE + y0) * SIDE + x1) * SIDE + y1
        keys, times = np.unique(keys, return_counts=True)
        places = (keys * HASH >> 40) & (KNOWN - 1)
        known, known_times = self.known
        before = np.where(known[places] == keys, known_times[places], 0)
        known[places], known_times[places] = keys, before + times
        keys, times = keys[new := before < TIMES[-1]], times[new]
        ends = [(keys >> shift) & (SIDE - 1) for shift in (48, 32, 16, 0)]
        return np.stack([*ends, np.minimum(times, TIMES[-1])])


def _spread(pixels: Array, reach: int) -> Array:
    """Also the pixels around, up to so many each way."""
    for axis in (0, 1):
        padded = np.pad(pixels, [(reach, reach) if axis == i else (0, 0) for i in (0, 1)])
        pixels = np.any(sliding_window_view(padded, 2 * reach + 1, axis=axis), axis=-1)
    return pixels


def _widened(words: Array, radius: float) -> Array:
    """A disc around each cell that is set: bit k of a row's words is its cell k."""
    found, row, half = np.zeros_like(words), words.copy(), 0
    for distance in range(round(radius - 0.5), -1, -1):
        # An odd number of cells, the nearest one to the disc's width there.
        while half < round(sqrt(radius**2 - distance**2) - 0.5):
            left, right = row << 1, row >> 1
            left[:, 1:] |= row[:, :-1] >> 63
            right[:, :-1] |= row[:, 1:] << 63
            row |= left
            row |= right
            half += 1
        found[distance:] |= row[: row.shape[0] - distance]
        found[: row.shape[0] - distance] |= row[distance:]
    return found
