"""The lines that end every sweep claim no more than the intervals support."""

import pytest

from crossover import closing, grades, machine, verdict
from crossover.verdict import Point
from rounds import failed, measured, rows, texts

# By the ratio in each of three rounds: certain, certain the other way, and neither.
FAST, SLOW, ALIKE = (2.0, 2.1, 1.9), (0.5, 0.52, 0.48), (1.1, 0.9, 1.05)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def sweep(speedups):
    """Rows of numpy and one other backend, whose speedups by size are given for each round."""
    for size, ratios in speedups.items():
        for round, ratio in enumerate(ratios, 1):
            measured("numpy", 1.0, round, size)
            measured("other", 1.0 / ratio, round, size)
    most = max(len(ratios) for ratios in speedups.values())
    return texts(rows("other", rounds=most, sizes=tuple(speedups), partial=True))


@pytest.mark.parametrize(
    ("speedups", "words"),
    [
        (
            {10: SLOW, 100: FAST, 1000: FAST},
            "faster from n = 100 on (2x, 1.76x to 2.26x, at n = 1,000)",
        ),
        (
            {10: FAST, 100: FAST},
            "faster from the smallest size, 10, on (2x, 1.76x to 2.26x, at n = 100)",
        ),
        ({100: FAST}, "faster from the one size measured on (2x, 1.76x to 2.26x, at n = 100)"),
        (
            {10: SLOW, 100: FAST, 1000: SLOW},
            "faster only at n = 100 (2x, 1.76x to 2.26x, at n = 100)",
        ),
        (
            {10: SLOW, 100: SLOW},
            "slower at every size measured (0.5x, 0.452x to 0.552x, at n = 100)",
        ),
        (
            {10: ALIKE, 100: ALIKE},
            "no difference seen at any size (smallest that could have been: 1.3x)",
        ),
        (
            {10: ALIKE, 100: FAST},
            "faster from n = 100 on (2x, 1.76x to 2.26x, at n = 100); "
            "no difference seen at n = 10 (smallest that could have been: 1.3x)",
        ),
        (
            {10: SLOW, 100: ALIKE, 1000: (1.0, 1.01, 0.99)},
            "slower at n = 10 (0.5x, 0.452x to 0.552x, at n = 10); no difference seen at "
            "n = 100, 1,000 (smallest that could have been: 1.03x to 1.3x)",
        ),
        (
            {10: FAST, 100: FAST, 1000: (2.0,)},
            "faster only at n = 10, 100 (2x, 1.76x to 2.26x, at n = 100); no interval at n = 1,000",
        ),
    ],
)
def test_with_intervals_nothing_is_said_that_they_do_not_hold(speedups, words):
    assert closing.verdicts(sweep(speedups)) == [f"add float64, other: {words}"]


@pytest.mark.parametrize(
    ("speedups", "words"),
    [
        ({10: 0.5, 100: 2, 1000: 3}, "faster from n = 100 on (3x at n = 1,000)"),
        ({10: 2, 100: 3}, "faster from the smallest size, 10, on (3x at n = 100)"),
        ({10: 0.1, 100: 0.5}, "never faster up to n = 100 (0.5x at n = 100)"),
        ({10: 0.5, 100: 2, 1000: 0.9}, "faster only at n = 100 (0.9x at n = 1,000)"),
        ({10: 2, 100: 0.5, 1000: 4}, "faster from n = 1,000 on (4x at n = 1,000)"),
        ({10: 0.97, 100: 1.04}, "as fast, within 5 %, at every size measured (1.04x at n = 100)"),
        ({10: 0.5, 100: 1.01}, "never faster up to n = 100 (1.01x at n = 100)"),
        ({100: 2}, "faster from the one size measured on (2x at n = 100)"),
    ],
)
def test_one_round_is_told_by_its_medians_and_says_so(tmp_path, speedups, words):
    found = sweep({size: [ratio] for size, ratio in speedups.items()})
    assert closing.verdicts(found) == [f"add float64, other: {words}"]
    text = closing.lines(found, tmp_path)
    assert "one round gives no interval" in "\n".join(text)
    assert "95 %" not in "\n".join(text)


def test_rounds_that_are_no_pairs_claim_no_interval(tmp_path):
    for round in (1, 2):
        measured("numpy", 1.0, round)
        measured("other", 0.5, round, boot="2")
    text = "\n".join(closing.lines(texts(rows("other", rounds=2)), tmp_path))
    assert "Speedups over numpy; without an interval by more than 5 % counts as faster" in text
    assert "Trusted less: 1 not_paired" in text and "'make fresh' lists and removes" in text


def test_the_line_above_the_verdicts_says_what_faster_means(tmp_path):
    text = closing.lines(sweep({100: FAST}), tmp_path)
    assert "Speedups over numpy; faster where the 95 % interval is above 1:" in text


