"""What is computed. One file per workload; a user's own file has the same form.

A user's file needs ``compute`` and ``inputs`` alone, and a function takes what it names of what it
could have (`TAKES`), in any order: docs/own_workload.md. What it leaves out is assumed, and the
page says so (assumed.py). A file that ships with Crossover says all of it:

- ``DTYPES``: the dtypes that it makes sense for, a plain tuple of names;
- ``inputs(rng, size, dtype)``: its host arrays as a tuple (NumPy), drawn from ``rng`` alone;
- ``compute(xp, *inputs, size, dtype, device, random)``: the maths, once, over any library's
  namespace: operators, names that the libraries spell alike, and always ``dtype`` and ``device``
  where an array is made; ``random(shape, dtype)`` makes uniform numbers in [0, 1) on the device. It
  returns an array or a tuple of arrays and never synchronizes;
- ``output_shapes(size)``: the shapes of what it returns;
- ``cost(size, itemsize)``: a `Cost`;
- ``error(outputs, inputs, rng, dtype)``: the largest relative error of host arrays ``outputs``
  against a float64 reference, in blocks, so that the check needs no second copy; not a number or
  infinite where they are. ``inputs`` is None where compute works in place: then ``rng`` gives the
  same numbers as it gave ``inputs``;
- ``bound(size, dtype)``: the error that a correct implementation stays below;
- optionally ``IN_PLACE = True`` (compute changes and returns its input), ``CURVE = True`` (the
  output is x and y of a plane curve, which is drawn at the end) and ``REGIME = "..."`` (one of
  REGIMES: the kind of work, by which a survey groups what it found).

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
    "complex128": 2.0**-53,
    "int32": 0.0,
    "int64": 0.0,
    # What float32 may be computed in where a backend's option says so. TF32 keeps 10 bits after the
    # point of the factors of a product (NVIDIA, "A100 Tensor Core GPU Architecture", 2020).
    "tf32": 2.0**-11,
    "float16_from_float32": 2.0**-11,
}
# What `error` and `bound` are told instead of float32 where it is computed in a coarser type: the
# inputs are float32, and are rounded before anything is computed.
JUDGED_AS = {"tf32": "tf32", "float16": "float16_from_float32", "bfloat16": "bfloat16"}
CARRIED = ("bfloat16", "tf32", "float16_from_float32")  # as float32, on the host
# The kinds of work: what decides whether it is worth moving. A workload file names its own.
REGIMES = {
    "memory-bound": "each number is read once, and little is done with it",
    "compute-bound": "many operations for every number that is moved",
    "many-passes": "the same numbers are gone over again, as often as their count has digits",
    "many-steps": "one call takes many steps on data that stays where it is",
    "random-access": "numbers are read in an order that no cache can guess",
    "made-on-device": "the data is made where it is used: nothing has to be uploaded",
    "many-small": "a great many small problems in one call",
}
# What each function can have, by name; compute's are given by name as well, after its arrays.
COMPUTE_TAKES = ("size", "dtype", "device", "random")
TAKES = {
    "inputs": ("rng", "size", "dtype"),
    "output_shapes": ("size", "dtype"),
    "cost": ("size", "itemsize"),
    "error": ("outputs", "inputs", "rng", "dtype", "size"),
    "bound": ("size", "dtype"),
}
# What a user's file may leave out. SIZE is a text that says what n counts, such as "grid points".
OPTIONAL = ("cost", "output_shapes", "error", "bound", "DTYPES", "SIZE")
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
    return "float32" if dtype in CARRIED else dtype


def stored_as(computed_in: str) -> str:
    """The dtype of the arrays that are computed with: TF32 is float32 in memory."""
    return "float32" if computed_in == "tf32" else computed_in


def sent_as(array: Any, dtype: str) -> str:
    """The dtype that an input of a cell is brought to a device in: the cell's, but an array of
    integers or truth values, such as indices, keeps its own, and so does one of another kind."""
    own = array.dtype
    return str(own) if own.kind in "biu" or own.kind != host_dtype(dtype)[0] else dtype


def rounded(array: Any, dtype: str) -> Any:
    """The same host array, its numbers made such as the dtype has, for answers that are exact.

    bfloat16, which float32 carries, has only the upper 16 of its bits: to nearest, ties to even.
    """
    if dtype == "bfloat16":
        bits = array.view("uint32")
        for part in blocks(bits.size):
            block = bits[part]
            block += 0x7FFF + (block >> 16 & 1)
            block &= 0xFFFF0000
    return array


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
