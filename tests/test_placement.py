"""Arrays lie where the harness says, the same for every backend, or elsewhere in every process."""

import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT
from crossover import placement, plugin

PLACES = """
from crossover import placement
import numpy as np
np.random  # what a process imports decides the layout: here always the same
placement.scatter()
print(np.empty(10_000, "float32").ctypes.data % 4096)
"""


@pytest.mark.whole
@pytest.mark.parametrize("count", [1, 1000, 10_001, 10_000_000])
def test_inputs_start_at_a_cache_line(count):
    draw = plugin.load(plugin.builtin("workloads")["add"]).inputs
    (array,) = draw(np.random.default_rng(0), count, "float64")
    assert array.ctypes.data % placement.ALIGNMENT == 0
    assert array.shape == (count,) and array.flags["C_CONTIGUOUS"] and array.flags["WRITEABLE"]


@pytest.mark.parametrize("dtype", ["float16", "complex64", "int64"])
def test_an_array_is_as_long_as_asked_and_of_that_dtype(dtype):
    array = placement.empty(3, dtype)
    assert (array.shape, str(array.dtype)) == ((3,), dtype)


@pytest.mark.whole
def test_what_comes_later_lies_elsewhere_in_every_process():
    """Without address randomization, so that nothing else moves it."""
    command = ["setarch", "-R", sys.executable, "-c", PLACES]
    places = {
        subprocess.run(
            command,
            env={"PYTHONPATH": str(ROOT / "workflow/scripts"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(6)
    }
    assert len(places) > 1
