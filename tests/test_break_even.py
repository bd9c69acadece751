"""The break-even size lies in its interval, and none is invented."""

from math import exp, log

import numpy as np
import pytest

from crossover import break_even, intervals, speedup_curve
from crossover.break_even import FROM, FROM_SMALLEST, NEVER, NOT_CLEAR, ONLY_BETWEEN
from made_up_curves import REPLICATES, crossing, flat, logs, noisy, sizes

GRIDS = {
    "four sizes, three decades": sizes(4, 1e4, 1e7),
    "six sizes, five decades": sizes(6, 1e3, 1e8),
    "eight sizes, five decades": sizes(8, 1e3, 1e8),
}
SAMPLING = 0.02  # three standard errors of a share of 5 % in 1,000 replicates


def found(curves, grid, **options):
    return [break_even.find([logs(curve, grid)], **options) for curve in curves]


def share(values):
    return sum(values) / len(values)


def held(answers, truth):
    """The share of replicates that have found n*, in its interval."""
    return share(
        [a.kind == FROM and a.low <= n <= a.high for a, n in zip(answers, truth, strict=True)]
    )


def curve(*heights, rounds=3, spread=0.01, first=1000):
    """By size, a decade apart, rounds around these logarithms; None is a missing cell."""
    offsets = [spread * (number % 3 - 1) for number in range(rounds)]
    return {
        first * 10**place: {r: y + offset for r, offset in enumerate(offsets)}
        if y is not None
        else {}
        for place, y in enumerate(heights)
    }


def find(*heights, **options):
    return break_even.find([curve(*heights, **options)])


# --- many replicates


@pytest.mark.whole
@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("rounds", [3, 5])
@pytest.mark.parametrize("name", GRIDS)
def test_a_known_crossing_is_in_its_interval(name, rounds, noise):
    curves, truth = crossing(GRIDS[name], rounds, noise, seed=rounds)
    answers = found(curves, GRIDS[name])
    assert held(answers, truth) >= 0.93
    step = GRIDS[name][1] / GRIDS[name][0]
    widths = [a.high / a.low for a in answers if a.kind == FROM]
    assert np.median(widths) < step**0.5, "an interval as wide as the grid says nothing"
    points = [a.size / n for a, n in zip(answers, truth, strict=True) if a.kind == FROM]
    assert np.median(points) == pytest.approx(1, abs=0.1)


def test_the_grid_is_a_source_of_error_of_its_own(monkeypatch):
    """As if the curve were straight between two sizes, and the rounds all that is not known."""
    grid = GRIDS["six sizes, five decades"]
    curves, truth = crossing(grid, 5, 0.01, seed=5)
    monkeypatch.setattr(speedup_curve, "BENDS", 0.0)
    assert held(found(curves, grid), truth) < 0.85


def hidden_bend(grid, power, launch, gain, first, last):
    """The baseline's launch, as long as `launch` elements take, ends before the second size, where
    n* is too, and the backend's just after it: at that size the two bends cancel."""
    rng = np.random.default_rng(0)
    truth = np.exp(rng.uniform(np.log(first), np.log(last), 500))
    work, launch = np.array(grid, float) ** power, launch**power
    ours = launch + truth[:, None] ** power * (1 - 1 / gain) + work / gain
    return noisy(np.log((launch + work) / ours), 3, 0.005, rng), truth


def test_a_bend_that_no_neighbour_shows_is_allowed_for_at_the_ends():
    grid = sizes(5, 1e3, 5e7)
    curves, truth = hidden_bend(grid, 1, 3e3, 20, 2e3, 1e4)
    assert held(found(curves, grid), truth) >= 0.93


def test_a_product_of_matrices_bends_more():
    grid = sizes(4, 32, 2048)
    curves, truth = hidden_bend(grid, 3, 60, 100, 45, 110)
    assert held(found(curves, grid, power=3), truth) >= 0.93
    assert held(found(curves, grid), truth) < 0.5


