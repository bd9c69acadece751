"""config.yaml: one plain line for every mistake, and all of them at once."""

import random

import pytest

from config_cases import add, lines, mine, raw
from crossover import config, schema

SIZES = "sizes are whole numbers of at least 1, such as 1000 or 1e6"
THREADS = "all, or a whole number of at least 1"
DTYPES = "Known here: float16, bfloat16, float32, float64, complex64, complex128, int32, int64"
ENTRY = (
    "is not a name; names become folders: letters, digits, _ . + -, starting with a letter, "
    "digit or _, at most 100 characters"
)
TEXT_KEY = "is not a text (YAML reads no, on, null, 1 as something else); quote it, such as 'no'"


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
        (
            raw(backends={"numpy": {}, "xy" * 20: {"library": "numpy"}}),
            f"backends: '{'xy' * 20}' ends in 'xy' 20 times or more, which Snakemake ",
        ),
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
            "workloads.ad: unknown workload; did you mean 'add'? Known here: add, fft, gather, "
            "matmul, monte_carlo, polar, small_matmuls, solve, sort, stencil, sum; one of "
            "your own needs the key file",
        ),
        (
            mine(),
            "backends.mine: unknown library 'mine' (the entry's own name, as it has no key "
            "library); known here: cupy, jax, numba, numexpr, numpy, torch; one of "
            "your own needs the key file",
        ),
        (
            mine(library="trch"),
            "backends.mine.library: unknown library 'trch'; did you mean 'torch'? "
            "Known here: cupy, jax, numba, numexpr, numpy, torch; one of "
            "your own needs the key file",
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
        (
            raw(backends={"numpy": {"memory": "recycle"}}),
            "backends.numpy.memory: 'recycle' is not a memory mode; did you mean 'recycled'?",
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


def test_problems_are_told_in_the_config_s_order():
    names = [*"hgfedcba"]  # in a set they come in another order with each process
    told = lines(raw(backends={"numpy": {}} | dict.fromkeys(names, 3)))
    assert [line.split(":")[0] for line in told] == [f"backends.{name}" for name in names]


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
