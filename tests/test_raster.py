"""Our line through very many points, against matplotlib's through all of them.

Pictures are compared by their red, 0 to 255: the line's is 31, white is 255.
"""

import io
import tracemalloc

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.lib.stride_tricks import sliding_window_view

from crossover import ink, raster

pytestmark = pytest.mark.whole


def picture(draw, *xy, **settings):
    figure = Figure()
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    draw(axes, *xy, **settings)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., 0].astype(int), axes


def line(axes, *xy, **settings):
    axes.plot(*xy, **settings)


# --- curves


def polar(n, turns=1.0, depth=0.75, waves=3.0):
    theta = np.linspace(0, 2 * np.pi * turns, n)
    r = 1 + depth * np.sin(waves * theta)
    return r * np.cos(theta), r * np.sin(theta)


def spikes(n):
    """Single points far off, where every k-th point is sure to miss some."""
    x = np.linspace(0, 1, n)
    y = np.sin(6 * x)
    at = np.random.default_rng(1).integers(0, n, 40)
    y[at] += np.linspace(-5, 5, 40)
    return x, y


def steps(n):
    x = np.linspace(0, 1, n)
    return x, np.floor(7 * x) % 3 + (np.sin(40 * x) > 0) + 0.1 * x


def poles(n):
    x = np.linspace(0, 10, n)
    return x, np.tan(x)


