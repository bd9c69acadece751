"""Summaries of machines that do not exist: with a GPU, without one, with hostile names."""

import itertools
from math import exp
from pathlib import Path

from crossover import intervals, table
from crossover.intervals import Interval

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
CPU = "INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.10GHz"
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"


def ok(backend, size, compute, round_trip=None, *, factor=1.0, rough=0.03, wide=0.05, **facts):
    """The rows of a good cell of three rounds; times in seconds, factor is baseline / compute,
    rough half the quartiles' and wide half the interval's width, both relative."""
    scopes = {"compute": compute, "round_trip": round_trip or compute, "first_call": compute + 0.1}
    if round_trip:
        scopes |= {"upload": round_trip / 3, "download": round_trip / 3}
    for scope, seconds in scopes.items():
        moved = round_trip and scope not in ("compute", "first_call")
        yield {
            **{"backend": backend, "size": size, "scope": scope, "status": "ok", "grade": "good"},
            **{"median_s": seconds, "q1_s": seconds * (1 - rough), "q3_s": seconds * (1 + rough)},
            **{"low_s": seconds * exp(-wide), "high_s": seconds * exp(wide), "rounds": 3},
            **compared(factor * compute / seconds, wide),
            **{"cpu": CPU, "cores": 2, "device": "cpu", "transfer": "pageable" if moved else ""},
            **{"threads_effective": 2, "machine": "a1b2c3", "input_bytes": 8 * size, **facts},
        }


def compared(speedup, wide):
    """A speedup from three pairs, and what its interval says."""
    interval = Interval(speedup * exp(-wide), speedup, speedup * exp(wide))
    return {
        **{"speedup": speedup, "speedup_low": interval.low, "speedup_high": interval.high},
        **{"finding": intervals.finding(interval), "detectable": intervals.detectable(interval)},
        "pairs": 3,
    }


def without_interval(row, pairs):
    """The same row from so few pairs that the speedup has no interval."""
    none = dict.fromkeys(("speedup_low", "speedup_high", "finding", "detectable"), "")
    return row | none | {"pairs": pairs}


def drawn(sizes=SIZES):
    """A workload whose output is a curve: what drawing costs, and from end to end."""
    rows = with_gpu(sizes)
    for row in [row for row in rows if row["scope"] == "round_trip"]:
        size, trip = row["size"], row["median_s"]
        whole, before = trip + drawing_time(size), numpy_time(size) + drawing_time(size)
        times = {"median_s": whole, "low_s": whole * 0.97, "high_s": whole * 1.03}
        times |= {"q1_s": whole * 0.98, "q3_s": whole * 1.02}
        rows.append(row | times | compared(before / whole, 0.03) | {"scope": "end_to_end"})
    for size in sizes:
        for row in ok("raster", size, drawing_time(size), device=""):
            if row["scope"] in ("compute", "first_call"):
                scope = {"scope": row["scope"].replace("compute", "render")}
                rows.append(without_interval(row, "") | {"speedup": ""} | scope)
        if size > 1e6:
            line = {"size": size, "scope": "render", "status": "killed", "reason": "signal 9"}
            rows.append({"backend": "line", **line})
    return rows


def drawing_time(size):
    return 0.004 + size / 1e9


def one_round(sizes=SIZES):
    single = {"rounds": 1, "low_s": "", "high_s": ""}
    return [without_interval(row, 1) | single for row in with_gpu(sizes)]


def noisy():
    """Of everything something: few pairs, wide intervals, every grade."""
    grades = {
        ("torch_cpu", 10_000): "launch_bound",
        ("torch_cpu", 100_000): "disturbed + drifting",
        ("torch_cuda", 10_000): "few_threads + launch_bound",
        ("torch_cuda", 10_000_000): "above_ceiling + single_call",
        ("numpy", 10_000_000): "single_call",
    }
    rows = []
    for row in with_gpu():
        wide = {10_000: 3.0, 100_000: 0.6, 1_000_000: 0.2, 10_000_000: 0.02}[row["size"]]
        times = {"low_s": row["median_s"] * exp(-wide), "high_s": row["median_s"] * exp(wide)}
        row |= times | compared(row["speedup"], wide)
        row["grade"] = grades.get((row["backend"], row["size"]), "good")
        if row["backend"] == "torch_cpu" and row["size"] == 1_000_000:
            row = without_interval(row, 1) | {"rounds": 1, "low_s": "", "high_s": ""}
        rows.append(row)
    return rows


