"""The charts of machines beside each other."""

import pytest

from crossover import chart_compare, compare, compare_text
from figures import legend, lines, misplaced, texts, titles
from made_up_archives import cell, content, failed, noisy, read

pytestmark = pytest.mark.whole

SIZES = (10_000, 100_000, 1_000_000)


def drawn(folder, **contents):
    archives = read(folder, **contents)
    pairs = compare.pairs(archives)
    frame = chart_compare.frame(list(compare.rows(archives, pairs)))
    machines = [compare_text.machine(name, one) for name, one in archives.items()]
    return chart_compare.compared(frame, "add", "float64", machines, pairs)


def machine(factor, seed, **facts):
    return noisy(lambda n: factor * (1e-6 + n / 1e9), 0.01, seed, sizes=SIZES, **facts)


@pytest.fixture
def three(tmp_path):
    trip = [cell({"compute": [1e-5, 1.1e-5], "round_trip": [1e-3, 1.1e-3]}, n, backend="gpu",
                 device="H200") for n in SIZES]  # fmt: skip
    other = machine(0.5, 2, version="2.3.1", grade="disturbed")
    lost = [failed(n, backend="gpu") for n in SIZES]
    return drawn(tmp_path, first=content(*machine(1, 1), *trip), other=content(*other, *lost),
                 third=content(*machine(1, 3), *trip))  # fmt: skip


def test_each_backend_and_scope_has_times_and_ratios(three):
    assert len(three.axes) == 6
    assert legend(three) == ["first", "other", "third"]
    left, right = three.axes[:2]
    times, ratios = lines(left), lines(right)
    assert {"first", "other", "third"} <= times.keys() and "first" not in ratios
    assert list(times["first"].get_xdata()) == list(SIZES)
    assert list(ratios["other"].get_ydata()) == pytest.approx([2, 2, 2], rel=0.05)
    low, high = lines(right)["other bars"].get_ydata()[:2]
    assert low < 2 < high
    assert "other" not in lines(three.axes[2])  # failed there
    assert list(lines(right)["third ringed points"].get_xdata()) == list(SIZES)


def test_what_differs_and_what_is_missing_stand_under_it(three):
    words = texts(three)
    assert "other against first: NOT the same code: numpy 2.3.1 against 2.4.6." in words
    assert "gpu in other, all sizes: unavailable (no driver)" in words
    assert "trusted less: disturbed (other)" in words and "first: A CPU, 2 cores and H200" in words
    assert "Welch's" in words and "may be chance" in words


def test_nothing_overlaps(three):
    assert misplaced(three) == []


def test_points_say_what_they_are(three, tmp_path):
    said = titles(three, tmp_path / "it.svg")
    assert any(words.startswith("other, n = 10,000, compute ") for words in said)
    assert any("as fast as first (95 %: " in words for words in said)


def test_many_machines_and_hostile_words(tmp_path):
    names = [f"a_very_long_name_of_a_machine_in_a_cluster_{i}" for i in range(9)]
    odd = {"cpu": "$x$ <b>\n\x1b[31m" + "long " * 20}
    figure = drawn(tmp_path, **{n: content(*machine(1 + i, i, **odd)) for i, n in enumerate(names)})
    assert misplaced(figure) == []


def test_nothing_in_common_is_drawn_and_said(tmp_path):
    figure = drawn(tmp_path, a=content(*machine(1, 1)), b=content(failed(SIZES[0])))
    assert "nothing to compare" in texts(figure)
    nothing = content(failed(), failed(SIZES[1]))
    assert "no data" in texts(drawn(tmp_path, a=nothing, b=nothing))
