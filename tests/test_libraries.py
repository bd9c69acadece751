"""The optional libraries that install here: every workload, dtype and answer, and what the clock
sees of them. One process has them all, since what compiles would compile in each anew.

`make test` installs them (requirements-dev.txt); where one is missing, its tests are skipped.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import one_cell
from conftest import ROOT
from crossover import identity, job, plugin, work
from crossover.ceilings import Ceilings
from crossover.config import load
from crossover.measurement import Measurement
from crossover.status import UNAVAILABLE, Unavailable, Unsupported
from test_measurement import task

pytestmark = pytest.mark.whole

BUILTIN = plugin.builtin("backends")
WORKLOADS = {name: plugin.declared(path) for name, path in plugin.builtin("workloads").items()}
OPTIONS = {"numexpr": {}, "numba": {}, "jax": {}, "jax_jit": {"jit": True}}
# The smallest size, and one that no block, register or thread divides. JAX compiles each operation
# for each size: the smallest is left to the compiled whole.
SIZES = dict.fromkeys(WORKLOADS, (1, 10_007)) | dict.fromkeys(("matmul", "solve"), (1, 131))
SIZES |= {"stencil": (1, 67), "small_matmuls": (1, 503)}
CASES = [(library, name, dtype) for library in OPTIONS for name in WORKLOADS
         for dtype in WORKLOADS[name]["DTYPES"]]  # fmt: skip
# What a library has no dtype or no kernel for; all else has to be right.
LACKS_DTYPE = {
    "numexpr": ("float16", "bfloat16", "complex64", "complex128"),
    "numba": ("float16", "bfloat16", "complex128"),
}
HAS_KERNEL = {
    "numexpr": {"add", "polar", "sum"},
    "numba": {"add", "polar", "sum", "gather", "small_matmuls", "stencil", "monte_carlo"},
}
MODULES = {}


def backend(library, threads=1):
    """One object of each for all tests."""
    name = library.partition("_")[0]
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: make libraries")
    if library not in MODULES:
        module = plugin.load(BUILTIN[name])
        MODULES[library] = module, module.Backend("cpu", threads, OPTIONS[library])
    return MODULES[library][1]


def cell(library, name, dtype, size):
    """A measurement of it, up to its first call."""
    made = Measurement(task(name, size, dtype, BUILTIN[library.partition("_")[0]]))
    made.np, made.backend = np, backend(library)
    made.native_dtype = made.backend.dtype(dtype)
    made.workload = work.load(Path(made.task["workload_file"]), size, dtype)
    made.in_place = made.workload.in_place
    made._choose(made._kernel(), len(made._inputs()))
    return made


@pytest.mark.parametrize(("library", "name", "dtype"), CASES)
def test_answers_are_right_at_every_size(library, name, dtype):
    """By the harness's own check: dtype, device, shape, and the error against the reference."""
    for size in SIZES[name][library == "jax" :]:
        lacks = dtype in LACKS_DTYPE.get(library, ())
        if lacks or name not in HAS_KERNEL.get(library, WORKLOADS):
            with pytest.raises(Unsupported, match=f"{library} has no (dtype {dtype}|kernel for)"):
                backend(library) and cell(library, name, dtype, size)
            continue
        made = cell(library, name, dtype, size)
        host = None if made.in_place else made._inputs()
        before = host and work.checksum(host)
        made._check(host)
        assert made.facts["error"] <= made.facts["error_bound"]
        assert not host or work.checksum(host) == before


def full(library, name="polar", dtype="float32", size=1000, **changes):
    """The cell measured as a job does it, but in this process."""
    backend(library)
    changes |= {"options": OPTIONS[library], "backend_file": BUILTIN[library.partition("_")[0]]}
    made = Measurement(task(name, size, dtype, **changes))
    made.run()
    return made


@pytest.mark.parametrize("library", ["numba", "jax", "jax_jit"])
def test_compiling_is_in_the_first_call_and_in_no_sample(library):
    made = full(library)
    seconds = {scope: [row["seconds"] for row in made.rows if row["scope"] == scope]
               for scope in ("first_call", "compute")}  # fmt: skip
    assert made.facts["recompiled"] == 0 < made.backend.compilations()
    assert seconds["first_call"][0] > 10 * median(seconds["compute"])


def test_jax_compiles_whatever_the_environment_says():
    module = backend("jax_jit") and MODULES["jax_jit"][0]
    import jax

    jax.config.update("jax_disable_jit", True)  # as JAX_DISABLE_JIT=1 does
    module.Backend("cpu", 1, {"jit": True})
    assert not jax.config.jax_disable_jit


def test_jax_is_waited_for():
    """It would hand this one over and return; the harness's own check sees that."""
    made = full("jax", "matmul", size=500)
    assert made.facts["error"] <= made.facts["error_bound"]


