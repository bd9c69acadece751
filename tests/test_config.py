"""config.yaml: every accepted spelling, a user's own files, and the configs that ship."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from config_cases import ROOT, add, lines, mine, raw
from crossover import config, plugin, schema
from crossover.cells import Cell


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


def test_defaults():
    read = config.read(raw(workloads={"add": {"sizes": 1}}), ROOT)
    assert read.workloads["add"].dtypes == ("float32", "float64")
    assert read.workloads["add"].file == plugin.builtin("workloads")["add"]
    numpy = plugin.builtin("backends")["numpy"]
    plain = config.Backend("numpy", "numpy", numpy, "cpu", None, "fresh", ())
    assert read.backends["numpy"] == plain
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


def test_memory_of_a_backend_is_fresh_unless_it_says_otherwise():
    backends = {"numpy": None, "again": {"library": "numpy", "memory": "recycled"}}
    read = config.read(raw(backends=backends), ROOT).backends
    assert [read[name].memory for name in ("numpy", "again")] == ["fresh", "recycled"]


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


@pytest.mark.parametrize(
    "name", ["null", "NA", "nan", "true", "1", "_x", "a.b+c-d", "xy" * 19, "x" * 99 + "y"]
)
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


FUNCTIONS = ("inputs", "compute", "output_shapes", "cost", "error", "bound")
WORKLOAD = "".join(f"def {name}(): pass\n" for name in FUNCTIONS)
BACKEND = "DEVICES = ('cpu', 'fake')\nOPTIONS = {'launch_s': 0}\nclass Backend: pass\n"


def test_files_of_ones_own(tmp_path):
    (tmp_path / "it's mine.py").write_text(BACKEND)
    (tmp_path / "plain.py").write_text("class Backend: pass\n")
    (tmp_path / "w.py").write_text(WORKLOAD + "DTYPES = ('float32',)\n")
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
        (
            "workloads",
            "class Compute: pass",
            " has no function inputs, compute",
        ),
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


@pytest.mark.parametrize(
    "constant",
    [
        *("LIBRARIES = 'torch'", "LIBRARIES = None", "LIBRARIES = (1,)", "LIBRARIES = {[]: 1}"),
        *("DEVICES = tuple('x')", "DEVICES: tuple = some()"),
    ],
)
def test_a_constant_that_cannot_be_read_is_one_line(tmp_path, constant):
    """Planning imports nothing, so that what is computed there is unknown: never a silent guess."""
    (tmp_path / "b.py").write_text(f"{constant}\nclass Backend: pass\n")
    (found,) = lines(mine(file="b.py"), tmp_path)
    assert " in b.py is not a tuple of names" in found


def test_an_annotated_constant_counts(tmp_path):
    (tmp_path / "b.py").write_text("DEVICES: tuple = ('fake',)\nclass Backend: pass\n")
    assert config.read(mine(file="b.py", device="fake"), tmp_path).backends["mine"].device == "fake"


def test_there_is_one_cpu(tmp_path):
    (tmp_path / "b.py").write_text(BACKEND)
    (found,) = lines(mine(file="b.py", device="cpu:0"), tmp_path)
    assert found == "backends.mine.device: 'cpu:0': there is one cpu, written without a number"


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


def shipped():
    return {path.name: path for path in (ROOT / "config.yaml", *(ROOT / "config").glob("*.yaml"))}


def test_shipped_configs_load_and_share_cells():
    found = {name: config.load(path, ROOT) for name, path in shipped().items()}
    assert {read.name for read in found.values()} == {"", "quick", "article", "libraries", "survey"}
    assert set(found["quick.yaml"].cells()) < set(found["config.yaml"].cells())
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


@pytest.mark.whole
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
