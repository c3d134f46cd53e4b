"""The limit of latency by hand, and the ladder of footprints."""

import pytest

from fake_run import KIB, MIB, lane, machine, point
from octant import analysis
from octant.record import Point, Work
from octant.workload import Ceilings
from octant.workloads.latency import WORKLOAD, footprints


def walk(size: int) -> Point:
    return point(work=Work(loads=1000), knobs={"bytes": str(size)}, lanes=(lane([1600] * 8),))


def test_four_cycles_within_the_first_cache_and_nothing_beyond() -> None:
    ceilings = Ceilings(clock_hz=4e9)
    limit = WORKLOAD.limit(machine(), ceilings, walk(16 * KIB))
    assert limit is not None
    assert limit.value == pytest.approx(1e-9)
    assert WORKLOAD.limit(machine(), ceilings, walk(MIB)) is None
    assert WORKLOAD.limit(machine(), Ceilings(), walk(16 * KIB)) is None


def test_five_cycles_are_eighty_percent_and_1600_ns_for_1000_loads_are_1_6_ns() -> None:
    figure = analysis.figure(WORKLOAD, walk(16 * KIB), machine(), Ceilings(clock_hz=5 / 1.6e-9))
    assert figure.value.middle == pytest.approx(1.6e-9)
    assert figure.of_limit == pytest.approx(0.8)


@pytest.mark.parametrize("quick", [True, False])
def test_the_ladder_starts_in_the_first_cache_and_ends_beyond_the_last(quick: bool) -> None:
    sizes = footprints(machine(), quick)
    assert sizes[0] < 48 * KIB
    assert sizes[-1] >= 2 * 32 * MIB
    assert list(sizes) == sorted(set(sizes))
    asks = WORKLOAD.evaluate(machine(), quick)
    assert {ask.knobs["pages"].split(",")[0] for ask in asks} == {"base", "thp"}
