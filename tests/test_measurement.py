"""One cell, measured: every scope holds its own part and no other, and a wrong answer has no time.

In process, on the fake device: the same code runs on a GPU, only the device string differs. The
durations asserted are those that the fake was told to take, far enough apart for a busy machine.
"""

from pathlib import Path
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest

from crossover import machine, measurement, plugin, record
from crossover.clock import Run
from crossover.measurement import Measurement, thinned
from crossover.status import MISMATCH, OUT_OF_MEMORY, UNAVAILABLE, UNSUPPORTED, Failed

pytestmark = pytest.mark.whole

FAKE = Path(__file__).with_name("fake_device.py")
BUILTIN = plugin.builtin("backends")
LAUNCH, WORK, UPLOAD, DOWNLOAD, FIRST = 0.001, 0.01, 0.04, 0.12, 0.5
PIN, UPLOAD_PINNED, DOWNLOAD_PINNED = 0.15, 0.02, 0.06
PARTS = {
    "pin_s": PIN,
    "upload_pinned_s": UPLOAD_PINNED,
    "download_pinned_s": DOWNLOAD_PINNED,
    "launch_s": LAUNCH,
    "work_s": WORK,
    "upload_s": UPLOAD,
    "download_s": DOWNLOAD,
    "first_call_s": FIRST,
}


def task(workload="add", size=10, dtype="float64", backend_file=FAKE, **changes):
    path = Path(changes.pop("workload_file", plugin.builtin("workloads").get(workload, "")))
    return {
        "workload_file": str(path),
        "backend_file": str(backend_file),
        "device": "fake" if backend_file == FAKE else "cpu",
        "options": {},
        "dtype": dtype,
        "size": size,
        "seed": 0,
        "budget_s": 0.02,
        "threads_granted": 1,
        "array": "output.npy",
        "keep_mb": 1,
    } | changes


def measured(**changes) -> Measurement:
    made = Measurement(task(**changes))
    made.run()
    return made


def seconds(made: Measurement) -> dict[str, float]:
    """The fastest sample by scope: others may have had to wait for a busy machine."""
    by_scope: dict[str, list[float]] = {}
    for row in made.rows:
        by_scope.setdefault(row["scope"], []).append(row["seconds"])
    return {scope: min(samples) for scope, samples in by_scope.items()}


@pytest.fixture(scope="module")
def add_on_the_device():
    return measured(options=PARTS, budget_s=0.4)


@pytest.mark.parametrize(
    ("scope", "own"),
    [
        ("compute", LAUNCH + WORK),
        ("upload", UPLOAD),
        ("download", DOWNLOAD),
        ("upload_pinned", UPLOAD_PINNED),
        ("download_pinned", DOWNLOAD_PINNED),
        ("pin", 2 * PIN),  # of the input and of the output
        ("round_trip", UPLOAD + LAUNCH + WORK + DOWNLOAD),
        ("first_call", FIRST + UPLOAD + LAUNCH + WORK + DOWNLOAD),
    ],
)
def test_every_scope_has_its_own_part_and_no_other(add_on_the_device, scope, own):
    parts = (UPLOAD_PINNED, UPLOAD, DOWNLOAD_PINNED, DOWNLOAD, FIRST)
    others = [value for value in parts if value > own / 2]
    found = seconds(add_on_the_device)[scope]
    assert own <= found < own + min([*others, own])


def test_the_harness_synchronizes_before_both_looks_at_the_clock(monkeypatch):
    """Remove the harness's own synchronize, and the work is gone from compute."""
    monkeypatch.setattr(measurement.Stopwatch, "run", _run_without_synchronize)
    assert seconds(measured(options={"work_s": WORK}))["compute"] < WORK / 2


def _run_without_synchronize(watch, call, calls):
    start = watch.now()
    for _ in range(calls):
        call()
    return Run(start / 1e9, (watch.now() - start) / 1e9)


def test_slow_first_calls_do_not_reach_the_samples():
    made = measured(options={"work_s": 0.001, "slow_calls": 3, "slow_s": 0.2}, budget_s=0.5)
    assert max(r["seconds"] for r in made.rows if r["scope"] == "compute") < 0.1


def test_a_slow_second_call_longer_than_the_budget_is_no_sample():
    made = measured(options={"work_s": 0.001, "slow_calls": 2, "slow_s": 0.3}, budget_s=0.2)
    assert max(r["seconds"] for r in made.rows if r["scope"] == "compute") < 0.1


@pytest.mark.parametrize("workload", ["add", "matmul", "polar"])
def test_torch_as_on_a_device_of_its_own(workload):
    """Real torch tensors through uploads, downloads and synchronizes, on the CPU."""
    file = FAKE.with_name("torch_as_device.py")
    made = measured(workload=workload, backend_file=file, dtype="float32", size=100)
    upload = {"upload"} if workload != "polar" else set()
    assert set(seconds(made)) == {"first_call", "compute", "download", "round_trip"} | upload
    assert made.facts["note"].startswith("no pinned transfers: cpu knows no page-locked memory")
    assert all(row["device_s"] >= 0 for row in made.rows if row["scope"] == "compute")
    assert made.facts["error"] <= made.facts["error_bound"]
    assert made.backend.module.synchronized > 10
    assert made.facts["device"] == "Stub GPU" and made.facts["device_uuid"] == "123"


