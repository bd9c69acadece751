"""What bounds a cell, by the best that its machine did; and what no machine can do is no result.

The machine is made up: its caches, memory, arithmetic and link are known, and so are its whims.
"""

import random
from math import exp

import pytest

from crossover import record, roofline, table
from crossover.ceilings import MATRICES, TRANSFERS, WORKING_SETS
from crossover.cells import Ceiling, itemsize
from crossover.workloads import add, matmul, polar

MACHINE, CACHE = "m", 16 << 20
LAUNCH_S, PEAK, LINK = 1e-6, 100e9, 5e9
CALM = {"timed_s": 1.0, "queue_wait_s": 0.0, "throttled_s": 0.0}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def bandwidth(held):
    return (
        200e9 if held <= 32 << 10 else 100e9 if held <= 1 << 20 else 50e9 if held <= CACHE else 2e10
    )


def honest_s(held=0.0, moved=0.0, flop=0.0):
    return LAUNCH_S + max(moved / bandwidth(held), flop / PEAK)


def figures(dtype, on_host):
    """What a ceilings job finds out here: scope, size, seconds and the work that was done."""
    item = itemsize(dtype)
    yield "launch", 1, honest_s(), {}
    for size in WORKING_SETS:
        done = {"input_bytes": size, "output_bytes": size, "flop": size // item}
        yield "memory", size // item, honest_s(size, 2 * size), done
    for n in MATRICES[:8]:
        moved = n * n * item
        done = {"input_bytes": moved, "output_bytes": moved, "flop": 2 * n**3}
        yield "arithmetic", n, honest_s(moved, 2 * moved, 2 * n**3), done
    for size in () if on_host else (item, *TRANSFERS):
        for scope, times in (("", 1), ("_pinned", 2)):
            seconds = 1e-5 + size / (times * LINK)
            yield f"upload{scope}", size // item, seconds, {"input_bytes": size}
            yield f"download{scope}", size // item, seconds, {"output_bytes": size}


def ceilings(backend="numpy", dtype="float64", round=1, *, slower=1.0, on_host=True, **facts):
    """Write the file of one job, of a process that is so much slower than it should be."""
    known = {"backend": backend, "dtype": dtype, "round": round, "machine": MACHINE, "status": "ok"}
    known |= CALM | {"cache_bytes": CACHE} | facts
    rows = [
        known | done | {"scope": scope, "size": size, "seconds": seconds * slower}
        for scope, size, seconds, done in figures(dtype, on_host)
    ]
    record.write(Ceiling(backend, dtype).csv(round), rows)


def row(workload, size, seconds, scope="compute", *, backend="numpy", dtype="float64", **facts):
    """A row of the summary."""
    cost = workload.cost(size, itemsize("float32" if dtype == "bfloat16" else dtype))
    known = {"workload": workload.__name__.rpartition(".")[2], "backend": backend, "dtype": dtype}
    known |= {"size": size, "scope": scope, "status": "ok", "grade": "good", "baseline": "numpy"}
    known |= {"median_s": seconds, "flop": str(cost.flop), "machine": MACHINE}
    known |= {"input_bytes": str(cost.input_bytes), "output_bytes": str(cost.output_bytes)}
    return dict.fromkeys(table.COLUMNS, "") | known | facts


def annotated(*rows, dtype="float64", rounds=3):
    places = {(row["backend"], row["dtype"]) for row in rows}
    return roofline.annotate(rows, roofline.read([Ceiling(*place) for place in places], rounds))


def judged(*rows, **how):
    """Status, grade and how near the roof, of one row."""
    (found,) = annotated(*rows, **how)
    return found["status"], found["grade"], found["roof_share"]


def add_s(n, item=8):
    return honest_s(n * item, 2 * n * item)


@pytest.mark.parametrize(
    ("cell", "bound_by", "roof_s", "gb_per_s"),
    [
        (row(add, 10, 2e-6), "launch", LAUNCH_S, 160 / 2e3),
        (row(add, 10**7, 8e-3), "memory", 160e6 / 2e10, 20),
        (row(matmul, 1000, 0.025), "arithmetic", 0.02, 24e6 / 25e6),
        (row(polar, 10**6, 0.01), "memory", 16e6 / 50e9, 1.6),
        (row(add, 10**7, 8e-3, "round_trip"), "memory", 160e6 / 2e10, 20),
    ],
    ids=lambda value: value["workload"] if isinstance(value, dict) else str(value),
)
def test_every_cell_has_its_rates_and_what_bounds_it(cell, bound_by, roof_s, gb_per_s):
    for number in (1, 2, 3):
        ceilings(round=number)
    (found,) = annotated(cell)
    assert found["bound_by"] == bound_by and found["grade"] == "good"
    assert found["roof_s"] == pytest.approx(roof_s, rel=0.02)
    assert found["roof_share"] == pytest.approx(roof_s / cell["median_s"], rel=0.02)
    assert found["gb_per_s"] == pytest.approx(gb_per_s)
    assert found["gflop_per_s"] == pytest.approx(float(cell["flop"]) / cell["median_s"] / 1e9)


@pytest.mark.parametrize(
    ("scope", "transfer", "seconds", "roof_s"),
    [
        ("upload", "pageable", 0.02, 80e6 / LINK),
        ("download", "pageable", 0.02, 80e6 / LINK),
        ("upload_pinned", "pinned", 0.01, 80e6 / LINK / 2),
        ("download_pinned", "pinned", 0.01, 80e6 / LINK / 2),
        ("round_trip", "pageable", 0.05, 160e6 / LINK),
    ],
)
def test_transfers_are_held_to_their_own_link(scope, transfer, seconds, roof_s):
    ceilings("gpu", on_host=False)
    (found,) = annotated(row(add, 10**7, seconds, scope, backend="gpu", transfer=transfer))
    assert found["bound_by"] == "transfer" and found["grade"] == "good"
    assert found["roof_s"] == pytest.approx(roof_s, rel=0.02)
    moved = 160e6 if scope == "round_trip" else 80e6
    assert found["gb_per_s"] == pytest.approx(moved / seconds / 1e9)


def test_a_small_transfer_is_held_to_its_latency():
    ceilings("gpu", on_host=False)
    found = annotated(row(add, 1, 2e-5, "upload", backend="gpu", transfer="pageable"))
    assert found[0]["roof_s"] == pytest.approx(1e-5, rel=0.01)


def test_what_fits_into_a_cache_is_held_to_the_cache():
    for number in (1, 2):
        ceilings(round=number)
    in_cache, beyond_all = 10**5, 10**9
    assert judged(row(add, in_cache, add_s(in_cache)))[2] == pytest.approx(1, abs=0.1)
    assert judged(row(add, beyond_all, add_s(beyond_all)))[2] == pytest.approx(1, abs=0.01)


def test_the_best_of_all_rounds_counts():
    for number, slower in enumerate((1.85, 1.0, 1.85), 1):
        ceilings(round=number, slower=slower)
    assert judged(row(add, 10**7, add_s(10**7)))[2] == pytest.approx(1, abs=0.01)


def test_nothing_honest_is_thrown_away():
    """Processes that differ by 5 %, samples with a heavy tail, and one process in ten that is 1.85
    times slower for its whole life, the ceilings' own among them; thrice a hundred cells."""
    rng = random.Random(1)

    def process():
        return exp(rng.gauss(0, 0.05)) * (1.85 if rng.random() < 0.1 else 1.0)

    def sweep(dtype):
        for workload in (add, matmul, polar):
            sizes = (
                [16 << k for k in range(8)] if workload is matmul else [10 << k for k in range(23)]
            )
            for size in sizes:
                cost = workload.cost(size, itemsize(dtype))
                moved, held = cost.input_bytes + cost.output_bytes, cost.output_bytes
                seconds = sorted(
                    honest_s(held, moved, cost.flop) * process() * (1 + 0.01 * rng.paretovariate(3))
                    for _ in range(3)
                )
                yield row(workload, size, seconds[1], dtype=dtype)

    graded = count = 0
    for dtype in ("float32", "float64") * 3:
        for number in (1, 2, 3):
            ceilings(dtype=dtype, round=number, slower=process())
        cells = list(sweep(dtype))
        found = annotated(*cells)
        assert [entry["status"] for entry in found] == ["ok"] * len(cells)
        graded += sum(entry["grade"] != "good" for entry in found)
        count += len(cells)
    assert count >= 300 and graded <= 0.05 * count


SPEEDUPS = {"speedup": 3.0, "speedup_low": 2.9, "speedup_high": 3.1, "finding": "faster"}
SPEEDUPS |= {"detectable": 1.03, "pairs": 3}


def test_a_clock_that_lied_takes_its_cell_and_the_speedups_over_it_along():
    for backend, number in (("numpy", 1), ("numpy", 2), ("torch", 1), ("torch", 2)):
        ceilings(backend, round=number)
    n, seconds = 10**7, add_s(10**7)
    lie, truth = row(add, n, seconds / 10, **SPEEDUPS), row(add, n // 10, seconds / 10, **SPEEDUPS)
    scopes = [lie, {**lie, "scope": "first_call"}, {**lie, "scope": "round_trip"}]
    other = row(add, n, seconds, backend="torch", **SPEEDUPS | {"grade": "drifting + not_paired"})
    found = annotated(truth, *scopes, other)
    assert [entry["status"] for entry in found] == ["ok", "error", "ok"]
    fine, refused, partner = found
    assert fine["speedup"] == 3.0 and partner["median_s"] == seconds
    assert {name: value for name, value in refused.items() if value} == {
        **{name: lie[name] for name in ("workload", "backend", "dtype", "size", "baseline")},
        **{name: lie[name] for name in ("flop", "input_bytes", "output_bytes", "machine")},
        **{"scope": "compute", "status": "error", "reason": refused["reason"]},
    }
    assert refused["reason"] == (
        "compute at 200 GB/s cannot be: the most that was measured here is 20 GB/s (memory)"
    )
    assert {partner[name] for name in SPEEDUPS} == {""} and partner["grade"] == "drifting"


def test_a_lie_about_arithmetic_is_told_in_operations():
    for number in (1, 2):
        ceilings(round=number)
    (found,) = annotated(row(matmul, 4000, 0.128))
    assert found["reason"].startswith("compute at 1e+03 GFLOP/s cannot be")
    assert found["reason"].endswith("100 GFLOP/s (arithmetic)")


@pytest.mark.parametrize(
    ("change", "times"),
    [
        ({"cache_bytes": 1 << 30}, 10),  # it might be the cache's doing
        ({"cache_bytes": ""}, 10),
        ({}, 1.9),  # a slow process's ceilings beside a fast one's cell
        ({"queue_wait_s": 0.5, "round": 2}, 10),  # one calm round alone
    ],
)
def test_what_may_be_honest_is_graded_and_kept(change, times):
    for number in (1, 2):
        change = {**change}
        busy = change if change.get("round") in (None, number) else {}
        ceilings(**{"round": number} | busy)
    status, grade, share = judged(row(add, 10**7, add_s(10**7) / times))
    assert (status, grade) == ("ok", "above_ceiling") and share == pytest.approx(times, rel=0.01)


def test_a_grade_that_was_there_stays_and_a_share_just_above_one_is_none():
    ceilings()
    n = 10**7
    assert judged(row(add, n, add_s(n) / 1.04))[1] == "good"
    grade = judged(row(add, n, add_s(n) / 1.1, grade="launch_bound + not_paired"))[1]
    assert grade == "above_ceiling + launch_bound + not_paired"


def test_a_busy_machines_ceilings_judge_nothing():
    for number in (1, 2, 3):
        ceilings(round=number, slower=5, queue_wait_s=0.9)
    n = 10**7
    assert judged(row(add, n, add_s(n))) == ("ok", "good", "")
    assert judged(row(add, n, add_s(n) * 10))[2] == pytest.approx(0.5, rel=0.01)


def test_no_roof_where_none_was_measured():
    ceilings(machine="another")
    ceilings(round=2, status="timeout")
    ceilings(round=3)
    path = Ceiling("numpy", "float64").csv(3)
    path.write_text(path.read_text().replace("memory", "mammoth", 1))
    (found,) = annotated(row(add, 1000, 1e-6))
    assert (found["roof_s"], found["bound_by"], found["grade"]) == ("", "", "good")
    assert found["gb_per_s"] == pytest.approx(16)


def test_rows_without_times_are_left_as_they_are():
    ceilings()
    rows = [
        row(add, 10, "", status="timeout", reason="took more than 1 s"),
        row(polar, 10, 1e-9, "render", backend="line"),
        row(add, 10, 1e-9, "first_call"),
    ]
    assert annotated(*rows) == rows


def test_a_matrix_product_in_a_plain_loop_is_no_measure_of_arithmetic():
    """NumPy's of float16 and of integers is slower than a sum; another library need not be."""
    ceilings(dtype="float16")
    path = Ceiling("numpy", "float16").csv(1)
    rows = [{n: v for n, v in r.items() if n not in record.SEALS} for r in record.read(path)]
    for entry in rows:
        if entry["scope"] == "arithmetic":
            entry["seconds"] = float(entry["seconds"]) * 1000
    record.write(path, rows)
    (found,) = annotated(row(matmul, 1000, 0.03, dtype="float16"))
    assert found["bound_by"] == "memory" and found["grade"] == "good"


def test_bfloat16_travels_as_float32_and_is_computed_in_half_of_that():
    ceilings(dtype="bfloat16")
    n = 4 * 10**7
    (found,) = annotated(row(add, n, add_s(n, 2), dtype="bfloat16"))
    assert found["gb_per_s"] == pytest.approx(20, rel=0.01)
    assert found["roof_share"] == pytest.approx(1, rel=0.01)


def test_bytes_on_which_the_rounds_do_not_agree_give_no_rate():
    ceilings()
    (found,) = annotated(row(add, 10, 2e-6, flop="", input_bytes="80 + 40", output_bytes="40 + 80"))
    assert (found["gb_per_s"], found["gflop_per_s"], found["bound_by"]) == ("", "", "launch")
