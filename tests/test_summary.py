"""From raw files to rows, and from rows to the closing lines, on files made by hand."""

import itertools

import pytest

from crossover import closing, record, summary, table
from crossover.cells import Cell, Picture

SIZE = 1000


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def measured(backend, seconds, round=1, size=SIZE, cell=None, scopes=("compute",), **facts):
    """Write one round of a cell: `seconds` is one time, or the samples of every scope."""
    cell = cell or Cell("add", backend, "float64", size)
    samples = seconds if isinstance(seconds, list) else [seconds]
    rows = [
        {
            "workload": cell.workload,
            "backend": cell.backend,
            "dtype": cell.dtype,
            "size": cell.size,
            "round": round,
            "attempt": 1,
            "scope": scope,
            "sample": number,
            "seconds": value,
            "calls": 1,
            "started_at": 1000.0 * round,
            "status": "ok",
            "queue_wait_s": 0.0,
            "throttled_s": 0.0,
            "timed_s": 1.0,
            "import_s": 0.1,
            "threads_requested": "all",
            "threads_granted": 2,
            "threads_effective": 2,
            "cores": 2,
            "cpu": "CPU",
            "machine": "abc",
            "boot": "1",
            "device": "cpu",
        }
        | facts
        for scope in scopes
        for number, value in enumerate(samples, 1)
    ]
    record.write(cell.csv(round), rows)


def failed(backend, status, reason, round=1, size=SIZE):
    measured(backend, "", round, size, status=status, reason=reason, scopes=("",))


def rows(*backends, rounds=1, sizes=(SIZE,), partial=False):
    """The summary of numpy and other backends, by (backend, size, scope)."""
    cells = [Cell("add", b, "float64", s) for s in sizes for b in ("numpy", *backends)]
    found = summary.summarize(cells, rounds, "numpy", partial=partial)
    return {(row["backend"], row["size"], row["scope"]): row for row in found}


def test_the_median_of_the_rounds_medians_and_quartiles_of_all_samples():
    for round, samples in enumerate(([1.0, 2.0, 9.0], [3.0], [5.0, 7.0]), 1):
        measured("numpy", samples, round)
    row = rows(rounds=3)["numpy", SIZE, "compute"]
    assert (row["median_s"], row["rounds"], row["samples"]) == (3.0, 3, 6)
    assert (row["min_s"], row["q1_s"], row["q3_s"]) == (1.0, 2.25, 6.5)


def test_speedups_are_made_of_pairs():
    """Twice as fast in every round, though the machine slowed down threefold between them."""
    for round, drift in enumerate((1.0, 3.0), 1):
        measured("numpy", 2.0 * drift, round)
        measured("gpu", 1.0 * drift, round)
    found = rows("gpu", rounds=2)
    assert found["gpu", SIZE, "compute"]["speedup"] == pytest.approx(2)
    assert found["gpu", SIZE, "compute"]["pairs"] == 2
    assert found["numpy", SIZE, "compute"]["speedup"] == 1


def test_a_device_is_compared_with_and_without_its_transfers():
    scopes = {"compute": 1.0, "upload": 3.0, "download": 2.0, "round_trip": 6.0}
    cell = Cell("add", "gpu", "float64", SIZE)
    measured("numpy", 2.0)
    measured("gpu", 1.0, scopes=tuple(scopes), device="GPU")
    written = record.read(cell.csv(1))
    facts = [{k: v for k, v in row.items() if k not in record.SEALS} for row in written]
    record.write(cell.csv(1), [row | {"seconds": scopes[row["scope"]]} for row in facts])
    found = rows("gpu")
    assert found["gpu", SIZE, "compute"]["speedup"] == pytest.approx(2)
    assert found["gpu", SIZE, "round_trip"]["speedup"] == pytest.approx(1 / 3)
    assert found["gpu", SIZE, "upload"]["speedup"] == ""
    assert found["numpy", SIZE, "round_trip"]["median_s"] == 2.0  # on a host it is the computation
    assert ("numpy", SIZE, "upload") not in found


