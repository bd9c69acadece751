"""What is known of made-up summaries besides times: break-even, reuse, rates, errors, roofs."""

from crossover import break_even, decide, table
from crossover.break_even import BreakEven
from crossover.roofline import Roofs
from made_up import SIZES, with_gpu, without_gpu


def crossing(backend, scope, size, low, high, *, baseline="numpy", until=(None,) * 3):
    """A row of break_even.csv: faster from a size on, or only until another one."""
    kind = break_even.FROM if until[0] is None else break_even.ONLY_BETWEEN
    found = BreakEven(kind, size, low, high, *until, SIZES[0], SIZES[-1], (), (), ())
    return _decided(backend, scope, baseline, found)


def no_crossing(backend, scope, kind=break_even.NEVER, baseline="numpy"):
    ends = (None, SIZES[-1], None) if kind == break_even.NEVER else (SIZES[0], None, SIZES[-1])
    found = BreakEven(kind, ends[0], *ends[1:], None, None, None, SIZES[0], SIZES[-1], (), (), ())
    return _decided(backend, scope, baseline, found)


def _decided(backend, scope, against, found):
    cell = {"workload": "add", "dtype": "float64", "backend": backend, "scope": scope}
    return cell | {
        "against": against,
        "apart": "",
        **break_even.to_row(found),
        "words": found.words(),
    }


# Of the case "gpu".
BREAK_EVENS = [
    crossing("torch_cpu", "compute", 43_210.5, 30_000.1, 61_234.5),
    crossing("torch_cuda", "compute", 10_900.7, 10_000.0, 12_345.6),
    no_crossing("torch_cuda", "round_trip"),
    crossing("torch_cpu", "compute", 5e6, 4e6, 6e6, baseline="best CPU"),
]


def reused(rows):
    """The rows of reuse.csv that belong to a made-up summary of one workload, as texts."""
    cell = {"workload": "add", "dtype": "float64", "baseline": rows[0]["backend"]}
    texts = [
        {name: str((row | cell).get(name, "")) for name in table.COLUMNS}
        for row in rows
        if row["scope"] != "render"
    ]
    (curves,) = decide.curves(texts)
    return [{name: str(value) for name, value in row.items()} for row in curves.reuses()]


def several():
    """Rows of three workloads in one dtype with their rates; of the last one nothing is counted."""
    work = {
        "add": lambda n: (n, 16 * n),
        "matmul": lambda n: (2 * n**1.5, 24 * n),
        "sort": lambda n: (0, 16 * n),
    }
    rows = []
    for workload, cost in work.items():
        for row in without_gpu() if workload == "sort" else with_gpu():
            flop, moved = cost(row["size"])
            if row["scope"] == "compute" and row["status"] == "ok":
                seconds = max(row["median_s"], flop / 6e10)
                row["gb_per_s"], row["gflop_per_s"] = moved / seconds / 1e9, flop / seconds / 1e9
            rows.append({"workload": workload, **row})
    return rows


def accurate():
    """Rows of one workload in three dtypes: errors, bounds, an exact answer, one that failed."""
    rows = []
    for dtype, unit, faster in (("float64", 1e-16, 1), ("float32", 6e-8, 2), ("float16", 5e-4, 3)):
        for place, row in enumerate(with_gpu()):
            times = {name: row[name] / faster for name in ("median_s", "low_s", "high_s")}
            found = {"error": unit * (1 + place % 3), "error_bound": 32 * unit, "dtype": dtype}
            rows.append(row | times | found)
    for row in rows:
        if (row["backend"], row["dtype"]) == ("numpy", "float64"):
            row["error"] = 0.0
    lost = {"status": "unsupported", "reason": "no float16 here"}
    return [
        {name: row[name] for name in ("backend", "dtype", "size", "scope")} | lost
        if (row["backend"], row["dtype"]) == ("torch_cpu", "float16")
        else row
        for row in rows
        if row["scope"] == "compute" or (row["backend"], row["dtype"]) != ("torch_cpu", "float16")
    ]


def roofs():
    """Of two of its backends: numpy with a cache that is faster, and torch_cuda."""
    host = Roofs(memory={1 << 16: 8e10, 1 << 27: 2e10}, products={"float64": 7e10})
    device = Roofs(memory={1 << 27: 4e12}, products={"float64": 3e13})
    return {("a1b2c3", "numpy"): host, ("a1b2c3", "torch_cuda"): device}
