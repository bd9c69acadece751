"""The charts of made-up summaries."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from crossover import charts, style
from crossover.chart_speedup import speedup
from crossover.chart_time import time
from figures import legend, lines, misplaced, texts
from made_up import CASES, NO_CUDA, SIZES, numpy_time, with_gpu, written

pytestmark = pytest.mark.whole


@pytest.fixture
def summary(tmp_path):
    return lambda name: charts.read(written(tmp_path / f"{name}.csv", CASES[name]()))


def test_time_has_a_line_per_backend_and_the_round_trip_of_the_device_only(summary):
    (axes,) = time(summary("gpu"), "add", "float64").axes
    wanted = {"numpy", "torch_cpu", "torch_cuda", "torch_cuda round_trip"}
    assert {name for name in lines(axes) if not name.endswith(("points", "bars"))} == wanted
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    line = lines(axes)["numpy"]
    assert list(line.get_xdata()) == list(SIZES)
    assert list(line.get_ydata()) == [numpy_time(size) for size in SIZES]
    assert not lines(axes)["torch_cuda"].is_dashed()
    assert lines(axes)["torch_cuda round_trip"].is_dashed()


def test_time_says_what_it_shows(summary):
    figure = time(summary("gpu"), "add", "float64")
    words = texts(figure)
    for fact in ("add, float64", "8581C", "2 usable cores", "2 threads", "baseline numpy", "H200"):
        assert fact in words
    assert "lower is faster" in words
    assert "numpy (baseline)" in legend(figure)
    ticks = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert ticks == ["10 µs", "100 µs", "1 ms", "10 ms"]
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["1e4", "1e5", "1e6", "1e7"]


def bars(axes):
    """Low and high of every bar, by size."""
    found = {}
    for line in axes.lines:
        if line.get_label().endswith(" bars"):
            for (size, low), (_, high), _ in line.get_xydata().reshape(-1, 3, 2):
                found.setdefault(int(size), []).append((low, high))
    return found


@pytest.mark.parametrize(
    ("case", "factors", "words"),
    [
        ("gpu", (np.exp(-0.05), np.exp(0.05)), "95 % intervals from 3 rounds. Dashed"),
        ("one_round", (0.97, 1.03), "the middle half of the samples (one round gives no"),
    ],
)
def test_bars_of_times_are_intervals_where_there_are_any(summary, case, factors, words):
    figure = time(summary(case), "add", "float64")
    found = bars(figure.axes[0])
    assert {size: len(found[size]) for size in SIZES} == dict.fromkeys(SIZES, 4)
    for size in SIZES:
        wanted = tuple(factor * numpy_time(size) for factor in factors)
        assert found[size][0] == pytest.approx(wanted)
    assert words in texts(figure)


def test_where_only_some_times_have_an_interval_it_is_said_which(summary):
    words = texts(time(summary("noisy"), "add", "float64"))
    assert "95 % intervals from 3 rounds; torch_cpu, n = 1e6: the middle half of the" in words


def test_bars_of_speedups_are_their_intervals(summary):
    figure = speedup(summary("no_gpu"), "add", "float64")
    for axes in figure.axes:
        points = dict(zip(*lines(axes)["torch_cpu"].get_data(), strict=True))
        assert bars(axes) == {
            size: [pytest.approx((points[size] * np.exp(-0.05), points[size] * np.exp(0.05)))]
            for size in SIZES
        }
    assert "95 % intervals from 3 pairs of rounds" in texts(figure)
    assert "No interval" not in texts(figure)
    assert "Ringed" not in texts(figure)


def test_no_difference_seen_is_ringed_and_explained(summary):
    figure = speedup(summary("noisy"), "add", "float64")
    rings = {
        label: (list(line.get_xdata()), line.get_markerfacecolor())
        for label, line in lines(figure.axes[0]).items()
        if label.endswith("ringed points")
    }
    assert rings == {
        "torch_cpu ringed points": ([10_000, 100_000], "none"),
        "torch_cuda ringed points": ([10_000], "none"),
    }
    words = texts(figure)
    assert "Ringed: no difference seen from numpy; the smallest that could have been" in words
    assert "seen there: 82 to more than 1,000 %" in words


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("one_round", "No interval: torch_cpu, torch_cuda, all sizes (one pair of rounds gives"),
        ("noisy", "No interval: torch_cpu, n = 1e6 (one pair of rounds gives none)"),
        ("baseline_lost", "torch_cuda, n = 10,000, 1e5 (not measured next to numpy; 'make fresh'"),
    ],
)
def test_a_speedup_without_an_interval_is_said_to_have_none(summary, case, words):
    assert words in texts(speedup(summary(case), "add", "float64"))


def test_a_very_long_bar_leaves_the_chart_and_does_not_flatten_it(summary):
    axes = speedup(summary("noisy"), "add", "float64").axes[1]
    lowest = min(low for low, _ in bars(axes)[10_000])
    assert lowest < axes.get_ylim()[0] < min(lines(axes)["torch_cuda"].get_ydata())


def test_bars_of_several_backends_at_one_size_lie_beside_each_other(summary):
    axes = speedup(summary("gpu"), "add", "float64").axes[0]
    bars = [line for line in axes.lines if line.get_label().endswith(" bars")]
    places = [line.get_transform().transform((SIZES[0], 1))[0] for line in bars]
    assert len(set(places)) == 2
    middle = axes.transData.transform((SIZES[0], 1))[0]
    assert max(abs(place - middle) for place in places) < axes.figure.dpi * 3 / 72


def test_speedup_has_two_panels_and_a_line_at_1_in_words(summary):
    figure = speedup(summary("gpu"), "add", "float64")
    panels = figure.axes
    assert [axes.get_title("left").split(":")[0] for axes in panels] == ["compute", "round trip"]
    for axes in panels:
        assert set(lines(axes)["as fast as numpy"].get_ydata()) == {1}
        assert "numpy" not in lines(axes)
        assert axes.get_yscale() == "log"
    assert panels[0].get_ylim() == panels[1].get_ylim()
    compute, trip = (lines(axes)["torch_cuda"].get_ydata() for axes in panels)
    assert compute[-1] > 100 > 1 > trip[-1]
    words = texts(figure)
    assert "as fast as numpy" in words
    assert "faster" in words
    assert "slower" in words
    assert panels[0].get_ylabel() == "speedup over numpy"
    assert sorted(legend(figure)) == ["torch_cpu", "torch_cuda"]


@pytest.mark.parametrize("chart", [time, speedup])
def test_what_is_missing_is_said_once(summary, chart):
    words = texts(chart(summary("no_gpu"), "add", "float64"))
    assert f"Not shown: torch_cuda, all sizes: unavailable ({NO_CUDA})" in words
    assert words.count("CUDA") == 1


def test_reasons_that_differ_in_numbers_are_one_line_with_its_sizes(summary):
    words = texts(time(summary("hostile"), "add", "float64"))
    assert "<b>, n = 31,622,776, 1e8, 316,227,766: out of memory (n = 31,622,776: 252" in words
    assert words.count("out of memory") == 1


def test_a_missing_size_breaks_the_line(summary):
    (axes,) = time(summary("hostile"), "add", "float64").axes
    assert np.isnan(lines(axes)["100%"].get_ydata()).tolist() == [i == 5 for i in range(12)]


def hollow(axes, backend):
    return [
        size
        for line in axes.lines
        if line.get_label() == f"{backend} points"
        and to_rgb(line.get_markerfacecolor()) == (1, 1, 1)
        for size in line.get_xdata()
    ]


def test_medians_that_contradict_the_pairs_are_told(tmp_path):
    rows = with_gpu()
    for row in rows:
        if (row["backend"], row["scope"], row["size"]) == ("torch_cpu", "compute", SIZES[0]):
            row |= {"speedup": 0.5, "median_s": numpy_time(SIZES[0]) / 2.5}
    table = charts.read(written(tmp_path / "summary.csv", rows))
    words = f"Rounds far from each other: torch_cpu, n = {SIZES[0]:,}; medians say the opposite"
    for figure in (speedup(table, "add", "float64"), time(table, "add", "float64")):
        assert words in texts(figure)
    table = charts.read(written(tmp_path / "summary.csv", with_gpu()))
    for figure in (speedup(table, "add", "float64"), time(table, "add", "float64")):
        assert "Rounds far from" not in texts(figure)


def test_less_trusted_points_are_hollow_and_explained(summary):
    figure = speedup(summary("baseline_lost"), "add", "float64")
    assert "trusted less: disturbed (torch_cpu); not paired (torch_cuda)" in texts(figure)
    assert hollow(figure.axes[0], "torch_cuda") == [10_000, 100_000]
    assert "trusted less" not in texts(speedup(summary("gpu"), "add", "float64"))


def test_a_time_needs_no_partner_to_be_trusted(summary):
    figure = time(summary("baseline_lost"), "add", "float64")
    assert "trusted less: disturbed (torch_cpu)." in texts(figure)
    assert hollow(figure.axes[0], "torch_cuda") == []
    assert hollow(figure.axes[0], "torch_cpu") == [100_000]


def test_several_grades_of_one_cell_are_each_named(summary):
    words = texts(time(summary("noisy"), "add", "float64"))
    wanted = "few threads (torch_cuda); disturbed (torch_cpu); drifting (torch_cpu); above ceiling"
    assert wanted in words


@pytest.mark.parametrize("chart", [time, speedup])
def test_what_is_launch_bound_or_a_single_call_is_filled_and_said(summary, chart):
    figure = chart(summary("noisy"), "add", "float64")
    assert hollow(figure.axes[0], "torch_cpu") == [100_000]  # and not 10,000
    assert "Launch bound: torch_cpu, torch_cuda, n = 10,000 (so short" in texts(figure)
    assert "Single call: " in texts(figure) and "torch_cuda, n = 1e7 (one call" in texts(figure)


@pytest.mark.parametrize("chart", [time, speedup])
def test_round_trips_name_their_memory(summary, chart):
    assert "pageable" in texts(chart(summary("gpu"), "add", "float64"))
    assert "pageable" not in texts(chart(summary("no_gpu"), "add", "float64"))


def test_no_baseline_time_is_no_speedup_and_is_said(summary):
    words = texts(speedup(summary("baseline_lost"), "add", "float64"))
    assert "torch_cpu, torch_cuda, n = 1e7: no time of numpy to compare with" in words


@pytest.mark.parametrize("chart", [time, speedup])
def test_nothing_to_draw_is_said_without_axes(summary, chart):
    figure = chart(summary("nothing"), "add", "float64")
    assert not figure.axes
    assert "no data" in texts(figure)
    assert "torch_cpu, all sizes: killed (killed by signal 9)" in texts(figure)
    assert "no matmul in float32" in texts(chart(summary("gpu"), "matmul", "float32"))


def test_a_baseline_alone_has_no_speedup(tmp_path):
    rows = [row for row in with_gpu() if row["backend"] == "numpy"]
    summary = charts.read(written(tmp_path / "s.csv", rows))
    assert "no backend but numpy" in texts(speedup(summary, "add", "float64"))


def test_hostile_names_stay_as_they_are(summary, tmp_path):
    table = summary("hostile")
    figure = speedup(table, "add", "float64")
    assert set(legend(figure)) == {"a_b", "$x$", "<b>", "NA", "_hidden", "100%", "null"}
    assert not any(text.get_parse_math() for text in figure.legends[0].get_texts())
    style.save(figure, tmp_path / "x.svg")
    ElementTree.parse(tmp_path / "x.svg")


def test_backends_differ_without_colour(summary):
    looks = style.looks([f"b{i}" for i in range(20)], ["b0"])
    assert len({look.marker for look in list(looks.values())[:8]}) == 8
    assert len({(look.marker, look.dashes) for look in looks.values()}) == 20
    assert len({(look.marker, look.colour) for look in looks.values()}) == 20
    names = [f"b{i}" for i in range(20)]
    assert list(style.looks(names, names)) == names, "each may be a baseline"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chart", [time, speedup])
def test_no_words_overlap_or_leave_the_page(summary, chart, case):
    with style.look():
        assert misplaced(chart(summary(case), "add", "float64")) == []


# --- saving


def test_the_same_summary_gives_the_same_bytes(summary, tmp_path):
    table = summary("gpu")
    for name in ("a", "b"):
        figure = speedup(table, "add", "float64")
        style.save(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    for kind in ("svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        assert image.width == 1200
    assert b"<dc:date>" not in (tmp_path / "a.svg").read_bytes()
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(ValueError, match="is saved as"):
        style.save(figure, tmp_path / "a.gif")


def test_neither_a_display_nor_the_users_matplotlib_settings_matter(tmp_path):
    written(tmp_path / "summary.csv", with_gpu())
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\naxes.formatter.use_locale: True\n")
    program = (
        "import sys; from crossover import chart_time, charts, style\n"
        "s = charts.read('summary.csv')\n"
        "style.save(chart_time.time(s, 'add', 'float64'), 't.svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    env = os.environ | {"MPLBACKEND": "TkAgg", "PYTHONPATH": str(Path(charts.__file__).parents[1])}
    env.pop("DISPLAY", None)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, check=True)
    style.save(time(charts.read(tmp_path / "summary.csv"), "add", "float64"), tmp_path / "here.svg")
    assert (tmp_path / "t.svg").read_bytes() == (tmp_path / "here.svg").read_bytes()


def test_numbers_are_read_to_the_last_digit(summary):
    rows = summary("gpu")
    assert rows["median_s"].iloc[0] == numpy_time(SIZES[0])
    assert rows["size"].dtype == "int64"


@pytest.mark.parametrize(
    ("size", "words"),
    [(64, "64"), (10_000, "10,000"), (300_000_000, "3e8"), (1_234_567, "1,234,567")],
)
def test_sizes_in_words(size, words):
    assert style.size_words(size) == words


@pytest.mark.parametrize(
    ("ratios", "words"),
    [((1.0042,), "0.42 %"), ((1.23, 1.05), "5 to 23 %"), ((2.5, 99.0), "150 to more than 1,000 %")],
)
def test_percents_in_words(ratios, words):
    assert style.percent_words(*ratios) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(1e-9, "1 ns"), (2e-5, "20 µs"), (0.001, "1 ms"), (1500, "1,500 s")]
)
def test_seconds_in_words(seconds, words):
    assert style.seconds_words(seconds) == words
