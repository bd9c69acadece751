"""`make compare GATE=1.10`: 0 no slowdown, 1 a slowdown, 2 could not measure, and nothing else."""

import io
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

import crossover
from conftest import ROOT
from crossover import __main__, chart_compare, compare, compare_command, record
from made_up_archives import SIZES, cell, content, edited, failed, noisy

OLD = content(*noisy(1e-3, 0.01, 1))
SAME = content(*noisy(1e-3, 0.005, 21))
SLOWER = content(*noisy(1.3e-3, 0.01, 2))


@pytest.fixture
def gate(tmp_path, monkeypatch, capsys):
    """Compare two contents; the exit status and the lines. Charts are left out: they are slow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare_command, "_draw", lambda *_: 0)
    monkeypatch.setattr(compare_command, "turn", lambda shared: nullcontext())

    def run(old, new, factor="1.10", allow=False):
        for name, data in (("old.zip", old), ("new.zip", new)):
            (tmp_path / name).write_bytes(data)
        status = compare_command.run(["old.zip", "new.zip"], factor, allow, None)
        return status, capsys.readouterr().out.splitlines()

    return run


def half_slower():
    return content(*noisy(1e-3, 0.01, 3, sizes=SIZES[:1]), *noisy(2e-3, 0.01, 4, sizes=SIZES[1:]))


STATUS = {
    "the same": (SAME, 0, "no slowdown: none of 2 comparisons takes more than 1.1x as long"),
    "faster": (content(*noisy(5e-4, 0.01, 5)), 0, "no slowdown"),
    "slower within the factor": (content(*noisy(1.03e-3, 0.005, 6)), 0, "no slowdown"),
    "slower": (SLOWER, 1, "a slowdown: 2 of 2 comparisons slower than 1.1x"),
    "one cell slower": (half_slower(), 1, "a slowdown: 1 of 2 comparisons"),
    "noisy": (content(*noisy(1e-3, 0.3, 7)), 2, "of 2 comparisons too noisy, 0 failed"),
    "slower, but noisy": (content(*noisy(1.15e-3, 0.05, 8)), 2, "too noisy"),
    "one round": (content(*noisy(1e-3, 0.01, 9, rounds=1)), 2, "too noisy"),
    "one cell fails": (
        content(*noisy(1e-3, 0.01, 10, sizes=SIZES[:1]), failed(SIZES[1])),
        2,
        "could not measure: 0 of 1 comparison too noisy, 1 failed",
    ),
    "all fail": (content(failed(), failed(SIZES[1])), 2, "no cell is ok in both"),
    "other cells": (content(*noisy(1e-3, 0.01, 11, sizes=(5, 6))), 2, "no cell is ok in both"),
    "other dtypes": (content(*noisy(1e-3, 0.01, 12, dtype="float32")), 2, "no cell is ok in both"),
    "other code": (
        content(*noisy(1e-3, 0.01, 13, version="9.9")),
        2,
        "2 of 2 comparisons are of other code or settings: numpy 9.9 against 2.4.6; ALLOW=1",
    ),
    "other code, and slower": (content(*noisy(2e-3, 0.01, 14, version="9.9")), 2, "ALLOW=1"),
    "other settings": (content(*noisy(1e-3, 0.01, 15, budget_s="1.0")), 2, "budget_s 1.0 against"),
    "the same measurements": (OLD, 2, "old and new are the same measurements: nothing to compare"),
    "damaged": (OLD[:-100], 2, "new.zip was cut"),
    "no archive": (b"hello", 2, "new.zip is no archive"),
    "from the future": (edited(OLD, crossover__json=b'{"format": 2}'), 2, "reads up to format 1"),
}


@pytest.mark.parametrize("kind", STATUS)
def test_the_exit_status_and_its_last_line(gate, kind):
    new, status, words = STATUS[kind]
    found, lines = gate(OLD, new)
    assert found == status, lines
    assert words in lines[-1]


def test_a_slowdown_is_named_with_its_interval(gate):
    _, lines = gate(OLD, half_slower())
    (line,) = [
        line for line in lines if line.startswith("  add, numpy, float64, n=10,000, compute")
    ]
    assert "x as long (1." in line


def test_other_code_is_compared_where_that_is_allowed_and_said(gate):
    other = content(*noisy(2e-3, 0.01, 14, version="9.9"))
    status, lines = gate(OLD, other, allow=True)
    assert status == 1
    assert any("NOT the same code: numpy 9.9 against 2.4.6" in line for line in lines)


def test_what_failed_before_is_no_failure_now(gate):
    both = content(*noisy(1e-3, 0.01, 1), failed(backend="gpu"))
    again = content(*noisy(1e-3, 0.005, 21), failed(backend="gpu"))
    assert gate(both, again)[0] == 0
    assert gate(both, SAME)[0] == 0


def test_cells_that_the_new_one_does_not_have_are_said(gate):
    status, lines = gate(content(*noisy(1e-3, 0.01, 1), failed(backend="gpu")),
                         content(*noisy(1e-3, 0.01, 1, sizes=SIZES[:1])))  # fmt: skip
    assert status == 0
    assert lines[-1].endswith("; 1 cell that the old one has ok, the new one does not have")


def test_rounds_of_several_machines_are_not_called_noisy(gate):
    rows, parts = cell([1.0, 1.1])
    mixed = [parts[0], parts[1]._replace(facts=parts[1].facts | {"machine": "other"})]
    status, lines = gate(content((rows, parts)), content((rows, mixed)))
    assert status == 2 and "Not divided:" in lines
    assert lines[-1].endswith("0 of 1 comparison too noisy, 0 failed, 1 not divided")


@pytest.mark.parametrize("factor", ["1", "0.9", "-2", "nan", "inf", "x", "10%"])
def test_a_factor_that_is_none_is_one_line(gate, factor):
    assert gate(OLD, OLD, factor) == (2, [f"GATE={factor}: give a factor above 1, such as 1.10"])


@pytest.mark.parametrize("files, words", [
    ([], "Name two archives or more"),
    (["a.zip"], "Name two archives or more"),
    (["a.zip", "b.zip", "c.zip"], "name two archives, the old one and the new one"),
    (["a.zip", "b.zip"], "a.zip is not there"),
])  # fmt: skip
def test_files_that_are_none_are_one_line(tmp_path, monkeypatch, capsys, files, words):
    monkeypatch.chdir(tmp_path)
    assert compare_command.run(files, "1.1", False, None) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert words in line


def test_a_mistake_of_ours_is_no_slowdown(gate, monkeypatch):
    monkeypatch.setattr(compare, "pairs", lambda archives: 1 / 0)
    status, lines = gate(OLD, SAME)
    assert status == 2 and "a mistake in Crossover" in lines[-1]


def test_a_disk_that_is_full_is_no_slowdown(gate, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "fsync", full)
    status, lines = gate(OLD, SAME)
    assert status == 2 and lines == [
        "results/compare/compare.csv cannot be written: No space left on device"
    ]


def command(monkeypatch, *words):
    """The exit status of the command as it is typed, in this process."""
    monkeypatch.setattr(sys, "argv", ["crossover", "compare", *words])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    return ended.value.code


def test_what_cannot_be_printed_is_no_slowdown(gate, monkeypatch, capsys):
    gate(OLD, SLOWER)
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert command(monkeypatch, "--gate", "1.10", "old.zip", "new.zip") == 2
    assert "cannot be printed: No space left" in capsys.readouterr().err


def test_a_terminal_that_knows_ascii_alone(gate, tmp_path, monkeypatch):
    gate(OLD, SLOWER)
    (tmp_path / "new.zip").rename(tmp_path / "né\udcff.zip")
    ascii_alone = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_alone)
    assert command(monkeypatch, "--gate", "1.10", "old.zip", "né\udcff.zip") == 1
    assert b"n\\xe9? against old: the same code" in ascii_alone.buffer.getvalue()


def test_a_library_that_is_missing_is_no_slowdown(monkeypatch, capsys):
    monkeypatch.delattr(crossover, "compare_command")
    monkeypatch.setitem(sys.modules, "crossover.compare_command", None)
    assert command(monkeypatch, "--gate", "1.10", "old.zip", "new.zip") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'make install'" in line


def test_without_a_factor_nothing_is_judged(gate, tmp_path):
    status, lines = gate(OLD, SLOWER, "")
    assert status == 0 and not any("Gate" in line for line in lines)
    assert (tmp_path / "results/compare/compare.txt").read_text().splitlines() == lines[:-2]


@pytest.mark.whole
def test_charts_of_the_comparison_before_are_removed_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare_command, "turn", lambda shared: nullcontext())
    one = cell([1e-3, 1.1e-3])
    (tmp_path / "a.zip").write_bytes(content(one, cell([1.0, 1.1], workload="gone")))
    (tmp_path / "b.zip").write_bytes(content(one))
    assert compare_command.run(["a.zip", "b.zip"], "", False, tmp_path / "out") == 0
    charts = tmp_path / "out/charts"
    assert (charts / "gone/float64.svg").exists() and (charts / "add/float64.png").exists()
    (charts / "add/mine.png").touch()
    (tmp_path / "c.zip").write_bytes(content(cell([1.1e-3, 1e-3])))
    assert compare_command.run(["b.zip", "c.zip"], "", False, tmp_path / "out") == 0
    left = sorted(str(path.relative_to(charts)) for path in charts.glob("*/*"))
    assert left == ["add/float64.png", "add/float64.svg", "add/mine.png"]
    frame = chart_compare.frame(record.read(tmp_path / "out/compare.csv", compare.COLUMNS))
    assert list(frame["archive"]) == ["b", "c"]


@pytest.mark.whole
def test_the_command_ends_with_that_status(tmp_path):
    """As it is typed, in a process; `head` that has seen enough changes nothing."""
    (tmp_path / "old.zip").write_bytes(OLD)
    (tmp_path / "new.zip").write_bytes(SLOWER)
    words = f"{sys.executable} -m crossover compare --gate 1.10 -- old.zip new.zip"
    done = subprocess.run(
        ["bash", "-c", f"{words} | true; exit ${{PIPESTATUS[0]}}"],
        env={"PYTHONPATH": str(ROOT / "workflow/scripts"), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, "")
