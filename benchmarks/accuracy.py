"""Do right answers pass, and wrong ones fail, at the article's own sizes? Takes minutes and 8 GB.

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/accuracy.py            # all three
    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/accuracy.py matmul

Prints each answer's error, its bound, and their ratio; exits 1 where a right answer is above its
bound or a wrong one is not. tests/test_accuracy.py holds the same at smaller sizes.
"""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from crossover import machine, plugin

ARTICLE = (
    ("add", "float64", 300_000_000),
    ("matmul", "float32", 10_000),
    ("polar", "float32", 100_000_000),
    ("polar", "float64", 100_000_000),
)
WORKLOADS = {name: plugin.load(path) for name, path in plugin.builtin("workloads").items()}
SEED, OTHER_SEED = 0, 1


def main() -> None:
    chosen = sys.argv[1:] or list(WORKLOADS)
    print(f"{'cell':27} {'answer':30} {'error':>8} {'bound':>8} error/bound  checked in")
    failed = 0
    for name, dtype, size in ARTICLE:
        if name in chosen:
            failed += sum(not right for right in rows(name, dtype, size))
    sys.exit(f"{failed} answers are misjudged (!)" if failed else 0)


def rows(name: str, dtype: str, size: int) -> Iterator[bool]:
    """One line for each answer, and whether it is judged rightly."""
    workload = WORKLOADS[name]
    bound = workload.bound(size, dtype)
    answers = {"add": of_add, "matmul": of_matmul, "polar": of_polar}[name]
    for what, expected, outputs, inputs in answers(dtype, size):
        start = time.perf_counter()
        error = workload.error(outputs, inputs, np.random.default_rng(SEED), dtype)
        seconds = time.perf_counter() - start
        right = (error <= bound) == expected
        line = f"{name:6} {dtype:8} {size:11,} {what:30} {error:8.2g} {bound:8.2g}"
        line += f" {error / bound:11.3g} {seconds:9.1f} s"
        print(line + ("" if right else " !"), flush=True)
        yield right


Answers = Iterator[tuple[str, bool, tuple[Any, ...], tuple[Any, ...] | None]]


def of_add(dtype: str, size: int) -> Answers:
    for library in ("numpy", "torch"):
        call, (a,) = cell(library, "add", dtype, size)
        call()
        yield library, True, (a,), None
        was, a[size // 3] = a[size // 3], 0
        yield f"{library}, one element is 0", False, (a,), None
        a[size // 3] = was
        call()
        yield f"{library}, of two calls", False, (a,), None
        del a, call


def of_matmul(dtype: str, size: int) -> Answers:
    call, inputs = cell("torch", "matmul", dtype, size)
    yield "torch", True, call(), inputs
    call, inputs = cell("numpy", "matmul", dtype, size)
    (c,) = call()
    yield "numpy", True, (c,), inputs
    c[[0, -1]] = c[[-1, 0]]
    yield "two rows swapped", False, (c,), inputs
    c[[0, -1]] = c[[-1, 0]]
    was, c[size // 3, size // 2] = c[size // 3, size // 2], 0
    yield "one element is 0", False, (c,), inputs
    c[size // 3, size // 2] = was
    yield "reversed rows", False, (c[::-1],), inputs
    del c
    a, b = (to_tf32(matrix) for matrix in inputs)
    yield "TF32: 10 bits of mantissa", False, (a @ b,), inputs
    a, b = WORKLOADS["matmul"].inputs(np.random.default_rng(OTHER_SEED), size, dtype)
    yield "of other inputs", False, (a @ b,), inputs


def of_polar(dtype: str, size: int) -> Answers:
    for library in ("numpy", "torch"):
        call, _ = cell(library, "polar", dtype, size)
        x, y = call()
        yield library, True, (x, y), ()
        was, y[size // 3] = y[size // 3], y[size // 5]
        yield f"{library}, one element of another", False, (x, y), ()
        y[size // 3] = was
        yield f"{library}, x and y swapped", False, (y, x), ()
        del x, y


def cell(
    library: str, name: str, dtype: str, size: int
) -> tuple[Callable[[], tuple[Any, ...]], tuple[Any, ...]]:
    """A call that gives the outputs as host arrays, and the inputs, which `add` works on in place
    (a host backend aliases them)."""
    workload = WORKLOADS[name]
    backend = plugin.load(plugin.builtin("backends")[library]).Backend(
        "cpu", machine.usable_cores(), {}
    )
    inputs = tuple(workload.inputs(np.random.default_rng(SEED), size, dtype))
    device = tuple(backend.to_device(array, dtype) for array in inputs)

    def call() -> tuple[Any, ...]:
        outputs = workload.compute(
            backend.xp, *device, size=size, dtype=backend.dtype(dtype), device=backend.device
        )
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return tuple(backend.to_host(output) for output in outputs)

    return call, inputs


def to_tf32(matrix: Any) -> Any:
    """Float32 numbers to the nearest of 10 bits of mantissa, ties to even."""
    bits = matrix.view("uint32")
    bits = (bits + 0xFFF + (bits >> 13 & 1)) & ~np.uint32(0x1FFF)
    return bits.view("float32")


if __name__ == "__main__":
    main()
