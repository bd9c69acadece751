"""Precision as a choice: what float32 is computed in, and what its answer is judged by."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from crossover import child, config, notes, plugin, rows, workloads
from crossover.ceilings import Ceilings
from crossover.config import ConfigError
from crossover.status import MISMATCH, UNAVAILABLE, UNSUPPORTED, Failed
from crossover.workloads import UNIT_ROUNDOFF
from test_accuracy import quick_to_collect, to_tf32
from test_measurement import BUILTIN, FAKE, measured, seconds, task
from test_roofline import add, add_s, annotated, ceilings, row
from torch_as_device import Module

pytestmark = [pytest.mark.whole, pytest.mark.usefixtures(quick_to_collect.__name__)]
TORCH = plugin.load(BUILTIN["torch"])
HALVES = ("float16", "bfloat16")


def computed(workload, precision, size=100, file=BUILTIN["torch"], **changes):
    options = {"precision": precision} if precision else {}
    how = {"workload": workload, "size": size, "dtype": "float32", "backend_file": file}
    return measured(**{**how, "options": options, "budget_s": 0.001, **changes})


# --- half precision


@pytest.mark.parametrize("workload", ["add", "polar", "sum", "small_matmuls", "matmul"])
@pytest.mark.parametrize("precision", HALVES)
def test_float32_in_half_precision_is_judged_as_what_it_is(workload, precision):
    if (workload, precision) == ("matmul", "float16"):
        return  # its products are too large: see below
    full, half = computed(workload, ""), computed(workload, precision)
    assert full.facts["precision"] == "ieee" and half.facts["precision"] == precision
    assert half.array.dtype == "float32"
    assert full.facts["error"] <= full.facts["error_bound"] < half.facts["error"]
    assert half.facts["error"] <= half.facts["error_bound"]
    bound = plugin.load(plugin.builtin("workloads")[workload]).bound
    known = {"float16": "float16_from_float32", "bfloat16": "bfloat16"}
    assert half.facts["error_bound"] == bound(100, known[precision])


@pytest.mark.parametrize("precision", HALVES)
def test_the_inputs_own_rounding_is_within_the_bound_at_any_size(precision):
    for size in (1, 2, 50_000):
        assert computed("add", precision, size).facts["error"] > 0
    if precision == "bfloat16":
        for size in (1, 30, 500):
            computed("matmul", precision, size)


def test_a_product_that_float16_cannot_hold_says_so():
    with pytest.raises(Failed, match=r"not finite \(float16 ends at 65,504\)") as failure:
        computed("matmul", "float16")
    assert failure.value.status == MISMATCH


@pytest.mark.parametrize("precision", HALVES)
def test_conversion_is_part_of_the_transfers(precision):
    """On a device each scope that moves data has host arrays of float32 at its host end."""
    file = FAKE.with_name("torch_as_device.py")
    made = computed("add", precision, file=file)
    assert set(seconds(made)) == {"first_call", "compute", "upload", "download", "round_trip"}
    ones = np.ones(3, "float32")
    there = made.backend.to_device(ones, "float32")
    assert there.dtype == getattr(torch, precision)
    assert made.backend.to_host(there).dtype == "float32"
    out = np.zeros(3, "float32")
    made.backend.copy_to_host(there, out)
    assert out.tolist() == [1, 1, 1]
    assert made._download(there)[0].dtype == "float32" == made._round_trip((ones,))[0].dtype
    index = made.backend.to_device(np.arange(3), "int64")
    assert index.dtype == torch.int64


def test_an_answer_that_is_finer_than_its_label_is_a_mismatch(tmp_path):
    """A label that is not true of the arrays: the time would be another type's."""
    (tmp_path / "liar.py").write_text(
        "from crossover.backends.numpy import Backend as Host\n"
        "class Backend(Host):\n"
        "    def computed_in(self, dtype): return 'float16'\n"
    )
    with pytest.raises(Failed, match="the result is float32, not float16") as failure:
        computed("add", "", file=tmp_path / "liar.py")
    assert failure.value.status == MISMATCH


