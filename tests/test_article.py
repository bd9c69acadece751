"""The article's figures beside ours: each beside its like-for-like, and nothing is made up."""

import pytest

from crossover import article
from crossover.cells import Cell
from made_up_verdicts import NO_CUDA, failed, gpu, host, numpy, of, row

ADD, MATMUL, POLAR = 300_000_000, 10_000, 100_000_000
SINGLE = {"workload": "polar", "dtype": "float32"}
DOUBLE = {"workload": "polar", "dtype": "float64"}
BEST = {"min_s": "0.25"}


def of_polar(*, drawn=True):
    """NumPy takes 0.1 s in float32 and 0.3 s in float64, and as much for drawing; the GPU gives 5
    and 2 times, with transfers 4 and 1.5 times."""
    yield from numpy((POLAR,), drawn, **SINGLE)
    for found in numpy((POLAR,), drawn, **DOUBLE):
        yield found | {"median_s": str(3 * float(found["median_s"]))}
    yield from gpu("cuda", {POLAR: 5.0}, {POLAR: 4.0}, {POLAR: 1.6}, **SINGLE)
    yield from gpu("cuda", {POLAR: 2.0}, {POLAR: 1.5}, {POLAR: 1.2}, **DOUBLE)


def table(*parts):
    return article.table(of(*parts))


def found(rows, what, who=None):
    (one,) = [r for r in rows if r["what"] == what and (who is None or r["backend"] == who)]
    return one


def test_seconds_are_medians_with_the_best_beside_them():
    rows = table(numpy((ADD,), **BEST), host("cpu", {ADD: 1.5}, **BEST), failed("cuda", (ADD,)))
    first, other = (found(rows, what, "numpy") for what in ("a += 1", "a += 1, its other figure"))
    assert (first["article_s"], other["article_s"]) == (0.1335, 0.1285)
    assert first["ours_s"] == other["ours_s"] == pytest.approx(0.3)
    assert first["ours_min_s"] == 0.25 and first["ours_ratio"] == first["reason"] == ""


def test_ratios_are_the_summarys_with_their_intervals():
    rows = table(numpy((ADD,)), host("cpu", {ADD: 1.5}), gpu("cuda", {ADD: 9.0}, {ADD: 1.01}))
    cpu, there, both = (
        found(rows, *key)
        for key in (("a += 1", "cpu"), ("a += 1", "cuda"), ("a += 1, both ways", "cuda"))
    )
    assert (cpu["article_s"], cpu["article_ratio"]) == (0.1018, 1.262)
    assert (cpu["ours_ratio"], cpu["finding"], cpu["like_for_like"]) == (1.5, "faster", "yes")
    assert cpu["ours_ratio_low"] < 1.5 < cpu["ours_ratio_high"]
    assert (there["article_s"], there["article_ratio"]) == (0.0113, 11.372)
    assert (there["ours_ratio"], there["scope"], there["like_for_like"]) == (9.0, "compute", "no")
    assert (both["ours_ratio"], both["scope"], both["like_for_like"]) == (1.01, "round_trip", "yes")
    assert both["article_s"] == both["article_ratio"] == "" and both["finding"].startswith(
        "no diff"
    )


def test_the_products_clock_had_printing_in_it():
    rows = table(numpy((MATMUL,), workload="matmul", dtype="float32"))
    one, device, _ = rows
    assert (one["article_s"], device["article_s"]) == (1.4451, 0.0708)
    assert device["article_ratio"] == 20.411
    assert all("printing" in r["note"] and r["like_for_like"] == "no" for r in (one, device))
    assert one["ours_s"] != "" == device["ours_s"]
    assert device["reason"] == "this sweep has no torch on the GPU"


def test_polar_shows_the_mix_what_of_it_is_the_dtype_and_each_dtype_with_itself():
    rows = table(of_polar())
    mixed = found(rows, "the calculation")
    assert (mixed["article_ratio"], mixed["like_for_like"]) == (10.0, "no")
    assert mixed["ours_ratio"] == pytest.approx(0.3 / 0.02) and mixed["finding"] == ""
    assert "float64" in mixed["note"]
    dtype = found(rows, "of that, NumPy in float32 over NumPy in float64")
    assert dtype["ours_ratio"] == pytest.approx(3) and dtype["backend"] == "numpy"
    for name, compute, trip, drawn in (("float32", 5.0, 4.0, 1.6), ("float64", 2.0, 1.5, 1.2)):
        own = [
            found(rows, what)["ours_ratio"]
            for what in (
                f"the calculation, {name} on both sides",
                f"the calculation, both ways, {name} on both sides",
                f"the total, {name} on both sides",
            )
        ]
        assert own == [compute, trip, drawn]
    total = found(rows, "the total")
    assert total["article_ratio"] == pytest.approx(1 / 0.6, abs=1e-3)
    assert total["ours_ratio"] == pytest.approx(0.6 / (0.1 / 1.6))


