"""The raw file: whole or not there, and told from anything that is not what was written."""

import csv

import numpy as np
import pytest

from crossover import record

ROWS = [
    {"workload": "add", "backend": "NA", "size": 10, "sample": n, "seconds": 0.1 + n / 3}
    for n in range(1, 4)
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "cells" / "1.csv"
    record.write(path, ROWS)
    return path


def test_numbers_and_names_come_back_exactly(path):
    rows = record.read(path, workload="add", size=10)
    assert [float(row["seconds"]) for row in rows] == [row["seconds"] for row in ROWS]
    assert {row["backend"] for row in rows} == {"NA"}


def test_it_is_plain_csv(path):
    with path.open(newline="") as file:
        assert [row["sample"] for row in csv.DictReader(file)] == ["1", "2", "3"]


def test_reasons_with_commas_quotes_and_lines_survive(tmp_path):
    reason = 'a "b", c\nd; é\r\n'
    record.write(tmp_path / "x.csv", [{"reason": reason}])
    assert record.read(tmp_path / "x.csv")[0]["reason"] == reason


def test_a_part_is_the_samples_of_one_scope(tmp_path):
    shared = {"workload": "add", "conditions": '{"governor": "performance", "boost": 1}'}
    rows = [
        shared | {"scope": scope, "attempt": attempt, "sample": n, "seconds": n / 7}
        for scope, attempt in (("first_call", 1), ("compute", 1), ("upload", 1), ("upload", 2))
        for n in (1, 2, 3)
    ]
    record.write(tmp_path / "x.csv", rows)
    parts = record.parts(tmp_path / "x.csv")
    scopes = [(part.facts["scope"], part.facts["attempt"]) for part in parts]
    assert scopes == [("first_call", "1"), ("compute", "1"), ("upload", "1"), ("upload", "2")]
    for part in parts:
        assert part.facts["conditions"] == shared["conditions"]
        assert part.column("sample") == ["1", "2", "3"]
        assert [float(text) for text in part.column("seconds")] == [1 / 7, 2 / 7, 3 / 7]


@pytest.mark.parametrize("name", ["plain", 'a, "b"', "two\nlines", "one\u2028line", ""])
@pytest.mark.parametrize("column", ["backend", "started_at", "reason"])
def test_rows_come_back_as_a_reader_of_csv_sees_them(tmp_path, column, name):
    rows = [{"workload": "add", "sample": n, "seconds": n / 7, column: name} for n in (1, 2, 3)]
    rows.insert(0, rows[0] | {column: "plain"})
    record.write(tmp_path / "x.csv", rows)
    with (tmp_path / "x.csv").open(newline="") as file:
        expected = [{k: v for k, v in row.items() if k != "crc32"} for row in csv.DictReader(file)]
    assert record.read(tmp_path / "x.csv") == expected
    parts = record.parts(tmp_path / "x.csv")
    apart = [
        part.facts | dict(zip(record.OWN, own, strict=True)) for part in parts for own in part.own
    ]
    assert apart == expected
    assert [row[column] for row in expected] == ["plain", name, name, name]


def test_an_unknown_column_is_a_mistake_of_ours(tmp_path):
    with pytest.raises(ValueError, match="no such column: colour"):
        record.write(tmp_path / "x.csv", [{"colour": "red"}])


def test_every_cut_is_noticed(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if whole[:length].rstrip(b"\n") == whole.rstrip(b"\n"):
            continue  # the last line break alone: nothing is lost
        with pytest.raises(record.Damaged, match=r"1\.csv"):
            record.read(path)


def test_every_edit_is_noticed(path):
    whole = path.read_bytes()
    for position in range(0, len(whole), 7):
        edited = bytearray(whole)
        edited[position] ^= 1
        path.write_bytes(bytes(edited))
        with pytest.raises(record.Damaged):
            record.read(path)


@pytest.mark.parametrize("change", ["swap", "drop", "repeat"])
def test_rows_that_moved_are_noticed(path, change):
    head, one, two, three = path.read_text().splitlines(keepends=True)
    lines = {"swap": [two, one, three], "drop": [one, three], "repeat": [one, two, three, three]}
    path.write_text("".join([head, *lines[change]]))
    with pytest.raises(record.Damaged):
        record.read(path)


@pytest.mark.parametrize("content", [b"", b"\n", b"a,b\n1,2\n", b"\xff\xfe\x00", b"\x00" * 100])
def test_foreign_files_are_named(path, content):
    path.write_bytes(content)
    with pytest.raises(record.Damaged, match=r"1\.csv"):
        record.read(path)


def test_another_cells_file_is_named(path):
    with pytest.raises(record.Damaged, match="another cell's: its size is '10'"):
        record.read(path, workload="add", size=100)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        record.write(path, ROWS)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["1.csv"]


def test_the_empty_array_is_one_for_numpy(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(record.EMPTY_NPY)
    array = np.load(path, allow_pickle=False)
    assert array.shape == (0,) and array.dtype == np.float64
