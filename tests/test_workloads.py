"""What a workload file says of itself: its inputs, its cost, and no library's name."""

import ast
import tracemalloc

import numpy as np
import pytest

from crossover import plugin
from crossover.work import wanted
from crossover.workloads import REGIMES, draw

FILES = plugin.builtin("workloads")
WORKLOADS = {name: plugin.load(path) for name, path in FILES.items()}


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
    workload = WORKLOADS[name]
    dtype = next(d for d in ("float32", "complex64") if d in workload.DTYPES)
    cost = workload.cost(size, np.dtype(dtype).itemsize)
    rng = np.random.default_rng(0)
    inputs = workload.inputs(rng, size, dtype)
    assert cost.input_bytes == sum(array.nbytes for array in inputs)
    offered = {"size": size, "dtype": np.dtype(dtype), "device": "cpu", "random": rng.random}
    outputs = workload.compute(np, *inputs, **wanted(workload.compute, offered))
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert cost.output_bytes == sum(array.nbytes for array in outputs)


@pytest.mark.parametrize(("name", "size"), [("stencil", 100), ("monte_carlo", 10_000),
                                            ("polar", 10_000)])  # fmt: skip
def test_the_cost_is_the_most_that_is_alive(name, size):
    """Where the file itself makes what is between; in arrays so small that NumPy, which traces its
    allocations, uses none of them twice."""
    workload, rng = WORKLOADS[name], np.random.default_rng(0)
    inputs = workload.inputs(rng, size, "float64")
    offered = {"size": size, "dtype": np.dtype("float64"), "device": "cpu", "random": rng.random}
    named = wanted(workload.compute, offered)
    workload.compute(np, *inputs, **named)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        workload.compute(np, *inputs, **named)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    cost = workload.cost(size, 8)
    assert most - before == pytest.approx(cost.output_bytes + cost.temporary_bytes, rel=0.1)


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_regime_is_one_that_is_explained(name):
    assert plugin.declared(FILES[name])["REGIME"] in REGIMES


@pytest.mark.parametrize("kind", ["workloads", "backends"])
def test_neither_names_the_other(kind):
    """N + M files, not N x M: no workload imports a library at its top, no backend names a workload
    but as a key of its KERNELS."""
    others = {"workloads": {"torch", "numpy"}, "backends": set(plugin.builtin("workloads"))}[kind]
    for path in plugin.builtin(kind).values():
        tree = ast.parse(path.read_text())
        imported = set()
        for node in tree.body:
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                imported |= {(node.module or "").split(".")[-1]}
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id="KERNELS")], value=ast.Dict() as kernels):
                    kernels.keys.clear()
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not others & imported, path
        if kind == "backends":
            assert not others & (names | strings), path
