"""SVG files: values on hover, and ids that do not collide on one page."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from crossover import charts, style, svg
from crossover.chart_speedup import speedup
from crossover.chart_time import time
from figures import SVG, titles
from made_up import CASES, SIZES, written

pytestmark = pytest.mark.whole


def saved(case, chart, path):
    summary = charts.read(written(path.with_suffix(".csv"), CASES[case]()))
    style.save(chart(summary, "add", "float64"), path)
    return path.read_text()


def test_each_point_says_backend_size_value_interval_and_grade(tmp_path):
    summary = charts.read(written(tmp_path / "s.csv", CASES["noisy"]()))
    found = titles(time(summary, "add", "float64"), tmp_path / "t.svg")
    # three backends, and the round trip of one, whose half filled points are one point each
    assert len(found) == len(set(found)) == 4 * len(SIZES)
    wanted = "numpy, n = 1e6, compute 911 µs (95 %: 746 µs to 1.11 ms), good"
    assert wanted in found
    assert any(
        one.startswith("torch_cuda, n = 10,000, round trip ")
        and one.endswith("few threads + launch bound")
        for one in found
    )
    assert "torch_cpu, n = 1e6, compute 504 µs (middle half: 454 µs to 554 µs), good" in found
    of_speedups = titles(speedup(summary, "add", "float64"), tmp_path / "s.svg")
    assert len(of_speedups) == 2 * 2 * len(SIZES)
    wanted = "torch_cpu, n = 1e7, compute 1.82x as fast as numpy (95 %: 1.78x to 1.85x), faster"
    assert f"{wanted}, good" in of_speedups


def test_points_stay_where_they_were(tmp_path):
    """A point's mark is moved into its own element, and keeps its place and its clipping."""
    figure = Figure()
    line = figure.add_subplot().plot([1, 2, 3], [3, 1, 2], "o")[0]
    figure.savefig(tmp_path / "before.svg")
    svg.titled(line, ["a", "b", "c"])
    figure.savefig(tmp_path / "after.svg")
    after = ElementTree.fromstring(svg.finished((tmp_path / "after.svg").read_bytes(), "x"))

    def places(root):
        return [(use.get("x"), use.get("y")) for use in root.iter(f"{SVG}use") if use.get("x")]

    assert places(after) == places(ElementTree.parse(tmp_path / "before.svg").getroot())
    points = [one for one in after.iter(f"{SVG}g") if one.get("class") == "point"]
    assert [point.find(f"{SVG}title").text for point in points] == ["a", "b", "c"]
    assert all(point.get("role") == "img" for point in points)
    (holder,) = [one for one in after.iter() if points[0] in list(one)]
    assert holder.get("clip-path") and list(holder) == points


def test_points_without_words_for_each_are_refused(tmp_path):
    figure = Figure()
    svg.titled(figure.add_subplot().plot([1, 2], [1, 2], "o")[0], ["only one"])
    figure.savefig(tmp_path / "x.svg")
    with pytest.raises(ValueError, match="1 titles for 2 points"):
        svg.finished((tmp_path / "x.svg").read_bytes(), "x")


def test_hostile_names_are_words_and_nothing_else(tmp_path):
    saved("hostile", time, tmp_path / "t.svg")
    root = ElementTree.parse(tmp_path / "t.svg").getroot()
    names = {title.text.split(", n = ")[0] for title in root.iter(f"{SVG}title")}
    assert names == {"numpy", "a_b", "$x$", "<b>", "NA", "_hidden", "100%", "null"}
    assert {child.tag.removeprefix(SVG) for child in root.iter()} == {
        *("svg", "g", "defs", "path", "use", "title", "clipPath", "rect")
    }
    assert root.get("aria-label") == "add, float64: time against size"


def test_no_two_pictures_share_an_id_and_each_reference_is_within_its_own(tmp_path):
    seen = set()
    for case, chart in (("gpu", time), ("gpu", speedup), ("noisy", time), ("nothing", time)):
        text = saved(case, chart, tmp_path / f"{case}_{chart.__name__}.svg")
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert ids and len(ids) == len(set(ids))
        assert not seen & set(ids)
        assert set(ids) == set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
        seen |= set(ids)


def test_only_points_answer_to_the_mouse(tmp_path):
    """Words lie over some of them."""
    saved("gpu", time, tmp_path / "t.svg")
    root = ElementTree.parse(tmp_path / "t.svg").getroot()
    (points,) = {
        all(child.get("class") == "point" for child in one) and len(one) > 0
        for one in root.iter()
        if one.get("pointer-events") == "all"
    }
    assert points and root.get("pointer-events") == "none"


def test_nothing_in_a_picture_reaches_beyond_it(tmp_path):
    """On a page a style element would hold for everything."""
    text = saved("gpu", time, tmp_path / "t.svg")
    assert "<style" not in text and "<metadata" not in text and "<?xml" not in text
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {svg.SVG, svg.XLINK}
