"""A workload of one's own, measured: how its code runs on each library, what it is held to, and
what it fails with.

The fake device does not spell what NumPy does: torch's tensors, on the CPU and as on a device of
their own, stand for the libraries that are not NumPy.
"""

import gc
import re
from pathlib import Path

import numpy as np
import pytest

from crossover import work
from crossover.measurement import Measurement
from crossover.status import MISMATCH, UNSUPPORTED, one_line
from test_measurement import BUILTIN, FAKE, task

pytestmark = pytest.mark.whole

LIBRARIES = {**BUILTIN, "torch as a device": FAKE.with_name("torch_as_device.py")}
EVERY_ONE = ("numpy", "torch", "torch as a device")
NUMPY = "import numpy as np\n"
TWO = "def inputs(rng, size):\n    return rng.random(size), rng.random(size)\n"


@pytest.fixture(scope="module", autouse=True)
def quick_to_collect():
    """A measurement collects garbage twice: 70 ms each while torch's modules are looked through."""
    gc.freeze()
    yield
    gc.unfreeze()


def measured(folder: Path, text: str, backend="numpy", dtype="float64", size=40, **changes):
    path = folder / "mine.py"
    path.write_text(text)
    changes = {"budget_s": 0.001, "workload_file": path} | changes
    made = Measurement(task("mine", size, dtype, LIBRARIES[backend], **changes))
    made.run()
    return made


def reason(folder: Path, text: str, backend="numpy", **changes) -> tuple[str, str]:
    """Status and reason of a cell that fails, as its row has them."""
    path = folder / "mine.py"
    path.write_text(text)
    changes = {"budget_s": 0.001, "workload_file": path} | changes
    made = Measurement(
        task("mine", 40, changes.pop("dtype", "float64"), LIBRARIES[backend], **changes)
    )
    with pytest.raises(BaseException) as caught:
        made.run()
    return made.status_of(caught.value), one_line(caught.value) + work.where(
        caught.value, str(path)
    )


NAMESPACE = {
    "np of the file": "def compute(a, b):\n    return np.hypot(a, b)\n",
    "np through a helper": (
        "def h(a, b):\n    return np.hypot(a, b)\ndef compute(a, b):\n    return h(a, b)\n"
    ),
    "another name": "import numpy\ndef compute(a, b):\n    return numpy.hypot(a, b)\n",
    "a part of NumPy": (
        "import numpy.linalg as la\n"
        "def compute(a, b):\n    return la.norm(np.stack([a, b]), axis=0)\n"
    ),
    "first parameter np": "def compute(np, a, b):\n    return np.hypot(a, b)\n",
    "first parameter of any name": "def compute(lib, a, b):\n    return lib.hypot(a, b)\n",
    "xp and all arrays": "def compute(xp, *both):\n    return xp.hypot(*both)\n",
    "any name and all arrays": "def compute(lib, *both):\n    return lib.hypot(*both)\n",
    "xp and an optional array": "def compute(xp, a, b=None):\n    return xp.hypot(a, b)\n",
    "all arrays": "def compute(*both):\n    return np.hypot(*both)\n",
    "an optional parameter": "def compute(a, b, k=1):\n    return k * np.hypot(a, b)\n",
    "names it wants": (
        "def compute(a, b, size, *, device, dtype):\n"
        "    return np.hypot(a, b) * np.ones(size, dtype=dtype, device=device)\n"
    ),
    "all names": (
        "def compute(xp, a, b, **named):\n"
        "    assert set(named) == {'size', 'dtype', 'device', 'random'}\n"
        "    return xp.hypot(a, b)\n"
    ),
}


@pytest.mark.parametrize("backend", EVERY_ONE)
@pytest.mark.parametrize("way", NAMESPACE)
def test_the_library_stands_for_np(tmp_path, way, backend):
    made = measured(tmp_path, f"{NUMPY}{TWO}{NAMESPACE[way]}", backend, "float32")
    a, b = made.workload.inputs(np.random.default_rng(0))
    assert a.dtype == "float32"
    np.testing.assert_allclose(made.array, np.hypot(a, b), rtol=1e-6)
    assert made.facts["error"] <= made.facts["error_bound"]


def test_inputs_keep_numpy_where_compute_has_another(tmp_path):
    text = "def inputs(size, dtype):\n    return np.arange(size, dtype=dtype)[::-1]\n"
    text += "def compute(a):\n    return np.cumsum(a, axis=0)\n"
    made = measured(tmp_path, NUMPY + text, "torch", "float32")
    assert made.array[-1] == 39 * 40 / 2


