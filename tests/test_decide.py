"""From a summary to break-even sizes: whose curve is held against whose, in which scope."""

import csv
import subprocess
import sys
from math import exp

import pytest

import made_up_curves
from crossover import decide, table

GRID = made_up_curves.sizes(6, 1e3, 1e6)
CROSSING = 3e4


def speedup(size, crossing):
    """A launch of its own, and ten times the rate: 1 at the crossing."""
    return (crossing / 10 + size) / (crossing + size / 10)


def rows(backend, crossing, device=False, rounds=3, baseline="numpy", sizes=GRID, **facts):
    """The rows of one backend as a summary has them; rounds differ by a per cent. With a device the
    round trip crosses three times as late."""
    scopes = {"compute": crossing} | ({"round_trip": 3 * crossing} if device else {})
    for size in sizes:
        for scope in (*scopes, *(("upload", "download", "first_call") if device else ())):
            row = dict.fromkeys(table.COLUMNS, "") | {
                **{"workload": "add", "dtype": "float64", "backend": backend, "size": size},
                **{"scope": scope, "status": "ok", "median_s": 1e-6 * size, "baseline": baseline},
                **{"flop": size, "input_bytes": 8 * size, "device": "H200" if device else "cpu"},
                **{"cpu": "A CPU", "cores": 2, **facts},
            }
            if scope in scopes:
                point = speedup(size, scopes[scope])
                factors = [0.99, 1.01, 1.0, 1.005][:rounds]
                ratios = " ".join(f"{k}:{point * f!r}" for k, f in enumerate(factors, 1))
                row |= {"speedup": point, "speedup_by_round": "" if backend == baseline else ratios}
                if rounds > 1 and backend != baseline:
                    row |= {"speedup_low": 0.98 * point, "speedup_high": 1.02 * point}
                    row |= {"finding": "faster"}
            yield row


def baseline_rows(**facts):
    for row in rows("numpy", CROSSING, **facts):
        yield row | {"speedup": 1.0, "speedup_by_round": ""}


def written(tmp_path, *parts):
    table.write(tmp_path / "summary.csv", [row for part in parts for row in part])
    return table.read(tmp_path / "summary.csv")


def found(tmp_path, *parts):
    return {
        (row["backend"], row["scope"], row["against"]): row
        for curves in decide.curves(written(tmp_path, *parts))
        for row in curves.break_evens()
    }


def holds(row, size):
    return float(row["low"]) <= size <= float(row["high"])


def test_a_device_is_held_against_the_baseline_and_the_best_cpu_in_both_scopes(tmp_path):
    gpu = rows("gpu", CROSSING, device=True)
    torch = rows("torch", CROSSING / 10)
    evens = found(tmp_path, baseline_rows(), gpu, torch)
    assert set(evens) == {
        ("gpu", "compute", "numpy"),
        ("gpu", "compute", "best CPU"),
        ("gpu", "round_trip", "numpy"),
        ("gpu", "round_trip", "best CPU"),
        ("torch", "compute", "numpy"),
    }
    assert holds(evens["gpu", "compute", "numpy"], CROSSING)
    assert holds(evens["gpu", "round_trip", "numpy"], 3 * CROSSING)
    assert holds(evens["torch", "compute", "numpy"], CROSSING / 10)
    # torch on the CPU is as fast at last, so the GPU never leaves it behind, nor is it ahead of it.
    assert evens["gpu", "compute", "best CPU"]["kind"] != "from n* on"
    assert evens["gpu", "compute", "numpy"]["words"].startswith("from n = ")


def test_a_coarser_answer_never_stands_for_one_in_float32(tmp_path):
    """It is no rival as the best CPU backend, and use_gpu.py has it by its own name."""
    half = rows("half", CROSSING / 10, precision="bfloat16")
    fast = rows("fast", CROSSING, device=True, precision="float16")
    evens = found(tmp_path, baseline_rows(), half, fast, rows("gpu", CROSSING, device=True))
    assert {against for _, _, against in evens} == {"numpy"}
    (curves,) = decide.curves(table.read(tmp_path / "summary.csv"))
    entries = {entry.backend: entry.dtype for entry in curves.entries()}
    assert entries == {"fast": "float64 in float16", "gpu": "float64"}


def test_alone_with_the_baseline_there_is_no_other_best(tmp_path):
    evens = found(tmp_path, baseline_rows(), rows("gpu", CROSSING, device=True))
    assert {against for _, _, against in evens} == {"numpy"}


def test_one_round_has_no_break_even_and_says_so_by_empty_fields(tmp_path):
    evens = found(tmp_path, baseline_rows(), rows("torch", CROSSING, rounds=1))
    row = evens["torch", "compute", "numpy"]
    assert row["kind"] == row["words"] == row["size"] == ""


def test_cells_that_failed_are_missing_and_no_more(tmp_path):
    good = list(rows("torch", CROSSING))
    bad = [
        {name: row[name] for name in ("workload", "dtype", "backend", "size", "scope", "baseline")}
        | {"status": "out_of_memory", "reason": "no room"}
        for row in good[-1:]
    ]
    evens = found(tmp_path, baseline_rows(), [*good[:-1], *bad])
    row = evens["torch", "compute", "numpy"]
    assert holds(row, CROSSING) and row["largest"] == str(GRID[-2])


@pytest.mark.parametrize(("power", "flop"), [(1, lambda n: n), (3, lambda n: 2 * n**3)])
def test_the_power_of_the_work_is_that_of_its_operations(tmp_path, power, flop):
    made = [row | {"flop": flop(row["size"])} for row in rows("torch", CROSSING)]
    (curves,) = decide.curves(written(tmp_path, baseline_rows(), made))
    assert curves.power == pytest.approx(power, rel=1e-3) or power == 1


@pytest.mark.whole
def test_the_file_to_take_home_answers_as_the_table_does(tmp_path):
    table_rows = written(tmp_path, baseline_rows(), rows("gpu", CROSSING, device=True))
    (tmp_path / "use_gpu.py").write_text(decide.use_gpu(table_rows))

    def asked(n):
        command = [sys.executable, "-I", "-W", "ignore", "use_gpu.py", "add", str(n), "float64"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition(":")[0]

    assert [asked(n) for n in (2e3, 9e5, 1e9)] == ["no", "yes", "unknown"]


def test_a_real_sweep_has_both(finished):
    with (finished.root / "results/break_even.csv").open(newline="") as file:
        evens = list(csv.DictReader(file))
    assert {(row["workload"], row["backend"], row["scope"]) for row in evens} == {
        (workload, "fake", scope)
        for workload in ("add", "polar")
        for scope in ("compute", "round_trip")
    } | {("polar", "fake", "end_to_end")}
    with (finished.root / "results/reuse.csv").open(newline="") as file:
        reuses = list(csv.DictReader(file))
    assert {(row["workload"], row["backend"]) for row in reuses} == {
        ("add", "fake"),
        ("polar", "fake"),
    }
    for row in reuses:
        assert float(row["host_s"]) > 0 and float(row["warm"]) >= 1
    text = (finished.root / "results/use_gpu.py").read_text()
    assert "'fake'" in text and "def use_gpu(" in text


def test_logarithms_over_a_rival_are_of_common_rounds(tmp_path):
    one = rows("one", CROSSING, sizes=[1000])
    other = rows("other", CROSSING, sizes=[1000], rounds=2)
    (curves,) = decide.curves(written(tmp_path, baseline_rows(), one, other))
    over = curves.over("one", "other", "compute")
    assert {n: exp(log) for n, log in over[1000].items()} == pytest.approx({1: 1.0, 2: 1.0})
