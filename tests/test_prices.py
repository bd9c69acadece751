"""Money: what a call costs, and from which size on a backend is cheaper than its baseline."""

import pytest

from config_cases import ROOT, lines, mine, raw
from crossover import break_even, config, decide, prices, table, verdict
from made_up_verdicts import FAST, SIZES, TRIP, C, T, even, failed, gpu, host, numpy, of
from test_decide import CROSSING, GRID, baseline_rows, found, holds, rows, speedup

BEST = decide.BEST_CPU

# --- config


def read(values):
    return config.read(values, ROOT)


def test_the_price_of_a_backend_beats_that_of_the_machine():
    backends = {"numpy": {}, "again": {"library": "numpy", "price_per_hour": "2.5"}}
    assert read(raw(backends=backends)).prices == {"again": 2.5}
    one = read(raw(backends=backends, price_per_hour=1, currency="€"))
    assert one.prices == {"numpy": 1.0, "again": 2.5} and one.currency == "€"
    assert read(raw()).prices == {} and read(raw()).currency == ""


PRICE = "price_per_hour is a number above 0, such as 2.5"


@pytest.mark.parametrize("bad", [0, -1, "much", True, None, [1, 2], float("inf"), 10**400, 1e-320])
def test_a_bad_price_is_refused_in_one_line(bad):
    (line,) = lines(raw(price_per_hour=bad))
    assert line.startswith("price_per_hour: ") and f"is not a price; {PRICE}" in line
    (line,) = lines(mine(library="numpy", price_per_hour=bad))
    assert line.startswith("backends.mine.price_per_hour: ") and PRICE in line


@pytest.mark.parametrize("bad", ["", 5, None, "x" * 21, "a\nb", ["USD"]])
def test_a_bad_currency_is_refused_in_one_line(bad):
    (line,) = lines(raw(currency=bad))
    assert line.startswith("currency: ") and "is not a currency; currency is a text" in line


# --- summary


def test_a_call_costs_its_share_of_an_hour():
    rows = [
        {"backend": "gpu", "scope": scope, "status": "ok", "median_s": 0.0072, "reason": ""}
        for scope in ("compute", "round_trip", "end_to_end", "upload", "first_call", "render")
    ]
    rows.append(rows[0] | {"status": "error", "median_s": ""})
    rows.append(rows[0] | {"backend": "numpy"})
    priced = prices.annotate(rows, {"gpu": 2.5}, "EUR")
    costs = [row.get("cost_per_million_calls") for row in priced]
    assert costs == [pytest.approx(5.0)] * 3 + [None] * 5
    wanted = {"price_per_hour": 2.5, "currency": "EUR"}
    assert [wanted.items() <= row.items() for row in priced] == [True] * 3 + [False] * 5
    assert [{name: row[name] for name in rows[0]} for row in priced] == rows
    assert set(priced[0]) <= set(table.COLUMNS)


# --- break-even


def in_money(tmp_path, ours, theirs):
    """The rows of break_even.csv of a GPU that is ten times as fast at last, by scope."""
    device = rows("gpu", CROSSING, device=True, **price(ours))
    evens = found(tmp_path, baseline_rows(**price(theirs)), device)
    return {scope: row for (_, scope, against), row in evens.items() if against == "numpy"}


def price(value):
    return {} if value is None else {"price_per_hour": value}


def crossing(ratio, crossing_in_time):
    """Where the speedup of test_decide is the ratio of the prices."""
    size = crossing_in_time * (ratio - 0.1) / (1 - ratio / 10)
    assert speedup(size, crossing_in_time) == pytest.approx(ratio)
    return size


def shown(row):
    """The break-even in money, under the names of the one in time."""
    return {name: row[column] for name, column in decide.IN_MONEY.items()}


@pytest.mark.parametrize(("ours", "theirs"), [(3, 1), (1, 3), (4.5, 1.5)])
def test_cheaper_from_where_the_speedup_is_the_ratio_of_the_prices(tmp_path, ours, theirs):
    row = in_money(tmp_path, ours, theirs)["compute"]
    wanted = crossing(ours / theirs, CROSSING)
    assert float(row["price_ratio"]) == ours / theirs
    assert holds(shown(row), wanted) and not holds(row, wanted)
    assert holds(row, CROSSING)  # in time nothing moves
    assert row["cheaper_words"].startswith("from n = ")
    assert float(shown(row)["low"]) < float(shown(row)["size"]) < float(shown(row)["high"])


