"""config.yaml: every accepted spelling, and one plain line for every refused one."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from crossover import config, plugin, schema
from crossover.cells import Cell

ROOT = Path(__file__).resolve().parents[1]
SIZES = "sizes are whole numbers of at least 1, such as 1000 or 1e6"
THREADS = "all, or a whole number of at least 1"
DTYPES = "Known here: float16, bfloat16, float32, float64, complex64, int32, int64"
ENTRY = (
    "is not a name; names become folders: letters, digits, _ . + -, starting with a letter, "
    "digit or _, at most 100 characters"
)
TEXT_KEY = "is not a text (YAML reads no, on, null, 1 as something else); quote it, such as 'no'"


def raw(**changes):
    return {
        "workloads": {"add": {"sizes": [1000], "dtypes": ["float64"]}},
        "backends": {"numpy": {}},
        **changes,
    }


def add(**entry):
    return raw(workloads={"add": {"sizes": [1000], **entry}})


def mine(**entry):
    return raw(backends={"numpy": {}, "mine": entry})


def lines(values, base=ROOT):
    with pytest.raises(config.ConfigError) as caught:
        config.read(values, base)
    assert all("\n" not in line and line.startswith("config: ") for line in caught.value.lines)
    return [line.removeprefix("config: ") for line in caught.value.lines]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (1000, (1000,)),
        ("1000", (1000,)),
        ([1000.0], (1000,)),
        (["1e6", "1.0e6", 1e6, "1_000_000", "+1e6", "1e+6", 1000000, " 1000000 "], (10**6,)),
        ([3, 1, "2", 1], (1, 2, 3)),
        ("1000,2000", (1000, 2000)),
        ("2e3, 1000", (1000, 2000)),
        ((5, 4), (4, 5)),
        ("0.5e1", (5,)),
        ("1500e-2", (15,)),
        ("1e15", (10**15,)),
    ],
)
def test_sizes_in_any_spelling(given, meant):
    read = config.read(add(sizes=given), ROOT)
    assert read.workloads["add"].sizes == meant
    assert all(type(size) is int for size in read.workloads["add"].sizes)
    assert config.read(raw(sizes=given), ROOT).workloads["add"].sizes == meant


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (0, "0"),
        (-5, "-5"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ({}, "{}"),
        ({"a": 1}, "{'a': 1}"),
        ([[1000]], "[1000]"),
        ([1, True], "true"),
        ([1, False], "false"),
        ([7, None], "null"),
        ("0", "0"),
        ("-1", "'-1'"),
        ("1e-3", "'1e-3'"),
        ("2**20", "'2**20'"),
        ("abc", "'abc'"),
        ("", "''"),
        ("1000,", "''"),
        ("0x10", "'0x10'"),
        ("010", "'010'"),
        ("1:30", "'1:30'"),
        ("1__0", "'1__0'"),
        ("٣", "'٣'"),
        ("nan", "'nan'"),
        ("inf", "'inf'"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ("1e999999999", "'1e999999999'"),
        ("1e-999999999", "'1e-999999999'"),
        ("1e99999999999999999999", "'1e99999999999999999999'"),
        ("1" * 59, f"'{'1' * 59}'"),
    ],
)
def test_sizes_refused(given, shown):
    line = f"{shown} is not a size; {SIZES}"
    assert lines(add(sizes=given)) == [f"workloads.add.sizes: {line}"]
    assert lines(raw(sizes=given)) == [f"sizes: {line}"]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (add(sizes=[]), f"workloads.add.sizes: is empty; {SIZES}"),
        (
            add(sizes=10**16),
            f"workloads.add.sizes: {10**16} is not a size; {SIZES}, and at most {10**15}",
        ),
        (raw(workloads={"add": {}}), f"workloads.add.sizes: missing; {SIZES}"),
        (raw(workloads={"add": None}), f"workloads.add.sizes: missing; {SIZES}"),
        # unknown keys
        (
            raw(workloads={"add": {"size": [1]}}),
            "workloads.add.size: unknown key; did you mean 'sizes'? "
            "Known here: sizes, dtypes, file",
        ),
        (add(colour="red"), "workloads.add.colour: unknown key; known here: sizes, dtypes, file"),
        (raw(arrays={"keep_gb": 1}), "arrays.keep_gb: unknown key; did you mean 'keep_mb'? "),
        (raw(budget=1), "budget: unknown key; did you mean 'budget_s'? Known here: name, "),
        (mine(librry="numpy"), "backends.mine.librry: unknown key; did you mean 'library'? "),
        (raw(**{"a\nb": 1}), r"'a\nb': unknown key; known here: "),
        ({"workload": {}, "backends": {"numpy": {}}}, "workload: unknown key; did you mean "),
        ({"backends": {"numpy": {}}}, "workloads: missing; workloads maps each name to its sizes"),
        ({"workloads": {"add": {"sizes": 1}}}, "backends: missing; backends maps each name to "),
        # shapes
        ([], "[] is not a config; a config is a mapping with at least the keys "),
        (None, "null is not a config; "),
        (raw(workloads=[]), "workloads: [] is not a map of workloads; workloads maps each name"),
        (raw(workloads={}), "workloads: is empty; workloads maps each name to its sizes"),
        (raw(workloads=None), "workloads: is empty; "),
        (raw(workloads={"add": [1000]}), "workloads.add: [1000] is not a workload; a workload is"),
        (raw(backends={"numpy": "x"}), "backends.numpy: 'x' is not a backend; a backend is a "),
        (raw(arrays=3), "arrays: 3 is not a mapping; how output arrays are kept, such as {keep_"),
        # names
        (raw(backends={"numpy": {}, "a/b": {}}), f"backends: 'a/b' {ENTRY}"),
        (raw(backends={"numpy": {}, "..": {}}), f"backends: '..' {ENTRY}"),
        (raw(backends={"numpy": {}, "": {}}), f"backends: '' {ENTRY}"),
        (raw(backends={"numpy": {}, "a b": {}}), f"backends: 'a b' {ENTRY}"),
        (raw(backends={"numpy": {}, "é": {}}), f"backends: 'é' {ENTRY}"),
        (raw(backends={"numpy": {}, "-x": {}}), f"backends: '-x' {ENTRY}"),
        (raw(backends={"numpy": {}, "x\n": {}}), f"backends: 'x\\n' {ENTRY}"),
        (raw(backends={"numpy": {}, "x" * 101: {}}), f"backends: '{'x' * 101}' {ENTRY}"),
        (raw(workloads={"add": {"sizes": 1}, ".": {}}), f"workloads: '.' {ENTRY}"),
        (raw(backends={"numpy": {}, False: {}}), f"backends: the key false {TEXT_KEY}"),
        (raw(backends={"numpy": {}, None: {}}), f"backends: the key null {TEXT_KEY}"),
        (raw(workloads={1: {"sizes": 1}}), f"workloads: the key 1 {TEXT_KEY}"),
        (raw(**{}) | {True: 1}, f"the key true {TEXT_KEY}"),
        (mine(library="numpy", options={1: 2}), f"backends.mine.options: the key 1 {TEXT_KEY}"),
        (
            raw(backends={"numpy": {}, "Numpy": {"library": "numpy"}}),
            "backends: 'numpy' and 'Numpy' differ only in case; ",
        ),
        (
            raw(workloads={"add": {"sizes": 1}, "ADD": {"sizes": 1}}),
            "workloads: 'add' and 'ADD' differ only in case; ",
        ),
        (raw(name="a/b"), "name: 'a/b' is not a name; the config's name is the folder under "),
        (raw(name=1), "name: 1 is not a name; "),
        (raw(name=None), "name: null is not a name; "),
        (raw(name=""), "name: '' is not a name; "),
        *[
            (raw(name=name), f"name: '{name}' is taken in results/; any name but backends, ")
            for name in (*config.RESERVED, "Cells")
        ],
        # workloads, backends and what they can do
        (
            raw(workloads={"ad": {"sizes": [1]}}),
            "workloads.ad: unknown workload; did you mean 'add'? Known here: add, matmul, polar; "
            "one of your own needs the key file",
        ),
        (
            mine(),
            "backends.mine: unknown library 'mine' (the entry's own name, as it has no key "
            "library); known here: numpy, torch; one of your own needs the key file",
        ),
        (
            mine(library="trch"),
            "backends.mine.library: unknown library 'trch'; did you mean 'torch'? "
            "Known here: numpy, torch; one of your own needs the key file",
        ),
        (mine(library=3), "backends.mine.library: 3 is not a library's name; a backend that "),
        (
            mine(library="torch", device="cudda"),
            "backends.mine.device: 'cudda' is no device of torch.py; did you mean 'cuda'? "
            "Kinds of device there: cpu, cuda, mps, xpu; one of several is written as cuda:1",
        ),
        (
            mine(library="numpy", device="cuda"),
            "backends.mine.device: 'cuda' is no device of numpy.py; kinds of device there: cpu; ",
        ),
        *[
            (
                mine(library="torch", device=device),
                f"backends.mine.device: {shown} is not a device; a kind of device or one of "
                "several, such as cpu, cuda or cuda:1",
            )
            for device, shown in [
                ("cuda:", "'cuda:'"),
                ("cuda:01", "'cuda:01'"),
                ("cuda:x", "'cuda:x'"),
                ("", "''"),
                (0, "0"),
                (None, "null"),
            ]
        ],
        (
            mine(library="numpy", options={"blas": 1}),
            "backends.mine.options.blas: unknown option; known to numpy.py: none",
        ),
        (
            mine(library="numpy", options={"blas": [1]}),
            "backends.mine.options.blas: [1] is not the value of an option; it is a text, a "
            "number, true or false",
        ),
        (
            raw(baseline="torch"),
            "baseline: 'torch' is not one of the backends; backends here: numpy",
        ),
        (
            raw(baseline="nmpy"),
            "baseline: 'nmpy' is not one of the backends; did you mean 'numpy'? "
            "Backends here: numpy",
        ),
        (raw(baseline=None), "baseline: null is not a backend's name; the backend that "),
        (
            raw(backends={"np": {"library": "numpy"}}),
            "baseline: 'numpy' is not one of the backends; backends here: np",
        ),
        (
            add(dtypes="float23"),
            "workloads.add.dtypes: 'float23' is not a dtype; did you mean 'float32'? " + DTYPES,
        ),
        (
            raw(dtypes=["quad"]),
            "dtypes: 'quad' is not a dtype; " + DTYPES.replace("Known", "known"),
        ),
        (raw(dtypes=[]), "dtypes: is empty; a dtype or a list of dtypes, for workloads that "),
        (raw(dtypes=None), "dtypes: null is not a dtype; "),
        (
            raw(workloads={"matmul": {"sizes": 1, "dtypes": ["float32", "int32"]}}),
            "workloads.matmul.dtypes: 'int32' is not possible; matmul can do: float16, ",
        ),
        (
            raw(workloads={"polar": {"sizes": 1}}, dtypes="int32,int64"),
            "workloads.polar.dtypes: missing, and the top-level dtypes (int32, int64) do not "
            "fit; polar can do: float16, ",
        ),
        # numbers
        *[
            (raw(rounds=bad), f"rounds: {shown} is not a number of rounds; rounds is a whole ")
            for bad, shown in [(0, "0"), (-1, "-1"), (1.5, "1.5"), (True, "true"), ("x", "'x'")]
        ],
        *[
            (raw(**{key: bad}), f"{key}: {shown} is not a time; {key} is a number of seconds ")
            for key in ("budget_s", "timeout_s")
            for bad, shown in [
                (0, "0"),
                (-0.1, "-0.1"),
                ("0", "0.0"),
                (None, "null"),
                (True, "true"),
                ("1s", "'1s'"),
                (float("nan"), "nan"),
                (float("inf"), "inf"),
                ("1e999", "inf"),
                ("1e-999", "0.0"),
                ([1], "[1]"),
            ]
        ],
        (raw(seed=-1), "seed: -1 is not a seed; seed is a whole number of at least 0"),
        (raw(seed=0.5), "seed: 0.5 is not a seed; seed is a whole number of at least 0"),
        (raw(threads=0), f"threads: 0 is not a thread count; {THREADS}"),
        (raw(threads="two"), f"threads: 'two' is not a thread count; {THREADS}"),
        (raw(threads=False), f"threads: false is not a thread count; {THREADS}"),
        (
            raw(backends={"numpy": {"threads": -2}}),
            f"backends.numpy.threads: -2 is not a thread count; {THREADS}",
        ),
        (raw(arrays={"keep_mb": 0}), "arrays.keep_mb: 0 is not an amount of memory; keep_mb is "),
        (raw(machine=7), "machine: 7 is not a label; auto, or a text of at most 100 characters"),
        (raw(machine=""), "machine: '' is not a label; "),
        (raw(machine="a\nb"), r"machine: 'a\nb' is not a label; "),
        (raw(seed=10**5000), "seed: a number of thousands of digits is not a seed; "),
        (raw(seed="x" * 10**6), "seed: 'xxx"),
    ],
)
def test_one_line_for_one_problem(values, line):
    found = lines(values)
    assert len(found) == 1
    assert found[0].startswith(line)
    assert line.endswith((" ", *"'xuy")) or found[0] == line or len(found[0]) > len(line)
    assert len(found[0]) < 400


def test_all_problems_at_once():
    values = raw(
        workloads={"ad": {"sizes": [0, -1]}, "add": {"sizes": 1, "dtypes": "float23"}},
        rounds=0,
        baseline="x",
    )
    keys = [line.split(":")[0] for line in lines(values)]
    assert sorted(keys) == sorted(
        ["workloads.ad.sizes"] * 2 + ["workloads.ad", "workloads.add.dtypes", "rounds", "baseline"]
    )


def test_defaults():
    read = config.read(raw(workloads={"add": {"sizes": 1}}), ROOT)
    assert read.workloads["add"].dtypes == ("float32", "float64")
    assert read.workloads["add"].file == plugin.builtin("workloads")["add"]
    numpy = plugin.builtin("backends")["numpy"]
    assert read.backends["numpy"] == config.Backend("numpy", "numpy", numpy, "cpu", None, ())
    assert (read.name, read.baseline, read.rounds, read.seed) == ("", "numpy", 3, 0)
    assert (read.budget_s, read.timeout_s, read.keep_mb, read.machine) == (0.2, 120, 1, "auto")
    assert read.folder == Path("results")
    assert config.read(raw(name="mine"), ROOT).folder == Path("results/mine")
    assert config.read(raw(arrays=None), ROOT).keep_mb == 1


def test_numbers_as_texts_from_the_command_line():
    texts = {"rounds": "5", "seed": 7.0, "threads": "2", "budget_s": "1e-1", "timeout_s": "600"}
    read = config.read(raw(**texts, arrays={"keep_mb": "2.5"}), ROOT)
    assert (read.rounds, read.seed, read.backends["numpy"].threads) == (5, 7, 2)
    assert (read.budget_s, read.timeout_s, read.keep_mb) == (0.1, 600.0, 2.5)
    assert type(read.seed) is int


def test_threads_of_a_backend_beat_the_top_level():
    backends = {"numpy": None, "one": {"library": "numpy", "threads": 1}}
    backends["all"] = {"library": "numpy", "threads": "all"}
    read = config.read(raw(backends=backends, threads=4), ROOT).backends
    assert [read[name].threads for name in ("numpy", "one", "all")] == [4, 1, None]


def test_top_level_sizes_replace_all_and_do_for_those_without():
    workloads = {"add": {"sizes": [1]}, "matmul": None, "polar": {}}
    read = config.read(raw(workloads=workloads, sizes="10,20"), ROOT)
    assert {workload.sizes for workload in read.workloads.values()} == {(10, 20)}


def test_default_dtypes_are_narrowed_to_what_a_workload_can_do():
    workloads = {"add": {"sizes": 1}, "polar": {"sizes": 1}}
    read = config.read(raw(workloads=workloads, dtypes=["int32", "float32", "int32"]), ROOT)
    assert read.workloads["add"].dtypes == ("int32", "float32")
    assert read.workloads["polar"].dtypes == ("float32",)


@pytest.mark.parametrize("name", ["null", "NA", "nan", "true", "1", "_x", "a.b+c-d", "x" * 100])
def test_odd_names(name):
    backends = {"numpy": {}, name: {"library": "numpy"}}
    assert name in config.read(raw(backends=backends, name=name), ROOT).backends


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:1", "mps", "xpu:0"])
def test_devices(device):
    read = config.read(mine(library="torch", device=device), ROOT)
    assert read.backends["mine"].device == device


def test_cells_keep_backends_side_by_side_in_the_order_of_the_file():
    workloads = {
        "polar": {"sizes": [2, 1], "dtypes": ["float64", "float32"]},
        "add": {"sizes": 5, "dtypes": "int32"},
    }
    cells = config.read(raw(workloads=workloads, backends={"torch": {}, "numpy": {}}), ROOT).cells()
    assert cells == [
        Cell(workload, backend, dtype, size)
        for workload, dtype, size in [
            ("polar", "float64", 1),
            ("polar", "float64", 2),
            ("polar", "float32", 1),
            ("polar", "float32", 2),
            ("add", "int32", 5),
        ]
        for backend in ("torch", "numpy")
    ]


BACKEND = "DEVICES = ('cpu', 'fake')\nOPTIONS = {'launch_s': 0}\nclass Backend: pass\n"


def test_files_of_ones_own(tmp_path):
    (tmp_path / "it's mine.py").write_text(BACKEND)
    (tmp_path / "plain.py").write_text("class Backend: pass\n")
    (tmp_path / "w.py").write_text("DTYPES = ('float32',)\ndef compute(): pass\n")
    values = raw(
        workloads={"w": {"file": "w.py", "sizes": 1}},
        backends={
            "numpy": {},
            "mine": {"file": "it's mine.py", "device": "fake:2", "options": {"launch_s": 0.5}},
            "plain": {"file": str(tmp_path / "plain.py"), "library": "x"},
        },
    )
    read = config.read(values, tmp_path)
    assert read.workloads["w"].dtypes == ("float32",)
    assert read.workloads["w"].file == tmp_path / "w.py"
    assert read.backends["mine"].library == "it's mine"
    assert read.backends["mine"].options == (("launch_s", 0.5),)
    assert (read.backends["plain"].library, read.backends["plain"].device) == ("x", "cpu")


@pytest.mark.parametrize(
    ("kind", "content", "words"),
    [
        ("backends", None, " is not there"),
        ("backends", "x = 1\nclass Backend(:\n", " is not Python: line 2: "),
        ("backends", "\0", " is not Python: "),
        ("backends", b"\xff", " is not Python: "),
        ("backends", "def Bakend(): pass", " has no class Backend"),
        ("workloads", "class Compute: pass", " has no function compute"),
        ("workloads", "(" * 2000, " is not Python: "),
    ],
)
def test_bad_files(tmp_path, kind, content, words):
    if content is not None:
        content = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "bad.py").write_bytes(content)
    entry = {"file": "bad.py"} | ({"sizes": [1]} if kind == "workloads" else {})
    values = raw()
    values[kind] = {**values[kind], "mine": entry}
    (found,) = lines(values, tmp_path)
    assert found.startswith(f"{kind}.mine.file: '{tmp_path / 'bad.py'}'{words}")


def test_bad_constants_and_odd_paths(tmp_path):
    (tmp_path / "b.py").write_text("DEVICES = 'cpu'\nclass Backend: pass\n")
    (found,) = lines(mine(file="b.py"), tmp_path)
    assert found.startswith("backends.mine: DEVICES in b.py is not a tuple of names")
    (tmp_path / "b.py").write_text(BACKEND)
    (found,) = lines(mine(file="b.py", options={"launch": 1}), tmp_path)
    assert found == (
        "backends.mine.options.launch: unknown option; did you mean 'launch_s'? "
        "Known to b.py: launch_s"
    )
    (found,) = lines(mine(file="."), tmp_path)
    assert found.endswith(" is a folder, not a Python file")
    for odd in ("\0", "x" * 5000, "b.py/c"):
        assert len(lines(mine(file=odd), tmp_path)) == 1


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
        ("sizes: [0x10]\n", "sizes: YAML reads 0x10 as 16 (hexadecimal); write 16"),
        ("seed: 0b11\n", "seed: YAML reads 0b11 as 3 (binary); write 3 or 0b11"),
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
        ("a: !!int abc\n", "a: YAML reads abc"),
        ("a: *b\n", "not YAML: found undefined alias"),
        ("a: \x07\n", "not YAML: special characters are not allowed (character 0x7)"),
        ("[" * 5000, "not a config: nested too deeply"),
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


def shipped():
    return {path.name: path for path in (ROOT / "config.yaml", *(ROOT / "config").glob("*.yaml"))}


def test_shipped_configs_load_and_share_cells():
    found = {name: config.load(path, ROOT) for name, path in shipped().items()}
    assert {read.name for read in found.values()} == {"", "quick", "article"}
    assert set(found["quick.yaml"].cells()) < set(found["config.yaml"].cells())
    assert len(found["config.yaml"].cells()) == 36
    identity = {(read.budget_s, read.seed, read.keep_mb, read.machine) for read in found.values()}
    assert len(identity) == 1
    threads = {entry.threads for read in found.values() for entry in read.backends.values()}
    assert threads == {None}
    cells = found["article.yaml"].cells()
    assert Cell("add", "torch_cuda", "float64", 3 * 10**8) in cells
    assert Cell("matmul", "torch_cpu", "float32", 10000) in cells
    assert Cell("polar", "numpy", "float32", 10**8) in cells


def test_schema_and_config_yaml_name_the_same_keys():
    text = (ROOT / "config.yaml").read_text()
    assert set(re.findall(r"^(?:# )?(\w+): ", text.replace(":\n", ": \n"), re.MULTILINE)) == set(
        schema.schema()["properties"]
    )
    given = yaml.safe_load(text)
    for key, part in schema.schema()["properties"].items():
        if key in given and "default" in part and key != "arrays":
            assert given[key] == part["default"], key
    entry = schema.schema()["properties"]["backends"]["additionalProperties"]["properties"]
    assert all(key in text for key in entry)


def test_schema_is_one_and_every_part_has_words():
    from jsonschema.validators import Draft202012Validator

    Draft202012Validator.check_schema(yaml.safe_load(schema.FILE.read_text()))

    def walk(part):
        for sub in [*part.get("properties", {}).values(), part.get("items")]:
            if sub is not None:
                assert sub["title"] and sub["description"]
                walk(sub)
        if isinstance(part.get("additionalProperties"), dict):
            walk(part["additionalProperties"])
        elif part.get("type") == "object":
            assert part["additionalProperties"] is False

    walk(schema.schema())


def test_raw_is_left_as_it_is():
    values = raw(sizes="5,4", arrays=None)
    before = yaml.safe_dump(values)
    config.read(values, ROOT)
    assert yaml.safe_dump(values) == before


def test_nothing_heavy_is_imported():
    code = (
        "import sys; from crossover import config; config.load('config.yaml');"
        "print([m for m in ('numpy', 'pandas', 'torch', 'snakemake') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "workflow" / "scripts")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "[]\n"


def nonsense(rng, depth=0):
    simple = [
        None, True, False, 0, 1, -3, 2.5, 1e6, float("nan"), float("inf"), 10**400, "", "add",
        "numpy", "all", "1e6", "1,2", "é\n", "\0", "\ud800", b"x", {1, 2}, "x" * 300, object(),
    ]  # fmt: skip
    if depth > 3 or rng.random() < 0.5:
        return rng.choice(simple)
    if rng.random() < 0.4:
        return [nonsense(rng, depth + 1) for _ in range(rng.randrange(4))]
    keys = [
        *schema.schema()["properties"], "sizes", "dtypes", "file", "library", "device", "threads",
        "options", "keep_mb", "add", "Add", "polar", "numpy", "torch", "\ud800", "", 1, None, (1,),
    ]  # fmt: skip
    return {rng.choice(keys): nonsense(rng, depth + 1) for _ in range(rng.randrange(6))}


def test_nothing_but_config_errors_escapes(tmp_path):
    rng = random.Random(2)
    refused = 0
    for _ in range(300):
        values = raw()
        for key in rng.sample(list(schema.schema()["properties"]), 3):
            values[key] = nonsense(rng)
        try:
            config.read(rng.choice([values, values, nonsense(rng)]), tmp_path)
        except config.ConfigError as error:
            refused += 1
            assert error.lines and len(set(error.lines)) == len(error.lines)
            for line in error.lines:
                assert line.startswith("config: ")
                assert len(line.splitlines()) == 1
    assert refused > 250