def gaps(n):
    x, y = polar(n)
    at = np.random.default_rng(2)
    x[at.integers(0, n, 50)], y[at.integers(0, n, 50)] = np.nan, np.inf
    x[n // 2 : n // 2 + n // 20] = -np.inf
    return x, y


def tatters(n):
    x, y = polar(n)
    x[np.random.default_rng(2).integers(0, n, n // 10)] = np.nan
    return x, y


def walk(n):
    return np.random.default_rng(3).normal(size=(2, n)).cumsum(axis=1)


def noise(n):
    return np.arange(n), np.random.default_rng(4).normal(size=n)


def saw(n):
    return np.linspace(0, 1, n), np.arange(n) % 2


def jumps(n):
    return np.random.default_rng(5).random((2, n))


def grid(n):
    """Few places, and so the same lines again and again."""
    return np.random.default_rng(6).integers(0, 4, (2, n))


def chords(n):
    angle = 7 * np.random.default_rng(7).random(n)
    return np.cos(angle), np.sin(angle)


def loops(n):
    return polar(n, turns=10, waves=3.0171)


def retraced(n):
    return polar(n, turns=20)


def below_zero(n):
    return polar(n, depth=1.5)


SMOOTH = (polar, below_zero, loops, retraced)
BROKEN = (spikes, steps, poles, gaps, tatters, walk)


# --- few enough for matplotlib


@pytest.mark.parametrize("n", [100, 20_000, 300_000])
@pytest.mark.parametrize("curve", [*SMOOTH, *BROKEN])
def test_a_path_looks_like_the_line_through_all_points(curve, n):
    xy = [np.asarray(values, np.float32 if curve in BROKEN else np.float64) for values in curve(n)]
    expected, wanted = picture(line, *xy)
    found, axes = picture(raster.plot, *xy)
    assert axes.lines[0].get_xdata().size  # no image
    assert axes.dataLim.bounds == wanted.dataLim.bounds
    # 1/8 of a pixel, where matplotlib itself may be off by 1/9
    difference = abs(found - expected)
    assert difference.max() <= (80 if n > 100 else 0)
    assert difference[(expected < 255) | (found < 255)].mean() <= 5


@pytest.mark.parametrize("curve", SMOOTH[:3])
def test_of_many_points_few_are_drawn(curve):
    points = raster.Points.of(*curve(1_000_000))
    x, y = raster.path(points)
    assert x.size <= (400_000 if curve is loops else 40_000)
    assert (x[0], y[0], x[-1], y[-1]) == (points.x[0], points.y[0], points.x[-1], points.y[-1])


def test_no_point_is_far_from_the_path():
    x, y = polar(300_000)
    x[123_456] += 0.5  # neither first nor last of anything
    points = raster.Points.of(x, y)
    size = np.array(points.high) - points.low
    path = np.stack(raster.path(points), axis=1) / size * raster.CELLS
    start, way = path[:-1], np.diff(path, axis=0)
    length = (way**2).sum(axis=1)
    for point in np.stack([x, y], axis=1)[[*range(0, x.size, 3001), 123_456]]:
        off = point / size * raster.CELLS - start
        share = np.clip((off * way).sum(axis=1) / np.maximum(length, 1e-9), 0, 1)
        assert np.hypot(*(off - share[:, None] * way).T).min() <= raster.THIN


# --- too much for matplotlib


def beyond(one, other):
    """How far each pixel is outside of what the other picture has there or one pixel beside."""
    around = sliding_window_view(np.pad(other, 1, mode="edge"), (3, 3))
    low, high = around.min(axis=(2, 3)), around.max(axis=(2, 3))
    return np.maximum(np.maximum(low - one, one - high), 0)


@pytest.mark.parametrize("n", [100, 10_000])
@pytest.mark.parametrize("curve", [*SMOOTH, *BROKEN, noise, saw, jumps, grid, chords])
def test_an_image_looks_like_the_line_through_all_points(curve, n, monkeypatch):
    monkeypatch.setattr(raster, "MOST_POINTS", 0)
    in_parts(monkeypatch)
    xy = curve(n)
    expected, wanted = picture(line, *xy)
    found, axes = picture(raster.plot, *xy)
    assert not axes.lines[0].get_xdata().size
    assert axes.dataLim.bounds == wanted.dataLim.bounds
    inked = (expected < 255) | (found < 255)
    far = np.maximum(beyond(found, expected), beyond(expected, found)) > 64
    assert far.sum() <= 0.005 * inked.sum()
    assert abs(found - expected)[inked].mean() <= 10


def in_parts(monkeypatch):
    """Many points as few are: read in parts, about one for a turn of some curves."""
    monkeypatch.setattr(raster, "GROUP", 512)
    monkeypatch.setattr(raster, "CHUNK", 512)


@pytest.mark.parametrize("curve", [jumps, grid])
def test_parts_and_forgotten_segments_change_nothing(curve, monkeypatch):
    monkeypatch.setattr(raster, "MOST_POINTS", 0)
    if curve is jumps:
        monkeypatch.setattr(ink, "TIMES", (1, 2, 4))  # often enough after few parts
    expected, _ = picture(raster.plot, *curve(9_000))
    in_parts(monkeypatch)
    monkeypatch.setattr(ink, "KNOWN", 64)
    found, _ = picture(raster.plot, *curve(9_000))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("curve", [jumps, chords])
def test_what_is_skipped_would_change_nothing(curve, monkeypatch):
    x, y = curve(20_000)
    x[-1], y[-1] = 1.2, 0.9
    found, _ = picture(raster.plot, x, y)
    monkeypatch.setattr(ink.Sheet, "_look", lambda sheet: None)
    expected, axes = picture(raster.plot, x, y)
    assert any(isinstance(artist, ink.Ink) for artist in axes.artists)
    assert np.array_equal(found, expected)


def test_an_image_has_the_lines_colour_and_place():
    figure = Figure()
    axes = figure.add_subplot()
    raster.plot(axes, *jumps(10_000), color="#00FF00", alpha=0.5, lw=3, zorder=7, label="ours")
    (artist,) = (artist for artist in axes.artists if isinstance(artist, ink.Ink))
    assert artist.get_zorder() == 7
    assert axes.get_legend_handles_labels()[1] == ["ours"]
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    middle = np.asarray(canvas.buffer_rgba())[240, 320]
    assert middle.tolist()[1] == 255 and 120 < middle[0] < 135


@pytest.mark.parametrize("format", ["svg", "png"])
def test_an_image_is_saved_in_any_format_and_size(format):
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.add_subplot()
    raster.plot(axes, *jumps(10_000))
    axes.set_aspect("equal", adjustable="datalim")
    file = io.BytesIO()
    figure.savefig(file, format=format, dpi=130)
    assert file.tell() > 1000


# --- odd input


@pytest.mark.parametrize(
    "xy",
    [
        ([], []),
        ([1.0], [2.0]),
        ([np.nan] * 5, [1.0] * 5),
        ([1, np.nan, 2, np.nan, 3], [1.0] * 5),
        ([1.0] * 500, [2.0] * 500),
        ([1.0] * 500, np.arange(500)),
        (np.arange(500), [0] * 500),
        (np.arange(300, dtype=np.int8) // 3, np.arange(300) ** 2),
        (np.linspace(0, 1, 5000).astype(np.float16), np.linspace(1, 0, 5000)),
        (1e9 + np.linspace(0, 1, 5000), np.linspace(0, 1e-12, 5000)),
    ],
)
def test_odd_points_look_like_the_line_through_them(xy):
    xy = [np.asarray(values) for values in xy]
    expected, wanted = picture(line, *xy)
    found, axes = picture(raster.plot, *xy)
    assert (axes.get_xlim(), axes.get_ylim()) == (wanted.get_xlim(), wanted.get_ylim())
    assert abs(found - expected).max() <= 60


def test_what_cannot_be_drawn_is_refused():
    axes = Figure().add_subplot()
    with pytest.raises(ValueError, match=r"one dimension and length, not \(2, 3\) and \(3,\)"):
        raster.plot(axes, np.zeros((2, 3)), np.zeros(3))
    with pytest.raises(ValueError, match="linear axes"):
        picture(lambda axes, *xy: (axes.set_xscale("log"), raster.plot(axes, *xy)), *jumps(10_000))
    with pytest.raises(ValueError, match="show all points"):
        picture(lambda axes, *xy: (raster.plot(axes, *xy), axes.set_xlim(0, 0.5)), *jumps(10_000))


# --- memory


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("turns", "most"), [(1, 60e6), (1000, 250e6)], ids=["path", "image"])
def test_memory_does_not_grow_with_the_points(turns, most, dtype):
    """1e7 points are 80 or 160 MB, and a line through them takes some 500 MB more."""
    xy = [np.asarray(values, dtype) for values in polar(10_000_000, turns)]
    tracemalloc.start()
    try:
        picture(raster.plot, *xy)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= most
