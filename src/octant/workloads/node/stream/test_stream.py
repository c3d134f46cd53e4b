"""The limit of stream by hand and by property, and its counting rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import MIB, lane, machine, point
from octant.limit import Best, Known
from octant.record import Point
from octant.workloads.node.stream import WORKLOAD, from_memory

PLAIN = {"bytes_read": 16, "bytes_written": 8, "bytes_allocated": 8, "flops": 2}
STREAMING = {"bytes_read": 16, "bytes_written": 8, "flops": 2}


def triad(counts: dict[str, int], size: int = 256 * MIB) -> Point:
    return point(counts=counts, knobs={"bytes": str(size)}, lanes=(lane([100] * 8),))


def at_limit(found: Point, best: float) -> float | None:
    """The bandwidth at the limit, B/s, where memory was seen to move `best`."""
    known = Known(machine().topology, {"memory traffic": {frozenset({("node", 0)}): Best(best, "")}})
    limit = WORKLOAD.least_seconds(known, machine(), found)
    return WORKLOAD.metric().at(limit.seconds, found.work[0].counts, found.lanes) if limit else None


def test_the_limit_of_plain_triad_is_three_quarters_of_the_best_traffic() -> None:
    assert at_limit(triad(PLAIN), 40e9) == pytest.approx(30e9)  # 24 of the 32 bytes that move
    assert at_limit(triad(STREAMING), 40e9) == pytest.approx(40e9)


def test_what_fits_into_caches_neither_has_nor_provides_the_memory_limit() -> None:
    small = triad(PLAIN, MIB)
    assert at_limit(small, 40e9) is None
    assert not from_memory(machine(), small)
    assert from_memory(machine(), triad(PLAIN))


@given(st.floats(1e9, 1e12), st.sampled_from([PLAIN, STREAMING]))
def test_twice_the_traffic_is_twice_the_limit(best: float, counts: dict[str, int]) -> None:
    once, twice = at_limit(triad(counts), best), at_limit(triad(counts), 2 * best)
    assert once is not None
    assert twice == pytest.approx(2 * once)
