"""How many calls pay for the transfers."""

import pytest
from matplotlib.colors import to_rgb

from crossover import charts, decide, decided, record, style
from crossover.chart_reuse import calls
from figures import legend, lines, misplaced, texts, titles
from made_up import CASES, NO_CUDA, SIZES, numpy_time, with_gpu, written
from made_up_answers import BREAK_EVENS, reused

pytestmark = pytest.mark.whole


@pytest.fixture
def draw(tmp_path):
    def made(case, change=lambda row: row):
        rows = CASES[case]()
        reuses = [change(row) for row in reused(rows)]
        return calls(charts.read(written(tmp_path / "s.csv", rows)), "add", "float64", reuses)

    return made


def test_the_calls_that_pay_are_those_of_the_table(draw):
    left, _ = draw("gpu").axes
    table = reused(with_gpu())
    for way, column in (("once", "warm"), ("fresh", "cold")):
        line = lines(left)[f"torch_cuda {way}"]
        assert list(line.get_xdata()) == list(SIZES)
        assert list(line.get_ydata()) == [float(row[column]) for row in table]
    assert lines(left)["torch_cuda fresh"].is_dashed()
    bar = lines(left)["torch_cuda once bars"].get_ydata()[:2]
    assert list(bar) == [float(table[0]["warm_low"]), float(table[0]["warm_high"])]


def test_what_never_pays_is_above_all_numbers_and_says_so(draw, tmp_path):
    def never(row):
        return row | {"warm": "inf", "warm_high": "inf"} if row["size"] == str(SIZES[0]) else row

    figure = draw("gpu", never)
    left = figure.axes[0]
    top = lines(left)["torch_cuda once"].get_ydata()[0]
    assert max(lines(left)["torch_cuda once"].get_ydata()[1:]) < top < left.get_ylim()[1]
    labels = {text.get_position()[1]: text.get_text() for text in left.get_yticklabels()}
    assert labels[top] == "never"
    wanted = "torch_cuda, n = 10,000, pays never (95 %: 13 to never), uploaded once, good"
    assert wanted in titles(figure, tmp_path / "x.svg")
    assert "never" not in [text.get_text() for text in draw("gpu").axes[0].get_yticklabels()]


def test_what_is_not_known_is_not_drawn_and_is_said(draw):
    none = dict.fromkeys(("upload_s", "warm_low", "warm", "warm_high"), "")
    figure = draw("gpu", lambda row: row | none)
    left, right = figure.axes
    assert "torch_cuda once points" not in lines(left)
    assert "torch_cuda once" not in lines(right)
    assert "Not known everywhere: torch_cuda; a time is missing." in texts(figure)


def test_the_three_ways_to_use_a_device_stand_side_by_side(draw):
    right = draw("gpu").axes[1]
    row = {name: float(text) for name, text in reused(with_gpu())[-1].items() if name[-2:] == "_s"}
    host_s, device_s = row["host_s"], row["device_s"]
    assert host_s == numpy_time(SIZES[-1])
    found = {
        way: lines(right)[f"torch_cuda {way}"].get_ydata()
        for way in ("there", "once", "fresh", "each")
    }
    k = lines(right)["torch_cuda once"].get_xdata()
    assert k[0] == 1 and k[-1] == pytest.approx(right.get_xlim()[1])
    assert list(found["there"]) == pytest.approx([host_s / device_s] * len(k))
    assert list(found["each"]) == pytest.approx([host_s / row["round_trip_s"]] * len(k))
    once_s = row["upload_s"] + k[50] * device_s + row["download_s"]
    assert found["once"][50] == pytest.approx(k[50] * host_s / once_s)
    assert found["fresh"][0] == pytest.approx(row["host_first_call_s"] / row["first_call_s"])
    assert "speedup over numpy, n = 1e7" in texts(right.figure)
    words = {"data is there", "uploaded once", "once, in a fresh process"}
    assert set(legend(right.figure)) == words | {"torch_cuda", "round trip at each call"}


def test_less_trusted_points_are_hollow(draw):
    figure = draw("noisy")
    faces = {
        size: to_rgb(line.get_markerfacecolor())
        for line in figure.axes[0].lines
        if line.get_label() == "torch_cuda once points"
        for size in line.get_xdata()
    }
    assert [faces[size] == (1, 1, 1) for size in SIZES] == [True, False, False, True]
    assert "trusted less: few threads (torch_cuda)" in texts(figure)


def test_without_a_device_there_is_no_data_and_a_reason(draw):
    figure = draw("no_gpu")
    assert not figure.axes and "no data" in texts(figure)
    assert f"torch_cuda, all sizes: unavailable ({NO_CUDA})" in texts(figure)
    assert "Asked only of a device" in texts(draw("hosts"))


@pytest.mark.parametrize("case", ["one_size", "gpu", "long_names"])
def test_calls_are_counted_in_whole_numbers(draw, case):
    left = draw(case).axes[0]
    words = [text.get_text() for text in left.get_yticklabels()]
    assert words[0] == "1" and len(words) == len(set(words))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", ["gpu", "long_names", "one_size", "one_round"])
def test_no_words_overlap_or_leave_the_page(draw, case):
    with style.look():
        assert misplaced(draw(case)) == []


def test_what_decide_wrote_is_read_even_where_there_is_nothing(tmp_path):
    path = tmp_path / "x.csv"
    for rows, read, columns in (
        (reused(with_gpu()), decided.reuses, decide.REUSE_COLUMNS),
        (
            [dict.fromkeys(decide.COLUMNS, "") | row for row in BREAK_EVENS],
            decided.break_evens,
            decide.COLUMNS,
        ),
    ):
        record.write(path, rows, columns)
        assert [{name: row[name] for name in columns} for row in read(path)] == rows
        record.write(path, [], columns)
        assert read(path) == []
        path.write_text("another,header\n")
        with pytest.raises(record.Damaged, match="other columns"):
            read(path)