def test_indices_beside_floats_stay_integers(tmp_path):
    text = "def inputs(rng, size):\n    return rng.random(size), rng.integers(0, size, size)\n"
    text += "def compute(a, index):\n    return a[index]\n"
    for backend in EVERY_ONE:
        assert measured(tmp_path, text, backend, "float32").facts["error"] == 0


@pytest.mark.parametrize("backend", EVERY_ONE)
def test_what_the_cells_type_does_not_hold_arrives_whole(tmp_path, backend):
    """Complex numbers beside floats, floats beside integers, the other order of bytes."""
    text = NUMPY + "def inputs(rng, size):\n    a = rng.random(size)\n"
    text += "    return a + 1j, rng.integers(9, size=size).astype('>i4'), a\n"
    text += "def compute(z, i, a):\n    return z * i, a + i\n"
    facts = measured(tmp_path, text, backend, "float64").facts
    assert facts["error"] <= facts["error_bound"]
    text = NUMPY + "def inputs(rng, size):\n    return np.arange(size), rng.random(size)\n"
    text += "def compute(i, a):\n    return i + a\n"
    assert measured(tmp_path, text, backend, "int32").array[-1] > 39


@pytest.mark.parametrize("backend", EVERY_ONE)
def test_numbers_are_not_measured_under_the_name_of_others(tmp_path, backend):
    text = TWO + "def compute(a, b):\n    return a + b\n"
    found = reason(tmp_path, text, backend, dtype="int32")
    assert found[0] == UNSUPPORTED
    assert found[1].startswith("neither inputs nor results are int32, but float64; mine.py")
    text = "def inputs(rng, size):\n    return rng.integers(0, 9, size)\n"
    whole = text + "def compute(a):\n    return a + 1\n"
    assert reason(tmp_path, whole, backend, dtype="float32")[0] == UNSUPPORTED
    made = text + "def compute(xp, a, size, dtype):\n    return xp.ones(size, dtype=dtype)[a]\n"
    assert measured(tmp_path, made, backend, "float32").facts["error"] == 0


@pytest.mark.parametrize("backend", EVERY_ONE)
def test_complex_numbers_may_come_of_floats_of_the_same_precision(tmp_path, backend):
    text = NUMPY + TWO + "def compute(a, b):\n    return np.conj(np.fft.fft(a)), b\n"
    for dtype in ("float32", "float64"):
        facts = measured(tmp_path, text, backend, dtype).facts
        assert facts["error"] <= facts["error_bound"] < 1e-4
    wider = TWO + "def compute(a, b):\n    return a + 1j * b.astype('float64')\n"
    assert "complex128, not float32" in reason(tmp_path, wider, "numpy", dtype="float32")[1]


def test_results_that_are_no_numbers(tmp_path):
    for made, name in (("np.array([a, None], object)", "object"), ("np.array(['x'])", "<U1")):
        text = NUMPY + TWO + f"def compute(a, b):\n    return {made}\n"
        found = reason(tmp_path, text)
        assert found == (MISMATCH, f"the result is {name}, not float64")


@pytest.mark.parametrize("backend", EVERY_ONE)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("size", [1, 2000])
def test_right_answers_pass_in_every_dtype(tmp_path, backend, dtype, size):
    if (backend, dtype) == ("numpy", "bfloat16"):
        return  # NumPy has none
    text = "import numpy as np\ndef inputs(rng, size):\n    return rng.integers(1, 9, size) / 1\n"
    text = text.replace(" / 1", "") if dtype.startswith("int") else text
    text += (
        "def compute(a):\n    return np.sqrt(a) if a.ndim > 1 else a * a + 3, a.sum(), a.argmax()\n"
    )
    facts = measured(tmp_path, text, backend, dtype, size).facts
    assert facts["output_shape"] == f"{size}  "
    coarse = {"float16": 0.02, "bfloat16": 0.1}
    assert facts["error"] <= facts["error_bound"] <= coarse.get(dtype, 1e-4)


WRONG = {
    "another value at one place": "out[size // 2] = 1.01 * out[size // 2]",
    "all a little off": "out = out * (1 + 1e-4)",
    "two places swapped": "out[0], out[1] = out[1], out[0]",
    "zeros": "out = 0 * out",
    "the other sign": "out = -out",
}


