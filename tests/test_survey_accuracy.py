"""The workloads of config/survey.yaml: right answers pass in every dtype, wrong ones never do."""

import gc

import numpy as np
import pytest

from crossover import plugin
from crossover.measurement import Measurement
from crossover.status import Unsupported
from crossover.workloads import UNIT_ROUNDOFF, rounded
from test_accuracy import BACKENDS, WORKLOADS, computed, over_bound
from test_measurement import task

pytestmark = pytest.mark.whole

SMALL = (*range(1, 21), 31, 34, 37)
LADDER = {  # around the sizes of blocks, and what is fast or slow
    "sum": (1000, 4097, (1 << 18) + 1),
    "fft": (127, 1009, 4096, (1 << 15) + 1),
    "sort": (1000, 4097, (1 << 18) + 1),
    "solve": (64, 255, 257, 500),
    "stencil": (64, 129),
    "gather": (1000, 4097, (1 << 18) + 1),
    "monte_carlo": (1000, 4097, (1 << 18) + 1),
    "small_matmuls": (100, (1 << 12) + 1),
}
DTYPES = [(name, dtype) for name in LADDER for dtype in WORKLOADS[name].DTYPES]
RIGHT = [
    (library, name, dtype)
    for library in BACKENDS
    for name, dtype in DTYPES
    if (library, dtype) != ("numpy", "bfloat16")  # NumPy has none
]


def test_every_shipped_workload_is_looked_at():
    assert {*LADDER, "add", "matmul", "polar"} == set(plugin.builtin("workloads"))


@pytest.mark.parametrize(("library", "name", "dtype"), RIGHT)
def test_right_answers_pass_at_every_size(library, name, dtype):
    for size in (*SMALL, *LADDER[name]):
        case = computed(library, name, dtype, size)
        assert over_bound(case) <= 1, size
        shapes = tuple(output.shape for output in case.outputs)
        assert shapes == WORKLOADS[name].output_shapes(size)


# --- wrong


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


def swapped(array, one=0, other=-1):
    array = array.copy()
    array[[one, other]] = array[[other, one]]
    return array


def noise(case):
    """Of norm 1, in the dtype."""
    found = np.random.default_rng(5).normal(size=case.size)
    return (found / np.linalg.norm(found)).astype(case.dtype)


def steps(case, count, own=0.5):
    """The stencil with another number of steps, or another weight of a point itself."""
    (u,) = case.inputs
    for _ in range(count):
        around = sum(np.roll(u, by, axis) for by in (1, -1) for axis in (0, 1))
        u = own * u + (1 - own) / 4 * around
    return u.astype(case.dtype)


def darts(case, four=4.0, other=True):
    """Another constant; or the same numbers for x and for y."""
    x, y = np.random.default_rng(1).random((2, case.size), case.dtype)
    return np.asarray(four * np.mean(x**2 + (y if other else x) ** 2 < 1), case.dtype)