@pytest.mark.parametrize("apart", [{"boot": "2"}, {"started_at": 9000.0}])
def test_rounds_measured_apart_give_a_point_and_say_so(apart):
    measured("numpy", 2.0)
    measured("gpu", 1.0, **apart)
    row = rows("gpu")["gpu", SIZE, "compute"]
    assert (row["speedup"], row["pairs"], row["grade"]) == (2.0, 0, "not_paired")


def test_times_of_two_machines_are_not_divided():
    measured("numpy", 2.0)
    measured("gpu", 1.0, machine="xyz")
    assert rows("gpu")["gpu", SIZE, "compute"]["speedup"] == ""


def test_a_baseline_on_too_few_threads_is_none():
    measured("numpy", 2.0, threads_effective=1)
    measured("gpu", 1.0)
    found = rows("gpu")
    assert found["numpy", SIZE, "compute"]["grade"] == "few_threads"
    assert found["gpu", SIZE, "compute"]["speedup"] == ""


def test_a_disturbed_round_is_marked():
    measured("numpy", 2.0, queue_wait_s=0.5)
    assert rows()["numpy", SIZE, "compute"]["grade"] == "disturbed"


def test_of_two_attempts_the_last_counts():
    cell = Cell("add", "numpy", "float64", SIZE)
    measured("numpy", [5.0, 5.0], queue_wait_s=0.5)
    first = record.read(cell.csv(1))
    facts = [{k: v for k, v in row.items() if k not in record.SEALS} for row in first]
    again = [row | {"attempt": 2, "seconds": 1.0, "queue_wait_s": 0.0} for row in facts]
    record.write(cell.csv(1), facts + again)
    row = rows()["numpy", SIZE, "compute"]
    assert (row["median_s"], row["samples"], row["grade"]) == (1.0, 2, "good")


@pytest.mark.parametrize("status", ["mismatch", "unavailable", "timeout", "killed", "error"])
def test_a_failed_cell_stays_with_its_reason_and_no_numbers(status):
    measured("numpy", 2.0)
    failed("gpu", status, "because")
    row = rows("gpu")["gpu", SIZE, "compute"]
    assert (row["status"], row["reason"]) == (status, "because")
    times = ("median_s", "q1_s", "q3_s", "min_s", "speedup", "samples", "rounds", "grade")
    assert {row[name] for name in times} == {""}


def test_one_failed_round_fails_the_cell_and_names_the_round():
    measured("numpy", 2.0)
    failed("numpy", "timeout", "took more than 1 s", round=2)
    row = rows(rounds=2)["numpy", SIZE, "compute"]
    assert (row["status"], row["reason"]) == ("timeout", "took more than 1 s (round 2 of 2)")


def test_without_a_baseline_there_is_no_speedup():
    failed("numpy", "killed", "x")
    measured("gpu", 1.0)
    assert rows("gpu")["gpu", SIZE, "compute"]["speedup"] == ""


def test_exactly_the_configured_cells():
    for backend in ("numpy", "gpu", "old"):
        measured(backend, 1.0)
    assert {backend for backend, _, _ in rows("gpu")} == {"numpy", "gpu"}


def test_a_damaged_file_is_named_with_the_cure_and_not_counted():
    measured("numpy", 2.0)
    path = Cell("add", "numpy", "float64", SIZE).csv(1)
    path.write_text(path.read_text().replace("2.0", "1.0"))
    row = rows()["numpy", SIZE, "compute"]
    assert row["status"] == "error" and row["median_s"] == ""
    assert str(path) in row["reason"] and "make retry" in row["reason"]


