"""What a sweep ends with: the verdict, and what it does not say: all reasons, commands, places."""

import pytest

from crossover import closing, grades, machine, slowing, verdict
from made_up_verdicts import NO_CUDA, failed, host, numpy, of
from rounds import failed as failed_round
from rounds import measured, rows, texts

SIZES = (1000, 10_000)
HOST = dict.fromkeys(SIZES, 2.0)


def closed(found, folder, config=""):
    return closing.lines(verdict.lines(found, [], []), found, folder, config)


def test_the_verdict_comes_first_and_then_what_to_do(tmp_path):
    found = of(numpy(SIZES), host("cpu", HOST, grade="disturbed"), failed("gpu", SIZES))
    said = closed(found, tmp_path, " CONFIG=x.yaml")
    words = verdict.printed(verdict.lines(found, [], []))
    assert said == [
        *words,
        "",
        "'make retry CONFIG=x.yaml' lists and removes what is not ok or disturbed; the next sweep "
        "measures it again.",
        f"Results in {tmp_path}/: ",
    ]
    assert sum(NO_CUDA in line for line in said) == 1


def test_reasons_that_the_verdict_has_no_room_for_are_listed(tmp_path):
    found = of(numpy(SIZES), *(failed(f"b{i}", SIZES, "error", f"fault {c}")
                               for i, c in enumerate("abcd")))  # fmt: skip
    text = "\n".join(closed(found, tmp_path))
    for i, fault in enumerate("abcd"):
        assert text.count(f"2 x b{i}: error (fault {fault})") == 1
    assert "Also not ok:\n  2 x b2: error (fault c)\n  2 x b3: error (fault d)\n" in text


def test_only_what_can_be_cured_has_a_command():
    found = of(numpy(SIZES, grade="launch_bound + single_call"), host("cpu", HOST))
    assert closing.cures(found) == []
    assert set(grades.CURE) < set(grades.MEANING)
    both = of(numpy(SIZES), host("cpu", HOST, grade="few_threads + not_paired"))
    retry, fresh = closing.cures(both)
    assert "'make retry' lists and removes what is few_threads;" in retry
    assert "'make fresh' lists and removes what is not_paired;" in fresh


def test_a_sweep_under_way_has_nothing_to_try_again():
    waiting = failed("cpu", SIZES, "not measured", "not measured yet")
    assert closing.cures(of(numpy(SIZES), waiting)) == []


@pytest.mark.parametrize("names", [("summary.csv",), ("summary.csv", "article.md", "plots")])
def test_places_are_named_where_they_are(tmp_path, names):
    for name in names:
        (tmp_path / name).mkdir()
    words = closing.where(tmp_path)
    assert [name in words for name in closing.PLACES] == [n in names for n in closing.PLACES]
    assert words.startswith(f"Results in {tmp_path}/: ") and "summary.csv (every cell)" in words


def test_a_summary_of_raw_files_can_be_closed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measured("numpy", 1.0)
    failed_round("gpu", "unavailable", "no driver")
    measured("slow", 1.0, threads_effective=1)
    text = "\n".join(closed(texts(rows("gpu", "slow")), tmp_path))
    assert "Not ok: 1 of 3 cells: 1 x gpu: unavailable (no driver)." in text
    assert "1 few_threads (fewer threads than asked for" in text
    assert "what is not ok or few_threads;" in text


def test_only_settings_that_are_recorded_can_be_named():
    recorded = machine.SPEED_VARIABLES
    assert [name for name in slowing.SLOWING if not recorded.match(name)] == []
