"""What the machine can do at best: measured with a value read on the host, whatever the backend."""

import json
from pathlib import Path

import numpy as np
import pytest

from crossover import job, machine, plugin, record
from crossover.ceilings import Ceilings
from crossover.status import UNAVAILABLE, UNSUPPORTED, Failed

pytestmark = pytest.mark.whole

FAKE = Path(__file__).with_name("fake_device.py")
NUMPY = plugin.builtin("backends")["numpy"]
ON_DEVICE = {"launch", "arithmetic", "memory", "upload", "download"}
PINNED = {"upload_pinned", "download_pinned"}


def measured(file=FAKE, dtype="float64", budget_s=0.01, **options) -> Ceilings:
    task = {"backend_file": str(file), "device": "cpu", "threads_granted": 1, "options": options}
    made = Ceilings(task | {"dtype": dtype, "budget_s": budget_s})
    made.run()
    return made


def fastest(made: Ceilings) -> dict[str, float]:
    """The best sample by scope, in seconds per call."""
    found: dict[str, float] = {}
    for row in made.rows:
        found[row["scope"]] = min(row["seconds"], found.get(row["scope"], row["seconds"]))
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
def test_a_host_has_memory_arithmetic_and_a_launch(dtype):
    made = measured(NUMPY, dtype)
    assert set(fastest(made)) == {"launch", "arithmetic", "memory"}
    item = np.dtype(dtype).itemsize
    sums = [row for row in made.rows if row["scope"] == "memory" and row["flop"] == row["size"]]
    for row in sums:
        assert row["input_bytes"] == row["output_bytes"] == row["size"] * item
    sizes = [row["input_bytes"] for row in sums]
    assert sizes == sorted(sizes) and sizes[0] == 1 << 14 and sizes.count(1 << 14) == 2
    # Each call that was counted was made: the same numbers grow by one each time.
    assert made.buffer[0].real > sum(row["calls"] for row in sums)
    assert made.facts["cache_bytes"] == machine.cache_bytes() and made.facts["note"] == ""
    assert made.facts["timed_s"] > sum(row["seconds"] * row["calls"] for row in made.rows)


def test_a_host_reads_its_memory_in_matrix_products_too():
    """On many cores, sums on one thread are no measure for a product on all of them."""
    made = measured(NUMPY)
    products = [r for r in made.rows if r["scope"] == "memory" and r["flop"] == 2 * r["size"] ** 2]
    assert {row["input_bytes"] for row in products} > {8 * 45**2, 8 * 64**2}


def test_a_device_has_transfers_through_both_kinds_of_memory_too():
    made = measured(upload_s=0.03, upload_pinned_s=0.001)
    found = fastest(made)
    assert set(found) == ON_DEVICE | PINNED
    assert found["upload"] >= 0.03 > found["upload_pinned"] >= 0.001
    found = fastest(measured(download_s=0.03, download_pinned_s=0.001))
    assert found["download"] >= 0.03 > found["download_pinned"] >= 0.001
    assert made.rows[0]["size"] == 1 and 1 in {
        r["size"] for r in made.rows if "upload" in r["scope"]
    }
    assert made.facts["device"] == "Fake 1" and made.facts["cache_bytes"] is None


@pytest.mark.parametrize("work_s", [0.0001, 0.002])
def test_a_synchronize_that_does_not_wait_makes_no_ceiling(work_s):
    honest, lying = measured(work_s=work_s), measured(work_s=work_s, asynchronous=True)
    for made in (honest, lying):
        found = fastest(made)
        assert min(found["launch"], found["memory"], found["arithmetic"]) >= work_s


def test_a_refused_pin_is_a_note():
    made = measured(no_pinning=True)
    assert set(fastest(made)) == ON_DEVICE
    assert made.facts["note"] == "MemoryError: the fake device locks no pages"


def with_module(monkeypatch, change):
    """The fake device's file, changed."""
    load, module = plugin.load, plugin.load(FAKE)
    change(module)
    monkeypatch.setattr(plugin, "load", lambda path: module if path == FAKE else load(path))


