"""The curve, drawn from saved points."""

import zlib

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from crossover import record
from crossover.cells import Cell
from crossover.curve import curve, saved
from figures import lines, texts


def points(n, dtype=np.float64):
    theta = np.linspace(0, 2 * np.pi, n, dtype=dtype)
    r = 1 + dtype(1.5) * np.sin(3 * theta)  # below 0 for some angles
    return np.stack([r * np.cos(theta), r * np.sin(theta)])


PART = {"workload": "polar", "dtype": "float32", "size": 1_000_000, "baseline": "numpy"}


def test_a_million_points_are_drawn_as_some_ten_thousand():
    saved = points(1_000_000, np.float32)
    figure = curve({"torch_cpu": (saved + 1e-6, 10**6), "numpy": (saved, 10**6)}, **PART)
    (axes,) = figure.axes
    line = lines(axes)["numpy"]
    assert "torch_cpu" not in lines(axes)
    x, y = line.get_data()
    assert 5_000 < len(x) <= 30_000
    assert (x[0], y[0], x[-1], y[-1]) == (*saved[:, 0], *saved[:, -1])
    assert axes.get_aspect() == 1
    words = texts(figure)
    assert "1e6 of 1e6 points computed by numpy" in words
    assert "Largest difference between torch_cpu, numpy: 1" in words
    FigureCanvasAgg(figure).draw()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert left < x.min() < x.max() < right
    assert low < y.min() < y.max() < high


@pytest.mark.parametrize("n", [1, 2, 3, 9_999, 10_000, 10_001, 20_000])
def test_any_number_of_points(n):
    figure = curve({"$x$": (points(n), n)}, **PART)
    x, _ = lines(figure.axes[0])["$x$"].get_data()
    assert min(n, 5_000) <= len(x) <= n
    assert "Only $x$ has points" in texts(figure)


def test_points_that_cannot_be_drawn_are_named():
    nan = points(10)
    nan[0, 3] = np.nan
    arrays = {"a": (np.zeros(0), 10), "b": (np.zeros((3, 10)), 10), "c": (nan, 10)}
    figure = curve(arrays, reasons=["not shown: d: unavailable"], **PART)
    assert not figure.axes
    words = texts(figure)
    for fact in ("no data", "a: no points were saved", "(3, 10)", "c: saved points are not finite"):
        assert fact in words
    assert "d: unavailable" in words


def test_different_samples_are_not_compared():
    figure = curve({"numpy": (points(10), 10), "b": (points(5), 10)}, **PART)
    assert "Not compared" in texts(figure)


# --- the saved points


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """A measured cell of polar with its files."""
    monkeypatch.chdir(tmp_path)
    cell = Cell("polar", "numpy", "float64", 1000)
    cell.folder.mkdir(parents=True)
    np.save(cell.array, points(10))
    _write(cell)
    return cell


def _write(cell, **changes):
    crc = f"{zlib.crc32(cell.array.read_bytes()):08x}"
    facts = {"backend": "numpy", "size": 1000, "status": "ok", "array_crc32": crc}
    record.write(cell.csv(1), [facts | {"output_shape": "1000 1000"} | changes])


def test_saved_points_come_with_the_number_computed(cell):
    arrays, reasons = saved({"numpy": cell})
    found, total = arrays["numpy"]
    assert np.array_equal(found, points(10)) and total == 1000 and not reasons


def test_a_cell_that_is_not_ok_has_no_points_and_a_reason(cell):
    _write(cell, status="killed", reason="killed by SIGKILL")
    assert saved({"numpy": cell}) == ({}, ["Not shown: numpy: killed (killed by SIGKILL)"])


@pytest.mark.parametrize("damage", ["cut", "edited", "gone"])
def test_points_that_are_not_those_that_were_saved_are_not_drawn(cell, damage):
    content = cell.array.read_bytes()
    if damage == "gone":
        cell.array.unlink()
    else:
        cell.array.write_bytes(content[:-8] if damage == "cut" else content[:-1] + b"x")
    arrays, reasons = saved({"numpy": cell})
    assert not arrays and str(cell.array) in reasons[0]


def test_pickles_are_not_loaded(cell):
    np.save(cell.array, np.array([{}], dtype=object), allow_pickle=True)
    _write(cell)
    arrays, reasons = saved({"numpy": cell})
    assert not arrays and str(cell.array) in reasons[0]
