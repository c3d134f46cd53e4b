"""Time and bandwidth of rings by hand: the slowest rank, the median of each ring, the geometric mean over rings."""

import math

import numpy as np
import pytest

from fake_run import lane, machine, point
from octant.analysis.figures import figure
from octant.record import Head, Point, Series
from octant.workload import Traffic
from octant.workloads.mpi.ring import WORKLOAD

BYTES, LOOPS, RANKS = 1000, 5, 2


def two_rings(of_second_ns: int = 40_000) -> Point:
    """Ring 0 takes 10 us on rank 0 and 20 us on rank 1, ring 1 the same on both; they take turns, once late."""
    rings = np.array([0.0, 1.0] * 10)
    first = [np.where(rings == 0, 10_000, of_second_ns), np.where(rings == 0, 20_000, of_second_ns)]
    first[1][4] = 900_000
    series: list[Series] = []
    for rank, ns in enumerate(first):
        series += [lane(list(ns), rank=rank), Series(Head("reading/ring", rank, 0, unit="1"), rings)]
    counts = {"messages": RANKS * 2 * LOOPS, "bytes_sent": RANKS * 2 * LOOPS * BYTES}
    knobs = {"bytes": str(BYTES), "order": "random", "loops": str(LOOPS)}
    return point("steps", workload="mpi/ring", knobs=knobs, counts=counts, lanes=tuple(series), ranks=RANKS)


def test_a_message_takes_half_an_exchange_of_the_slowest_rank_and_rings_have_a_geometric_mean() -> None:
    expected_s = math.sqrt(20e-6 * 40e-6) / (2 * LOOPS)
    for name, expected in (("time", expected_s), ("HPCC time", expected_s)):
        value = figure(WORKLOAD, [two_rings()], name).value
        assert value is not None
        assert value.middle == pytest.approx(expected)
    for name in ("bandwidth", "HPCC bandwidth"):
        value = figure(WORKLOAD, [two_rings()], name).value
        assert value is not None
        assert value.middle == pytest.approx(BYTES / expected_s)


def test_a_ring_that_is_fast_once_has_another_time_by_hpcc() -> None:
    measured = two_rings()
    series = measured.read().series
    series[0].values[2] = series[2].values[2] = 5_000  # ring 0, both ranks
    median, least = (figure(WORKLOAD, [measured], name).value for name in ("time", "HPCC time"))
    assert median is not None
    assert least is not None
    assert least.middle == pytest.approx(median.middle / 2)


def test_in_the_time_of_a_message_half_of_each_is_carried() -> None:
    assert WORKLOAD.traffic is not None
    traffic = WORKLOAD.traffic(machine(), two_rings())
    assert isinstance(traffic, Traffic)
    assert (traffic.pattern, traffic.units) == ("random-ring", BYTES / 2)


@pytest.mark.parametrize("lost", ["step", "reading/ring"])
def test_a_record_without_the_samples_says_so(lost: str) -> None:
    measured = two_rings()
    kept = tuple(one for one in measured.read().series if one.head.name != lost)
    bare = point("steps", workload="mpi/ring", knobs=measured.knobs, lanes=kept, ranks=RANKS)
    assert figure(WORKLOAD, [bare]).value is None
