"""Plateaus of synthetic curves whose edges are known, by their values alone."""

import pytest

from octant.analysis.plateaus import plateaus, reach


def test_three_points_are_a_plateau_and_two_are_none() -> None:
    steep = [(float(2**i), 2.0**i) for i in range(8)]
    assert plateaus(steep) == ()
    assert [(one.first, one.last) for one in plateaus([*steep[:4], (16.0, 8.0), (32.0, 8.0), *steep[6:]])] == [(8, 32)]
    assert plateaus([*steep[:4], (16.0, 8.0), *steep[5:]]) == ()


@pytest.mark.parametrize(("factor", "count"), [(1.29, 1), (1.31, 2)])
def test_values_within_a_factor_of_the_median_are_even(factor: float, count: int) -> None:
    points = [(float(2**i), 1.0 if i < 5 else factor) for i in range(9)]
    assert len(plateaus(points)) == count


def test_a_disturbed_point_parts_no_plateau_and_two_do() -> None:
    even = [(float(2**i), 1.0) for i in range(9)]
    assert [(one.first, one.last) for one in plateaus([*even[:4], (16.0, 3.0), *even[5:]])] == [(1, 256)]
    twice = plateaus([*even[:3], (8.0, 3.0), (16.0, 4.0), *even[5:]])
    assert [(one.first, one.last, one.beyond) for one in twice] == [(1, 4, 8), (32, 256, None)]


def test_the_reach_is_where_curves_part_for_good() -> None:
    def of(*ratios: float) -> float | None:
        return reach([(float(2**i), ratio) for i, ratio in enumerate(ratios)])

    assert of(1, 1, 1.11, 1.3, 1.4) == 4
    assert of(1, 1, 1.09, 1.3, 1.4) == 8
    assert of(1, 1.2, 1, 1.3, 1.4) == 8, "a single size may be disturbed"
    assert of(1, 1.2, 1.2, 1, 1.3, 1.4) is None, "they met again"
    assert of(1, 1, 1.3, 1.3, 1) is None
    assert of(1, 1, 1, 1.3) is None, "one point is no stretch"
    assert of() is None