@pytest.mark.parametrize("count", [4, 8])
@pytest.mark.parametrize("rounds", [3, 5])
@pytest.mark.parametrize("speedup", [0.5, 0.97, 1.0, 1.03, 2.0])
def test_no_crossing_is_invented(speedup, rounds, count):
    grid = sizes(count, 1e3, 1e8)
    answers = found(flat(speedup, grid, rounds, 0.05, seed=count), grid)
    true = FROM_SMALLEST if speedup > 1 else NEVER
    assert share([a.kind not in (NOT_CLEAR, true) for a in answers]) <= 0.05
    assert share([a.kind == true for a in answers]) >= (0.95 if speedup in (0.5, 2) else 0)
    if speedup <= 1:
        assert share([bool(a.faster) for a in answers]) <= 0.05
    if speedup >= 1:
        assert share([bool(a.slower) for a in answers]) <= 0.05
    if speedup == 1:
        claims = share([bool(a.faster or a.slower) for a in answers])
        assert 0.02 < claims <= 0.05 + SAMPLING, "5 % of anything at all, whatever the sizes"


def test_eight_intervals_of_95_percent_would_invent_one_in_ten():
    curves = flat(1.0, sizes(8, 1e3, 1e8), 3, 0.05, seed=8).tolist()
    findings = [[intervals.finding(intervals.of(size)) for size in one] for one in curves]
    assert share([intervals.FASTER in one for one in findings]) > 0.1


@pytest.mark.parametrize(
    "heights",
    [
        (-1, -1, 0, 0),
        (0, 0, 0, 0, 1, 1, 1, 1),
        (-1, -1, 0, 0, 0, 0, 1, 1),
        (1, 1, 0, 0, 0, -1),
        (-1, 1, 0, 0, -1),
    ],
)
def test_where_a_curve_lies_on_the_baseline_nothing_is_claimed(heights):
    """In all but 5 % of the replicates, whatever is clear elsewhere."""
    grid = sizes(len(heights), 1e3, 1e8)
    curves = noisy(np.array([heights] * REPLICATES), 3, 0.05, np.random.default_rng(3))
    equal = [size for size, height in zip(grid, heights, strict=True) if height == 0]
    false = [
        any(low <= size <= high for low, high in (*a.faster, *a.slower) for size in equal)
        for a in found(curves, grid)
    ]
    assert share(false) <= 0.05 + SAMPLING


# --- one curve


def test_the_kinds():
    assert find(-2, -1, 1, 2).kind == FROM
    assert find(1, 2, 2).kind == FROM_SMALLEST
    assert find(-2, -1, -1).kind == NEVER
    assert find(0, 0, 0).kind == NOT_CLEAR
    assert find(-1, 1, 1, -1).kind == ONLY_BETWEEN


def test_a_crossing_lies_between_two_sizes_and_both_sides_are_known():
    a = find(-2, -1, 1, 2)
    assert 1e4 < a.low < a.size < a.high < 1e5
    assert a.size == pytest.approx(10**4.5, rel=0.01)
    assert a.slower == ((1e3, a.low),) and a.faster == ((a.high, 1e6),)
    assert (a.smallest, a.largest, a.missing, a.until) == (1000, 10**6, (), None)


def test_the_ends_of_what_was_measured():
    a = find(1, 2, 2)
    assert (a.size, a.low, a.high, a.faster) == (1e3, None, 1e3, ((1e3, 1e5),))
    a = find(-2, -1, -1)
    assert (a.size, a.low, a.high, a.slower) == (None, 1e5, None, ((1e3, 1e5),))


def test_a_size_that_is_not_clear_widens_the_interval():
    a = find(-1, -1, 0, 1, 1)
    assert a.kind == FROM and 1e4 < a.low < 1e5 < a.high < 1e6


def test_a_curve_that_crosses_back_has_its_last_crossing():
    a = find(-1, 1, -1, 1, 1)
    assert a.kind == FROM and 1e5 < a.low < a.size < a.high < 1e6
    assert [low for low, _ in a.faster] == [pytest.approx(3e3, rel=0.5), a.high]
    a = find(1, -1, 1, 1)
    assert a.kind == FROM and 1e4 < a.low < a.high < 1e5


def test_faster_only_between():
    a = find(-1, 1, 1, -1)
    assert 1e3 < a.low < a.size < a.high < 1e4
    assert 1e5 < a.until_low < a.until < a.until_high < 1e6
    assert a.faster == ((a.high, a.until_low),)
    a = find(1, 1, -1, -1)
    assert (a.kind, a.size, a.low, a.high) == (ONLY_BETWEEN, 1e3, None, 1e3)
    assert 1e4 < a.until_low < a.until_high < 1e5
    a = find(0, 1, -1)  # from where on is not clear
    assert (a.kind, a.size, a.low, a.high) == (ONLY_BETWEEN, None, 1e3, 1e4)


