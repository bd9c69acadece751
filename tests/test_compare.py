"""Archives beside each other: which cells are divided, what is said to differ, what is real."""

from pathlib import Path

import pytest

from crossover import compare, compare_text, record
from crossover.compare import labels
from crossover.intervals import FASTER, NO_DIFFERENCE, SLOWER
from crossover.welch import MAYBE
from made_up_archives import CODE, SIZES, cell, content, failed, noisy, read

LABELS = {
    ("a.zip", "b.zip"): ["a", "b"],
    ("old/pack.zip", "new/pack.zip"): ["old/pack", "new/pack"],
    ("x/old/pack.zip", "y/old/pack.zip", "z.zip"): ["x/old/pack", "y/old/pack", "z"],
    ("x/a.zip", "x/a.zip"): ["a (1)", "a (2)"],
    ("a.zip", "a.zip", "b/a.zip"): ["a (1)", "a (2)", "b/a"],
    ("v1.2.zip", "v1.3.zip"): ["v1.2", "v1.3"],
    ("a\udcff.zip", "b\nc.zip"): ["a?", "b c"],  # no text, and two lines
}


@pytest.mark.parametrize("paths", LABELS)
def test_archives_are_told_apart_by_their_files(paths):
    assert labels([Path(path) for path in paths]) == LABELS[paths]


def found(folder, **contents):
    archives = read(folder, **contents)
    pairs = compare.pairs(archives)
    return archives, pairs, "\n".join(compare_text.lines(archives, pairs))


def test_each_machine_is_beside_the_first(tmp_path):
    a = content(*noisy(1e-3, 0.01, 1))
    _, pairs, text = found(tmp_path, a=a, b=content(*noisy(5e-4, 0.01, 2)),
                           c=content(*noisy(2e-3, 0.01, 3)))  # fmt: skip
    assert [(p.archive, p.against, p.cell.size) for p in pairs] == [
        (name, "a", size) for name in "bc" for size in SIZES
    ]
    assert [p.finding for p in pairs] == [FASTER] * 2 + [SLOWER] * 2
    assert pairs[0].difference.speedup.point == pytest.approx(2, rel=0.05)
    assert "b against a: 2 comparisons: 2 faster\n" in text
    assert "add, numpy, float64, compute: faster at all 2 sizes (" in text
    assert text.count("the same code and the same settings") == 2


def test_one_that_may_be_chance_is_not_called_real(tmp_path):
    sizes = range(10, 50)
    equal, same = (noisy(1.0, 0.02, seed, sizes=sizes) for seed in (1, 2))
    _, pairs, text = found(tmp_path, a=content(*equal), b=content(*same))
    alone = [pair for pair in pairs if pair.difference.p < 0.05]
    assert alone and {pair.finding for pair in pairs} == {NO_DIFFERENCE, MAYBE}
    assert {pair.finding for pair in alone} == {MAYBE}
    assert f"{len(alone)} {MAYBE}, {len(pairs) - len(alone)} {NO_DIFFERENCE}" in text


OTHER = {
    "the workload's file": {"code": "99999999 22222222 33333333"},
    "the backend's file": {"code": "11111111 99999999 33333333"},
    "the harness": {"code": "11111111 22222222 99999999"},
    "the harness (unknown which)": {"code": "11111111 22222222"},
    "numpy 2.3.1 against 2.4.6": {"version": "2.3.1", "numpy_version": "2.3.1"},
    "python 3.12.1 against 3.11.7": {"python_version": "3.12.1"},
    "budget_s 0.5 against 0.2": {"budget_s": "0.5"},
    "seed 7 against 0": {"seed": "7"},
    "threads 1 against all": {"threads_requested": "1"},
    "memory recycled against fresh": {"memory": "recycled"},
    "precision tf32 against none": {"precision": "tf32"},
    "variables OMP_WAIT_POLICY=x against none": {"environment": "OMP_WAIT_POLICY=x"},
}


@pytest.mark.parametrize("words", OTHER)
def test_what_differs_is_said_for_the_pair_and_beside_each_ratio(tmp_path, words):
    same, odd = cell([1.0, 1.1]), cell([1.0, 1.1], SIZES[1])
    archives, pairs, text = found(
        tmp_path,
        a=content(same, odd),
        b=content(same, cell([2.0, 2.1], SIZES[1], **OTHER[words])),
    )
    kind = "code" if "code" in OTHER[words] or "version" in words or "against 3" in words else ""
    kind = kind or ("code" if words.startswith("numpy") else "settings")
    assert f"b against a: NOT the same {kind}: {words} (1 of 2 comparisons)" in text
    assert [pair.differs for pair in pairs] == [[], [words]]
    row = list(compare.rows(archives, pairs))[-1]
    assert row[f"other_{kind}"] == words and row["speedup"] == pytest.approx(0.512, rel=0.02)


def test_a_round_of_other_code_makes_the_cell_another(tmp_path):
    rows, parts = cell([1.0, 1.1])
    mixed = [parts[0], parts[1]._replace(facts=parts[1].facts | {"code": CODE[:-1] + "9"})]
    _, pairs, _ = found(tmp_path, a=content((rows, parts)), b=content((rows, mixed)))
    assert pairs[0].other_code == ["the harness"]


