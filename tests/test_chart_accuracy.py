"""Accuracy against time."""

import pytest
from matplotlib.colors import to_rgb

from crossover import charts, style
from crossover.chart_accuracy import accuracy
from figures import legend, lines, misplaced, texts, titles
from made_up import SIZES, bad, nothing, numpy_time, with_gpu, written
from made_up_answers import accurate

pytestmark = pytest.mark.whole


@pytest.fixture
def draw(tmp_path):
    def made(rows=None):
        path = written(tmp_path / "s.csv", accurate() if rows is None else rows)
        return accuracy(charts.read(path), "add")

    return made


def panels(figure):
    return {axes.get_title("left"): axes for axes in figure.axes if axes.get_visible()}


def test_each_dtype_has_a_panel_with_error_against_time(draw):
    figure = draw()
    found = panels(figure)
    assert list(found) == ["float64", "float32", "float16"]
    ((x, y),) = lines(found["float32"])["numpy"].get_xydata()
    assert (x, y) == (numpy_time(SIZES[-1]) / 2, pytest.approx(6e-8, rel=3))
    assert set(lines(found["float16"])) & {"numpy", "torch_cpu", "torch_cuda"} == {
        *("numpy", "torch_cuda")
    }
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in found.values()}) == 1
    assert legend(figure) == ["numpy", "torch_cpu", "torch_cuda"]
    assert "n = 1e7" in texts(figure)
    assert "torch_cpu, all sizes: unsupported (no float16 here), in float16" in texts(figure)


def test_the_bound_is_over_the_point(draw):
    axes = panels(draw())["float32"]
    ticks = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "_"]
    assert ticks == [32 * 6e-8] * 3


def test_an_exact_answer_is_drawn_at_0_below_all_others(draw):
    figure = draw()
    axes = panels(figure)["float64"]
    ((_, zero),) = lines(axes)["numpy"].get_xydata()
    assert axes.get_ylim()[0] < zero < 1e-16
    labels = {text.get_position()[1]: text.get_text() for text in axes.get_yticklabels()}
    assert labels[zero] == "0"
    assert "At 0" in texts(figure)
    inexact = [row | {"error": 1e-9} if row["status"] == "ok" else row for row in accurate()]
    assert "At 0" not in texts(draw(inexact))


def test_the_size_is_the_one_with_most_good_cells(draw):
    lost = bad("torch_cuda", SIZES[-1], "out_of_memory", "too large", dtype="float64")
    rows = [
        row
        for row in accurate()
        if (row["backend"], row["size"], row["dtype"]) != ("torch_cuda", SIZES[-1], "float64")
    ]
    figure = draw(rows + lost)
    assert "n = 1e6" in texts(figure)
    assert "torch_cuda, n = 1e7: out of memory (too large), in float64" in texts(figure)


def test_less_trusted_points_are_hollow(draw):
    rows = accurate()
    for row in rows:
        if row["backend"] == "numpy":
            row["grade"] = "disturbed"
    figure = draw(rows)
    points = lines(panels(figure)["float32"])
    assert to_rgb(points["numpy"].get_markerfacecolor()) == (1, 1, 1)
    assert to_rgb(points["torch_cpu"].get_markerfacecolor()) != (1, 1, 1)
    assert "trusted less: disturbed (numpy)" in texts(figure)


def test_another_precision_than_the_full_one_is_named(draw):
    rows = [
        row | {"precision": "tf32" if row["backend"] == "torch_cuda" else "ieee"}
        for row in accurate()
    ]
    assert "torch_cuda with products in tf32;" in texts(draw(rows))
    assert "ieee" not in texts(draw(rows))
    halves = [row | {"precision": row["precision"].replace("tf32", "bfloat16")} for row in rows]
    assert "torch_cuda in bfloat16, converted on the way in and out;" in texts(draw(halves))


def test_points_say_their_error_bound_and_time(draw, tmp_path):
    (found,) = {
        title
        for title in titles(draw(), tmp_path / "x.svg")
        if title.startswith("numpy, n = 1e7, float64")
    }
    wanted = "numpy, n = 1e7, float64 error 0 (at most 3.2e-15), compute 9.09 ms (95 %: 8.65 ms"
    assert found == f"{wanted} to 9.56 ms), good"


def test_no_error_is_no_data(draw):
    assert "no error is known" in texts(draw(with_gpu()))
    figure = draw(nothing())
    assert not figure.axes and "no data" in texts(figure)
    assert "torch_cpu, all sizes: killed (killed by signal 9)" in texts(figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [1, 7])
def test_no_words_overlap_or_leave_the_page(draw, count):
    dtypes = ("float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64")
    rows = [row | {"error": 1e-7, "error_bound": 1e-6} for row in with_gpu()]
    with style.look():
        figure = draw([row | {"dtype": dtype} for dtype in dtypes[:count] for row in rows])
        assert len(panels(figure)) == count
        assert misplaced(figure) == []
