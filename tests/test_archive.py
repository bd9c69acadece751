"""Archives are read whole, by this version and later ones, or refused in one line."""

import io
import json
import os
import stat
import zipfile

import pytest

from conftest import ROOT
from crossover import archive, compare, record, unzip
from crossover.cells import Cell
from crossover.unzip import Refused
from made_up_archives import CODE, SIZES, cell, content, edited, failed, read

GOOD = content(cell([1e-3, 2e-3, 1.5e-3]), failed(SIZES[1]), config={"seed": 0})
CELL = Cell("add", "numpy", "float64", SIZES[0])


def refusal(folder, data):
    path = folder / "it.zip"
    path.write_bytes(data)
    with pytest.raises(Refused) as error:
        archive.read(path)
    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{path} ") and len(line) < 300
    return line


def test_what_is_packed_is_read(tmp_path):
    (found,) = read(tmp_path, it=GOOD).values()
    assert [row["status"] for row in found.rows] == ["ok", "unavailable"]
    assert found.rounds.keys() == {CELL}
    rounds = found.rounds[CELL]
    assert [rounds[n].median_s("compute") for n in (1, 2, 3)] == [1e-3, 2e-3, 1.5e-3]
    assert rounds[1].scopes["compute"].seconds == [0.99e-3, 1e-3, 1.01e-3]
    assert rounds[2].facts["code"] == CODE
    assert found.config == {"seed": 0} and found.machine == {"numpy": {"available": True}}


def test_the_last_attempt_counts(tmp_path):
    rows, parts = cell([1.0, 1.0])
    again = [part._replace(facts=part.facts | {"attempt": "2"}, own=part.own[:1]) for part in parts]
    (found,) = read(tmp_path, it=content((rows, parts + again))).values()
    assert found.rounds[CELL][1].scopes["compute"].seconds == [0.99]


def test_pictures_are_no_cells(tmp_path):
    rows, parts = cell({"render": [1.0, 1.0], "first_call": [2.0, 2.0]}, backend="raster")
    (found,) = read(tmp_path, it=content(cell([1.0, 1.0]), (rows, parts))).values()
    assert found.rounds.keys() == {CELL} and len(found.rows) == 3


# --- other versions


def test_an_archive_of_format_1_is_read():
    """Made by `make pack` of the day on which format 1 was made; it must never stop to be read."""
    found = archive.read(ROOT / "tests/archives/format_1.zip")
    assert found.version == "0.1.0"
    assert {row["status"] for row in found.rows} == {"ok", "unavailable"}
    assert len(found.rounds) == 4 and {len(r) for r in found.rounds.values()} == {2}
    assert {side.seconds("compute")[0] > 0 for side in compare.sides(found).values()
            if side.rounds} == {True}  # fmt: skip
    pairs = compare.pairs({"a": found, "b": found})
    assert len(pairs) == 4 and not any(pair.differs for pair in pairs)


def test_a_newer_format_is_refused_with_both_versions(tmp_path):
    newer = edited(GOOD, crossover__json=b'{"format": 2, "crossover": "9.8.7"}')
    line = refusal(tmp_path, newer)
    assert "format 2 (Crossover 9.8.7)" in line and "0.1.0 reads up to format 1" in line


def test_columns_that_are_missing_are_empty_and_unknown_ones_ignored(tmp_path):
    def without(text):
        lines = [line.replace(CODE, "x").split(",") for line in text.splitlines()]
        at = lines[0].index("code")
        kept = [[*line[:at], *line[at + 1 :], "new"] for line in lines]
        return "\n".join(map(",".join, kept)) + "\n"

    data = edited(GOOD, rounds__csv=without, more__json=b"{}")
    (found,) = read(tmp_path, it=data).values()
    assert found.rounds[CELL][1].facts["code"] == ""
    assert found.rounds[CELL][1].facts.keys() == set(archive.ROUND_COLUMNS)


# --- damaged, foreign, hostile


@pytest.mark.parametrize("kept", [0, 1, 3, 100, 0.5, 0.9, -1, -22, -30])
def test_one_that_was_cut(tmp_path, kept):
    size = int(len(GOOD) * kept) if isinstance(kept, float) else kept
    assert any(w in refusal(tmp_path, GOOD[:size]) for w in ("cut", "is empty", "no archive"))


def test_every_flipped_byte_is_seen_or_harmless(tmp_path):
    (whole,) = read(tmp_path, it=GOOD).values()
    refused = 0
    for at in range(0, len(GOOD), 7):
        data = bytearray(GOOD)
        data[at] ^= 0x55
        path = tmp_path / "it.zip"
        path.write_bytes(data)
        try:
            assert archive.read(path) == whole
        except Refused as error:
            refused += 1
            assert len(str(error).splitlines()) == 1
    assert refused > len(GOOD) / 7 * 0.8


def zipped(*names, mode=0o644, data=b"x", method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            file.writestr(info, data, method)
    return out.getvalue()


PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)
TABLE = "workload,backend,dtype,size,scope,status,round,seconds,attempt,calls\n"


