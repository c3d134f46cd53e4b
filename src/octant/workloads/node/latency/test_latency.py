"""The limit of latency by hand."""

import pytest

from fake_run import KIB, MIB, lane, machine, point
from octant.analysis.figures import figure
from octant.analysis.summary import with_limit
from octant.limit import Known
from octant.record import Point
from octant.workloads.node.latency import WORKLOAD

NOTHING = Known(machine().topology)
AT_4_GHZ = Known(machine().topology, clock_hz=4e9)


def walk(size: int, *clock_hz: int) -> Point:
    return point(counts={"loads": 1000}, knobs={"bytes": str(size)}, lanes=(lane([1600] * 8, clock_hz=clock_hz),))


def test_four_cycles_within_the_first_cache_and_nothing_beyond() -> None:
    limit = WORKLOAD.least_seconds(AT_4_GHZ, machine(), walk(16 * KIB))
    assert limit is not None
    assert limit.seconds == pytest.approx(1000 * 1e-9)  # of a chunk of 1000 loads
    assert WORKLOAD.least_seconds(AT_4_GHZ, machine(), walk(MIB)) is None
    assert WORKLOAD.least_seconds(NOTHING, machine(), walk(16 * KIB)) is None, "no clock, no limit"


def test_five_cycles_are_eighty_percent_and_1600_ns_for_1000_loads_are_1_6_ns() -> None:
    found = with_limit(figure(WORKLOAD, [walk(16 * KIB, round(5 / 1.6e-9))]), NOTHING, machine())
    assert found.value is not None
    assert found.value.middle == pytest.approx(1.6e-9)
    assert found.of_limit == pytest.approx(0.8)