def test_devices_and_options_are_the_configs(tmp_path):
    def config(**entry):
        return {"backends": {"numpy": {"device": "cpu", "options": [], **entry}}}

    one = cell([1.0, 1.1])
    _, (pair,), _ = found(tmp_path, a=content(one, config=config()),
                          b=content(one, config=config(options=[["compile", True]])))  # fmt: skip
    assert pair.other_settings == ["options [['compile', True]] against none"]
    _, (pair,), _ = found(tmp_path, a=content(one, config=config()),
                          b=content(one, config=config(device="mps")))  # fmt: skip
    assert pair.other_settings == ["device mps against cpu"]


def test_another_machine_is_no_difference(tmp_path):
    one, other = cell([1.0, 1.1]), cell([1.0, 1.1], machine="b", cpu="B", cores="9", boot="2")
    _, (pair,), text = found(tmp_path, a=content(one), b=content(other))
    assert not pair.differs
    assert "a: A CPU, 2 cores; numpy 2.4.6; 1 of 1 cell ok" in text and "b: B, 9 cores" in text


def test_the_same_machine_is_named_as_such(tmp_path):
    for hosts, same in ((("x", "x"), True), (("x", "y"), False), ((None, None), False)):
        a, b = (content(*noisy(1e-3, 0.01, seed), host=host) for seed, host in enumerate(hosts))
        _, _, text = found(tmp_path, a=a, b=b)
        assert ("b against a: the same machine, by its name's hash" in text) == same


@pytest.mark.parametrize("name", ["machine", "device", "threads_effective", "version"])
def test_rounds_of_several_machines_are_not_divided(tmp_path, name):
    """Each of them has a row in the summary; a median over them would be nobody's."""
    rows, parts = cell([1.0, 1.1, 1.2])
    mixed = [*parts[:2], parts[2]._replace(facts=parts[2].facts | {name: "other"})]
    apart = [*rows, rows[0] | {name: "other", "cpu": "B CPU", "cores": "9"}]
    archives, (pair,), text = found(tmp_path, a=content((rows, parts)), b=content((apart, mixed)))
    assert pair.difference is None and not pair.finding
    words = f"differ in {name.replace('_', ' ')}"
    assert f"the rounds of b {words}" in text and "1 of 1 cell ok" in text.splitlines()[1]
    assert name != "machine" or "A CPU, 2 cores and B CPU, 9 cores" in text
    row = list(compare.rows(archives, [pair]))[-1]
    assert row["speedup"] == row["median_s"] == "" and words in row["reason"]


def test_only_the_same_cell_is_divided(tmp_path):
    """A cell that failed, or that one side lacks, is named, and no number is made of it."""
    a = content(cell([1.0, 1.1]), cell([1.0, 1.1], 77), cell([1.0, 1.1], dtype="float32"))
    b = content(cell([1.0, 1.1], 88), failed(77), cell([1.0, 1.1], dtype="float32", workload="x"))
    archives, pairs, text = found(tmp_path, a=a, b=b)
    assert pairs == [] and "nothing to compare, no cell is ok in both" in text
    assert "1 x numpy in b: unavailable, no driver" in text and "numpy in a: not there" in text
    rows = list(compare.rows(archives, pairs))
    assert len(rows) == 6 and {row["speedup"] for row in rows} == {""}
    record.write(tmp_path / "compare.csv", rows, compare.COLUMNS)


def test_a_failure_on_both_sides_is_said_once(tmp_path):
    one = content(cell([1.0, 1.1]), failed(backend="gpu"), failed(SIZES[1], backend="gpu"))
    *_, text = found(tmp_path, a=one, b=one)
    assert "not compared: 2 x gpu in both: unavailable, no driver" in text
    assert text.count("no driver") == 1


def test_a_host_has_no_round_trip_of_its_own(tmp_path):
    host = cell([1.0, 1.1])
    host[0].append(host[0][0] | {"scope": "round_trip"})  # as summary.csv has it
    gpu = cell({"compute": [0.1, 0.11], "round_trip": [2.0, 2.1]}, backend="gpu")
    _, pairs, text = found(tmp_path, a=content(host, gpu), b=content(host, gpu))
    assert [(p.cell.backend, p.scope) for p in pairs] == [
        ("numpy", "compute"), ("gpu", "compute"), ("gpu", "round_trip")
    ]  # fmt: skip
    assert "add, gpu, float64, round trip: no difference seen at n = 1,000 (anything from" in text


def test_one_round_has_a_ratio_but_no_finding(tmp_path):
    archives, (pair,), text = found(tmp_path, a=content(cell([1.0])), b=content(cell([0.5])))
    assert pair.finding == "" and "1 comparison: 1 no interval" in text
    row = list(compare.rows(archives, [pair]))[-1]
    assert (row["speedup"], row["speedup_low"], row["finding"]) == (2.0, "", "")


def test_doubts_are_said(tmp_path):
    one = cell([1.0, 1.1], grade="disturbed + launch_bound")
    *_, text = found(tmp_path, a=content(cell([1.0, 1.1])), b=content(one))
    assert "[trusted less: disturbed]" in text


def test_hostile_words_stay_on_one_line(tmp_path):
    one = cell([1.0, 1.1], cpu="A\n\x1b[31mB", library="x\ny")
    bad = failed(backend="gpu", reason="first\nsecond\x1b[0m")
    archives = read(tmp_path, a=content(one), b=content(one, bad))
    for line in compare_text.lines(archives, compare.pairs(archives)):
        assert line.isprintable() or line == ""