WRONG = {
    "sum": lambda c, y, a: {
        "the mean": np.asarray(a.mean(dtype="float64"), y.dtype),
        "of magnitudes": abs(a).sum(dtype="float64"),
        "the other sign": -y,
        "off by three bounds": y + 3 * _room(c) * (np.linalg.norm(a.astype("float64")) + abs(y)),
        **({"one left out": y - abs(a).max()} if _room(c) < 0.5 / np.sqrt(c.size) else {}),
    },
    "fft": lambda c, y, a: {
        "one way for the other": np.conj(y),
        "backwards": swapped(np.roll(y[::-1], 1)),
        "with a factor": y / np.sqrt(c.size),
        "two swapped": swapped(y, 3, c.size // 2),
        "one from elsewhere": changed(y, 7, y[11]),
        "one input wrong": np.fft.fft(changed(a, 5, a[6])),
        "off by three bounds": y * y.dtype.type(1 + 3 * _room(c)),
    },
    "sort": lambda c, y, a: {
        "not sorted": a,
        "from the largest down": y[::-1].copy(),
        "one twice, another lost": changed(y, 0, y[np.argmax(y != y[0])]),
        "two swapped": swapped(y),
        "the last bit of one": changed(y, -1, np.nextafter(y[-1], y.dtype.type(2)))
        if y.dtype.kind == "f"
        else changed(y, -1, y[-1] + 1),
    },
    "solve": lambda c, y, a, b: {
        "of the transposed": np.linalg.solve(a.T, b),
        "two swapped": swapped(y),
        "the right-hand side": b,
        "one from elsewhere": changed(y, 7, y[11]),
        "rows of A swapped": np.linalg.solve(swapped(a), b),
        "off by ten bounds": y + 10 * _room(c) * np.linalg.norm(y) * noise(c),
    },
    "stencil": lambda c, y, u: {
        "one step too few": steps(c, 99),
        "one step too many": steps(c, 101),
        "another constant": steps(c, 100, own=0.51),
        "rows swapped": swapped(y),
        "transposed": y.T,
        "not moved": u,
        "off by three bounds": y + y.dtype.type(3 * _room(c)),
    },
    "gather": lambda c, y, a, index: {
        "the next one": a[(index + 1) % c.size],
        "in order": a,
        "scattered": changed(a, index, a),
        "two swapped": swapped(y),
        "one wrong": changed(y, 5, y[5] + y.dtype.type(1)),
    },
    "monte_carlo": lambda c, y: {
        "another constant": darts(c, four=2.0),
        "one seed for both": darts(c, other=False),
        "off by two bounds": y * y.dtype.type(1 + 2 * _room(c)),
        "twice too many": y * y.dtype.type(2),
    },
    "small_matmuls": lambda c, y, a, b: {
        "transposed": y.swapaxes(1, 2),
        "the other order": np.matmul(b, a, dtype="float32").astype(y.dtype),
        "two swapped": swapped(y),
        "one from elsewhere": changed(y, (7, 1, 2), y[8, 1, 2]),
        "element by element": a * b,
        "off by three bounds": y * y.dtype.type(1 + 3 * _room(c)),
    },
}


def _room(case):
    return max(WORKLOADS[case.name].bound(case.size, case.dtype), UNIT_ROUNDOFF[case.dtype])


@pytest.mark.parametrize(("name", "dtype"), DTYPES)
@pytest.mark.parametrize("large", [False, True])
def test_wrong_answers_fail(name, dtype, large):
    size = LADDER[name][-1] if large else {"solve": 30, "stencil": 30}.get(name, 1000)
    case = computed("torch", name, dtype, size)
    assert over_bound(case) <= 1
    (right,) = case.outputs
    wrong = WRONG[name](case, right, *case.inputs)
    wrong["zeros"] = np.zeros_like(right)
    if name != "monte_carlo":  # where other random numbers are as good
        (wrong["of other inputs"],) = computed("torch", name, dtype, size, seed=1).outputs
    if right.dtype.kind in "fc":
        wrong["not a number"] = right * np.float32(np.nan)
        wrong["one is not a number"] = changed(right, (0,) * right.ndim, np.nan)
        wrong["one is infinite"] = changed(right, (-1,) * right.ndim, np.inf)
    passed = [what for what, found in wrong.items() if over_bound(case, [found]) <= 1]
    assert passed == []


COARSER = {"float64": "float32", "float32": "bfloat16", "float16": "bfloat16",
           "complex128": "complex64"}  # fmt: skip
WITHOUT = {("solve", "float32"), ("monte_carlo", "float64"), ("monte_carlo", "float32")}


@pytest.mark.parametrize(
    ("name", "dtype"), [pair for pair in DTYPES if pair[1] in COARSER and pair not in WITHOUT]
)
def test_a_coarser_dtype_under_a_finer_label_fails(name, dtype):
    """But for random points, which are as good in any dtype, and where torch has none to solve."""
    coarse = computed("torch", name, dtype, 300, native=COARSER[dtype])
    (found,) = coarse.outputs
    assert not over_bound(coarse, [found.astype(dtype)]) <= 1


@pytest.mark.parametrize("size", [100, 500])
def test_a_system_solved_with_tf32_under_a_float32_label_fails(size):
    """At the least that it can be: only A itself is rounded, not what comes of it."""
    case = computed("numpy", "solve", "float32", size)
    a, b = case.inputs
    unit = np.exp2(np.floor(np.log2(abs(a))) - 10)
    x = np.linalg.solve((np.round(a / unit) * unit).astype("float64"), b.astype("float64"))
    assert over_bound(case, [x.astype("float32")]) > 2


def test_rounding_on_the_host_is_torchs():
    import torch

    numbers = np.random.default_rng(0).normal(size=5000).astype("float32")
    wanted = torch.from_numpy(numbers).to(torch.bfloat16).float().numpy()
    assert np.array_equal(rounded(numbers.copy(), "bfloat16"), wanted)
    assert np.array_equal(rounded(numbers.copy(), "float32"), numbers)


# --- random numbers, and as the harness sees it


@pytest.mark.parametrize("library", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_numbers_are_uniform_and_the_same_again(library, dtype):
    backend = BACKENDS[library]

    def drawn(seed):
        backend.seed(seed)
        return [backend.random((300, 400), backend.dtype(dtype)) for _ in "xy"]

    first, second = (backend.to_host(array) for array in drawn(7))
    assert first.shape == (300, 400) and str(first.dtype) == dtype
    assert 0 <= first.min() < 0.001 and 0.999 < first.max() < 1
    counts, _ = np.histogram(first, 10)
    assert abs(counts - 12_000).max() < 6 * np.sqrt(12_000)
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 6 / np.sqrt(120_000)
    again, _ = (backend.to_host(array) for array in drawn(7))
    other, _ = (backend.to_host(array) for array in drawn(8))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_numpys_generator_makes_no_half_precision():
    backend = BACKENDS["numpy"]
    backend.seed(0)
    with pytest.raises(Unsupported, match="float16"):
        backend.random((3,), np.float16)


@pytest.mark.parametrize(("library", "name"), [(b, name) for b in BACKENDS for name in LADDER])
def test_the_harness_measures_each(library, name):
    dtype, size = WORKLOADS[name].DTYPES[-1], 20
    file = plugin.builtin("backends")[library]
    made = [Measurement(task(name, size, dtype, file, budget_s=0.001)) for _ in range(2)]
    gc.freeze()  # it collects garbage twice: 70 ms each while torch's modules are looked through
    try:
        for one in made:
            one.run()
    finally:
        gc.unfreeze()
    facts = made[0].facts
    assert 0 <= facts["error"] <= facts["error_bound"] == WORKLOADS[name].bound(size, dtype)
    assert np.array_equal(made[0].array, made[1].array)  # random numbers too