@pytest.mark.parametrize("fault", WRONG)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_another_answer_than_numpys_is_a_mismatch(tmp_path, fault, dtype):
    """The code asks which library it has, as no code should: the reference is NumPy's."""
    text = f"{TWO}def compute(xp, a, b, size):\n"
    text += "    out = xp.hypot(a, b)\n    if xp.__name__ == 'torch':\n"
    text += f"        {WRONG[fault]}\n    return out\n"
    status, words = reason(tmp_path, text, "torch", dtype=dtype)
    assert status == MISMATCH
    assert re.match(
        r"error \S+, but at most \S+ is rounding in float\d+ as assumed; mine.py", words
    )


FAILS = {
    "no such name": (
        "import numpy as np\n"
        + TWO
        + "def compute(a, b):\n    return np.i0(a) + np.kaiser(3, 1)\n",
        (UNSUPPORTED, "module 'torch' has no attribute", "(mine.py, line 5)"),
    ),
    "from numpy import": (
        "from numpy import hypot\n" + TWO + "def compute(a, b):\n    return hypot(a, b)\n",
        ("error", "a function of NumPy itself was given an array of torch", "(mine.py, line 5)"),
    ),
    "a mistake": (
        TWO + "def compute(a, b):\n\n    return a + c\n",
        ("error", "NameError: name 'c' is not defined", "(mine.py, line 5)"),
    ),
    "a mistake in inputs": (
        "def inputs(size):\n    return 1 / 0\ndef compute(a):\n    return a\n",
        ("error", "ZeroDivisionError: division by zero", "(mine.py, line 2)"),
    ),
    "a mistake at the top": (
        "import nothing_like_it\n" + TWO + "def compute(a, b):\n    return a\n",
        ("error", "No module named 'nothing_like_it'", "(mine.py, line 1)"),
    ),
    "not Python any more": (
        TWO + "def compute(a, b:\n",
        ("error", "SyntaxError: ", "(mine.py, line 3)"),
    ),
    "an exit": (
        TWO + "def compute(a, b):\n    raise SystemExit(3)\n",
        ("error", "SystemExit: 3", "(mine.py, line 4)"),
    ),
    "words that no file can hold": (
        TWO + "def compute(a, b):\n    raise ValueError('\\udcff\\n' + 999 * 'x')\n",
        ("error", "ValueError: ?", "(mine.py, line 4)"),
    ),
    "too many arrays": (
        TWO + "def compute(a, b, c, d):\n    return a\n",
        ("error", "compute in mine.py takes a, b, c, d, but inputs made 2 arrays", ""),
    ),
    "nothing returned": (
        TWO + "def compute(a, b):\n    a + b\n",
        (MISMATCH, "compute returned None, not an array", ""),
    ),
    "a number returned": (
        TWO + "def compute(a, b):\n    return float(a[0])\n",
        (MISMATCH, "compute returned float, not an array", ""),
    ),
    "no arrays returned": (
        TWO + "def compute(a, b):\n    return []\n",
        (MISMATCH, "compute returned nothing, not an array", ""),
    ),
    "no arrays made": (
        "def inputs(size):\n    return size\ndef compute(a):\n    return a\n",
        ("error", "inputs in mine.py gave int, not a NumPy array of numbers", ""),
    ),
    "texts made": (
        NUMPY + "def inputs():\n    return np.array(['x'])\ndef compute(a):\n    return a\n",
        ("error", "inputs in mine.py gave <U1, not a NumPy array of numbers", ""),
    ),
    "its input changed": (
        TWO + "def compute(a, b):\n    a += 1\n    return a\n",
        (MISMATCH, "compute changed its inputs, but the workload is not IN_PLACE", ""),
    ),
    "a wider type": (
        TWO + "def compute(xp, a, b):\n    return xp.asarray(a, dtype=xp.float64)\n",
        (MISMATCH, "the result is float64, not float32", ""),
    ),
    "objects": (
        "def inputs(size):\n    import numpy\n    return numpy.arange(size)\n"
        "def compute(np, a):\n    return a.numpy().astype(object)\n",
        (MISMATCH, "compute returned an array of NumPy itself, not of the backend's library", ""),
    ),
    "a bound that is none": (
        "bound = 1e-3\n" + TWO + "def compute(a, b):\n    return a\n",
        ("error", "bound in mine.py: 0.001 is not a function", ""),
    ),
    "an error that is none": (
        TWO + "def compute(a, b):\n    return a\ndef error(outputs):\n    assert outputs\n",
        ("error", "error in mine.py: None is not a number of at least 0", ""),
    ),
    "an error that is a truth value": (
        TWO + "def compute(a, b):\n    return a\ndef error(outputs):\n    return True\n",
        ("error", "error in mine.py: True is not a number of at least 0", ""),
    ),
    "an error below none": (
        TWO + "def compute(a, b):\n    return a\ndef error(outputs):\n    return -1\n",
        ("error", "error in mine.py: -1 is not a number of at least 0", ""),
    ),
    "a cost that is none": (
        TWO + "def compute(a, b):\n    return a\ndef cost(size):\n    return 5 * size\n",
        ("error", "cost in mine.py: 200 is not a Cost of finite numbers of at least 0", ""),
    ),
    "shapes that are none": (
        TWO + "def compute(a, b):\n    return a\ndef output_shapes(size):\n    return (size,)\n",
        ("error", "output_shapes in mine.py: (40,) is not shapes such as [(3, 4)]", ""),
    ),
    "another number of results": (
        NUMPY + TWO + "def compute(a, b):\n    return np.sort(a)\n",
        (MISMATCH, "2 results, but NumPy gives 1", ""),
    ),
}


