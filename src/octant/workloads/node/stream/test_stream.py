"""The limit of stream by hand and by property, its counting rule, and what `evaluate` asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import MIB, lane, machine, point
from octant import analysis, units
from octant.record import Point, Work
from octant.workload import Ceilings
from octant.workloads.stream import WORKLOAD

PLAIN = Work(bytes_read=16, bytes_written=8, bytes_allocated=8, flops=2)
STREAMING = Work(bytes_read=16, bytes_written=8, flops=2)


def triad(work: Work = PLAIN, size: int = 256 * MIB) -> Point:
    return point(workload="stream", work=work, knobs={"bytes": str(size)}, lanes=(lane([100] * 8),))


def test_the_limit_of_plain_triad_is_three_quarters_of_the_best_traffic() -> None:
    ceilings = Ceilings(memory_bytes_per_s={1: 40e9})
    plain = WORKLOAD.limit(machine(), ceilings, triad())
    streaming = WORKLOAD.limit(machine(), ceilings, triad(STREAMING))
    assert plain is not None
    assert plain.value == pytest.approx(30e9)  # 24 of the 32 bytes that move
    assert streaming is not None
    assert streaming.value == pytest.approx(40e9)


def test_what_fits_into_caches_neither_has_nor_raises_the_memory_limit() -> None:
    small = triad(size=MIB)
    assert WORKLOAD.limit(machine(), Ceilings(memory_bytes_per_s={1: 40e9}), small) is None
    assert WORKLOAD.ceiling(machine(), small) is None
    assert WORKLOAD.ceiling(machine(), triad()) == ("memory", "traffic")


@given(st.floats(1e9, 1e12), st.sampled_from([PLAIN, STREAMING]))
def test_the_point_that_raised_the_ceiling_is_at_its_limit(best: float, work: Work) -> None:
    found = triad(work)
    known = analysis.ceilings([found], machine(), {"stream": WORKLOAD})
    figure = analysis.figure(WORKLOAD, found, machine(), known)
    assert figure.of_limit == pytest.approx(1)
    raised = WORKLOAD.limit(machine(), Ceilings(memory_bytes_per_s={1: best * 2}), found)
    plain = WORKLOAD.limit(machine(), Ceilings(memory_bytes_per_s={1: best}), found)
    assert raised is not None
    assert plain is not None
    assert raised.value == pytest.approx(2 * plain.value)


def test_evaluate_walks_from_the_caches_to_four_times_the_last_of_them() -> None:
    asks = WORKLOAD.evaluate(machine(), True)
    assert {ask.mode for ask in asks} == {"one", "star", "threads"}
    curve = next(ask for ask in asks if not ask.table)
    sizes = [units.parse_bytes(text) for text in curve.knobs["bytes"].split(",")]
    assert sizes[0] <= 48 * 1024
    assert sizes[-1] == 64 * MIB  # quick: every fourth doubling, up to 4 x 32 MiB
    assert units.parse_bytes(asks[0].knobs["bytes"]) == 128 * MIB