@pytest.mark.parametrize(
    ("heights", "low", "high"),
    [
        ([0, 0, 0], 1e3, 1e5),
        ([0, 0, 1], 1e3, 1e5),
        ([-1, 0, 0], 1e3, 1e5),
        ([-1, -1, 0], 1e4, 1e5),
        ([0, 1, 1], 1e3, 1e4),
        ([1, 0, 1], 1e3, 1e5),
        ([-1, 0, -1], 1e3, 1e5),
        ([1, 0, 0], 1e3, 1e5),
        ([0, -1, -1], 1e3, 1e4),
    ],
)
def test_not_clear_between(heights, low, high):
    a = find(*heights)
    assert (a.kind, a.size, a.low, a.high) == (NOT_CLEAR, None, low, high)
    for claimed in (*a.faster, *a.slower):
        assert claimed[1] <= low or claimed[0] >= high


def test_a_missing_cell_is_bridged_and_named():
    a, b = find(-2, -1.5, None, 1, 1.2), find(-2, -1.5, 0, 1, 1.2)
    assert a.kind == FROM and a.missing == (10**5,)
    assert a.low < b.low < b.high < a.high and a.low < a.size < a.high
    assert find(-2, -1, 1, None).largest == 10**5
    logs_without = {k: v for k, v in curve(-2, -1.5, None, 1, 1.2).items() if v}
    assert break_even.find([logs_without]).size == a.size


def test_a_missing_round_costs_width_not_the_answer():
    full = curve(-2, -1, 1, 2)
    part = {size: dict(rounds) for size, rounds in full.items()}
    del part[10_000][2]
    a, b = break_even.find([part]), break_even.find([full])
    assert a.kind == FROM and 1e4 <= a.low < b.low < b.high < a.high <= 1e5
    for others in ((7, 8, 9), (2, 8, 9)):  # no interval with no round in common, or with one
        apart = full | {10_000: dict(zip(others, (-1.0, -1.01, -1.02), strict=True))}
        a = break_even.find([apart])
        assert (a.kind, a.low, a.high) == (FROM, 1e4, 1e5)


def test_one_size():
    assert find(1).kind == FROM_SMALLEST
    assert find(-1).kind == NEVER
    a = find(0)
    assert (a.kind, a.low, a.high) == (NOT_CLEAR, 1e3, 1e3)


def test_two_sizes():
    a = find(-1, 1)
    assert a.kind == FROM and 1e3 < a.low < a.size < a.high < 1e4


def test_one_round_has_no_answer_and_two_have_one():
    assert find(-1, 1, rounds=1) is None
    assert break_even.find([]) is None and break_even.find([{}]) is None
    assert find(-2, -1, 1, 2, rounds=2).kind == FROM
    mixed = curve(-1, 1) | {100: {1: -3.0}}
    assert break_even.find([mixed]).missing == (100,)


def test_rounds_that_agree_to_the_last_digit():
    a = find(-2, -1, 1, 2, spread=0.0)
    assert a.kind == FROM and a.low < a.size < a.high
    assert find(0, 0, spread=0.0).kind == NOT_CLEAR


@pytest.mark.parametrize("bad", [{0: {1: 0.1}}, {-5: {1: 0.1}}, {10: {1: float("nan")}},
                                 {10: {1: float("-inf"), 2: 1.0}}])  # fmt: skip
def test_what_no_curve_has_is_refused(bad):
    with pytest.raises(ValueError, match=f"size {next(iter(bad))}"):
        break_even.find([bad])


# --- against the best of several


def test_against_the_best_is_against_each():
    plain, better = curve(-1, 1, 2, 2), curve(-2, -1, 1, 1)
    alone, both = break_even.find([better]), break_even.find([plain, better])
    assert both.kind == FROM and both.size == alone.size
    assert both.low < alone.low < alone.high == both.high
    assert break_even.find([plain, curve(-1, -1, -1, -1)]).kind == NEVER
    assert break_even.find([plain, curve(1, 1, 1, 1)]).kind == FROM


