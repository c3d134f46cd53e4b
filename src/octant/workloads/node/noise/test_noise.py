"""The loss of noise by hand and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from octant.analysis.figures import figure
from octant.analysis.summary import with_limit
from octant.limit import Known
from octant.record import RankTotal, Reduced, Samples, Series
from octant.record.sketch import sketch_of
from octant.workloads.node.noise import WORKLOAD, lost_share


def lost(*lanes: Series) -> float:
    found = point(lanes=lanes, counts={"quanta": 1})
    return lost_share(found, found.read())


def test_one_quantum_in_ten_that_takes_twice_as_long_is_a_loss_of_one_in_eleven() -> None:
    assert lost(lane([10_000] * 9 + [20_000])) == pytest.approx(10 / 110)


def test_a_record_that_is_too_large_for_every_quantum_loses_as_much() -> None:
    quanta = [10_000] * 900 + [20_000] * 100
    kept = Reduced("step", (RankTotal(0, 1000, sum(quanta), 10_000, 20_000),), sketch_of(quanta))
    added_up = lane([sum(quanta[i : i + 10]) for i in range(0, 1000, 10)])
    found = lost_share(point(counts={"quanta": 1}), Samples((added_up,), (kept,)))
    assert found == pytest.approx(100 * 10_000 / sum(quanta), rel=0.005)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200))
def test_a_loss_is_a_share(durations: list[int]) -> None:
    assert 0 <= lost(lane(durations)) < 1


def test_pauses_between_bursts_do_not_count() -> None:
    assert lost(lane([10_000] * 10, gaps={5: 10**9})) == 0
    assert lost(lane([])) == 0


def test_every_lane_is_compared_with_its_own_quantum() -> None:
    """Half of what 1.1 ms hold beyond ten quanta of 10 us, beside a lane ten times as slow that loses nothing."""
    assert lost(lane([10_000] * 9 + [10**6]), lane([100_000] * 10, thread=1)) == pytest.approx(990 / 2090)


def test_the_limit_is_an_addition_per_cycle_at_the_clock_of_the_same_bursts() -> None:
    lanes = (lane([10_000] * 10, clock_hz=[4_000_000_000] * 3),)
    found = point(counts={"quanta": 1}, knobs={"additions": "40004"}, lanes=lanes)
    known = Known(machine().topology)
    limit = with_limit(figure(WORKLOAD, [found]), known, machine()).limit
    assert limit is not None
    assert limit.seconds == pytest.approx(1e-5)
    assert WORKLOAD.least_seconds(known, machine(), found) is None, "no clock, no limit"