def test_a_library_without_matrix_products_has_the_rest(monkeypatch):
    with_module(monkeypatch, lambda module: delattr(module.FakeArray, "__matmul__"))
    made = measured()
    assert set(fastest(made)) == ON_DEVICE - {"arithmetic"} | PINNED
    assert "unsupported operand" in made.facts["note"]


def test_one_part_in_eight_of_the_free_memory_is_taken(monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda: 8 << 20)
    assert largest(measured(NUMPY, budget_s=1)) == 1 << 20
    small = {"device_memory": lambda self: (4 << 20, 1 << 40)}
    with_module(
        monkeypatch, lambda module: [setattr(module.Backend, *one) for one in small.items()]
    )
    made = measured()
    assert largest(made) <= 1 << 19 and made.buffer.nbytes == 1 << 19


def largest(made: Ceilings) -> int:
    return max(row["input_bytes"] for row in made.rows if row["scope"] == "memory")


def test_the_sizes_end_where_a_call_is_too_long_for_the_budget():
    made = measured(work_s=0.005)
    for scope in ON_DEVICE - {"launch", "upload", "download"}:
        assert len({row["size"] for row in made.rows if row["scope"] == scope}) == 1


def test_who_cannot_add_one_has_no_ceilings():
    with pytest.raises(Failed) as failure:
        measured(missing="no fake driver")
    assert failure.value.status == UNAVAILABLE
    with pytest.raises(Failed) as failure:
        measured(NUMPY, "bfloat16")
    assert failure.value.status == UNSUPPORTED


def test_the_last_level_cache_is_the_largest_one(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CACHES", tmp_path)
    assert machine.cache_bytes() is None
    for number, size in enumerate(("48K", "32768K", "", "2048K")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}/size").write_text(f"{size}\n")
    assert machine.cache_bytes() == 32 << 20


def written(folder: Path, backend="numpy", dtype="float64", **options) -> list[dict[str, str]]:
    """The rows of a real job."""
    file = NUMPY if backend == "numpy" else FAKE
    task = {
        **{"backend": backend, "backend_file": str(file), "device": "cpu", "options": options},
        **{"dtype": dtype, "round": 2, "budget_s": 0.01, "threads": "all", "memory": "fresh"},
        **{"csv": str(folder / "2.csv"), "array": None, "probe": str(folder / "probe.json")},
    }
    job.ceilings(task, 60, folder / "log")
    return record.read(folder / "2.csv", backend=backend, dtype=dtype, round=2)


def test_a_job_writes_samples_that_read_alone(tmp_path):
    rows = written(tmp_path)
    assert {row["status"] for row in rows} == {"ok"}, (tmp_path / "log").read_text()
    assert {row["scope"] for row in rows} == {"launch", "arithmetic", "memory"}
    for row in rows:
        assert row["machine"] == machine.identity() and row["library"] == "numpy"
        assert float(row["seconds"]) > 0 and float(row["timed_s"]) > 0 and row["boot"]
    assert (tmp_path / "2.csv").stat().st_size < 500_000


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ({"backend": "fake", "missing": "no fake driver"}, "unavailable"),
        ({"dtype": "bfloat16"}, "unsupported"),
        ({"backend": "fake", "fault": "exception", "fault_at": 16}, "error"),
    ],
)
def test_what_cannot_be_measured_is_a_row(tmp_path, what, status):
    (row,) = written(tmp_path, **what)
    assert (row["status"], row["seconds"]) == (status, "") and row["reason"]


def test_a_backend_that_the_probe_did_not_find_is_not_started(tmp_path, monkeypatch):
    found = {"available": False, "status": "unavailable", "reason": "not plugged in"}
    (tmp_path / "probe.json").write_text(json.dumps(found))
    monkeypatch.setattr(job, "_run", lambda *_: pytest.fail("a process was started"))
    (row,) = written(tmp_path)
    assert (row["status"], row["reason"]) == ("unavailable", "not plugged in")
