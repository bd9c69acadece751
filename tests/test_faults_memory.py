"""Memory that runs out, and operations that a library has not: a row with its reason, by real
libraries in real processes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conftest import copy_to
from crossover import job, table
from one_cell import measured, task
from processes import private_lock

pytestmark = pytest.mark.whole

# A workload that needs `size` elements and says that it needs none.
GREEDY = """
from crossover.workloads import Cost

DTYPES = ("float32", "bfloat16")


def inputs(rng, size, dtype):
    return ()


def compute(xp, *, size, dtype, device):
    return xp.zeros(size, dtype=dtype, device=device)


def output_shapes(size):
    return ((size,),)


def cost(size, itemsize):
    return Cost(0, 0, 0)


def error(outputs, inputs, rng, dtype):
    return 0.0


def bound(size, dtype):
    return 0.0
"""
# A product of truth values, which torch has not.
LOGICAL = """
from crossover.workloads import Cost

DTYPES = ("float32",)


def inputs(rng, size, dtype):
    return tuple(rng.random((size, size), dtype) for _ in "ab")


def compute(xp, a, b, *, size, dtype, device):
    return (a > 0.5) @ (b > 0.5)


def output_shapes(size):
    return ((size, size),)


def cost(size, itemsize):
    return Cost(size**3, 2 * itemsize * size**2, size**2)


def error(outputs, inputs, rng, dtype):
    return 0.0


def bound(size, dtype):
    return 0.0
"""
# The words of torch's CUDA allocator, without a GPU.
FULL_GPU = """
import torch

from crossover.backends.torch import Backend as Torch

LIBRARIES = ("torch",)


class Backend(Torch):
    def to_device(self, array, dtype):
        raise torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 7 GiB"
        )
"""
PEBIBYTE = 1 << 50  # bytes, which no machine has and no kernel promises


@pytest.fixture
def folder(tmp_path):
    for name, text in (("greedy", GREEDY), ("logical", LOGICAL), ("full_gpu", FULL_GPU)):
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("cell", "status", "reason"),
    [
        (
            {"workload": "greedy", "dtype": "float32", "size": PEBIBYTE // 4},
            "out_of_memory",
            "MemoryError: Unable to allocate 1.00 PiB for an array",
        ),
        (
            {"workload": "greedy", "dtype": "float32", "size": PEBIBYTE // 4, "backend": "torch"},
            "out_of_memory",
            "RuntimeError: [enforce fail at alloc_cpu.cpp",
        ),
        (
            {"backend": "full_gpu"},
            "out_of_memory",
            "OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        ),
        (
            {"workload": "greedy", "dtype": "bfloat16"},
            "unsupported",
            "numpy has no dtype bfloat16",
        ),
        (
            {"workload": "logical", "dtype": "float32", "backend": "torch"},
            "unsupported",
            """NotImplementedError: "addmm_impl_cpu_" not implemented for 'Bool'""",
        ),
    ],
    ids=["numpy's memory", "torch's memory", "GPU's memory", "bfloat16 in numpy", "bool in torch"],
)
def test_a_library_that_cannot(folder, cell, status, reason):
    row = measured(folder, **cell)
    assert (row["status"], row["reason"][: len(reason)]) == (status, reason)
    assert not row["seconds"] and not row["error"]


def test_a_full_device_is_no_missing_one(folder):
    """The probe is where it shows first; the cells say the same and do not try."""
    made = task(folder, backend="full_gpu")
    job.probe(made, 60, folder / "log")
    found = json.loads(Path(made["json"]).read_text())
    assert not found["available"] and found["status"] == "out_of_memory"
    row = measured(folder, backend="full_gpu")
    assert (row["status"], row["reason"]) == ("out_of_memory", found["reason"])


# --- ulimit -v, on everything that a sweep starts

LIMIT_KB = 4_000_000
SMALL, LARGE = 1000, 1_000_000_000  # of float64, 8 GB


def limited(kilobytes, command):
    return ["bash", "-c", f'ulimit -v {kilobytes}; exec "$@"', "bash", *command]


@pytest.fixture(scope="module")
def swept():
    folder = Path(tempfile.mkdtemp(prefix="ulimit-"))
    project = copy_to(folder / "clone")
    private_lock(project)
    (project.root / "greedy.py").write_text(GREEDY)
    project.configure(
        {
            "workloads": {
                "add": {"sizes": [SMALL, LARGE], "dtypes": ["float64"]},
                "greedy": {"file": "greedy.py", "sizes": [LARGE * 2], "dtypes": ["float32"]},
            },
            "backends": {"numpy": {}},
            "rounds": 1,
            "budget_s": 0.01,
        }
    )
    command = limited(LIMIT_KB, project.command())
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, timeout=120)
    yield project, done
    shutil.rmtree(folder)


def test_a_sweep_with_little_memory_reaches_its_end(swept):
    project, done = swept
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    for workload, dtype in (("add", "float64"), ("greedy", "float32")):
        plots = project.root / "results/plots" / workload / dtype
        assert {path.name for path in plots.iterdir()} >= {"time.png", "speedup.svg"}


def test_what_cannot_fit_is_not_tried_and_what_did_not_fit_says_so(swept):
    project, _ = swept
    rows = table.read(project.root / "results/summary.csv")
    found = {(row["workload"], int(row["size"])): row for row in rows if row["scope"] == "compute"}
    assert found["add", SMALL]["status"] == "ok", found["add", SMALL]["reason"]
    refused = found["add", LARGE]
    assert refused["status"] == "out_of_memory"
    asked, left = (int(w.replace(",", "")) for w in refused["reason"].split() if w[0].isdigit())
    assert asked >= 8 * LARGE and left < LIMIT_KB * 1024
    failed = found["greedy", 2 * LARGE]
    assert failed["status"] == "out_of_memory"
    assert failed["reason"].startswith("MemoryError: Unable to allocate 7.45 GiB"), failed["reason"]


ONE_CELL = """
import sys
from pathlib import Path
from one_cell import measured

print(measured(Path(sys.argv[1]))["status"])
"""


@pytest.mark.parametrize(
    ("kilobytes", "statuses"),
    [(100_000, ("out_of_memory", "killed")), (50_000, ("out_of_memory",))],
    ids=["OpenBLAS has no room", "NumPy cannot be loaded"],
)
def test_a_limit_that_the_library_itself_does_not_fit_under(tmp_path, kilobytes, statuses):
    done = subprocess.run(
        limited(kilobytes, [sys.executable, "-c", ONE_CELL, str(tmp_path)]),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() in statuses, done.stdout + done.stderr
