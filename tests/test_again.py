"""What `make retry` and `make fresh` remove, on files made by hand."""

import os

import pytest

from crossover import again, config, record, summary, table
from crossover.cells import Ceiling, Cell
from rounds import SIZE, failed, measured

BACKENDS = ("numpy", "one", "two")
CONFIG = {
    "workloads": {"add": {"sizes": [SIZE], "dtypes": ["float64"]}},
    "backends": {name: {"library": "numpy"} for name in BACKENDS},
    "rounds": 2,
}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return config.read(CONFIG, tmp_path)


def cell(backend):
    return Cell("add", backend, "float64", SIZE)


def sweep(**facts):
    """Every backend in every round, each good; `facts` by backend where they are not."""
    for round in (1, 2):
        for name in BACKENDS:
            measured(name, 1.0, round, **facts.get(name, {}))


def rounds(found):
    """(backend, round) of the tables that are to be removed."""
    return {(path.parents[2].name, int(path.stem)) for path in found if path.suffix == ".csv"}


def test_when_all_is_well_nothing_is_removed(settings):
    sweep()
    assert again.retry(settings) == again.fresh(settings) == {}


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"queue_wait_s": 0.5}, "disturbed"),
        ({"threads_effective": 1}, "few_threads"),
        ({"queue_wait_s": 0.5, "threads_effective": 1}, "few_threads + disturbed"),
    ],
)
def test_retry_removes_the_rounds_that_another_try_may_cure(settings, facts, why):
    sweep()
    measured("one", 1.0, 2, **facts)
    assert again.retry(settings) == {cell("one").csv(2): why}


def test_retry_removes_a_round_that_drifts_in_any_scope(settings):
    sweep()
    drift = [1.0] * 10 + [1.2] * 10
    measured("one", {"compute": [1.0] * 20, "download": drift}, 1)
    cell("one").array.touch()
    assert again.retry(settings) == {
        cell("one").csv(1): "drifting",
        cell("one").array: "its table is removed",
    }


@pytest.mark.parametrize(
    "facts", [{"call_s": 0.5}, {"calls": 1}, {"boot": "2"}], ids=["launch", "single", "not paired"]
)
def test_retry_leaves_what_would_come_again(settings, facts):
    sweep(one=facts)
    rows = summary.summarize(settings.cells(), 2, "numpy")
    assert any(row["grade"] not in ("", "good") for row in rows)
    assert again.retry(settings) == {}


def test_retry_believes_the_summary_about_ceilings_and_no_old_one(settings):
    """Only a look at all rounds tells that a cell is faster than the machine."""
    sweep()
    rows = summary.summarize(settings.cells(), 2, "numpy")
    above = {("one", "compute"): {"grade": "above_ceiling + single_call"}}
    above["two", "compute"] = {"status": "error", "reason": "three times the ceiling"}
    table.write(
        settings.folder / "summary.csv",
        [row | above.get((row["backend"], row["scope"]), {}) for row in rows],
    )
    measured("two", 1.0, 2)  # meanwhile
    roof = Ceiling("one", "float64").csv(2)
    record.write(roof, [{"backend": "one", "dtype": "float64", "round": 2, "status": "ok"}])
    later = (settings.folder / "summary.csv").stat().st_mtime + 1
    os.utime(roof, (later - 2, later - 2))
    os.utime(cell("two").csv(2), (later, later))
    assert again.retry(settings) == {
        cell("one").csv(1): "above_ceiling + single_call",
        cell("one").csv(2): "above_ceiling + single_call",
        roof: "a cell is above it",
        cell("two").csv(1): "error (three times the ceiling)",
    }


def test_retry_removes_ceilings_that_hold_nothing(settings):
    sweep()
    facts = {"backend": "one", "dtype": "float64", "timed_s": 1.0, "queue_wait_s": 0.0}
    good, busy = (
        {"attempt": n, "status": "ok", "queue_wait_s": w} for n, w in ((2, 0.0), (1, 0.5))
    )
    paths = [Ceiling("one", "float64").csv(round) for round in (1, 2)]
    for rows, found in (
        ([busy, good], {}),
        ([busy], {paths[0]: "disturbed"}),
        ([{"status": "error", "reason": "broke"}], {paths[0]: "error (broke)"}),
    ):
        record.write(paths[0], [facts | {"round": 1} | row for row in rows])
        assert again.retry(settings) == found
    paths[1].write_text("cut")
    assert set(again.retry(settings)) == set(paths)


def test_a_failed_round_goes_alone_whatever_the_summary_says(settings):
    sweep()
    failed("one", "timeout", "took too long", 2)
    failed("two", "error", "broke", 1)
    table.write(settings.folder / "summary.csv", summary.summarize(settings.cells(), 2, "numpy"))
    assert rounds(again.retry(settings)) == {("one", 2), ("two", 1)}


def test_fresh_removes_both_sides_and_who_would_lose_the_partner(settings):
    """Round 2 of `one` is from another boot: the baseline's is measured again with it, and so is
    that of `two`, which would be without a partner then. Round 1 is well."""
    sweep()
    measured("one", 1.0, 2, boot="2")
    assert again.fresh(settings) == {
        cell("numpy").csv(2): "its partner was measured apart",
        cell("one").csv(2): "not_paired",
        cell("two").csv(2): "its baseline is measured again",
    }


def test_fresh_leaves_what_is_not_ok_and_what_is_not_there(settings):
    sweep(one={"boot": "2"})
    failed("two", "unavailable", "no driver", 1)
    cell("one").csv(2).unlink()  # the next sweep measures it
    found = again.fresh(settings)
    assert rounds(found) == {("numpy", 1), ("one", 1)}


def test_fresh_needs_a_baseline_that_is_ok(settings):
    sweep(one={"boot": "2"})
    failed("numpy", "killed", "x", 1)
    assert again.fresh(settings) == {}


def test_a_damaged_file_is_for_retry(settings):
    sweep(one={"boot": "2"})
    path = cell("one").csv(1)
    path.write_text(path.read_text().replace("1.0", "2.0"))
    assert rounds(again.retry(settings)) == {("one", 1)}
    assert rounds(again.fresh(settings)) == set()
    with pytest.raises(record.Damaged):
        record.read(path)
