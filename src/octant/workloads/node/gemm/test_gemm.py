"""The limit of gemm by hand and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from octant import analysis
from octant.record import Point, Work
from octant.workload import Ceilings
from octant.workloads.gemm import WORKLOAD


def product(element: str = "double", ranks: int = 1, threads: int = 1) -> Point:
    lanes = tuple(lane([20_000_000] * 6, rank=rank) for rank in range(ranks))
    flops = 2 * 1000**3
    return point(work=Work(flops=flops), knobs={"element": element}, lanes=lanes, ranks=ranks, threads=threads)


def test_the_limit_is_what_peakflops_reached_and_twice_that_in_single() -> None:
    ceilings = Ceilings(flops_per_s={1: 110e9, 2: 210e9})
    double, single = (WORKLOAD.limit(machine(), ceilings, product(element)) for element in ("double", "single"))
    assert double is not None
    assert single is not None
    assert (double.value, single.value) == (110e9, 220e9)
    assert analysis.figure(WORKLOAD, product(), machine(), ceilings).of_limit == pytest.approx(100 / 110)
    assert WORKLOAD.limit(machine(), Ceilings(), product()) is None


@given(st.floats(1e9, 1e13))
def test_two_ranks_and_two_threads_share_one_limit(best: float) -> None:
    ceilings = Ceilings(flops_per_s={2: best})
    star = WORKLOAD.limit(machine(), ceilings, product(ranks=2))
    threads = WORKLOAD.limit(machine(), ceilings, product(threads=2))
    assert star == threads
    assert star is not None
