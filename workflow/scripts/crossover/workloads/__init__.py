"""What is computed. One file per workload; a user's own file has the same form.

A workload file defines

- ``DTYPES``: the dtypes that it makes sense for, a plain tuple of names;
- ``inputs(rng, size, dtype)``: its host arrays as a tuple (NumPy), drawn from ``rng`` alone;
- ``compute(xp, *inputs, size, dtype, device)``: the maths, once, over any library's namespace:
  operators, names that the libraries spell alike, and always ``dtype`` and ``device`` where an
  array is made. It returns an array or a tuple of arrays and never synchronizes;
- ``output_shapes(size)``: the shapes of what it returns;
- ``cost(size, itemsize)``: a `Cost`;
- ``error(outputs, inputs, rng, dtype)``: the largest relative error of host arrays ``outputs``
  against a float64 reference, in blocks, so that the check needs no second copy; not a number or
  infinite where they are. ``inputs`` is None where compute works in place: then ``rng`` gives the
  same numbers as it gave ``inputs``;
- ``bound(size, dtype)``: the error that a correct implementation stays below;
- optionally ``IN_PLACE = True`` (compute changes and returns its input) and ``CURVE = True`` (the
  output is x and y of a plane curve, which is drawn at the end).

It never names a library or a backend.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crossover import placement

# Half the distance from 1 to the next number: the relative error of one correct rounding.
UNIT_ROUNDOFF = {
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float32": 2.0**-24,
    "float64": 2.0**-53,
    "complex64": 2.0**-24,
    "int32": 0.0,
    "int64": 0.0,
}
BLOCK = 1 << 18  # elements; a float64 block is 2 MiB and stays in cache


@dataclass(frozen=True)
class Cost:
    """What one call needs by the workload's own formula.

    `flop`: floating-point operations. `input_bytes` and `output_bytes`: the arrays that go in and
    come out (what a transfer moves). `temporary_bytes`: what an array library allocates on the way,
    each intermediate result an array of its own, at the moment when most of them are alive.
    """

    flop: float
    input_bytes: int
    output_bytes: int
    temporary_bytes: int = 0


def blocks(count: int, block: int = BLOCK) -> Iterator[slice]:
    """Slices that cover ``range(count)`` in order."""
    for start in range(0, count, block):
        yield slice(start, min(start + block, count))


def host_dtype(dtype: str) -> str:
    """The NumPy dtype that carries a dtype on the host (NumPy has no bfloat16)."""
    return "float32" if dtype == "bfloat16" else dtype


def draw(rng: Any, count: int, dtype: str, low: float, high: float) -> Any:
    """`count` uniform numbers in [low, high) of a host dtype, the next ones of `rng`.

    Drawn in blocks, so that a big array needs no temporaries, and so that a check can draw the same
    numbers again block by block: draw(a) then draw(b) are the same numbers as draw(a + b). The
    array starts at a cache line (placement.py).
    """
    out = placement.empty(count, host_dtype(dtype))
    for part in blocks(count):
        view = out[part]
        if view.dtype.kind == "i":
            view[:] = rng.integers(int(low), int(high), len(view), dtype=view.dtype)
        elif view.dtype.kind == "c":
            flat = view.view(view.real.dtype)
            flat[:] = low + (high - low) * rng.random(len(flat))
        else:
            view[:] = low + (high - low) * rng.random(len(view))
    return out