def test_a_look_at_a_sweep_under_way():
    measured("numpy", 2.0, 1)
    found = rows("gpu", rounds=3, partial=True)
    assert found["numpy", SIZE, "compute"]["rounds"] == 1
    assert found["gpu", SIZE, "compute"]["status"] == "not measured"


def test_a_picture_has_its_own_scope_and_no_round_trip():
    picture = Picture("polar", "line", "float64", SIZE)
    measured("line", 0.5, cell=picture, scopes=("render",))
    (row,) = summary.summarize([picture], 1, "numpy")
    assert (row["scope"], row["median_s"], row["speedup"]) == ("render", 0.5, "")


@pytest.mark.parametrize("name", ["NA", "null", "nan", "None", "a,b", 'a"b'])
def test_names_survive_the_way_to_the_file_and_back(tmp_path, name):
    measured("numpy", 2.0)
    (row,) = [r for r in rows().values() if r["scope"] == "compute"]
    table.write(tmp_path / "summary.csv", [row | {"backend": name}])
    (back,) = table.read(tmp_path / "summary.csv")
    assert back["backend"] == name and float(back["median_s"]) == 2.0


# --- the closing lines


def closing_lines(speedups, **changes):
    """The verdict of one backend with these speedups by size."""
    for size, speedup in speedups.items():
        measured("numpy", 1.0, size=size)
        measured("other", 1.0 / speedup, size=size)
    found = rows("other", sizes=tuple(speedups), **changes).values()
    return closing.verdicts([{k: str(v) for k, v in row.items()} for row in found])


@pytest.mark.parametrize(
    ("speedups", "words"),
    [
        ({10: 0.5, 100: 2, 1000: 3}, "is faster from n = 100 on (3x at n = 1,000)"),
        ({10: 2, 100: 3}, "is faster from the smallest size, 10, on (3x at n = 100)"),
        ({10: 0.1, 100: 0.5}, "is never faster up to n = 100 (0.5x at n = 100)"),
        ({10: 0.5, 100: 2, 1000: 0.9}, "is faster only at n = 100 (0.9x at n = 1,000)"),
        ({10: 2, 100: 0.5, 1000: 4}, "is faster from n = 1,000 on (4x at n = 1,000)"),
        ({10: 0.97, 100: 1.04}, "is as fast, within 5 %, at every size measured (1x at n = 100)"),
        ({10: 0.5, 100: 1.01}, "is never faster up to n = 100 (1x at n = 100)"),
        ({100: 2}, "is faster from the one size measured on (2x at n = 100)"),
    ],
)
def test_who_is_faster_from_which_size_on(speedups, words):
    assert closing_lines(speedups) == [f"add float64: other {words}"]


def test_the_end_says_what_is_not_ok_and_how_to_try_again(tmp_path):
    measured("numpy", 1.0)
    failed("gpu", "unavailable", "no driver")
    measured("slow", 1.0, threads_effective=1)
    texts = [{k: str(v) for k, v in row.items()} for row in rows("gpu", "slow").values()]
    text = "\n".join(closing.lines(texts, tmp_path))
    assert "Not ok: 1 of 3 cells" in text
    assert "1 x gpu: unavailable (no driver)" in text
    assert "Trusted less: 1 few_threads: fewer threads than asked for" in text
    assert "make retry" in text and str(tmp_path) in text


def test_when_all_is_well_nothing_is_to_be_tried_again(tmp_path):
    measured("numpy", 1.0)
    texts = [{k: str(v) for k, v in row.items()} for row in rows().values()]
    assert not any("retry" in line for line in closing.lines(texts, tmp_path))


def test_every_reason_is_printed_once():
    for size, backend in itertools.product((10, 100), ("gpu",)):
        measured("numpy", 1.0, size=size)
        failed(backend, "unavailable", "no driver", size=size)
    texts = [{k: str(v) for k, v in r.items()} for r in rows("gpu", sizes=(10, 100)).values()]
    assert sum("no driver" in line for line in closing.not_ok(texts)) == 1