def bad(backend, size, status, reason, **facts):
    cell = {"backend": backend, "size": size, "scope": "compute", "status": status}
    return [{**cell, "reason": reason, **facts}]


def numpy_time(size):
    return 1.5e-6 + size / 1.1e9


def backend_rows(name, size, launch, rate, link=None, **facts):
    """The cells of a made-up machine: launch seconds, elements per second, and over the link."""
    seconds = launch + size / rate
    trip = seconds + 2 * size / link + 2 * launch if link else None
    return list(ok(name, size, seconds, trip, factor=numpy_time(size) / seconds, **facts))


def with_gpu(sizes=SIZES):
    gpu = {"device": "NVIDIA H200", "threads_effective": 2}
    return [
        row
        for size in sizes
        for row in (
            *backend_rows("numpy", size, 1.5e-6, 1.1e9),
            *backend_rows("torch_cpu", size, 4e-6, 2.0e9, rough=0.1),
            *backend_rows("torch_cuda", size, 9e-6, 2.4e11, 1.5e9, **gpu),
        )
    ]


def without_gpu(sizes=SIZES):
    rows = [row for row in with_gpu(sizes) if row["backend"] != "torch_cuda"]
    return rows + [row for n in sizes for row in bad("torch_cuda", n, "unavailable", NO_CUDA)]


def hostile():
    names = ("numpy", "a_b", "$x$", "<b>", "NA", "_hidden", "100%", "null")
    sizes = [int(10 ** (3 + i / 2)) for i in range(12)]
    rows = []
    for (i, name), size in itertools.product(enumerate(names), sizes):
        if name == "<b>" and size > 1e7:
            rows += bad(name, size, "out_of_memory", f"{size * 8:,} bytes asked, 4,000,000 there")
        elif name == "100%" and size == sizes[5]:
            rows += bad(
                name,
                size,
                "mismatch",
                "above\n the \x1b[1mbound\x1b[0m $10^{-9}$ & <i>",
            )
        elif name == "null" and size < 1e5:
            found = backend_rows(name, size, i * 1e-6, 1e9 * (i + 1), grade="not_paired")
            rows += [without_interval(row, 0) for row in found]
        else:
            rows += backend_rows(name, size, 1.5e-6 * (1 + i), 1.1e9 * (1 + 0.6 * i))
    return rows


def long_names():
    rows = []
    for i in range(8):
        name = (
            f"torch_with_a_very_long_backend_name_{i}"
            if i
            else "numpy_openblas_on_all_cores_2_threads"
        )
        link = 1.5e9 if i > 4 else None
        gpu = {"device": f"NVIDIA RTX PRO 6000 Blackwell Server Edition {i}"} if link else {}
        for size in (64, 256, 1024, 2048):
            rows += backend_rows(name, size, 2e-6 * (i + 1), 1e8 * (i + 1), link, **gpu)
    return rows


def baseline_lost():
    rows = [row for row in with_gpu() if row["size"] < 1e7 or row["backend"] != "numpy"]
    for row in rows:
        if row["size"] == 10_000_000:
            row |= without_interval(row, 0) | {"speedup": ""}
        if row["backend"] == "torch_cpu" and row["size"] == 100_000:
            row["grade"] = "disturbed"
        if row["backend"] == "torch_cuda" and row["size"] <= 100_000:
            row |= without_interval(row, 0) | {"grade": "not_paired"}
    return rows + bad("numpy", 10_000_000, "timeout", "no answer within 120 s")


def nothing():
    reasons = {"numpy": "ImportError: libopenblas.so: cannot open shared object file",
               "torch_cpu": "killed by signal 9", "torch_cuda": NO_CUDA}  # fmt: skip
    kinds = {"numpy": "error", "torch_cpu": "killed", "torch_cuda": "unavailable"}
    return [
        row for n in SIZES for name in kinds for row in bad(name, n, kinds[name], reasons[name])
    ]


CASES = {
    "gpu": with_gpu,
    "no_gpu": without_gpu,
    "drawn": drawn,
    "one_size": lambda: with_gpu((1_000_000,)),
    "one_round": one_round,
    "noisy": noisy,
    "hostile": hostile,
    "long_names": long_names,
    "baseline_lost": baseline_lost,
    "hosts": lambda: [row for row in with_gpu() if row["backend"] != "torch_cuda"],
    "nothing": nothing,
}


def written(path: Path, rows, workload="add", dtype="float64") -> Path:
    baseline = rows[0]["backend"]
    cell = {"workload": workload, "dtype": dtype, "baseline": baseline}
    table.write(path, [cell | row for row in rows])
    return path