def test_polar_has_no_upload():
    made = measured(workload="polar", dtype="float32")
    downloads = {"download", "download_pinned", "pin"}
    assert set(seconds(made)) == {"first_call", "compute", "round_trip"} | downloads


def test_where_pinning_is_refused_the_pageable_rows_stay_and_a_note_says_why():
    made = measured(options={"no_pinning": True})
    assert set(seconds(made)) == {"first_call", "compute", "upload", "download", "round_trip"}
    assert made.facts["note"] == "no pinned transfers: the fake device locks no pages"


def test_all_memory_is_unlocked_again(add_on_the_device):
    assert add_on_the_device.backend.pinned == set()


def test_the_devices_own_time_is_the_work_without_the_launch():
    made = measured(options={"work_s": WORK, "launch_s": 2 * WORK, "events": True})
    rows = [row for row in made.rows if row["scope"] == "compute"]
    assert min(row["seconds"] for row in rows) >= 3 * WORK * 0.9
    # From the first mark to the second: the launch as well, since nothing is queued before it.
    assert all(row["device_s"] >= WORK for row in rows)
    # Who is interrupted between the mark and the clock's start has more: not half of the samples.
    assert median(row["device_s"] / row["seconds"] for row in rows) <= 1
    made = measured(options={"work_s": WORK})
    assert {row["device_s"] for row in made.rows} == {None}


def test_a_host_has_neither_transfers_nor_a_round_trip_of_its_own():
    made = measured(workload="matmul", backend_file=BUILTIN["numpy"])
    assert set(seconds(made)) == {"first_call", "compute"}


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("workload", ["add", "matmul", "polar"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_host_libraries_are_right(backend, workload, dtype, size):
    made = measured(backend_file=BUILTIN[backend], workload=workload, dtype=dtype, size=size)
    assert made.facts["error"] <= made.facts["error_bound"]
    assert made.array.dtype == dtype


@pytest.mark.parametrize("code", [0, 801])
def test_torch_locks_pages_through_the_cuda_runtime(monkeypatch, code):
    """Stubbed: what the runtime itself says was not seen."""
    calls = []

    class Runtime:
        def cudaHostRegister(self, *arguments):
            calls.append(arguments)
            return code

        def cudaHostUnregister(self, address):
            calls.append(address)
            return 0

    backend = plugin.load(BUILTIN["torch"]).Backend("cpu", 1, {})
    monkeypatch.setattr("torch.cuda.cudart", Runtime)
    backend.device = SimpleNamespace(type="cuda")
    array = np.zeros(10)
    if code:
        with pytest.raises(Failed, match=r"locks no pages here .error 801"):
            backend.pin(array)
    else:
        backend.pin(array)
        backend.unpin(array)
        assert calls == [(array.ctypes.data, 80, 1), array.ctypes.data]


def test_torch_has_bfloat16_and_numpy_has_not():
    made = measured(backend_file=BUILTIN["torch"], dtype="bfloat16")
    assert made.facts["error"] <= made.facts["error_bound"] < 0.01
    with pytest.raises(Failed) as failure:
        measured(backend_file=BUILTIN["numpy"], dtype="bfloat16")
    assert failure.value.status == UNSUPPORTED


@pytest.mark.parametrize("workload", ["add", "matmul", "polar"])
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("value", "error .* but at most"),
        ("nan", "not finite"),
        ("short", "has shape"),
        ("dtype", "the result is float16, not float64"),
        ("device", "the result is on elsewhere, not on fake"),
    ],
)
def test_a_wrong_answer_is_a_mismatch(workload, wrong, reason):
    with pytest.raises(Failed, match=reason) as failure:
        measured(workload=workload, options={"wrong": wrong}, size=20)
    assert failure.value.status == MISMATCH


def test_a_device_that_is_not_there():
    with pytest.raises(Failed, match="no fake driver") as failure:
        measured(options={"missing": "no fake driver"})
    assert failure.value.status == UNAVAILABLE


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps", "xpu"])
def test_torch_says_in_its_own_words_why_a_device_is_not_there(device):
    """Every device string takes the same path; on a machine that has them all, none is missing."""
    torch = pytest.importorskip("torch")
    backend = plugin.load(BUILTIN["torch"]).Backend
    if torch.get_device_module(device.split(":")[0]).is_available():
        assert backend(device, 1, {}).facts()["device"]
        return
    with pytest.raises(Failed) as failure:
        backend(device, 1, {})
    assert failure.value.status == UNAVAILABLE
    assert "\n" not in str(failure.value) and len(str(failure.value)) > 10


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError("x"), OUT_OF_MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), OUT_OF_MEMORY),
        (RuntimeError("CUDA error: out of memory"), OUT_OF_MEMORY),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling"), OUT_OF_MEMORY),
        (RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Bool'"), UNSUPPORTED),
        (TypeError("the MPS framework doesn't support float64"), UNSUPPORTED),
        (RuntimeError("anything else"), "error"),
        (TypeError("compute() takes 2 arguments"), "error"),
    ],
)
def test_torch_says_some_things_in_plain_errors(error, status):
    backend = plugin.load(BUILTIN["torch"]).Backend("cpu", 1, {})
    assert backend.status_of(error) == status