@pytest.mark.parametrize("library", OPTIONS)
def test_in_place_is_in_place_where_arrays_can_change(library):
    made = cell(library, "add", "float64", 1000)
    (there,) = made._upload(made._inputs())
    before = np.array(there)
    outputs = made._compute((there,))()
    found = made.backend.to_host(outputs)
    assert np.array_equal(found, before + 1)
    assert np.shares_memory(found, there) == (not library.startswith("jax"))
    assert np.array_equal(there, before + (not library.startswith("jax")))


def test_what_is_compiled_whole_is_computed_anew_in_every_call():
    """Random numbers go on from call to call, and start again with the seed; a curve that has no
    inputs is no constant of the program."""
    made = cell("jax_jit", "monte_carlo", "float64", 1000)
    call = made._compute(())
    first, second = float(call()), float(call())
    made._seed()
    assert first != second and float(call()) == first
    made = cell("jax_jit", "polar", "float64", 100)
    whole = made.backend._whole(made.workload.function(made.backend.xp, 0), made.named)
    assert "sine" in whole.lower().compile().as_text()


def test_jax_on_another_device_than_the_hosts(monkeypatch):
    """The same code as on a GPU, on a CPU that is called cuda."""
    backend("jax")
    import jax

    monkeypatch.setattr(jax, "devices", lambda kind, real=jax.devices: real("cpu"))
    for name in ("add", "polar", "monte_carlo"):
        made = full("jax", name, device="cuda")
        assert {row["scope"] for row in made.rows} >= {"download", "round_trip", "first_call"}
    monkeypatch.undo()
    made = Measurement(task(backend_file=BUILTIN["jax"], device="cuda:7"))
    with pytest.raises(Unavailable, match="cuda"):
        made.run()


def test_jax_brings_an_array_from_a_device_anew_each_time(monkeypatch):
    """Else all downloads but the first would be none. On a CPU only numbers of 4 bits are copied,
    and then kept, as all are on a GPU."""
    made = backend("jax")
    there = made.xp.arange(8, dtype="int4")
    for on_host in (True, False):
        monkeypatch.setattr(made, "on_host", on_host)
        one, two = (made.to_host(there) for _ in range(2))
        assert (one == np.arange(8)).all()
        assert np.shares_memory(one.view("int8"), two.view("int8")) == on_host


@pytest.mark.parametrize(("library", "threads"), [("numexpr", 2), ("numba", 1), ("jax", 1)])
def test_threads_are_those_that_were_granted(library, threads, tmp_path, monkeypatch):
    """In a process of its own, as pools are made but once; what Snakemake sets does not count."""
    backend(library)
    monkeypatch.setenv("NUMEXPR_NUM_THREADS", "1")
    monkeypatch.setenv("NUMEXPR_MAX_THREADS", "1")
    asked = one_cell.task(tmp_path, backend=library, threads=threads)
    job.probe(asked, 60, tmp_path / "log")
    found = json.loads(Path(asked["json"]).read_text())
    assert found["available"], found["reason"]
    assert found["threads_effective"] == found["threads_granted"]


@pytest.mark.parametrize("library", ["numexpr", "numba", "jax"])
def test_one_that_is_not_there_is_unavailable_and_planned_all_the_same(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    made = Measurement(task(backend_file=BUILTIN[library]))
    with pytest.raises(ImportError) as caught:
        made.run()
    assert made.status_of(caught.value) == UNAVAILABLE
    entry = load(ROOT / "config/libraries.yaml", ROOT).backends[library]
    here = identity.versions(entry)
    monkeypatch.setattr(identity, "installed", lambda name: "")
    assert f"{library} missing" in identity.versions(entry) != here


def test_planning_imports_none_of_them():
    code = """
import sys
from crossover import identity
from crossover.ceilings import Ceilings
from crossover.config import load
found = [identity.versions(entry) for entry in load("config/libraries.yaml").backends.values()]
print(*sys.modules.keys() & {"numpy", "torch", "numexpr", "numba", "jax", "cupy"})
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": "workflow/scripts"},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.mark.parametrize("library", ["numexpr", "numba"])
def test_ceilings_of_memory_are_the_librarys_own(library, monkeypatch):
    """Not NumPy's, on whose arrays it works: that may use one core where this one uses all."""
    calls = []
    plus_one = type(backend(library)).add_one
    made = Ceilings(task("add", 0, "int64", BUILTIN[library]))
    made.backend, made.item = backend(library), 8
    monkeypatch.setattr(
        made.backend, "add_one", lambda a: calls.append(a.size) or plus_one(made.backend, a)
    )
    made.buffer, made.filled, made.sample_s = np.zeros(100, "int64"), 0, 1e-5
    made._add(100)
    assert set(calls) == {100}
    assert made.buffer[0] == len(calls) + 1  # filled with ones
