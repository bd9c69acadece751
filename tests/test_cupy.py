"""CuPy's backend on a stand-in for its module: no GPU was seen, but its code runs."""

import sys
from statistics import median

import pytest

import cupy_stand_in
from crossover import plugin
from crossover.measurement import Measurement
from crossover.status import OUT_OF_MEMORY, UNAVAILABLE, UNSUPPORTED
from test_measurement import task

pytestmark = pytest.mark.whole

FILE = plugin.builtin("backends")["cupy"]
WORKLOADS = {name: plugin.declared(path) for name, path in plugin.builtin("workloads").items()}


@pytest.fixture
def cupy(monkeypatch):
    made = cupy_stand_in.module()
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def cell(name="add", dtype="float32", size=64, **changes):
    device = {"device": "cuda", "backend_file": FILE, "budget_s": 0.002}
    return Measurement(task(name, size, dtype, **device | changes))


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_is_right_and_has_all_scopes(cupy, name):
    made = cell(name, next(d for d in ("float32", "complex64") if d in WORKLOADS[name]["DTYPES"]))
    made.run()
    found = {row["scope"] for row in made.rows}
    inputs = set() if name in ("polar", "monte_carlo") else {"upload", "upload_pinned"}
    assert found == inputs | {"first_call", "compute", "download", "download_pinned", "round_trip",
                              "pin"}  # fmt: skip
    assert made.facts["device"] == "Stand-in" and made.facts["precision"] == "ieee"
    assert made.facts["device_uuid"] == "01020304-0506-0708-090a-0b0c0d0e0f10"
    assert cupy.seen and not cupy.pinned  # everything that was locked was let go
    compute = [row for row in made.rows if row["scope"] == "compute"]
    assert all(row["device_s"] > 0 for row in compute)
    assert median(row["device_s"] / row["seconds"] for row in compute) <= 1  # but for interruptions


def test_a_card_whose_number_has_a_zero_in_it_is_measured_all_the_same(cupy):
    """CuPy hands out a C array of characters as bytes, which end at the first zero."""
    cupy.cuda.runtime.getDeviceProperties(0)["uuid"] = b"\x01\x02"
    assert plugin.load(FILE).Backend("cuda", 1, {}).facts()["device_uuid"] == ""


def test_memory_is_what_the_device_and_its_pool_have(cupy):
    backend = plugin.load(FILE).Backend("cuda:0", 1, {})
    assert backend.device_memory() == ((3 << 30) + (1 << 20), 4 << 30)
    assert backend.cache_bytes() == 1 << 22
    for words in ("cudaErrorMemoryAllocation: out of memory", "CUBLAS_STATUS_ALLOC_FAILED"):
        assert backend.status_of(RuntimeError(words)) == OUT_OF_MEMORY


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"device": "cuda:1"}, UNAVAILABLE, "cudaErrorInvalidDevice: invalid device ordinal"),
        ({"dtype": "bfloat16"}, UNSUPPORTED, "cupy has no dtype bfloat16"),
    ],
)
def test_what_it_cannot_do_is_said(cupy, changes, status, words):
    made = cell(**changes)
    with pytest.raises(Exception, match=words) as caught:
        made.run()
    assert made.status_of(caught.value) == status


def test_without_it_the_cell_is_unavailable(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    made = cell()
    with pytest.raises(ImportError) as caught:
        made.run()
    assert made.status_of(caught.value) == UNAVAILABLE
