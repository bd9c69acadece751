"""Break-even sizes on the chart of speedups, and its panels."""

import pytest

from crossover import break_even, charts, style
from crossover.chart_speedup import speedup
from figures import legend, lines, misplaced, texts, titles
from made_up import CASES, written
from made_up_answers import BREAK_EVENS, crossing, no_crossing

pytestmark = pytest.mark.whole


@pytest.fixture
def draw(tmp_path):
    def made(case, break_evens=BREAK_EVENS, cell=("add", "float64")):
        summary = charts.read(written(tmp_path / f"{case}.csv", CASES[case]()))
        return speedup(summary, *cell, break_evens)

    return made


def marks(axes):
    """n*, low and high by backend, of all marks on the line at 1."""
    found = {}
    for line in axes.lines:
        backend, _, kind = line.get_label().partition(" break-even")
        if _ and not kind:
            found.setdefault(backend, []).append(tuple(line.get_xdata()))
            assert tuple(line.get_ydata()) == (1,)
        elif _:
            found.setdefault(backend, []).append(tuple(line.get_xdata()))
    return {name: sorted(sum(ends, ())) for name, ends in found.items()}


def test_break_even_is_marked_with_its_interval_where_it_is_a_crossing(draw):
    compute, trip = draw("gpu").axes
    of_cpu = [30_000.1, 43_210.5, 61_234.5]
    assert marks(compute) == {"torch_cpu": of_cpu, "torch_cuda": [10_000.0, 10_900.7, 12_345.6]}
    # on a host the round trip is the computation; the device never is faster there
    assert marks(trip) == {"torch_cpu": of_cpu}


def test_break_even_is_said_in_words(draw, tmp_path):
    figure = draw("gpu")
    words = texts(figure)
    assert "torch_cpu n = 43,200 (30,000 to 61,200; compute, round trip); torch_cuda n =" in words
    title = "torch_cpu, n = 43,200, break-even (95 %: 30,000 to 61,200), compute, from n = 43,200"
    assert any(one.startswith(title) for one in titles(figure, tmp_path / "x.svg"))
    assert "Break-even" not in texts(draw("gpu", ()))


@pytest.mark.parametrize("kind", [break_even.NEVER, break_even.FROM_SMALLEST, break_even.NOT_CLEAR])
def test_what_is_no_crossing_has_no_mark(draw, kind):
    (compute, _) = draw("gpu", [no_crossing("torch_cpu", "compute", kind)]).axes
    assert marks(compute) == {}


def test_faster_only_between_two_sizes_has_both_marks(draw):
    row = crossing("torch_cuda", "round_trip", 2e4, 1.5e4, 3e4, until=(2e6, 1e6, 3e6))
    compute, trip = draw("gpu", [row]).axes
    assert marks(compute) == {}
    assert marks(trip) == {"torch_cuda": [1.5e4, 2e4, 3e4, 1e6, 2e6, 3e6]}


def test_marks_at_one_place_lie_one_above_the_other(draw):
    rows = [crossing(name, "compute", 2e5, 1e5, 3e5) for name in ("torch_cpu", "torch_cuda")]
    rows.append(crossing("torch_cuda", "round_trip", 2e6, 1e6, 3e6))
    compute, trip = draw("gpu", rows).axes

    def heights(axes):
        found = lines(axes)
        at = [found[name] for name in found if name.endswith("break-even")]
        return [line.get_transform().transform((2e5, 1))[1] for line in at]

    assert len(heights(compute)) == len(set(heights(compute))) == 2
    level = trip.transData.transform((2e5, 1))[1]
    assert heights(trip)[-1] == pytest.approx(level)


def test_another_workload_s_break_even_is_not_marked(draw):
    row = crossing("torch_cpu", "compute", 2e5, 1e5, 3e5) | {"dtype": "float32"}
    assert marks(draw("gpu", [row]).axes[0]) == {}


def test_a_workload_that_is_drawn_has_a_third_panel(draw):
    row = crossing("torch_cpu", "end_to_end", 2e5, 1e5, 3e5)
    panels = draw("drawn", [row]).axes
    assert len(panels) == 3
    assert panels[2].get_title("left").startswith("end to end")
    assert [marks(axes) for axes in panels] == [{}, {}, {"torch_cpu": [1e5, 2e5, 3e5]}]
    assert panels[2].get_ylim() == panels[0].get_ylim()


def test_ways_of_drawing_are_no_backends(draw):
    figure = draw("drawn")
    assert sorted(legend(figure)) == ["torch_cpu", "torch_cuda"]
    assert "killed" not in texts(figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", ["gpu", "drawn", "hostile"])
def test_no_words_overlap_or_leave_the_page(draw, case):
    with style.look():
        assert misplaced(draw(case)) == []
