"""How many calls pay for the way to the device and back."""

import random
from math import inf

import pytest

from crossover.intervals import Interval
from crossover.reuse import Calls, reuse

NOT_KNOWN = Calls(None, None, None)


def test_a_sum_done_by_hand():
    """3 s there and 4 s back; each call gains 2 s: 3.5 calls' worth, so the fourth pays."""
    found = reuse(3.0, 1.0, upload_s=3.0, download_s=4.0, round_trip_s=8.5, first_call_s=20.0)
    assert found.warm == Calls(None, 4, None)
    ways = found.ways(4)
    assert (ways.host_s, ways.resident_s, ways.once_s, ways.each_s) == (12, 4, 11, 34)
    assert ways.cold_s == 23
    assert found.cold == Calls(None, 10, None)  # 17 s late, 2 s gained by each call but the first
    assert found.ways(10).cold_s == 29 < found.ways(10).host_s == 30
    assert found.ways(9).cold_s == 28 > found.ways(9).host_s == 27


def test_it_is_the_first_call_at_which_the_device_is_ahead():
    draw = random.Random(1)
    for _ in range(500):
        host_s, device_s = draw.uniform(1, 10), draw.uniform(0.1, 0.9)
        found = reuse(
            host_s,
            device_s,
            upload_s=draw.uniform(0, 50),
            download_s=draw.uniform(0, 50),
            first_call_s=draw.uniform(0, 100),
        )
        for calls, way in ((found.warm.point, "once_s"), (found.cold.point, "cold_s")):
            assert getattr(found.ways(calls), way) < found.ways(calls).host_s
            if calls > 1:
                assert getattr(found.ways(calls - 1), way) >= found.ways(calls - 1).host_s


def test_a_slower_or_equal_device_never_pays():
    for device_s in (1.0, 1.5):
        found = reuse(1.0, device_s, upload_s=0.0, download_s=0.1, first_call_s=5.0)
        assert found.warm.point == found.cold.point == inf


def test_a_call_that_pays_exactly_is_not_yet_ahead():
    assert reuse(2.0, 1.0, upload_s=1.0, download_s=2.0).warm.point == 4
    assert reuse(2.0, 1.0, upload_s=0.0, download_s=0.0).warm.point == 1


def test_the_hosts_own_first_call_counts():
    late = {"upload_s": 0.0, "download_s": 0.0, "first_call_s": 5.0}
    assert reuse(2.0, 1.0, **late).cold.point == 5
    assert reuse(2.0, 1.0, **late, host_first_call_s=4.5).cold.point == 2
    assert reuse(2.0, 1.0, **late, host_first_call_s=60.0).cold.point == 1
    assert reuse(1.0, 2.0, **late, host_first_call_s=60.0).cold.point == 1


def test_the_interval_follows_the_speedups():
    found = reuse(2.0, 1.0, upload_s=1.5, download_s=2.0, speedup=Interval(1.5, 2.0, 3.0))
    assert found.warm == Calls(2, 4, 8)  # 3.5 s at a gain of 2, 1 and 0.5 s
    unclear = reuse(2.0, 1.0, upload_s=1.5, download_s=2.0, speedup=Interval(0.9, 2.0, 3.0))
    assert unclear.warm == Calls(2, 4, inf)
    slower = reuse(1.0, 2.0, upload_s=1.5, download_s=2.0, speedup=Interval(0.4, 0.5, 0.9))
    assert slower.warm == Calls(inf, inf, inf)


def test_medians_beside_the_interval_stay_inside():
    found = reuse(2.0, 1.0, upload_s=1.5, download_s=2.0, speedup=Interval(2.5, 2.7, 3.0))
    assert found.warm.low <= found.warm.point <= found.warm.high


def test_a_missing_figure_is_missing_in_what_needs_it():
    found = reuse(2.0, 1.0, upload_s=None, download_s=1.0, first_call_s=9.0)
    assert found.warm == NOT_KNOWN and found.cold.point == 9
    assert found.ways(3).once_s is None and found.ways(3).each_s is None
    found = reuse(2.0, 1.0, upload_s=0.0, download_s=1.0)
    assert found.cold == NOT_KNOWN and found.warm.point == 2


@pytest.mark.parametrize("bad", [-1.0, inf, float("nan")])
def test_what_is_no_time_is_refused(bad):
    with pytest.raises(ValueError, match="seconds"):
        reuse(1.0, 1.0, upload_s=bad, download_s=0.0)
    with pytest.raises(ValueError, match="more than 0"):
        reuse(0.0, 1.0, upload_s=0.0, download_s=0.0)
