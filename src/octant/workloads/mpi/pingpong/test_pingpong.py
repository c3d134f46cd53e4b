"""Time, bandwidth and limit of pingpong by hand."""

import pytest

from fake_run import MIB, lane, machine, point
from octant.analysis.figures import figure
from octant.limit import Best, Known
from octant.record import Given, Point
from octant.workload import Traffic
from octant.workloads.mpi.pingpong import WORKLOAD

KNOWN = Known(
    machine().topology,
    {"memory traffic": {frozenset({("a", 0)}): Best(20e9, ""), frozenset({("a", 0), ("a", 1)}): Best(40e9, "")}},
)


def there_and_back(length: int, ns: int, buffers: str = "rotating", hosts: tuple[str, str] = ("a", "a")) -> Point:
    given = tuple(Given(host, (0,), ((0,),)) for host in hosts)
    counts = {"messages": 2, "bytes_sent": 2 * length}
    knobs = {"bytes": str(length), "buffers": buffers}
    return point("steps", counts=counts, knobs=knobs, lanes=(lane([ns] * 8),), ranks=2, given=given)


def test_time_is_one_way_and_bandwidth_too() -> None:
    found = there_and_back(MIB, 200_000)
    time, bandwidth = figure(WORKLOAD, [found]).value, figure(WORKLOAD, [found], "bandwidth").value
    assert time is not None
    assert time.middle == pytest.approx(1e-4)
    assert bandwidth is not None
    assert bandwidth.middle == pytest.approx(MIB / 1e-4)


def test_the_limit_is_one_read_and_one_write_of_each_message() -> None:
    limit = WORKLOAD.least_seconds(KNOWN, machine(), there_and_back(MIB, 200_000))
    assert limit is not None
    assert limit.seconds == pytest.approx(2 * 2 * MIB / 40e9)  # of a step: there and back
    for silent in (
        there_and_back(8, 1000),
        there_and_back(MIB, 200_000, buffers="hot"),
        there_and_back(MIB, 200_000, hosts=("a", "b")),
    ):
        assert WORKLOAD.least_seconds(KNOWN, machine(), silent) is None


def test_a_message_is_one_flow_to_the_network_model() -> None:
    assert WORKLOAD.traffic is not None
    hot, rotating = (WORKLOAD.traffic(machine(), there_and_back(4096, 1000, buffers=b)) for b in ("hot", "rotating"))
    assert isinstance(hot, Traffic)
    assert isinstance(rotating, Traffic)
    assert (hot.pattern, hot.units, hot.may_be_cached) == ("first-to-last", 4096, True)
    assert not rotating.may_be_cached
