"""From raw files to rows, on files made by hand."""

from math import exp, log, sqrt

import pytest

from conftest import drop_seals
from crossover import grades, record, summary, table
from crossover.cells import Cell, Picture
from rounds import SIZE, failed, measured, rows

INTERVALS = ("low_s", "high_s", "speedup_low", "speedup_high", "finding", "detectable")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_median_of_the_rounds_medians_and_quartiles_of_all_samples():
    for round, samples in enumerate(([1.0, 2.0, 9.0], [3.0], [5.0, 7.0]), 1):
        measured("numpy", samples, round)
    row = rows(rounds=3)["numpy", SIZE, "compute"]
    assert (row["median_s"], row["rounds"], row["samples"]) == (3.0, 3, 6)
    assert (row["min_s"], row["q1_s"], row["q3_s"]) == (1.0, 2.25, 6.5)
    assert row["p95_s"] == pytest.approx(8.5)  # a quarter of the way from 9 to 7


def test_a_time_has_the_interval_of_its_rounds():
    """Student's t at 2 degrees of freedom is 4.303; samples within a round do not count."""
    for round, seconds in enumerate((1.0, 2.0, 4.0), 1):
        measured("numpy", [seconds] * 50, round)
    row = rows(rounds=3)["numpy", SIZE, "compute"]
    half = 4.302653 * log(2) / sqrt(3)
    assert (row["low_s"], row["median_s"], row["high_s"]) == pytest.approx(
        (2 * exp(-half), 2.0, 2 * exp(half)), rel=1e-6
    )


def test_the_median_lies_in_its_interval_however_lopsided_the_rounds_are():
    """Six of eleven agree, and the mean of all is far from them."""
    for round in range(1, 12):
        measured("numpy", 1.0 if round <= 6 else 3.0 + round / 1e3, round)
    row = rows(rounds=11)["numpy", SIZE, "compute"]
    assert row["low_s"] == row["median_s"] == 1.0 < row["high_s"]


def test_one_round_has_no_interval():
    measured("numpy", [2.0, 2.1, 2.2])
    measured("gpu", [1.0, 1.1, 1.2])
    row = rows("gpu")["gpu", SIZE, "compute"]
    assert row["speedup"] == pytest.approx(2.1 / 1.1) and row["pairs"] == 1
    assert {row[name] for name in INTERVALS} == {""}
    assert row["grade"] == "good"


def test_speedups_are_made_of_pairs():
    """Twice as fast in every round, though the machine slowed down threefold between them."""
    for round, drift in enumerate((1.0, 3.0), 1):
        measured("numpy", 2.0 * drift, round)
        measured("gpu", 1.0 * drift, round)
    found = rows("gpu", rounds=2)
    assert found["gpu", SIZE, "compute"]["speedup"] == pytest.approx(2)
    assert found["gpu", SIZE, "compute"]["pairs"] == 2
    assert found["gpu", SIZE, "compute"]["speedup_low"] == pytest.approx(
        2
    )  # what is common cancels
    baseline = found["numpy", SIZE, "compute"]
    assert baseline["speedup"] == 1
    assert {baseline[name] for name in INTERVALS[2:]} == {""}  # over itself it is 1 by definition


@pytest.mark.parametrize(
    ("ours", "finding"),
    [
        ((1.0, 1.01, 0.99), "faster"),
        ((4.0, 4.1, 4.2), "slower"),
        ((2.1, 1.9, 2.05), "no difference seen"),
    ],
)
def test_a_speedup_says_what_its_interval_supports_and_what_could_have_been_seen(ours, finding):
    for round, seconds in enumerate(ours, 1):
        measured("numpy", 2.0, round)
        measured("gpu", seconds, round)
    row = rows("gpu", rounds=3)["gpu", SIZE, "compute"]
    assert row["finding"] == finding
    assert row["speedup_low"] < row["speedup"] < row["speedup_high"]
    assert row["detectable"] == pytest.approx(row["speedup_high"] / row["speedup"])
    trip = rows("gpu", rounds=3)["gpu", SIZE, "round_trip"]  # on a host the same
    assert trip["speedup_high"] == row["speedup_high"]


def test_a_device_is_compared_with_and_without_its_transfers():
    scopes = {"compute": 1.0, "upload": 3.0, "download": 2.0, "round_trip": 6.0}
    measured("numpy", 2.0)
    measured("gpu", {scope: [seconds] for scope, seconds in scopes.items()}, device="GPU")
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
    assert {row[name] for name in INTERVALS} == {""}