def test_a_device_is_judged_with_its_transfers_as_well():
    for round, noise in enumerate((1.0, 1.02), 1):
        measured("numpy", 1.0, round)
        seconds = {"compute": 0.5, "download": 0.1, "round_trip": 2.0 * noise}
        measured("other", {scope: [value] for scope, value in seconds.items()}, round)
    (line,) = closing.verdicts(texts(rows("other", rounds=2)))
    assert line == (
        "add float64, other: faster from the one size measured on (2x, 2x to 2x, at n = 1,000); "
        "with transfers slower at every size measured (0.495x, 0.437x to 0.561x, at n = 1,000)"
    )


def test_a_mean_is_geometric_over_the_cells_where_both_sides_are_ok():
    measured("numpy", 1.0, size=10)
    measured("other", {"compute": [0.5], "download": [0.1], "round_trip": [4.0]}, size=10)
    measured("numpy", 1.0, size=100)
    measured("other", {"compute": [0.125], "download": [0.1], "round_trip": [1.0]}, size=100)
    failed("numpy", "killed", "x", size=1000)
    measured("other", 0.001, size=1000)
    measured("numpy", 1.0, size=10000)
    failed("other", "timeout", "x", size=10000)
    found = texts(rows("other", sizes=(10, 100, 1000, 10000)))
    assert closing.means(found) == [
        "other: geometric mean 4x, 2 of 4 cells; 0.5x with transfers, 2 of 4 cells"
    ]


def test_without_another_backend_there_is_no_verdict_and_no_mean(tmp_path):
    measured("numpy", 1.0)
    text = closing.lines(texts(rows()), tmp_path)
    assert not any("peedup" in line or "mean" in line for line in text)


def test_settings_that_slow_a_backend_down_are_named(tmp_path):
    harmless = "GLIBC_TUNABLES=glibc.malloc.mmap_max=0 OMP_DYNAMIC=false CUDA_LAUNCH_BLOCKING=0"
    measured("numpy", 1.0, environment=f"{harmless} OPENBLAS_CORETYPE=Prescott")
    measured("other", 1.0, environment=f"CUDA_LAUNCH_BLOCKING=1 {harmless}")
    text = closing.lines(texts(rows("other")), tmp_path)
    assert [line for line in text if line.startswith("Set while measuring")] == [
        "Set while measuring: OPENBLAS_CORETYPE=Prescott "
        "(OpenBLAS uses the kernels of that CPU, not of this one)",
        "Set while measuring: CUDA_LAUNCH_BLOCKING=1 (every launch waits for the GPU)",
    ]


def test_only_settings_that_are_recorded_can_be_named():
    recorded = machine.SPEED_VARIABLES
    assert [name for name in closing.SLOWING if not recorded.match(name)] == []


def test_the_end_says_what_is_not_ok_and_how_to_try_again(tmp_path):
    measured("numpy", 1.0)
    failed("gpu", "unavailable", "no driver")
    measured("slow", 1.0, threads_effective=1)
    found = texts(rows("gpu", "slow"))
    text = "\n".join(closing.lines(found, tmp_path, " CONFIG=x.yaml"))
    assert "Not ok: 1 of 3 cells" in text
    assert "1 x gpu: unavailable (no driver)" in text
    assert "Trusted less: 1 few_threads: fewer threads than asked for" in text
    assert text.count("'make retry CONFIG=x.yaml'") == 2 and str(tmp_path) in text
    assert [row["backend"] for row in closing.failed(found)] == ["gpu"]


def test_each_grade_is_counted_by_cells_and_only_what_can_be_cured_has_a_cure():
    measured("numpy", 1.0, call_s=0.1, calls=1)
    measured("other", [1.0] * 5 + [2.0] * 5, scopes=("compute", "download"), queue_wait_s=0.5)
    text = closing.not_good(texts(rows("other")))
    assert [line.split(": ")[1] for line in text] == [
        "1 disturbed",
        "1 drifting",
        "1 launch_bound",
        "1 single_call",
    ]
    assert ["make retry" in line for line in text] == [True, True, False, False]
    assert set(grades.CURE) < set(grades.MEANING)


def test_when_all_is_well_nothing_is_to_be_tried_again(tmp_path):
    measured("numpy", 1.0)
    assert not any("make " in line for line in closing.lines(texts(rows()), tmp_path))


def test_every_reason_is_printed_once():
    for size in (10, 100):
        measured("numpy", 1.0, size=size)
        failed("gpu", "unavailable", "no driver", size=size)
    found = texts(rows("gpu", sizes=(10, 100)))
    assert sum("no driver" in line for line in closing.not_ok(found)) == 1


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(1.0, "1x"), (1.234, "1.23x"), (0.01234, "0.0123x"), (99.99, "100x"), (12345, "12,345x")],
)
def test_ratios_in_words(ratio, words):
    assert verdict.times(ratio) == words


def test_a_point_without_an_interval_is_one_without_a_finding():
    assert Point.of({"speedup": "2.0", "finding": ""}) == Point(2.0)
