"""torch.compile as an option: once in a process, in its first call, and again is seen.

Most of it with torch's own stand-in for a compiler, which needs no C++ and no seconds.
"""

import os
import shutil
from functools import partial

import pytest
import torch
from torch._inductor import cpp_builder

from crossover import plugin
from crossover.status import UNAVAILABLE, Failed, own_words
from rounds import SIZE, rows
from rounds import measured as written
from test_accuracy import quick_to_collect
from test_measurement import BUILTIN, measured, seconds

pytestmark = [pytest.mark.whole, pytest.mark.usefixtures(quick_to_collect.__name__)]
TORCH = plugin.load(BUILTIN["torch"])
COMPILE = {"options": {"compile": True}, "backend_file": BUILTIN["torch"]}
compiler = pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler here")


@pytest.fixture
def quick(monkeypatch):
    """What torch finds in a function is called as it stands."""
    torch._dynamo.reset()
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    monkeypatch.setattr(cpp_builder, "get_cpp_compiler", lambda: "c++")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("workload", plugin.builtin("workloads"))
def test_a_workload_is_compiled_once_in_its_first_call(workload):
    before = torch._dynamo.utils.counters["frames"]["ok"]
    dtype = "complex64" if workload == "fft" else "float32"
    made = measured(workload=workload, dtype=dtype, size=50, **COMPILE)
    parts = torch._dynamo.utils.counters["frames"]["ok"] - before
    # torch cannot compile its own generator of random numbers: what is around it, it can.
    assert parts == 1 or (workload == "monte_carlo" and parts > 1)
    assert made.facts["recompiled"] == 0
    assert made.facts["error"] <= made.facts["error_bound"]
    assert seconds(made)["first_call"] > 20 * seconds(made)["compute"]


@pytest.mark.usefixtures("quick")
def test_a_workload_that_is_compiled_again_and_again_is_counted(tmp_path):
    """A number that differs from call to call is part of what was compiled."""
    (tmp_path / "fickle.py").write_text(
        "calls = 0\n"
        "def inputs(rng, size): return rng.random(size)\n"
        "def compute(xp, a):\n"
        "    global calls\n"
        "    calls += 1\n"
        "    return a + 0 * calls\n"
    )
    made = measured(workload_file=tmp_path / "fickle.py", dtype="float32", **COMPILE)
    assert made.facts["recompiled"] > 1


@pytest.mark.usefixtures("quick")
def test_where_compiling_is_switched_off_no_time_is_called_compiled():
    """As TORCH_COMPILE_DISABLE=1 does; the others that a shell may set are alike."""
    torch._dynamo.utils.counters.clear()
    off = torch._dynamo.config.patch(disable=True)
    with off, pytest.raises(Failed, match="nothing was compiled in the first call"):
        measured(dtype="float32", **COMPILE)


def test_what_does_not_compile_counts_nothing():
    assert "recompiled" not in measured(backend_file=BUILTIN["torch"]).facts


@pytest.mark.parametrize(("count", "grade"), [("", "good"), (0, "good"), (3, "recompiled")])
def test_a_row_that_was_compiled_again_is_graded(tmp_path, monkeypatch, count, grade):
    monkeypatch.chdir(tmp_path)
    written("numpy", 1.0)
    written("torch_compiled", 0.5, recompiled=count)
    assert rows("torch_compiled")["torch_compiled", SIZE, "compute"]["grade"] == grade


def test_where_no_compiler_is_installed_the_backend_is_unavailable(monkeypatch):
    monkeypatch.setenv("PATH", "")
    cpp_builder.cpp_compiler_search.cache_clear()
    with pytest.raises(Failed, match=r"needs a C\+\+ compiler such as g\+\+, and") as failure:
        TORCH.Backend("cpu", 1, {"compile": True})
    assert failure.value.status == UNAVAILABLE
    cpp_builder.cpp_compiler_search.cache_clear()


@pytest.mark.parametrize(
    ("triton", "found", "words"),
    [(False, "gcc", "needs Triton"), (True, None, "needs a C compiler such as gcc")],
)
def test_a_gpu_needs_triton_and_the_c_that_it_needs_itself(monkeypatch, triton, found, words):
    monkeypatch.setattr("torch.utils._triton.has_triton", lambda: triton)
    monkeypatch.setattr(shutil, "which", lambda name: found)
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(Failed, match=words) as failure:
        TORCH._must_have_compiler("cuda")
    assert failure.value.status == UNAVAILABLE
    monkeypatch.setattr("torch.utils._triton.has_triton", lambda: True)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/gcc")
    TORCH._must_have_compiler("cuda")


def test_the_reason_is_the_compilers_own():
    error = torch._dynamo.exc.BackendCompilerFailed(print, ValueError("no such instruction"), None)
    assert own_words(error) == "backend='print' raised: ValueError: no such instruction"


@compiler
def test_every_process_compiles_from_scratch(monkeypatch, tmp_path):
    """The real one, on a product, which needs no kernel of its own."""
    torch._dynamo.reset()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / f"crossover_compiled_{os.getuid()}"
    folder.mkdir()
    (folder / "of the last process").touch()
    made = measured(workload="matmul", dtype="float32", size=20, **COMPILE)
    assert made.facts["recompiled"] == 0 and made.facts["error"] <= made.facts["error_bound"]
    assert folder.is_dir() and not (folder / "of the last process").exists()
    assert any(folder.iterdir())
