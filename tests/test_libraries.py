"""The optional libraries that install here: every workload, dtype and answer, and what the clock
sees of them. One process has them all, since what compiles would compile in each anew.

`make test` installs them (requirements-dev.txt); where one is missing, its tests are skipped.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from crossover import plugin, work
from crossover.measurement import Measurement
from crossover.status import Unsupported
from test_measurement import task

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
        with pytest.MonkeyPatch.context() as patch:
            # Numba looks for the coverage tool, and would find benchmarks/coverage.py.
            patch.setitem(sys.modules, "coverage", None)
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