def test_bytes_are_those_of_the_type_that_is_computed_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ceilings(dtype="float32")
    n = 4 * 10**7
    (full,) = annotated(row(add, n, add_s(n, 4), dtype="float32"))
    (half,) = annotated(row(add, n, add_s(n, 4), dtype="float32", precision="float16"))
    assert half["gb_per_s"] == pytest.approx(full["gb_per_s"] / 2)
    asked = task(dtype="float32", backend_file=BUILTIN["torch"], budget_s=0.001)
    made = Ceilings(asked | {"options": {"precision": "bfloat16"}})
    made.run()
    (largest,) = {
        r["input_bytes"] for r in made.rows if r["scope"] == "memory" and r["size"] == 8192
    }
    assert largest == 2 * 8192


# --- TF32


@pytest.mark.parametrize("size", [1, 2, 16, 40, 256, 1500])
def test_a_product_in_tf32_is_within_its_bound_and_one_in_bfloat16_is_not(size):
    matmul = plugin.load(plugin.builtin("workloads")["matmul"])
    a, b = inputs = matmul.inputs(np.random.default_rng(0), size, "float32")

    def over_bound(c):
        error = matmul.error((c,), inputs, np.random.default_rng(0), "tf32")
        return error / matmul.bound(size, "tf32")

    assert over_bound(to_tf32(a) @ to_tf32(b)) <= 1
    assert over_bound(cut_to_tf32(a) @ cut_to_tf32(b)) <= 1
    left, right = (torch.from_numpy(each).bfloat16() for each in inputs)
    if size > 2:
        assert over_bound((left @ right).float().numpy()) > 1


def cut_to_tf32(array):
    """What a tensor core does that does not look at the lower 13 bits."""
    return (array.view("uint32") & 0xFFFFE000).view("float32")


@pytest.mark.parametrize("label", [True, False])
def test_only_a_label_makes_tf32_right(tmp_path, label):
    """A stand-in that rounds as the tensor cores do: NumPy on factors of 10 bits."""
    (tmp_path / "tensor_cores.py").write_text(
        "from crossover.backends.numpy import Backend as Host\n"
        "from test_accuracy import to_tf32\n"
        "class Backend(Host):\n"
        "    def to_device(self, array, dtype): return to_tf32(array)\n"
        f"    def computed_in(self, dtype): return 'tf32' if {label} else dtype\n"
    )
    if label:
        made = computed("matmul", "", file=tmp_path / "tensor_cores.py")
        assert UNIT_ROUNDOFF["float32"] < made.facts["error"] <= made.facts["error_bound"]
        assert made.facts["precision"] == "tf32"  # though its facts() says nothing of it
        return
    with pytest.raises(Failed, match="is rounding in float32"):
        computed("matmul", "", file=tmp_path / "tensor_cores.py")


@pytest.fixture
def card(monkeypatch):
    """A stub in place of torch.cuda: what its settings do on a card was not seen."""
    monkeypatch.setattr(TORCH.Backend, "_start", lambda self: Module())
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    yield monkeypatch
    TORCH.Backend("cpu", 1, {})  # float32 is float32 again


def test_torch_switches_tf32_on_for_its_option_alone(card):
    backend = TORCH.Backend("cuda", 1, {"precision": "tf32"})
    assert backend.facts()["precision"] == "tf32" == backend.computed_in("float32")
    assert torch.get_float32_matmul_precision() == "high" and torch.backends.cudnn.allow_tf32
    assert backend.dtype("float32") is torch.float32
    plain = TORCH.Backend("cuda", 1, {})
    assert plain.facts()["precision"] == "ieee" and plain.computed_in("float32") == "float32"
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cudnn.allow_tf32


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("torch.cuda.get_device_capability", lambda device: (7, 5), "8.0, and this card has 7.5"),
        ("torch.version.hip", "6.4", "is for NVIDIA's cards"),
        ("torch.set_float32_matmul_precision", lambda word: None, "torch says ieee"),
    ],
)
def test_a_card_without_tf32_is_unsupported(card, name, value, words):
    card.setattr(name, value)
    with pytest.raises(Failed, match=words) as failure:
        TORCH.Backend("cuda", 1, {"precision": "tf32"})
    assert failure.value.status == UNSUPPORTED


