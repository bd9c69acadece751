"""Where the time goes."""

import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from crossover import charts, style
from crossover.chart_parts import parts
from figures import lines, misplaced, texts, titles
from made_up import CASES, NO_CUDA, SIZES, drawing_time, numpy_time, with_gpu, written

pytestmark = pytest.mark.whole


@pytest.fixture
def draw(tmp_path):
    def made(case):
        rows = CASES[case]() if isinstance(case, str) else case
        return parts(charts.read(written(tmp_path / "s.csv", rows)), "add", "float64")

    return made


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def segments(axes, backend):
    """Part, start and length of a backend's bar, from left to right."""
    place = names(axes).index(backend)
    return [
        (patch.get_label(), patch.get_x(), patch.get_width())
        for patch in axes.patches
        if isinstance(patch, Rectangle) and round(patch.get_y() + patch.get_height() / 2) == place
    ]


def seconds(rows, backend, size, scope):
    keys = {"backend": backend, "size": size, "scope": scope}
    (found,) = [row["median_s"] for row in rows if row | keys == row]
    return found


def test_a_device_s_parts_are_stacked_and_a_host_only_computes(draw):
    figure, rows = draw("gpu"), with_gpu()
    assert [axes.get_title("left") for axes in figure.axes] == [
        f"n = {style.size_words(size)}" for size in SIZES
    ]
    axes, size = figure.axes[2], SIZES[2]
    assert names(axes) == ["numpy", "torch_cpu", "torch_cuda"]
    up, run, down = (
        seconds(rows, "torch_cuda", size, scope) for scope in ("upload", "compute", "download")
    )
    assert segments(axes, "torch_cuda") == [
        ("upload", 0, up),
        ("compute", up, run),
        ("download", pytest.approx(up + run), down),
    ]
    assert segments(axes, "numpy") == [("compute", 0, numpy_time(size))]
    assert axes.get_xscale() == "linear"


def test_the_whole_is_a_point_with_its_interval_and_not_the_sum(draw):
    figure, rows = draw("gpu"), with_gpu()
    for axes, size in zip(figure.axes, SIZES, strict=True):
        whole = seconds(rows, "torch_cuda", size, "round_trip")
        assert list(lines(axes)["torch_cuda"].get_xdata()) == [whole]
        assert sum(length for *_, length in segments(axes, "torch_cuda")) != whole
        assert axes.get_xlim()[1] > whole
    assert "need not add up" in texts(figure)


def test_drawing_is_a_part_where_the_output_is_a_curve(draw):
    figure = draw("drawn")
    axes, size = figure.axes[3], SIZES[3]
    label, _, length = segments(axes, "torch_cuda")[-1]
    assert (label, length) == ("render", drawing_time(size))
    assert segments(axes, "numpy") == [
        ("compute", 0, numpy_time(size)),
        ("render", numpy_time(size), drawing_time(size)),
    ]
    assert list(lines(axes)["numpy"].get_xdata()) == [numpy_time(size) + drawing_time(size)]
    assert names(axes) == ["numpy", "torch_cpu", "torch_cuda"]  # and no way of drawing
    assert "drawing (raster) of the same round" in texts(figure)


def test_the_first_call_is_a_number_beside_the_bars(draw):
    axes = draw("gpu").axes[3]
    words = [text.get_text() for text in axes.texts]
    assert style.seconds_words(numpy_time(SIZES[3]) + 0.1) in words


def test_a_failed_cell_says_so_in_its_place(draw):
    figure = draw("hostile")
    axes = figure.axes[-1]
    assert segments(axes, "<b>") == []
    assert "out of memory" in [text.get_text() for text in axes.texts]
    assert "out of memory (n = 31,622,776: 252,982,208 bytes asked" in texts(figure)
    assert "torch_cuda" not in names(draw("no_gpu").axes[0])
    assert NO_CUDA in texts(draw("no_gpu"))


def test_of_many_sizes_some_are_drawn_and_that_is_said(draw):
    figure = draw("hostile")
    assert [axes.get_title("left") for axes in figure.axes] == [
        *("n = 1,000", "n = 1e5", "n = 3,162,277", "n = 316,227,766")
    ]
    assert "Drawn: 4 of 12 sizes" in texts(figure)
    assert "Drawn:" not in texts(draw("gpu"))


def test_less_trusted_wholes_are_hollow(draw):
    figure = draw("noisy")
    points = {
        size: {name: to_rgb(line.get_markerfacecolor()) for name, line in lines(axes).items()}
        for size, axes in zip(SIZES, figure.axes, strict=True)
    }
    assert points[100_000]["torch_cpu"] == (1, 1, 1)
    assert points[1_000_000]["torch_cpu"] == (0, 0, 0)
    assert "trusted less: few threads (torch_cuda); disturbed (torch_cpu)" in texts(figure)


def test_each_part_says_its_value(draw, tmp_path):
    found = titles(draw("drawn"), tmp_path / "x.svg")
    assert "torch_cuda, n = 1e6, upload 455 µs (95 %: 433 µs to 478 µs), good" in found
    assert "numpy, n = 1e6, drawing 5 ms (95 %: 4.76 ms to 5.26 ms), good" in found
    assert "numpy, n = 1e6, end to end 5.91 ms (95 %: 5.73 ms to 6.09 ms), good" in found


def test_nothing_to_draw_is_said_without_axes(draw):
    figure = draw("nothing")
    assert not figure.axes and "no data" in texts(figure)
    assert "torch_cpu, all sizes: killed (killed by signal 9)" in texts(figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", ["drawn", "noisy", "hostile", "long_names"])
def test_no_words_overlap_or_leave_the_page(draw, case):
    with style.look():
        assert misplaced(draw(case)) == []