@pytest.mark.filterwarnings("ignore:__array_wrap__")
@pytest.mark.parametrize("case", FAILS)
def test_what_fails_says_why_and_where(tmp_path, case):
    text, (status, words, place) = FAILS[case]
    found = reason(tmp_path, text, "torch", dtype="float32")
    assert found[0] == status
    assert words in found[1] and found[1].endswith(place)
    assert found[1].count("line ") == bool(place)
    assert len(found[1].splitlines()) == 1 and len(found[1]) < 300


def test_an_input_changed_on_a_device_is_found_as_well(tmp_path):
    text = TWO + "def compute(a, b):\n    a += 1\n    return a\n"
    status, words = reason(tmp_path, text, "torch as a device")
    assert (status, words.partition(",")[0]) == (MISMATCH, "compute changed its inputs")
    for backend in EVERY_ONE:
        facts = measured(tmp_path, "IN_PLACE = True\n" + text, backend).facts
        assert facts["error"] == 0


def test_a_file_that_says_all_is_asked_for_what_its_functions_name(tmp_path):
    text = f"""from crossover.workloads import Cost
DTYPES = ("float64",)
SIZE = "points"
{TWO}
def compute(a, b):
    return a + b
def cost(size):
    return Cost(float(size), 16 * size, 8 * size)
def output_shapes(size):
    return [[size]]
def error(inputs, outputs):
    return abs(outputs[0] - sum(inputs)).max() + 0.25
def bound():
    return 0.5
"""
    facts = measured(tmp_path, text).facts
    assert facts["assumed"] == ""
    assert (facts["error"], facts["error_bound"]) == (0.25, 0.5)
    assert (facts["flop"], facts["input_bytes"], facts["output_bytes"]) == (40, 640, 320)
    status, words = reason(tmp_path, text.replace("return 0.5", "return 0.2"))
    assert (status, words) == (MISMATCH, "error 0.25, but at most 0.2 is rounding in float64")


def test_what_does_not_fit_is_refused_by_its_inputs(tmp_path, monkeypatch):
    monkeypatch.setattr("crossover.machine.available_bytes", lambda: 600)
    status, words = reason(tmp_path, TWO + "def compute(a, b):\n    return a\n")
    assert (status, words) == ("out_of_memory", "needs 640 bytes, but this machine has 600 left")
    monkeypatch.setattr("crossover.machine.available_bytes", lambda: 700)
    status, words = reason(tmp_path, TWO + "def compute(a, b):\n    return a\n")
    assert words.startswith(
        "the float64 reference needs 1,280 bytes, but this machine has 700 left"
    )


def test_what_is_random_needs_a_check_of_its_own(tmp_path):
    text = "def inputs():\n    return ()\ndef compute(xp, size, dtype, random):\n"
    text += "    return random((size,), dtype)\n"
    assert reason(tmp_path, text)[1].startswith("what is random needs an error(outputs, inputs")
    drawn = NUMPY + TWO + "def compute(a, b):\n    return a + np.random.rand(a.size)\n"
    assert reason(tmp_path, drawn)[1].endswith(
        "what is random needs an error(outputs, inputs, rng, dtype)"
    )
    text += "def error(outputs):\n    return float((outputs[0] < 0).any())\n"
    assert measured(tmp_path, text).facts["error"] == 0
