"""The workloads' own answers: right ones pass at every size, wrong ones never do."""

import ast
from types import SimpleNamespace

import numpy as np
import pytest

from crossover import plugin
from crossover.workloads import draw

FILES = plugin.builtin("workloads")
WORKLOADS = {name: plugin.load(path) for name, path in FILES.items()}
CASES = [
    (name, dtype, size)
    for name, sizes in {
        "add": (1, 2, 1000, 300_000),
        "matmul": (1, 2, 25, 600),
        "polar": (1, 2, 1000, 300_000),
    }.items()
    for dtype in ("float32", "float64")
    for size in sizes
]
WIDE = [
    (name, dtype, size)
    for name, workload in WORKLOADS.items()
    for dtype in workload.DTYPES
    if dtype not in ("float32", "float64", "bfloat16")  # NumPy has no bfloat16
    for size in (1, 2, 300)
]


def answer(name, dtype, size):
    """The outputs as NumPy computes them, and what `error` needs beside them."""
    workload = WORKLOADS[name]
    inputs = workload.inputs(np.random.default_rng(0), size, dtype)
    kept = None if getattr(workload, "IN_PLACE", False) else inputs
    outputs = workload.compute(np, *inputs, size=size, dtype=getattr(np, dtype), device="cpu")
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return SimpleNamespace(workload=workload, inputs=kept, outputs=outputs, dtype=dtype, size=size)


def passes(case, outputs=None):
    outputs = case.outputs if outputs is None else outputs
    error = case.workload.error(outputs, case.inputs, np.random.default_rng(0), case.dtype)
    return error <= case.workload.bound(case.size, case.dtype)


@pytest.mark.parametrize(("name", "dtype", "size"), CASES + WIDE)
def test_right_answers_pass(name, dtype, size):
    case = answer(name, dtype, size)
    assert passes(case)
    shapes = tuple(output.shape for output in case.outputs)
    assert shapes == case.workload.output_shapes(size)
    assert all(output.dtype == dtype for output in case.outputs)


@pytest.mark.parametrize(("name", "dtype", "size"), [case for case in CASES if case[2] >= 25])
@pytest.mark.parametrize("wrong", ["zeros", "previous", "swapped", "half", "float16"])
def test_wrong_answers_fail(name, dtype, size, wrong):
    case = answer(name, dtype, size)
    rng = np.random.default_rng(1)
    spoiled = {
        "zeros": lambda a: np.zeros_like(a),
        "previous": lambda a: rng.permutation(a.reshape(-1)).reshape(a.shape),
        "swapped": lambda a: a[::-1].copy() if a.ndim > 1 else np.roll(a, len(a) // 3),
        "half": lambda a: a * a.dtype.type(1.001),
        "float16": lambda a: (a / 2**12).astype("float16").astype(a.dtype) * 2**12,
    }[wrong]
    assert not passes(case, tuple(spoiled(output) for output in case.outputs))


def rounded(array, bits):
    """Float32 with that many bits of mantissa, to nearest: 10 for TF32, 7 for bfloat16."""
    unit = np.exp2(np.floor(np.log2(abs(array))) - bits)
    return (np.round(array / unit) * unit).astype("float32")


def test_tf32_under_a_float32_label_fails():
    """By a margin that shrinks with the root of n: at the article's n = 10,000 it is still 5."""
    case = answer("matmul", "float32", 2048)
    a, b = (rounded(matrix, 10) for matrix in case.inputs)
    error = case.workload.error((a @ b,), case.inputs, np.random.default_rng(0), "float32")
    assert error > 8 * case.workload.bound(2048, "float32")


@pytest.mark.parametrize("size", [64, 512])
def test_an_honest_product_in_the_plainest_order_passes(size):
    """No blocks, every partial sum rounded: what a simple GPU kernel does."""
    case = answer("matmul", "float32", size)
    a, b = case.inputs
    c = np.zeros_like(a)
    for k in range(size):
        c += np.outer(a[:, k], b[k])
    assert passes(case, (c,))


@pytest.mark.parametrize("size", [26, 700])
@pytest.mark.parametrize("spoil", ["nothing", "tenth", "rows", "order"])
def test_half_precision_is_judged_by_its_own_rounding(size, spoil):
    """Carried in float32 on the host, as bfloat16 is."""
    case = answer("matmul", "float32", size)
    case.dtype = "bfloat16"
    a, b = (rounded(matrix, 7) for matrix in case.inputs)
    c = rounded(a @ b, 7)
    match spoil:
        case "tenth":
            c *= np.float32(1.1)
        case "rows":
            c[:10] = 0
        case "order":
            c = c[::-1].copy()
    assert passes(case, (c,)) == (spoil == "nothing")


@pytest.mark.parametrize("name", ["add", "polar"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_bad_element_in_a_million_fails(name, dtype):
    case = answer(name, dtype, 1_000_000)
    case.outputs[-1][765_432] += 0.001
    assert not passes(case)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64", "int32", "int64"])
@pytest.mark.parametrize("count", [1, 1000, (1 << 18) + 5])
def test_drawing_again_block_by_block_gives_the_same_numbers(dtype, count):
    """What the check of an in-place workload stands on."""
    whole = draw(np.random.default_rng(3), count, dtype, 0, 100)
    rng = np.random.default_rng(3)
    step = 1 << 18
    parts = [draw(rng, min(step, count - at), dtype, 0, 100) for at in range(0, count, step)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert whole.dtype == dtype and len(np.unique(whole)) > min(count, 50) / 2


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("size", [10, 300])
def test_the_cost_is_the_bytes_of_the_arrays(name, size):
    case = answer(name, "float32", size)
    cost = case.workload.cost(size, 4)
    inputs = case.workload.inputs(np.random.default_rng(0), size, "float32")
    assert cost.input_bytes == sum(array.nbytes for array in inputs)
    assert cost.output_bytes == sum(array.nbytes for array in case.outputs)


@pytest.mark.parametrize("kind", ["workloads", "backends"])
def test_neither_names_the_other(kind):
    """N + M files, not N x M: no workload imports a library at its top, no backend a workload."""
    others = {"workloads": {"torch", "numpy"}, "backends": set(plugin.builtin("workloads"))}[kind]
    for path in plugin.builtin(kind).values():
        tree = ast.parse(path.read_text())
        imported = set()
        for node in tree.body:
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                imported |= {(node.module or "").split(".")[-1]}
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not others & imported, path
        if kind == "backends":
            assert not others & (names | strings), path