def test_a_rival_counts_where_it_was_measured():
    plain, small = curve(1, 1, 1, 1), curve(-1, -1, None, None)
    a = break_even.find([plain, small])
    assert a.slower == ((1e3, pytest.approx(1e4, rel=0.01)),)
    assert a.kind == FROM and 1e4 <= a.low <= a.high < 1.1e4
    assert break_even.find([plain, {}]) == break_even.find([plain])


def test_the_best_of_several_is_not_chosen_by_what_it_is_compared_with():
    """Two rivals 5 % apart, the backend as fast as the better one: 2.5 % of false claims each way.
    Choosing by the other rounds makes twice that: what it chose may be the slower one."""
    rng, replicates, rounds = np.random.default_rng(3), 4000, 5
    rivals = np.array([0, 0.05, 0.05])[:, None] + 0.05 * rng.standard_normal(
        (replicates, 3, rounds)
    )
    speedups = rivals - 0.05 * rng.standard_normal((replicates, 1, rounds))
    ours = [break_even.over_best(dict(zip("abc", one, strict=True))) for one in speedups.tolist()]
    assert share([interval.low > 1 for _, interval in ours]) <= 0.025
    assert share([interval.high < 1 for _, interval in ours]) <= 0.025
    others = rivals.sum(axis=2, keepdims=True) - rivals
    chosen = np.take_along_axis(speedups, others.argmin(axis=1)[:, None], axis=1)[:, 0]
    assert share([intervals.of(one).low > 1 for one in chosen.tolist()]) > 0.04


def test_over_the_best_at_one_size():
    name, found = break_even.over_best({"a": [0.9, 1.0, 1.1], "b": [0.4, 0.5, 0.6], "c": [9.0]})
    assert name == "b" and found.point == pytest.approx(exp(0.5))
    assert found.low == pytest.approx(intervals.of([0.4, 0.5, 0.6]).low)
    assert found.high > intervals.of([0.4, 0.5, 0.6]).high
    one = break_even.over_best({"b": [0.4, 0.5, 0.6]})[1]
    assert (one.low, one.high) == pytest.approx((found.low, intervals.of([0.4, 0.5, 0.6]).high))
    assert break_even.over_best({"c": [9.0]}) is None


# --- as text


@pytest.mark.parametrize(
    "heights", [(-2, -1, 1), (1, 1), (-1, -1), (0, 1), (-1, 1, -1), (0, 1, -1), (-1, None, 1)]
)
def test_a_row_is_read_as_it_was_written(heights):
    a = find(*heights)
    row = break_even.to_row(a)
    assert tuple(row) == break_even.COLUMNS and all(isinstance(v, str) for v in row.values())
    assert break_even.of_row(row) == a


def test_no_answer_is_an_empty_row():
    assert set(break_even.to_row(None).values()) == {""}
    assert break_even.of_row(break_even.to_row(None)) is None


@pytest.mark.parametrize(
    ("heights", "words"),
    [
        ((1, 1), "from the smallest size, n = 1,000, on"),
        ((-1, -1), "never up to n = 10,000"),
        ((0,), "not clear at n = 1,000"),
        ((0, 1), "not clear between n = 1,000 and 10,000, faster from there on"),
        ((0, -1), "not clear between n = 1,000 and 10,000, slower from there on"),
        ((-1, 0), "not clear between n = 1,000 and 10,000"),
        ((0, 1, -1), "only between n = 10,000 and 46,400"),
    ],
)
def test_words(heights, words):
    assert find(*heights).words() == words


def test_the_words_of_a_crossing_round_what_was_not_measured():
    a = find(-2, -1, 1, 2)
    low, size, high = (float(f"{n:.3g}") for n in (a.low, a.size, a.high))
    assert a.words() == f"from n = {size:,.0f} on (95 %: {low:,.0f} to {high:,.0f})"
    assert find(-2, -1, 1, 2, first=1).words().startswith("from n = 31.6 on (95 %: ")


def test_a_symmetric_curve_crosses_in_the_middle_of_the_logarithms():
    assert log(find(-0.5, 0.5).size / 1000) == pytest.approx(log(10) / 2, rel=1e-3)
