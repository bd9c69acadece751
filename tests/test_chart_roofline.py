"""Cells under the roofs of the machine."""

from dataclasses import replace

import pytest

from crossover import charts, style
from crossover.chart_roofline import roofline
from figures import legend, lines, misplaced, texts, titles
from made_up import NO_CUDA, SIZES, nothing, numpy_time, without_gpu, written
from made_up_answers import roofs, several

pytestmark = pytest.mark.whole


@pytest.fixture
def draw(tmp_path):
    def made(rows=None, known=None):
        path = written(tmp_path / "s.csv", several() if rows is None else rows)
        return roofline(charts.read(path), "float64", roofs() if known is None else known)

    return made


def named(axes, *words):
    return {name for name in lines(axes) if all(word in name for word in words)}


def test_cells_of_all_workloads_are_at_their_rates(draw):
    (axes,) = draw().axes
    add, matmul = lines(axes)["add, numpy"], lines(axes)["matmul, torch_cuda"]
    assert list(add.get_xdata()) == pytest.approx([1 / 16] * len(SIZES))
    assert list(add.get_ydata()) == pytest.approx([size / numpy_time(size) for size in SIZES])
    assert list(matmul.get_xdata()) == pytest.approx([size**0.5 / 12 for size in SIZES])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert legend(axes.figure) == ["numpy", "torch_cpu", "torch_cuda"]
    assert {"add", "matmul"} <= {text.get_text() for text in axes.texts}


def test_the_backends_of_a_workload_whose_cells_have_one_place_stand_side_by_side(draw):
    (axes,) = draw().axes
    names = ("numpy", "torch_cpu", "torch_cuda")
    for workload, places in (("add", 3), ("matmul", 1)):
        shown = [lines(axes)[f"{workload}, {name}"].get_transform() for name in names]
        assert len({round(one.transform((1, 1e9))[0], 3) for one in shown}) == places


def test_roofs_are_what_was_measured_through_a_backend(draw):
    (axes,) = draw().axes
    found, (left, right) = lines(axes), axes.get_xlim()
    memory, caches, flat = (found[f"numpy {kind}"] for kind in ("memory", "caches", "arithmetic"))
    assert memory.get_xydata().tolist() == [[left, 2e10 * left], [3.5, pytest.approx(7e10)]]
    assert caches.get_xydata()[0].tolist() == [left, 8e10 * left]
    assert caches.is_dashed() and not memory.is_dashed()
    assert list(flat.get_xdata()) == [7e10 / 8e10, right] and set(flat.get_ydata()) == {7e10}
    assert not named(axes, "torch_cuda caches")  # its memory has one speed
    assert axes.get_ylim()[1] > 3e13


def test_where_no_roof_is_known_none_is_drawn_and_that_is_said(draw):
    (axes,) = draw().axes
    assert not named(axes, "torch_cpu", "memory") and not named(axes, "torch_cpu", "arithmetic")
    assert "No roof is known of torch_cpu." in texts(axes.figure)
    (axes,) = draw(known={}).axes
    assert not named(axes, "memory") and not named(axes, "arithmetic")
    assert "No roof is known of numpy, torch_cpu, torch_cuda." in texts(axes.figure)
    assert "Roofs" not in texts(axes.figure)


def test_arithmetic_that_is_not_known_has_no_roof(draw):
    """A matrix product that is no faster than a sum is a plain loop, and says nothing."""
    known = {
        place: replace(best, streams={"float64": 1e15}) if "numpy" in place else best
        for place, best in roofs().items()
    }
    (axes,) = draw(known=known).axes
    assert not named(axes, "numpy arithmetic") and named(axes, "torch_cuda arithmetic")
    assert lines(axes)["numpy memory"].get_xdata()[1] == axes.get_xlim()[1]
    assert "No roof of arithmetic is known of numpy." in texts(axes.figure)


def test_what_is_not_counted_is_left_out_and_named(draw):
    figure = draw()
    assert not named(figure.axes[0], "sort")
    assert "Left out: sort: its operations, or the bytes" in texts(figure)


def test_a_failure_names_the_workloads_that_it_is_of(draw):
    line = f"Not shown: torch_cuda, all sizes: unavailable ({NO_CUDA})"
    assert f"{line}, in sort" in texts(draw())
    rows = [row | {"gb_per_s": 1, "gflop_per_s": 1} for row in without_gpu()]
    words = texts(draw(rows))
    assert line in words and f"{line}, in" not in words


def test_points_and_roofs_say_their_values(draw, tmp_path):
    found = titles(draw(), tmp_path / "x.svg")
    wanted = "numpy, n = 1e6, add 1.1 GFLOP/s (95 %: 1.04 GFLOP/s to 1.15 GFLOP/s)"
    assert f"{wanted}, 0.0625 FLOP per byte, good" in found
    assert "numpy, memory: 20 GB/s, the best that was measured" in found
    assert "torch_cuda, arithmetic: 30 TFLOP/s, the best that was measured" in found


def test_hostile_workloads(draw, tmp_path):
    rows = [
        row | {"workload": f"{row['workload']} <b>$x$ 100% " + 9 * "long_"} for row in several()
    ]
    figure = draw(rows)
    assert any("add <b>$x$ 100% long_" in title for title in titles(figure, tmp_path / "x.svg"))
    with style.look():
        assert misplaced(figure) == []


@pytest.mark.parametrize("rows", [nothing(), without_gpu()])
def test_no_cell_with_rates_is_no_data(draw, rows):
    figure = draw(rows)
    assert not figure.axes and "no data" in texts(figure)
    assert "torch_cuda, all sizes: unavailable" in texts(figure)


@pytest.mark.filterwarnings("error")
def test_no_words_overlap_or_leave_the_page(draw):
    with style.look():
        assert misplaced(draw()) == []
