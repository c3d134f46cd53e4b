"""The roofline by hand and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine, point
from octant.analysis.roofline import Roofline, intensity, rooflines
from octant.limit import Best, Known
from octant.record import Point

POSITIVE = st.floats(1e6, 1e15)


def test_the_ridge_of_100_gflops_over_20_gb_is_5_flop_a_byte() -> None:
    roof = Roofline(1, 100e9, 20e9)
    assert roof.ridge == pytest.approx(5)
    assert roof.curve([0, 1 / 16, 5, 50]) == pytest.approx((0, 1.25e9, 100e9, 100e9))
    assert (roof.bound(1), roof.bound(5)) == ("memory", "compute")
    with pytest.raises(ValueError, match="not negative"):
        roof.attainable(-1)


def counting(**counts: int) -> Point:
    return point(counts=counts)


def test_triad_has_one_flop_in_sixteen_bytes_when_lines_are_read_first() -> None:
    assert intensity(counting(bytes_read=16, bytes_written=8, bytes_allocated=8, flops=2)) == pytest.approx(1 / 16)
    assert intensity(counting(bytes_read=16, bytes_written=8, flops=2)) == pytest.approx(1 / 12)
    assert intensity(counting(flops=2)) is None
    assert intensity(counting(bytes_read=8, bytes_written=8)) is None


def test_a_roofline_needs_both_ceilings() -> None:
    def of(values: dict[int, float]) -> dict[frozenset[tuple[str, int]], Best]:
        return {frozenset(("n", cpu) for cpu in range(count)): Best(value, "") for count, value in values.items()}

    flops, traffic = of({1: 1e11, 2: 2e11, 4: 4e11}), of({2: 3e10, 1: 2e10})
    found = rooflines(Known(machine(cores=4).topology, {"fma double": flops, "memory traffic": traffic}))
    assert [roof.threads for roof in found] == [1, 2]
    assert [roof.ridge for roof in found] == pytest.approx([5, 20 / 3])


@given(POSITIVE, POSITIVE, st.floats(0, 1e6), st.floats(1, 10))
def test_more_intensity_and_higher_ceilings_never_hurt(flops: float, memory: float, at: float, more: float) -> None:
    roof = Roofline(1, flops, memory)
    assert roof.attainable(at) <= roof.attainable(at * more)
    assert roof.attainable(at) <= Roofline(1, flops * more, memory).attainable(at)
    assert roof.attainable(at) <= Roofline(1, flops, memory * more).attainable(at)
    assert roof.attainable(roof.ridge) == pytest.approx(flops)