def test_it_is_the_break_even_of_a_backend_so_much_slower(tmp_path):
    """The same code, on the same rounds, moved by the logarithm of the ratio."""
    row = in_money(tmp_path, 3, 1)["round_trip"]
    slower = [
        one
        | {
            "speedup_by_round": " ".join(
                f"{part.split(':')[0]}:{float(part.split(':')[1]) / 3!r}"
                for part in one["speedup_by_round"].split()
            )
        }
        for one in rows("gpu", CROSSING, device=True)
    ]
    wanted = found(tmp_path, baseline_rows(), slower)["gpu", "round_trip", "numpy"]
    mine = shown(row)
    assert mine["kind"] == wanted["kind"] == break_even.FROM
    for name in ("size", "low", "high"):
        assert float(mine[name]) == pytest.approx(float(wanted[name]), rel=1e-9)


def test_at_more_than_the_largest_speedup_it_is_never_cheaper(tmp_path):
    row = in_money(tmp_path, 20, 1)["compute"]
    assert shown(row)["kind"] == break_even.NEVER
    assert row["cheaper_words"] == f"never up to n = {GRID[-1]:,}"
    assert row["kind"] == break_even.FROM


@pytest.mark.parametrize(("ours", "theirs"), [(None, 1), (1, None), (None, None), (2, 2)])
def test_without_two_prices_that_differ_there_is_none(tmp_path, ours, theirs):
    row = in_money(tmp_path, ours, theirs)["compute"]
    assert set(shown(row).values()) == {""} and row["cheaper_words"] == ""
    assert row["price_ratio"] == (1.0 if ours and theirs else "")
    assert row["kind"] == break_even.FROM


def test_the_cheapest_cpu_is_by_the_price_of_each(tmp_path):
    """torch on the CPU is as fast as the GPU from early on, and on a machine that is dear enough
    for that to be no help, or so cheap that the GPU is never cheaper."""

    def against(torch_price):
        device = rows("gpu", CROSSING, device=True, **price(3))
        torch = rows("torch", CROSSING / 10, **price(torch_price))
        return found(tmp_path, baseline_rows(**price(1)), device, torch)["gpu", "compute", BEST]

    assert holds(shown(against(1000)), crossing(3, CROSSING))
    assert shown(against(1))["kind"] == break_even.NEVER
    assert shown(against(None))["kind"] == ""  # nobody knows which is the cheapest
    assert against(1)["price_ratio"] == ""


# --- verdict


def priced(parts, currency="USD", **by_backend):
    rows = prices.annotate(of(*parts), by_backend, currency)
    return [{name: str(value) for name, value in row.items()} for row in rows]


def said(evens, *parts, **prices_of):
    text = verdict.lines(priced(parts, **prices_of), evens, [])
    return [line for line in text if line.startswith("In money")]


TRIP_EVEN = even("from 90000 (80000, 100000)", T, "round_trip", cheaper="from 3e6 (2e6, 5e6)")


def test_the_sentence_says_speedup_prices_and_from_which_size_on():
    measured = (of(numpy(SIZES)), of(gpu(T, FAST, TRIP))[::-1])  # some rows have no price
    (line,) = said([TRIP_EVEN], *measured, numpy=1, torch_cuda=3)
    assert line == (
        "In money, torch_cuda is 3x the price of numpy (3 against 1 USD an hour): add float64 with "
        "transfers 4x as fast (3.8x to 4.21x) at n = 10,000,000: cheaper from n = 3,000,000 on "
        "(95 %: 2,000,000 to 5,000,000)."
    )
    (line,) = said([TRIP_EVEN], *measured, numpy=1, torch_cuda=3, currency="")
    assert "(3 against 1 an hour)" in line


CASES = {
    "never": ("never 10000000", "never cheaper up to n = 10,000,000"),
    "smallest": ("smallest 1000", "cheaper from the smallest size, n = 1,000, on"),
    "unclear": ("unclear 1000 10000000", "not clear between n = 1,000 and 10,000,000"),
    "between": ("between 2000 50000", "cheaper only between n = 2,000 and 50,000"),
}


@pytest.mark.parametrize(("cheaper", "words"), CASES.values(), ids=CASES)
def test_no_more_is_claimed_than_the_interval_says(cheaper, words):
    evens = [even("from 90000 (80000, 100000)", T, "round_trip", cheaper=cheaper)]
    (line,) = said(evens, numpy(SIZES), gpu(T, FAST, TRIP), numpy=1, torch_cuda=5)
    assert line.endswith(f"at n = 10,000,000: {words}.")
    assert ("cheaper" in line.replace("never cheaper", "")) == (cheaper[0] in "sb")


