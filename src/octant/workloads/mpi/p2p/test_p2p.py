"""Figures and limit of p2p by hand, and its program: every pattern is right, and every fault is seen."""

import numpy as np
import pytest

from fake_run import MIB, lane, machine, point, there_and_back
from octant.analysis.figures import figure
from octant.limit import Best, Known
from octant.record import Given, Point
from octant.workload import NoTraffic, Traffic
from octant.workloads.mpi.p2p import WORKLOAD

KNOWN = Known(
    machine().topology,
    {"memory traffic": {frozenset({("a", 0)}): Best(20e9, ""), frozenset({("a", 0), ("a", 1)}): Best(40e9, "")}},
)


def pingpong(length: int, ns: int, buffers: str = "rotating", hosts: tuple[str, str] = ("a", "a")) -> Point:
    given = tuple(Given(host, (0,), ((0,),)) for host in hosts)
    knobs = {"pattern": "pingpong", "bytes": str(length), "buffers": buffers}
    return point("steps", counts=there_and_back(length), knobs=knobs, lanes=(lane([ns] * 8),), ranks=2, given=given)


def value(of: Point, metric: str) -> float:
    found = figure(WORKLOAD, [of], metric).value
    assert found is not None
    return found.middle


def test_a_ping_pong_s_time_is_one_way_and_its_bandwidth_too() -> None:
    found = pingpong(MIB, 200_000)
    assert value(found, "time") == pytest.approx(1e-4)
    assert value(found, "bandwidth") == pytest.approx(MIB / 1e-4)
    assert value(found, "message rate") == pytest.approx(1e4)


def test_an_exchange_is_read_in_the_definitions_of_each_tool() -> None:
    """Two ranks, steps of 1, 1 and 4 µs on one and always 2 µs on the other; messages of 500 B, 4 a step in all."""
    steps = (np.array([1000, 1000, 4000]), np.array([2000, 2000, 2000]))
    counts = {"messages": 4, "bytes_sent": 2000, "turns": 1, "bytes_passed": 2000}
    lanes = tuple(lane(ns.tolist(), rank=rank) for rank, ns in enumerate(steps))
    found = point("steps", counts=counts, knobs={"pattern": "exchange"}, lanes=lanes, ranks=2)
    assert value(found, "time") == pytest.approx(2e-6)  # the slowest rank's of each step, 2, 2 and 4: their median
    assert [value(found, f"t_{how}") for how in ("min", "avg", "max")] == pytest.approx([2e-6, 2e-6, 2e-6])
    assert value(found, "bandwidth") == pytest.approx(4 * 500 / 2e-6)
    assert value(found, "message rate") == pytest.approx(4 / 2e-6)


def test_a_mean_over_repetitions_comes_before_the_ranks_in_imb_s_times() -> None:
    counts = {"messages": 2, "bytes_sent": 2000, "turns": 1, "bytes_passed": 2000}
    lanes = tuple(lane(ns, rank=rank) for rank, ns in enumerate(([1000, 1000, 7000], [2000, 2000, 2000])))
    found = point("steps", counts=counts, knobs={"pattern": "sendrecv"}, lanes=lanes, ranks=2)
    times = [value(found, name) for name in ("time", "t_min", "t_avg", "t_max")]
    assert times == pytest.approx([2e-6, 2e-6, 2.5e-6, 3e-6])
    assert value(found, "mean bandwidth") == pytest.approx(2000 / 3e-6)


def test_the_limit_is_one_read_and_one_write_of_each_message() -> None:
    limit = WORKLOAD.least_seconds(KNOWN, machine(), pingpong(MIB, 200_000))
    assert limit is not None
    assert limit.seconds == pytest.approx(2 * 2 * MIB / 40e9)  # of a step: there and back
    for silent in (
        pingpong(8, 1000),
        pingpong(MIB, 200_000, buffers="hot"),
        pingpong(MIB, 200_000, hosts=("a", "b")),
    ):
        assert WORKLOAD.least_seconds(KNOWN, machine(), silent) is None


def test_a_message_is_one_flow_to_the_network_model() -> None:
    assert WORKLOAD.traffic is not None
    hot, rotating = (WORKLOAD.traffic(machine(), pingpong(4096, 1000, buffers=b)) for b in ("hot", "rotating"))
    assert isinstance(hot, Traffic)
    assert isinstance(rotating, Traffic)
    assert (hot.pattern, hot.units, hot.may_be_cached) == ("first-to-last", 4096, True)
    assert not rotating.may_be_cached
    several = point("steps", counts={"messages": 4, "bytes_sent": 32}, knobs={"pattern": "exchange"})
    assert isinstance(WORKLOAD.traffic(machine(), several), NoTraffic)