def manifest(found):
    return edited(GOOD, crossover__json=json.dumps(found).encode())


def changed(old, new, name="rounds__csv"):
    return edited(GOOD, **{name: lambda text: text.replace(old, new)})


FOREIGN = {
    "a picture": (PNG, "no archive"),
    "a text": (b"hello\n" * 20, "no archive"),
    "another zip": (zipped("readme.txt"), "not one of 'make pack'"),
    "an empty zip": (zipped(), "not one of 'make pack'"),
    "a zip with a comment": (GOOD[:-2] + b"\x02\x00hi", "another kind of zip"),
    "up": (zipped("a/../../etc/passwd"), "leads out"),
    "up on Windows": (zipped("a\\..\\b"), "leads out"),
    "absolute": (zipped("/etc/passwd"), "leads out"),
    "a drive": (zipped("C:/x"), "leads out"),
    "a link": (zipped("rounds.csv", mode=stat.S_IFLNK | 0o777), "is a link"),
    "odd compression": (zipped("rounds.csv", method=zipfile.ZIP_LZMA), "is compressed"),
    "many entries": (zipped(*map(str, range(100))), "too many"),
    "no format": (manifest({}), "which format"),
    "format yes": (manifest({"format": True}), "which format"),
    "format 0": (manifest({"format": 0}), "which format"),
    "no mapping": (manifest([1]), "crossover.json cannot be read"),
    "deep": (edited(GOOD, config__json=b"[" * 100_000), "config.json cannot be read"),
    "no rounds": (edited(GOOD, rounds__csv=None), "has no rounds.csv"),
    "not text": (edited(GOOD, summary__csv=b"\xff\xfe"), "summary.csv cannot be read"),
    "no columns": (edited(GOOD, rounds__csv=b"a,b\n1,2\n"), "no column workload"),
    "empty rounds": (edited(GOOD, rounds__csv=TABLE.encode()), "nothing of add"),
    "a name that is a path": (changed("add,", "../add,"), "row 1: workload is '../add'"),
    "a name of nothing": (changed("add,", ",", "summary__csv"), "workload is ''"),
    "a size that is none": (changed(",1000,", ",1e3,"), "size is '1e3'"),
    "no time": (changed("0.002", "nan"), "seconds is"),
    "a time before now": (changed("0.002", "-1"), "seconds is"),
    "an endless time": (changed("0.002", "1e308"), "seconds is"),
    "hardly a time": (changed("0.002", "1e-300"), "seconds is"),
    "no number": (changed("0.002", "abc"), "seconds is"),
    "no compute": (changed(",compute,", ",upload,"), "has no compute"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_archive_is_one_line(tmp_path, kind):
    data, words = FOREIGN[kind]
    assert words in refusal(tmp_path, data)


def test_a_bomb_is_refused_before_it_unpacks(tmp_path, monkeypatch):
    bomb = zipped("rounds.csv", data=bytes(30_000_000))
    monkeypatch.setattr(unzip, "LARGEST", 10_000_000)
    monkeypatch.setattr(unzip, "_content", None)
    assert "unpacks to 30,000,000 bytes" in refusal(tmp_path, bomb)


@pytest.mark.parametrize("said, words", [(10, "copy or make"), (2_000_000, "not as long")])
def test_a_bomb_that_lies_about_its_size(tmp_path, said, words):
    bomb = bytearray(zipped("crossover.json", data=bytes(1_000_000)))
    for at in range(len(bomb) - 4):
        if bomb[at : at + 4] == (1_000_000).to_bytes(4, "little"):
            bomb[at : at + 4] = said.to_bytes(4, "little")
    assert words in refusal(tmp_path, bytes(bomb))


def test_a_list_of_entries_that_is_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", None)
    long = bytearray(b"PK\x03\x04" + b"PK\x05\x06" + bytes(18))
    long[4 + 12 : 4 + 16] = (10**7).to_bytes(4, "little")
    assert "too many entries" in refusal(tmp_path, bytes(long))
    wide = b"PK\x03\x04" + b"PK\x06\x07" + bytes(16) + b"PK\x05\x06" + bytes(18)
    assert "too many entries" in refusal(tmp_path, wide)


def test_what_is_no_file_is_one_line(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, words in (("none.zip", "is not there"), (".", "is no file"), ("pipe", "is no file")):
        with pytest.raises(Refused, match=words):
            archive.read(tmp_path / name)


def test_nothing_is_packed_that_could_not_be_read(monkeypatch):
    monkeypatch.setattr(archive, "LARGEST", 1000)
    with pytest.raises(ValueError, match="at most 1,000"):
        content(cell([1.0, 1.0]))


def test_the_columns_of_format_1_are_still_written():
    """One that a reader needs cannot go without a new format."""
    for name, columns in ((archive.SUMMARY, archive.COLUMNS), (archive.ROUNDS, record.FACTS)):
        assert set(archive.NEEDED[name]) <= set(columns)
