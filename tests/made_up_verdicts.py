"""Summaries, break-evens and reuses by hand, for the words of a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp

from crossover import break_even, decide, intervals, table, verdict
from crossover.intervals import Interval

CPU, GPU = "A CPU", "NVIDIA H200"
NO_CUDA = "Torch not compiled with CUDA enabled"
SCOPES = {"compute": 1.0, "round_trip": 1.0, "end_to_end": 1.0}
ROUNDS = (1.0, 0.999, 1.001)


def row(backend, size, scope, workload="add", dtype="float64", **facts):
    return dict.fromkeys(table.COLUMNS, "") | {
        **{"workload": workload, "dtype": dtype, "backend": backend, "size": str(size)},
        **{"scope": scope, "status": "ok", "grade": "good", "rounds": "3", "baseline": "numpy"},
        **{"median_s": str(1e-9 * size), "machine": "a1", "cpu": CPU, "cores": "2"},
        **{"device": "cpu", "library": "numpy", "memory": "fresh"},
        **{"threads_requested": "all", "threads_effective": "2"},
        **facts,
    }  # fmt: skip


def compared(size, scope, speedup, wide, rounds):
    """The columns of a speedup whose interval is `wide` either way."""
    found = {"speedup": str(speedup), "median_s": str(1e-9 * size / speedup)}
    ratios = [speedup * factor for factor in ROUNDS[:rounds]]
    found["speedup_by_round"] = " ".join(f"{k}:{ratio!r}" for k, ratio in enumerate(ratios, 1))
    if rounds == 1:
        return found
    interval = Interval(speedup * exp(-wide), speedup, speedup * exp(wide))
    return found | {
        "speedup_low": str(interval.low),
        "speedup_high": str(interval.high),
        "finding": intervals.finding(interval),
        "detectable": str(intervals.detectable(interval)),
    }


def numpy(sizes, drawn=False, **facts):
    """The baseline: 1 ns an element, and as much again for drawing."""
    for size in sizes:
        for scope in ("compute", "round_trip", *(["end_to_end"] if drawn else [])):
            seconds = 1e-9 * size * (2 if scope == "end_to_end" else 1)
            yield row("numpy", size, scope, **{"speedup": "1.0", "median_s": str(seconds)} | facts)


def host(backend, speedups, wide=0.05, rounds=3, **facts):
    """A backend on the CPU, by its speedup at each size."""
    for size, speedup in speedups.items():
        for scope in ("compute", "round_trip"):
            found = compared(size, scope, speedup, wide, rounds) | {"rounds": str(rounds)}
            yield row(backend, size, scope, **{"library": "torch"} | found | facts)


def gpu(backend, computing, transfers, drawn=None, wide=0.05, rounds=3, **facts):
    """A backend on a GPU, by its speedups at each size: computing, with transfers, and drawn."""
    scopes = {"compute": computing, "round_trip": transfers, "end_to_end": drawn or {}}
    on = {"device": GPU, "library": "torch", "rounds": str(rounds), "import_s": "1.2"} | facts
    for scope, speedups in scopes.items():
        for size, speedup in speedups.items():
            yield row(backend, size, scope, **compared(size, scope, speedup, wide, rounds) | on)
    for size in computing:
        for scope, seconds in (("upload", 1e-4), ("download", 1e-4), ("first_call", 0.35)):
            yield row(backend, size, scope, **{"median_s": str(seconds)} | on)


def failed(backend, sizes, status="unavailable", reason=NO_CUDA, device="cuda", **facts):
    bad = {"status": status, "reason": reason, "device": device, "grade": "", "median_s": ""}
    for size in sizes:
        yield row(backend, size, "compute", **bad | {"rounds": "", "threads_effective": ""} | facts)


def even(
    words, backend, scope="compute", against="numpy", workload="add", dtype="float64", cheaper=""
):
    """A row of break_even.csv from the words that it has: 'from 100 (90, 120)', 'smallest 10',
    'never 1000', 'unclear 10 1000', 'between 10 1000', or '' for no interval; `cheaper` likewise,
    in money."""
    names = {"workload": workload, "dtype": dtype, "backend": backend, "scope": scope}
    in_money = break_even.to_row(break_even_of(cheaper))
    return (
        names
        | {"against": against, "apart": ""}
        | break_even.to_row(break_even_of(words))
        | {column: in_money[name] for name, column in decide.IN_MONEY.items()}
    )


def break_even_of(words):
    kind, *numbers = words.replace("(", "").replace(")", "").replace(",", "").split() or [""]
    ends = [float(number) for number in numbers]
    none = (None, None, None)
    made = {
        "": lambda: None,
        "from": lambda: (break_even.FROM, *ends, *none),
        "smallest": lambda: (break_even.FROM_SMALLEST, ends[0], None, ends[0], *none),
        "never": lambda: (break_even.NEVER, None, ends[0], None, *none),
        "unclear": lambda: (break_even.NOT_CLEAR, None, *ends, *none),
        "between": lambda: (break_even.ONLY_BETWEEN, ends[0], *ends[:1] * 2, *ends[1:] * 3),
    }[kind]()
    if made is None:
        return None
    largest = max(ends if kind == "never" else SIZES)
    edges = {"smallest": int(min(ends)), "largest": int(largest)}
    return break_even.BreakEven(*made, **edges, missing=(), faster=(), slower=())


def reuse(backend, size, warm, cold, workload="add", dtype="float64"):
    """A row of reuse.csv; warm and cold are low, number and high."""
    found = dict.fromkeys(decide.REUSE_COLUMNS, "")
    found |= {"workload": workload, "dtype": dtype, "backend": backend, "size": str(size)}
    for name, calls in (("warm", warm), ("cold", cold)):
        found |= zip((f"{name}_low", name, f"{name}_high"), map(str, calls), strict=True)
    return found


def of(*parts):
    """All rows of several parts."""
    return [one for part in parts for one in ([part] if isinstance(part, Mapping) else part)]


@dataclass(frozen=True)
class Case:
    """`lines` are whole lines that must be there, the first of them first; `parts` are in some
    line, `absent` in none."""

    rows: list
    evens: list
    lines: list
    reuses: list = field(default_factory=list)
    parts: tuple = ()
    absent: tuple = ()

    def said(self):
        return verdict.lines(self.rows, self.evens, self.reuses)


SIZES = (1000, 1_000_000, 10_000_000)
T, C = "torch_cuda", "torch_cpu"
FAST = {1000: 0.1, 1_000_000: 10, 10_000_000: 40}
TRIP = {1000: 0.05, 1_000_000: 2, 10_000_000: 4}
SLOW = {1000: 0.05, 1_000_000: 0.5, 10_000_000: 0.8}
ALIKE = {1000: 1.01, 1_000_000: 0.99, 10_000_000: 1.02}
HOST = {1000: 0.5, 1_000_000: 1.5, 10_000_000: 2.2}
POLAR = {"workload": "polar", "dtype": "float32"}

FROM_HOST = even("from 60000 (50000, 70000)", C)
FROM_GPU = even("from 316 (200, 501)", T)
FROM_TRIP = even("from 90000 (80000, 100000)", T, "round_trip")
NEVER_TRIP = even("never 1e7", T, "round_trip")
OPEN = f"No GPU was measured here (torch_cuda: unavailable, {NO_CUDA}), so whether it is worth it"
THERE = "(GPU: torch_cuda (NVIDIA H200); against"
GOOD = "measured on A CPU, 2 cores, in 3 rounds, intervals of 95 %"