def test_the_speedup_is_one_that_the_break_even_knows():
    """Of one round at the largest size, which has no interval: less than the prices' ratio."""
    known = {1000: 0.5, 100_000: 4, 1_000_000: 5}
    rows_of_all = priced(
        [numpy(SIZES), numpy([100_000]), gpu(T, known, known), gpu(T, *[{10**7: 2}] * 2, rounds=1)],
        **{"numpy": 1, T: 3},
    )
    evens = [one for curve in decide.curves(rows_of_all) for one in curve.break_evens()]
    texts = [{name: str(value) for name, value in one.items()} for one in evens]
    (line,) = (one for one in verdict.lines(rows_of_all, texts, []) if one.startswith("In money"))
    assert "5x as fast (4.76x to 5.26x) at n = 1,000,000: cheaper from n = " in line


def test_where_only_data_that_stays_is_cheaper_that_is_said():
    evens = [
        even("from 316 (200, 501)", T, cheaper="from 900 (800, 999)"),
        even("from 90000 (80000, 100000)", T, "round_trip", cheaper="never 10000000"),
    ]
    (line,) = said(evens, numpy(SIZES), gpu(T, FAST, TRIP), numpy=1, torch_cuda=9)
    assert "add float64 computing 40x as fast" in line and "with transfers" not in line


def test_the_cheapest_cpu_backend_is_named_beside_the_baseline():
    evens = [TRIP_EVEN, even("", T, "round_trip", BEST, cheaper="never 10000000")]
    parts = (numpy(SIZES), host(C, dict.fromkeys(SIZES, 2)), gpu(T, FAST, TRIP))
    (line,) = said(evens, *parts, numpy=1, torch_cuda=3, torch_cpu=1)
    assert line.endswith("against the cheapest CPU backend never cheaper up to n = 10,000,000.")


def test_without_a_break_even_in_money_there_is_no_line():
    plain = even("from 90000 (80000, 100000)", T, "round_trip")
    assert said([plain], numpy(SIZES), gpu(T, FAST, TRIP)) == []
    assert said([plain], numpy(SIZES), gpu(T, FAST, TRIP), numpy=1) == []


def test_a_host_on_a_cheaper_machine_has_its_line():
    evens = [even("never 10000000", C, cheaper="from 4000 (3000, 5000)")]
    slower = host(C, dict.fromkeys(SIZES, 0.5))
    (line,) = said(evens, numpy(SIZES), slower, numpy=4, torch_cpu=1)
    assert "torch_cpu is 0.25x the price of numpy (1 against 4 USD an hour)" in line
    assert "add float64 slower, 0.5x" in line and "cheaper from n = 4,000 on" in line


@pytest.mark.parametrize("count", [1, 9])
def test_ten_lines_stay_ten(count):
    """With everything that a verdict can have, and a line of money."""
    parts, evens = [], []
    for number in range(count):
        of_one = {"workload": f"w{number}"}
        parts += [numpy(SIZES, **of_one), gpu(T, FAST, TRIP, **of_one)]
        parts += [gpu("other", FAST, TRIP, device="NVIDIA A100", **of_one)]
        parts += [host(C, dict.fromkeys(SIZES, 2), grade="disturbed", **of_one)]
        parts += [host("numba", dict.fromkeys(SIZES, 3), library="numba", **of_one)]
        parts += [host("more", dict.fromkeys(SIZES, 3), library="jax", **of_one)]
        parts += [failed("mps", SIZES, device="mps", **of_one)]
        for place in ("b2", "c3", "d4"):
            there = of_one | {"machine": place, "cpu": f"CPU {place}"}
            parts += [numpy(SIZES, **there), gpu(T, FAST, TRIP, **there)]
        for backend in (T, "other"):
            evens.append(even("smallest 1000", backend, "round_trip", cheaper="smallest 1000",
                              workload=f"w{number}"))  # fmt: skip
    rows_of_all = priced(parts, numpy=1, torch_cuda=3, other=2)
    text = verdict.lines(rows_of_all, evens, [])
    assert len(text) == 10 and any(line.startswith("In money") for line in text)
    assert any(line.startswith("w0") for line in text) or count > 1
    assert any("How far to trust it" in line for line in text)