def test_tf32_that_the_environment_switches_off_is_unsupported(card):
    card.setitem(os.environ, "NVIDIA_TF32_OVERRIDE", "0")
    with pytest.raises(Failed, match="NVIDIA_TF32_OVERRIDE=0"):
        TORCH.Backend("cuda", 1, {"precision": "tf32"})


# --- what makes no sense


OWN = """
def inputs(rng, size): return rng.random(size)
def compute(xp, a): return a + 1
"""


@pytest.mark.parametrize(
    ("precision", "changes", "words"),
    [
        ("tf32", {}, "precision: tf32 is for device: cuda, not cpu"),
        ("float16", {"dtype": "float64"}, "float16 is for float32 alone, not for float64"),
        ("bfloat16", {"dtype": "bfloat16"}, "bfloat16 is for float32 alone, not for bfloat16"),
        ("bfloat16", {"workload": "sort"}, "sort moves numbers and must not change them"),
        ("float16", {"workload": "gather"}, "gather moves numbers and must not change them"),
        ("float16", {"workload": "solve"}, "solve has no error bound in float16"),
        (
            "bfloat16",
            {"own": "def bound(size, dtype): return {'float32': 1e-6}[dtype]\n"},
            "mine has no error bound in bfloat16",
        ),
    ],
)
def test_nonsense_is_unsupported_in_one_line(tmp_path, precision, changes, words):
    if own := changes.pop("own", ""):
        (tmp_path / "mine.py").write_text(OWN + own)
        changes["workload_file"] = tmp_path / "mine.py"
    with pytest.raises(Failed, match=words) as failure:
        computed(changes.pop("workload", "add"), precision, **changes)
    assert failure.value.status == UNSUPPORTED and "\n" not in str(failure.value)


def test_a_workload_of_ones_own_is_judged_by_the_coarse_type_too(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    full, half = (computed("", p, workload_file=tmp_path / "mine.py") for p in ("", "float16"))
    assert full.facts["error_bound"] < half.facts["error"] <= half.facts["error_bound"]


@pytest.mark.parametrize(
    ("device", "precision", "status"),
    [("cpu", "tf32", UNSUPPORTED), ("cuda", "tf32", UNAVAILABLE), ("cpu", "float16", None)],
)
def test_a_probe_knows_what_the_cells_need_not_try(tmp_path, device, precision, status):
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    asked = task(backend_file=BUILTIN["torch"], options={"precision": precision}, device=device)
    child._probe(asked | {"json": str(tmp_path / "x.json"), "facts": {"machine_facts": {}}})
    found = json.loads((tmp_path / "x.json").read_text())
    assert found["available"] == (status is None) and found.get("status") == status


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"precision": "tf23"}, "options.precision: 'tf23' is not possible; did you mean 'tf32'?"),
        ({"precision": 16}, "options.precision: 16 is not possible; known to torch.py: tf32,"),
        ({"compile": 1}, "options.compile: 1 is not possible; known to torch.py: true, false"),
    ],
)
def test_a_mistyped_option_is_one_line_before_any_job(options, words):
    entries = {"numpy": {}, "fast": {"library": "torch", "device": "cuda", "options": options}}
    with pytest.raises(ConfigError) as failure:
        config.read({"workloads": {"add": {"sizes": 1}}, "backends": entries}, Path())
    (line,) = failure.value.lines
    assert line.startswith(f"config: backends.fast.{words}")


def test_every_type_to_compute_in_has_a_bound_and_a_carrier():
    allowed = plugin.declared(BUILTIN["torch"])["OPTIONS"]["precision"]
    assert set(workloads.JUDGED_AS) == set(allowed) == set(notes.COARSE) == set(rows.COARSE)
    for name in workloads.JUDGED_AS.values():
        assert UNIT_ROUNDOFF[name] > UNIT_ROUNDOFF["float32"]
        assert workloads.host_dtype(name) == "float32"
