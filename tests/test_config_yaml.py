"""config.yaml as a file: what YAML would guess about is refused, with its line."""

import random
import re

import pytest

from config_cases import ROOT
from crossover import config

GOOD = "workloads:\n  add: {sizes: [1e4]}\nbackends:\n  numpy:\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "is empty; it needs at least the keys workloads and backends"),
        ("# nothing\n\n", "is empty; it needs at least the keys workloads and backends"),
        ("---\n", "holds null, not keys with values such as 'rounds: 3'"),
        ("- a\n- b\n", "holds a list, not keys with values such as 'rounds: 3'"),
        ("workloads\n", "holds one value, not keys with values such as 'rounds: 3'"),
        ("rounds: 3\nseed: 1\nrounds: 4\n", "rounds: key given twice, in lines 1 and 3; keep one"),
        (
            "workloads:\n  add:\n    sizes: [1]\n    'sizes': [2]\n",
            "workloads.add.sizes: key given twice, in lines 3 and 4; keep one",
        ),
        ("a: [{b: 1, b: 2}]\n", "a.b: key given twice, in lines 1 and 1; keep one"),
        ("sizes: 010\n", "sizes: YAML reads 010 as 8 (octal); write 8 or 10"),
        ("seed: 00\n", "seed: YAML reads 00 as 0 (octal); write 0"),
        ("seed: -010\n", "seed: YAML reads -010 as -8 (octal); write -8 or -10"),
        ("sizes: [0x10]\n", "sizes: YAML reads 0x10 as 16 (hexadecimal); write 16"),
        ("seed: 0b11\n", "seed: YAML reads 0b11 as 3 (binary); write 3"),
        ("timeout_s: 1:30\n", "timeout_s: YAML reads 1:30 as 90 (base 60); write 90"),
        ("timeout_s: 1:30.5\n", "timeout_s: YAML reads '1:30.5' in base 60; write a decimal "),
        ("name: 2024-01-01\n", "name: YAML reads '2024-01-01' as a date; quote it: '2024-01-01'"),
        ("backends: {no: {}}\n", "backends: YAML reads the key no as bool; quote it: 'no'"),
        ("backends: {1: {}}\n", "backends: YAML reads the key 1 as int; quote it: '1'"),
        ("? [a]\n: 1\n", "a list or mapping cannot be a key"),
        ("a: &x [*x]\n", "a: the alias contains itself"),
        ("a: [1, 2\nb: 3\n", "not YAML: "),
        ("a:\n\t- b\n", "not YAML: found character '\\t' that cannot start any token"),
        ("a: 1\n---\nb: 2\n", "not YAML: but found another document"),
        ("a: !!python/name:os.system x\n", "not YAML: could not determine a constructor"),
        ("a: !!int abc\n", "a: 'abc' is not a whole number"),
        ("a: *b\n", "not YAML: found undefined alias"),
        ("a: \x07\n", "not YAML: special characters are not allowed (character 0x7)"),
        ("[" * 2000, "not a config: nested too deeply"),
        (b"\xff\xfea\0", "not UTF-8 text (byte 1); save it as UTF-8"),
    ],
)
def test_yaml_refused(tmp_path, text, line):
    file = tmp_path / "it's a.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(config.ConfigError) as caught:
        config.check_file(file)
    (found,) = caught.value.lines
    assert "\n" not in found
    pattern = rf"{re.escape(str(file))}: (line \d+(, column \d+)?: )?{re.escape(line)}"
    assert re.match(pattern, found), found
    assert not found.endswith((" or ", " "))


def test_files_that_are_none(tmp_path):
    for path, words in [
        (tmp_path / "no.yaml", "not there"),
        (tmp_path, "a folder, not a YAML file"),
        (str(tmp_path) + "/\0", "not a path"),
    ]:
        with pytest.raises(config.ConfigError) as caught:
            config.load(path)
        assert caught.value.lines == [f"{path}: {words}"]


def test_line_numbers_and_several_lines(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("rounds: 3\nseed: 017\nrounds: 4\n")
    with pytest.raises(config.ConfigError) as caught:
        config.check_file(file)
    assert [line.split(": ")[1] for line in caught.value.lines] == ["line 3", "line 2"]


def test_yaml_accepted(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("x: &x {a: 1}\ny: {<<: *x, a: 2}\nz: [1_000, -0, 1e6, 0.5, '010', *x, *x]\n")
    config.check_file(file)
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert config.load(file).workloads["add"].sizes == (10000,)


def test_aliases_of_aliases_end(tmp_path):
    file = tmp_path / "bomb.yaml"
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)
    )
    file.write_text(bomb + "sizes: *a59\nname: *a59\noptions: {y: *a59}\n" + GOOD)
    with pytest.raises(config.ConfigError) as caught:
        config.load(file)
    assert sum(map(len, caught.value.lines)) < 20_000


def test_a_damaged_file_is_a_config_error(tmp_path):
    rng = random.Random(3)
    good = (ROOT / "config" / "quick.yaml").read_bytes()
    file = tmp_path / "c.yaml"
    for _ in range(60):
        damaged = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.randrange(20)] = rng.choice(
                [b"", b"\xff", b"\0", b"\t", b": ", b"- ", b"&a *a", b"{", b"!!set", b"010", b"'"]
            )
        file.write_bytes(damaged)
        try:
            config.load(file)
        except config.ConfigError as error:
            assert all(len(line.splitlines()) == 1 for line in error.lines)
