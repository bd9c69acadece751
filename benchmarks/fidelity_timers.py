"""One fresh process of fidelity.py: one function, timed by one of the timers or by all in turn.

    python fidelity_timers.py '{"how": "ours", "cell": ["numpy", "add", "float64", 10000]}'

`how` is one of HOW, for pyperf with the options that `calibrate` gave. The last line on standard
output is the answer, as JSON. Every timer is imported only where it is used, times the same
function without arguments for BUDGET_S or a little more, and answers with the median of samples of
a millisecond or more (one call, where that is longer).
"""

import gc
import json
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from itertools import permutations
from math import ceil
from statistics import fmean, median
from typing import Any, NamedTuple

from crossover import machine, placement, plugin
from crossover.clock import FEWEST_SAMPLES, Call, Stopwatch, sample
from crossover.measurement import MOST_SAMPLES

TOOLS = ("ours", "Timer", "pyperf")  # Timer is torch.utils.benchmark's
BUDGET_S = 0.2  # as in the shipped config; the least that Timer measures by default, too
BLOCK_S = 5e-3  # of one timer, before the next has its turn
WARM_CALLS = 2  # before a block: what Timer makes by itself


class Cell(NamedTuple):
    library: str
    workload: str
    dtype: str
    size: int


class Function(NamedTuple):
    call: Call
    backend: Any


def function(cell: Cell) -> Function:
    """What a cell's process calls, on the same arrays and with as many threads."""
    import numpy as np

    workload = plugin.load(plugin.builtin("workloads")[cell.workload])
    module = plugin.load(plugin.builtin("backends")[cell.library])
    backend = module.Backend("cpu", machine.usable_cores(), {})
    inputs = workload.inputs(np.random.default_rng(0), cell.size, cell.dtype)
    arrays = [backend.to_device(array, cell.dtype) for array in inputs]
    placement.scatter()
    names = {"size": cell.size, "dtype": backend.dtype(cell.dtype), "device": backend.device}
    return Function(partial(workload.compute, backend.xp, *arrays, **names), backend)


def by_us(cell: Cell) -> dict[str, Any]:
    call, backend = function(cell)
    gc.collect()
    gc.disable()  # as in a cell's process
    samples = sample(Stopwatch(backend.synchronize), call, BUDGET_S, MOST_SAMPLES)
    return answer(samples.seconds, backend)


def by_timer(cell: Cell) -> dict[str, Any]:
    from torch.utils.benchmark import Timer

    call, backend = function(cell)
    timer = Timer("call()", globals={"call": call}, num_threads=machine.usable_cores())
    return answer(timer.blocked_autorange(min_run_time=BUDGET_S).times, backend)


def by_pyperf(cell: Cell, *options: str) -> dict[str, Any]:
    """A worker, as pyperf's own manager starts it, but so that it takes turns with the others."""
    bench_func = _runner(*options)
    call, backend = function(cell)
    return answer(bench_func("cell", call).get_values(), backend)


def calibrate(cell: Cell, min_time_s: float) -> dict[str, Any]:
    """What pyperf's manager asks a first worker for, and the options that follow."""
    bench_func = _runner("--calibrate-loops", "--min-time", str(min_time_s))
    (run,) = bench_func("cell", function(cell).call).get_runs()
    loops, seconds = run.warmups[-1]
    values = max(FEWEST_SAMPLES, ceil(BUDGET_S / (loops * seconds)))
    warmups = ceil(values / 4)
    named = {"--loops": loops, "--values": values, "--warmups": warmups}
    return {"options": [str(word) for option in named.items() for word in option]}


def in_turn(cell: Cell, rounds: int) -> dict[str, Any]:
    """Seconds per call of every tool, block by block, on the same arrays. The order changes from
    round to round, so that none is always the one after another."""
    from torch.utils.benchmark import Timer

    call, backend = function(cell)
    watch = Stopwatch(backend.synchronize)
    gc.collect()
    gc.disable()
    calls = ceil(BLOCK_S / median(sample(watch, call, BUDGET_S / 4, MOST_SAMPLES).seconds))
    timer = Timer("call()", globals={"call": call}, num_threads=machine.usable_cores())
    bench_func = _runner("--loops", str(calls), "--values", "1", "--warmups", "0")
    blocks: dict[str, Callable[[int], float]] = {
        "ours": lambda _: watch.run(call, calls).seconds / calls,
        "Timer": lambda _: timer.timeit(calls).median,
        "pyperf": lambda number: bench_func(str(number), call).get_values()[0],
    }
    orders = list(permutations(TOOLS))
    found: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    for number in range(rounds):
        for tool in orders[number % len(orders)]:
            watch.run(call, WARM_CALLS)
            found[tool].append(blocks[tool](number))
    return {"calls": calls, "seconds": found}


def _runner(*options: str) -> Callable[[str, Call], Any]:
    """pyperf's `bench_func` in a worker, whose words go to standard error."""
    import pyperf

    runner = pyperf.Runner()
    runner.parse_args(["--worker", *options])

    def bench_func(name: str, call: Call) -> Any:
        with redirect_stdout(sys.stderr):
            return runner.bench_func(name, call)

    return bench_func


def answer(seconds: Any, backend: Any) -> dict[str, Any]:
    """`beside`: what is in the process that only a peer, or only the other library, needs."""
    return {
        "median_s": median(seconds),
        "mean_s": fmean(seconds),
        "values": len(seconds),
        "beside": [name for name in ("torch", "pyperf") if name in sys.modules],
        "threads": backend.effective_threads(),
    }


HOW: dict[str, Callable[..., dict[str, Any]]] = {
    "ours": by_us,
    "Timer": by_timer,
    "calibrate": calibrate,
    "pyperf": lambda cell, options: by_pyperf(cell, *options),
    "in turn": in_turn,
}


def main() -> None:
    task = json.loads(sys.argv[1])
    found = HOW[task.pop("how")](Cell(*task.pop("cell")), **task)
    print(json.dumps(found), flush=True)
    os._exit(0)  # as a cell's process leaves: unloading torch takes half a second


if __name__ == "__main__":
    main()