def test_rounds_that_are_pairs_count_where_another_is_none():
    for round in (1, 2, 3):
        measured("numpy", 2.0 + round / 100, round)
        measured("gpu", 1.0 if round < 3 else 50.0, round, boot=str(1 + round // 3))
    row = rows("gpu", rounds=3)["gpu", SIZE, "compute"]
    assert row["speedup"] == pytest.approx(2.015, abs=1e-3)
    assert row["speedup_low"] < row["speedup"] < row["speedup_high"]
    assert (row["pairs"], row["rounds"], row["grade"]) == (2, 3, "not_paired")


def test_times_of_two_machines_are_not_divided():
    measured("numpy", 2.0)
    measured("gpu", 1.0, machine="xyz")
    row = rows("gpu")["gpu", SIZE, "compute"]
    assert (row["speedup"], row["grade"]) == ("", "not_paired")


def test_a_baseline_on_too_few_threads_is_none():
    measured("numpy", 2.0, threads_effective=1)
    measured("gpu", 1.0)
    found = rows("gpu")
    assert found["numpy", SIZE, "compute"]["grade"] == "few_threads"
    assert found["gpu", SIZE, "compute"]["speedup"] == ""


def test_a_disturbed_round_is_marked():
    measured("numpy", 2.0, queue_wait_s=0.5)
    assert rows()["numpy", SIZE, "compute"]["grade"] == "disturbed"


@pytest.mark.parametrize(
    ("samples", "grade"),
    [
        ([1.0] * 5 + [1.06] * 5, "drifting"),
        ([1.0] * 5 + [1.04] * 5, "good"),
        ([1.06] * 5 + [1.0] * 5, "good"),  # slow at first is what warming up is for
        ([1.0] * 5 + [9.0, 9.0, 1.0, 1.0, 1.0], "good"),  # outliers are no drift
        ([1.0] * 4 + [2.0] * 5, "good"),  # too few samples to tell
    ],
)
def test_a_round_that_becomes_slower_is_marked_and_kept(samples, grade):
    measured("numpy", [1.0] * 20, 1)
    measured("numpy", samples, 2)
    row = rows(rounds=2)["numpy", SIZE, "compute"]
    assert (row["grade"], row["samples"]) == (grade, 20 + len(samples))


def test_drift_marks_the_scope_that_drifts():
    drift = [1.0] * 10 + [1.2] * 10
    measured("gpu", {"compute": [1.0] * 20, "download": drift, "round_trip": [2.0] * 20})
    found = {scope: row["grade"] for (name, _, scope), row in rows("gpu").items() if name == "gpu"}
    assert found == {"compute": "good", "download": "drifting", "round_trip": "good"}


def test_what_is_too_short_or_too_long_for_its_round_is_marked():
    measured("short", 1e-6, call_s=2e-8)
    measured("medium", 1e-6, call_s=9e-9)
    measured("long", 5.0, calls=1)
    found = rows("short", "medium", "long")
    assert found["short", SIZE, "compute"]["grade"] == "launch_bound"
    assert found["short", SIZE, "compute"]["call_s"] == 2e-8
    assert found["medium", SIZE, "compute"]["grade"] == "good"
    assert found["long", SIZE, "compute"]["grade"] == "single_call"


def test_all_that_speaks_against_a_row_is_named_in_one_order():
    measured("numpy", 2.0)
    facts = {"threads_effective": 1, "queue_wait_s": 0.5, "calls": 1, "boot": "2"}
    measured("gpu", 1e-6, call_s=1e-7, **facts)
    found = rows("gpu")
    all_of_it = "few_threads + disturbed + launch_bound + single_call + not_paired"
    assert found["gpu", SIZE, "compute"]["grade"] == all_of_it
    assert grades.parts(all_of_it) == all_of_it.split(" + ")
    assert grades.with_also("disturbed + single_call", "above_ceiling") == (
        "disturbed + above_ceiling + single_call"
    )
    assert grades.with_also("good", "above_ceiling") == "above_ceiling"
    assert grades.parts("good") == grades.parts("") == []


def test_a_device_names_the_way_of_its_transfers():
    ways = {
        "compute": "",
        "upload": "pageable",
        "upload_pinned": "pinned",
        "download": "pageable",
        "download_pinned": "pinned",
        "round_trip": "pageable",
        "pin": "",
        "first_call": "",
    }
    measured("numpy", 1.0)
    measured("gpu", 1.0, scopes=tuple(ways))
    found = rows("gpu")
    for scope, way in ways.items():
        assert found["gpu", SIZE, scope]["transfer"] == way, scope
    assert found["numpy", SIZE, "round_trip"]["transfer"] == ""


def test_facts_of_the_rounds_are_carried_and_a_difference_shows():
    common = {"precision": "highest", "memory": "recycled", "flop": 1000}
    for round, (device_s, faults, environment) in enumerate(
        [(0.25, 10, ""), (0.5, 20, "OMP_DYNAMIC=1"), (0.75, 90, "OMP_DYNAMIC=1")], 1
    ):
        measured(
            "numpy",
            1.0,
            round,
            device_s=device_s,
            page_faults=faults,
            environment=environment,
            note="no pinned transfers" if round > 1 else "",
            calls=round,
            **common,
        )
    row = rows(rounds=3)["numpy", SIZE, "compute"]
    assert (row["device_s"], row["page_faults"], row["calls"]) == (0.5, 20, 3)
    assert row["note"] == "no pinned transfers"
    assert row["environment"] == "none + OMP_DYNAMIC=1"
    assert {name: row[name] for name in common} == {k: str(v) for k, v in common.items()}


def test_of_two_attempts_the_last_counts():
    cell = Cell("add", "numpy", "float64", SIZE)
    measured("numpy", [5.0, 5.0], queue_wait_s=0.5)
    first = record.read(cell.csv(1))
    facts = [drop_seals(row) for row in first]
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
    times = ("median_s", "q1_s", "q3_s", "p95_s", "min_s", "samples", "rounds", "grade")
    assert {row[name] for name in (*times, "speedup", "pairs", *INTERVALS)} == {""}


def test_one_failed_round_fails_the_cell_and_names_the_round():
    measured("numpy", 2.0)
    failed("numpy", "timeout", "took more than 1 s", round=2)
    row = rows(rounds=2)["numpy", SIZE, "compute"]
    assert (row["status"], row["reason"]) == ("timeout", "took more than 1 s (round 2 of 2)")


def test_without_a_baseline_there_is_no_speedup():
    failed("numpy", "killed", "x")
    measured("gpu", 1.0)
    row = rows("gpu")["gpu", SIZE, "compute"]
    assert {row[name] for name in ("speedup", "pairs", *INTERVALS)} == {""}
    assert row["grade"] == "good"


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


def both_drawn(rounds, **facts):
    """What a curve takes from end to end, with numpy and on a device, by (backend, scope)."""
    cells = [Cell("polar", backend, "float64", SIZE) for backend in ("numpy", "gpu")]
    pictures = [Picture("polar", method, "float64", SIZE) for method in ("line", "raster")]
    trips = {"compute": [1.0], "download": [1.0], "round_trip": [3.0]}
    for round in range(1, rounds + 1):
        measured("numpy", 7.0 + round / 100, round, cell=cells[0])
        measured("gpu", trips, round, cell=cells[1], device="GPU")
        for picture, seconds in zip(pictures, (90.0, 1.0), strict=True):
            measured("", seconds, round, cell=picture, scopes=("render",), **facts)
    found = summary.summarize([*cells, *pictures], rounds, "numpy")
    assert [row["scope"] for row in found[-2:]] == ["render", "render"]
    return {(row["backend"], row["scope"]): row for row in found}


def test_from_end_to_end_is_the_round_trip_and_our_way_of_drawing():
    found = both_drawn(rounds=3)
    row = found["gpu", "end_to_end"]
    assert (row["median_s"], row["rounds"], row["grade"]) == (4.0, 3, "good")
    assert row["speedup"] == pytest.approx(8.02 / 4, rel=1e-4)  # 2.3 without the drawing
    assert row["speedup_low"] < row["speedup"] < row["speedup_high"] and row["pairs"] == 3
    assert found["numpy", "end_to_end"]["median_s"] == pytest.approx(8.02)
    assert found["numpy", "end_to_end"]["speedup"] == 1


def test_what_is_wrong_with_a_drawing_is_wrong_from_end_to_end():
    found = both_drawn(rounds=1, queue_wait_s=0.5)
    assert found["gpu", "end_to_end"]["grade"] == "disturbed"
    assert found["gpu", "round_trip"]["grade"] == "good"


@pytest.mark.parametrize("facts", [{"machine": "xyz"}, {"status": "killed", "reason": "x"}])
def test_a_drawing_elsewhere_or_none_is_added_to_nothing(facts):
    found = both_drawn(rounds=1, **facts)
    assert ("gpu", "end_to_end") not in found and ("numpy", "end_to_end") not in found
    assert found["gpu", "round_trip"]["speedup"] == pytest.approx(7.01 / 3)


def test_a_drawing_that_only_one_side_has_is_not_compared():
    found = both_drawn(rounds=1)
    assert found["gpu", "end_to_end"]["speedup"] == pytest.approx(8.01 / 4)
    measured("numpy", 7.0, cell=Cell("polar", "numpy", "float64", SIZE), machine="xyz")
    cells = [Cell("polar", backend, "float64", SIZE) for backend in ("numpy", "gpu")]
    rows = summary.summarize([*cells, Picture("polar", "raster", "float64", SIZE)], 1, "numpy")
    (row,) = [r for r in rows if (r["backend"], r["scope"]) == ("gpu", "end_to_end")]
    assert row["median_s"] == 4.0 and row["speedup"] == ""


@pytest.mark.parametrize("name", ["NA", "null", "nan", "None", "a,b", 'a"b'])
def test_names_survive_the_way_to_the_file_and_back(tmp_path, name):
    measured("numpy", 2.0)
    (row,) = [r for r in rows().values() if r["scope"] == "compute"]
    table.write(tmp_path / "summary.csv", [row | {"backend": name}])
    (back,) = table.read(tmp_path / "summary.csv")
    assert back["backend"] == name and float(back["median_s"]) == 2.0
