"""What a workload file says of itself: its inputs, its cost, and no library's name."""

import ast

import numpy as np
import pytest

from crossover import plugin
from crossover.workloads import draw

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
    cost = workload.cost(size, 4)
    inputs = workload.inputs(np.random.default_rng(0), size, "float32")
    assert cost.input_bytes == sum(array.nbytes for array in inputs)
    outputs = workload.compute(np, *inputs, size=size, dtype=np.float32, device="cpu")
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert cost.output_bytes == sum(array.nbytes for array in outputs)


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