def test_torchs_own_out_of_memory_error():
    torch = pytest.importorskip("torch")
    backend = plugin.load(BUILTIN["torch"]).Backend("cpu", 1, {})
    assert backend.status_of(torch.OutOfMemoryError("CUDA out of memory.")) == OUT_OF_MEMORY


def test_what_cannot_fit_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda: 700)
    with pytest.raises(Failed, match="needs 800 bytes, but this machine has 700 left") as failure:
        measured(backend_file=BUILTIN["numpy"], size=100)
    assert failure.value.status == OUT_OF_MEMORY


def test_a_full_device_is_refused_too(monkeypatch):
    load, module = plugin.load, plugin.load(FAKE)
    module.Backend.device_memory = lambda self: (2399, 8000)
    monkeypatch.setattr(plugin, "load", lambda path: module if path == FAKE else load(path))
    with pytest.raises(Failed, match="needs 2,400 bytes, but the device has 2,399 left"):
        measured(workload="matmul", size=10)


def test_a_workload_that_changes_its_inputs_is_found_out(tmp_path):
    source = plugin.builtin("workloads")["matmul"].read_text()
    path = tmp_path / "sly.py"
    path.write_text(source.replace("    return a @ b", "    a[0, 0] = 0\n    return a @ b"))
    with pytest.raises(Failed, match="changed its inputs"):
        measured(workload_file=path, backend_file=BUILTIN["numpy"])


def test_every_backend_sees_the_same_bytes():
    outputs = [
        measured(workload="add", backend_file=path, size=1000).array
        for path in (BUILTIN["numpy"], BUILTIN["torch"], FAKE)
    ]
    assert all(np.array_equal(outputs[0], other) for other in outputs[1:])


def test_a_kernel_that_counts_no_waiting_is_no_failure(monkeypatch):
    monkeypatch.setattr(measurement.interference, "_queue_wait_s", dict)
    made = measured(backend_file=BUILTIN["numpy"])
    assert {row["queue_wait_s"] for row in made.rows if row["scope"] == "compute"} == {0.0}


def test_a_disturbed_round_is_measured_once_more(monkeypatch):
    verdicts = iter([True, True, False])
    monkeypatch.setattr(measurement.interference, "disturbed", lambda signals: next(verdicts))
    made = measured(backend_file=BUILTIN["numpy"])
    attempts = {row["attempt"] for row in made.rows if row["scope"] == "compute"}
    assert attempts == {1, 2} and next(verdicts) is False


def test_an_output_is_kept_whole_while_it_is_small():
    array = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(thinned(np, (array,), 5000), array)


def test_a_kept_output_is_one_that_snakemake_knows_by_its_content(tmp_path):
    np.save(tmp_path / "x.npy", thinned(np, (np.ones(125_000),), 1e6))
    assert (tmp_path / "x.npy").stat().st_size < 1_000_000


def test_outputs_of_several_shapes_are_kept_in_a_row():
    assert thinned(np, (np.ones(3), np.ones((2, 2))), 5000).shape == (7,)


def test_a_large_output_is_kept_as_an_even_sample():
    x = np.arange(100_000.0)
    kept = thinned(np, (x, -x), 20_000)
    assert kept.shape[0] == 2 and 10_000 < kept.nbytes < 20_000
    assert len(set(np.diff(kept[0]))) == 1 and np.array_equal(kept[0], -kept[1])


def test_a_round_stays_under_the_checksum_limit(tmp_path):
    """Snakemake compares files by content only below 1 MB; facts are long on large machines."""
    long = {"environment": 200, "conditions": 300, "note": 80, "cpu": 60, "code": 26}
    row = {name: "x" * long.get(name, 8) for name in record.FACTS}
    # Three columns of full digits.
    row |= dict.fromkeys(("seconds", "device_s", "started_at"), "1.2345678901234567e-06")
    record.write(tmp_path / "1.csv", [row] * measurement.MOST_ROWS)
    assert (tmp_path / "1.csv").stat().st_size < 1_000_000


def test_the_samples_of_a_round_are_bounded():
    made = measured(backend_file=BUILTIN["numpy"], budget_s=1.5, size=1)
    rows = [row for row in made.rows if row["scope"] == "compute" and row["attempt"] == 1]
    count = len(rows)
    assert count <= measurement.MOST_SAMPLES and median([count, 1, 2]) > 1
