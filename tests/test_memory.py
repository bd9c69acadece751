"""A cell needs the arrays that its workload's formula names, and little more."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from crossover import job, machine, plugin, record

pytestmark = pytest.mark.whole

MOST = 1.15  # times the arrays, for cells of 500 MB or more


def measured(folder: Path, workload: str, library: str, size: int, **changes) -> dict[str, str]:
    """The first row of a cell that a real process measured."""
    task = {
        "workload": workload,
        "workload_file": str(plugin.builtin("workloads")[workload]),
        "backend": library,
        "backend_file": str(plugin.builtin("backends")[library]),
        "device": "cpu",
        "options": {},
        "dtype": "float64",
        "size": size,
        "round": 1,
        "seed": 0,
        "budget_s": 0.01,
        "threads": "all",
        "json": str(folder / "probe.json"),
        "probe": str(folder / "probe.json"),
        "csv": str(folder / "1.csv"),
        "array": str(folder / "output.npy"),
        "keep_mb": 1,
    } | changes
    job.probe(task, 60, folder / "log")
    job.measure(task, 300, folder / "log")
    row = record.read(folder / "1.csv")[0]
    assert row["status"] == "ok", row["reason"]
    return row


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_recycled_memory_has_no_page_faults(tmp_path, monkeypatch, library):
    """Arrays of 40 MB, which glibc gives back to the kernel of its own accord."""
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=7")
    faults = {}
    for memory in ("fresh", "recycled"):
        row = measured(tmp_path, "polar", library, 5_000_000, memory=memory, budget_s=1.0)
        assert row["memory"] == memory
        assert "tcache_count=7" in row["environment"]  # what the user set is kept
        faults[memory] = float(row["page_faults"])
    assert faults["fresh"] > 100 and faults["recycled"] < 0.1 * faults["fresh"]


def test_recycled_memory_is_refused_where_the_c_library_cannot(tmp_path, monkeypatch):
    monkeypatch.setattr(job.platform, "libc_ver", lambda: ("musl", "1.2"))
    with pytest.raises(AssertionError, match="memory: recycled needs the GNU C library"):
        measured(tmp_path, "add", "numpy", 10, memory="recycled")


@pytest.mark.parametrize(
    ("workload", "library", "size"),
    [("add", "numpy", 64e6), ("add", "torch", 64e6), ("polar", "torch", 13e6)],
)
def test_a_large_cell_fits_where_its_arrays_fit(tmp_path, workload, library, size):
    """In a real process, through the same code as a sweep, reference check included."""
    file = plugin.builtin("workloads")[workload]
    row = measured(tmp_path, workload, library, int(size))
    module = plugin.load(file)
    cost = module.cost(int(size), 8)
    arrays = cost.input_bytes + cost.temporary_bytes
    arrays += 0 if getattr(module, "IN_PLACE", False) else cost.output_bytes
    assert arrays >= 500e6
    assert 0.5 * arrays < int(row["host_peak_bytes"]) <= MOST * arrays
    assert (tmp_path / "output.npy").stat().st_size < 1.1e6


def test_the_check_of_a_product_needs_no_second_copy():
    """Of matmul the check alone, since a product of 500 MB (n = 6500) takes too long here. Its
    blocks of rows grow with n, the matrices with n squared."""
    workload = plugin.load(plugin.builtin("workloads")["matmul"])
    a, b = (np.ones((3000, 3000), "float32") for _ in "ab")
    c = np.full((3000, 3000), 3000, "float32")
    tracemalloc.start()
    assert workload.error((c,), (a, b), np.random.default_rng(0), "float32") < 1e-6
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak * 6500 / 3000 < (MOST - 1) * 500e6


def test_what_is_left_counts_ulimit_and_control_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "cgroup_folders", lambda: (tmp_path,))
    (tmp_path / "memory.max").write_text("3000000")
    (tmp_path / "memory.current").write_text("2500000")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 400000\n")
    assert machine.available_bytes() == 900_000
    (tmp_path / "memory.max").write_text("max")
    assert machine.available_bytes() > 900_000
