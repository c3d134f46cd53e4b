"""The loss of noise by hand and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from octant.record import Work
from octant.workload import Ceilings
from octant.workloads.noise import WORKLOAD, loss, losses


def test_one_quantum_in_ten_that_takes_twice_as_long_is_a_loss_of_one_in_eleven() -> None:
    found = loss(lane([10_000] * 9 + [20_000]))
    assert found.typical_s == pytest.approx(10e-6)
    assert found.share == pytest.approx(10 / 110)
    assert found.p50_s == 0
    assert found.most_s == pytest.approx(10e-6)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200))
def test_a_loss_is_a_share_and_its_quantiles_are_ordered(durations: list[int]) -> None:
    found = loss(lane(durations))
    assert 0 <= found.share < 1
    assert 0 <= found.p50_s <= found.p99_s <= found.p999_s <= found.most_s


def test_pauses_between_bursts_are_nobodys_loss() -> None:
    assert loss(lane([10_000] * 10, gaps={5: 10**9})).share == 0
    with pytest.raises(ValueError, match="at least one quantum"):
        loss(lane([]))


def test_every_lane_has_its_own_loss_and_the_limit_is_an_addition_a_cycle() -> None:
    lanes = (lane([10_000] * 10), lane([10_000] * 9 + [10**6], thread=1))
    found = point(work=Work(quanta=1), knobs={"additions": "40004"}, lanes=lanes, threads=2)
    assert [(item.thread, item.share > 0.5) for item in losses(found)] == [(0, False), (1, True)]
    limit = WORKLOAD.limit(machine(), Ceilings(clock_hz=4e9), found)
    assert limit is not None
    assert limit.value == pytest.approx(1e-5)
    assert WORKLOAD.limit(machine(), Ceilings(), found) is None