def test_every_figure_that_is_not_like_for_like_has_one_that_is():
    rows = table(of_polar(), numpy((ADD,)), numpy((MATMUL,), workload="matmul", dtype="float32"))
    for workload in ("add", "matmul", "polar"):
        kinds = {r["like_for_like"] for r in rows if r["workload"] == workload}
        assert kinds == {"yes", "no"}
        assert all(r["note"] for r in rows if r["like_for_like"] == "no")


def test_what_was_not_measured_is_empty_and_says_why():
    rows = table(numpy((POLAR,), **SINGLE), failed("cuda", (POLAR,), **SINGLE))
    unavailable = f"cuda: unavailable, {NO_CUDA}"
    assert found(rows, "the calculation")["reason"] == unavailable
    dtype = found(rows, "of that, NumPy in float32 over NumPy in float64")
    assert dtype["ours_s"] == pytest.approx(0.1) and dtype["ours_ratio"] == ""
    assert dtype["reason"] == "no ratio: float64 is not in this sweep"
    other = found(rows, "the total, float64 on both sides")
    assert (other["ours_s"], other["reason"]) == ("", "float64 is not in this sweep")
    rows = table(r for r in of_polar(drawn=False) if r["scope"] != "end_to_end")
    assert found(rows, "the total")["reason"] == "not drawn, or not in the same rounds"


def test_a_mix_of_machines_has_no_ratio():
    rows = of(of_polar())
    rows = [r | {"machine": "b2"} if r["dtype"] == "float64" else r for r in rows]
    mixed = found(article.table(rows), "the calculation")
    assert mixed["ours_ratio"] == "" and "several machines" in mixed["reason"]


def test_plain_numpy_is_the_one_and_every_gpu_has_its_row():
    recycled = {"library": "numpy", "memory": "recycled", "baseline": "numpy_plain"}
    rows = table(
        [row("a_recycled", ADD, "compute", **recycled)],
        [r | {"backend": "numpy_plain", "baseline": "numpy_plain"} for r in numpy((ADD,))],
        gpu("cuda0", {ADD: 9.0}, {ADD: 2.0}, baseline="numpy_plain"),
        gpu("cuda1", {ADD: 7.0}, {ADD: 2.0}, baseline="numpy_plain"),
    )
    assert found(rows, "a += 1, its other figure")["backend"] == "numpy_plain"
    assert found(rows, "a += 1", "cuda0")["ours_ratio"] == 9.0
    assert found(rows, "a += 1", "cuda1")["ours_ratio"] == 7.0


def test_other_sizes_have_no_figures():
    assert table(numpy((1000,))) == []
    assert article.wanted([Cell("add", "numpy", "float64", ADD)])
    for cell in (("add", "float32", ADD), ("add", "float64", 1000), ("mine", "float64", ADD)):
        workload, dtype, size = cell
        assert not article.wanted([Cell(workload, "numpy", dtype, size)])


def test_the_table_to_read_has_all_of_it_and_no_sign_breaks_it():
    rows = table(
        numpy((ADD,), **BEST),
        host("cpu", {ADD: 1.5}),
        failed("cuda", (ADD,), reason="<b>|$x$\n`no`"),
    )
    lines = article.markdown(rows).splitlines()
    cells = [line.replace("\\|", "").split("|") for line in lines if line.startswith("|")]
    assert {len(parts) for parts in cells} == {8}
    text = "\n".join(lines)
    assert "| add 3e8, float64: a += 1 | numpy | 0.1335 s | 0.3 s (best 0.25 s) | yes |" in text
    assert "| cpu | 0.1018 s, 1.26x | 0.2 s, 1.5x (1.43x to 1.58x) | yes |" in text
    total = article.markdown(table(of_polar()))
    assert "| 1.67x | 0.0625 s, 9.6x, 90 % off | no |" in total
    assert "| 0.08333 s, 1.2x (1.14x to 1.26x), 17 % off | yes |" in total
    assert "not measured: cuda: unavailable, \\<b\\>\\|\\$x\\$ \\`no\\`" in text
    assert "nan" not in text and "None" not in text
    texts = [{name: str(value) for name, value in r.items()} for r in rows]
    assert article.markdown(texts) == article.markdown(rows)
