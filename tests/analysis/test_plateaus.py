"""Plateaus of synthetic curves whose levels are known: edges, names, and what noise and missing levels do to them."""

import random
from collections.abc import Mapping

import pytest

from octant.analysis.plateaus import Plateau, level_name, plateaus, reach

KIB, MIB = 2**10, 2**20
SIZES = sorted({8 * KIB << i for i in range(16)} | {12 * KIB << i for i in range(10)})
STATED = {1: 48 * KIB, 2: 2 * MIB, 3: 32 * MIB}
LATENCY = {"L1": (48 * KIB, 1.4e-9), "L2": (2 * MIB, 5e-9), "L3": (32 * MIB, 24e-9), "memory": (2**40, 110e-9)}
BANDWIDTH = {"L1": (48 * KIB, 400e9), "L2": (2 * MIB, 110e9), "L3": (32 * MIB, 30e9), "memory": (2**40, 12e9)}


def curve(levels: Mapping[str, tuple[float, float]], noise: float = 0.0, seed: int = 0) -> list[tuple[float, float]]:
    draw = random.Random(seed)
    found = []
    for size in SIZES:
        value = next(value for top, value in levels.values() if size <= top)
        found.append((float(size), value * (1 + draw.uniform(-noise, noise))))
    return found


def last_point(top: float) -> float:
    return float(max(size for size in SIZES if size <= top))


def names(points: list[tuple[float, float]]) -> list[str]:
    return [level_name(one, STATED) for one in plateaus(points)]


@pytest.mark.parametrize("levels", [LATENCY, BANDWIDTH])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("seed", range(40))
def test_levels_are_found_with_their_names_and_edges_within_a_point(
    levels: dict[str, tuple[float, float]], noise: float, seed: int
) -> None:
    found = {level_name(one, STATED): one for one in plateaus(curve(levels, noise, seed))}
    assert set(levels) - set(found) <= ({"memory"} if noise > 0.1 else set()), "of memory there are three points only"
    assert set(found) <= set(levels)
    for name, one in found.items():
        top, value = levels[name]
        assert abs(SIZES.index(int(one.last)) - SIZES.index(int(last_point(top)))) <= 1
        assert one.value == pytest.approx(value, rel=noise + 1e-9)
        assert one.beyond == (None if one.last == SIZES[-1] else SIZES[SIZES.index(int(one.last)) + 1])


@pytest.mark.parametrize("missed", ["L1", "L2", "L3"])
def test_a_missing_plateau_never_renames_another(missed: str) -> None:
    whole = {level_name(one, STATED): one.last for one in plateaus(curve(LATENCY))}
    tops = [0, *(top for top, _ in LATENCY.values())]
    number = list(LATENCY).index(missed)
    steep = [
        (x, y * 1.7 ** SIZES.index(int(x)) if tops[number] < x <= tops[number + 1] else y) for x, y in curve(LATENCY)
    ]
    found = {level_name(one, STATED): one.last for one in plateaus(steep)}
    assert found == {name: last for name, last in whole.items() if name != missed}


def test_a_plateau_is_named_by_the_first_cache_that_holds_its_last_point_and_else_by_its_size() -> None:
    def name(first: float, last: float, beyond: float | None, doubted: tuple[int, ...] = ()) -> str:
        return level_name(Plateau(first, last, beyond, 1.0), STATED, doubted)

    assert name(8 * KIB, 48 * KIB, 64 * KIB) == "L1"
    assert name(8 * KIB, 49 * KIB, 64 * KIB) == "L2"
    assert name(4 * MIB, 32 * MIB, 64 * MIB) == "L3"
    assert name(4 * MIB, 33 * MIB, 64 * MIB) == "to 33 MiB"
    assert name(64 * MIB, 256 * MIB, None) == "memory"
    assert name(16 * MIB, 256 * MIB, None) == "to 256 MiB", "it begins in L3"
    assert name(4 * MIB, 12 * MIB, 16 * MIB, doubted=(3,)) == "to 12 MiB", "a size in doubt names nothing"
    assert name(4 * MIB, 16 * MIB, None, doubted=(3,)) == "beyond L2"
    assert level_name(Plateau(8 * KIB, 32 * KIB, None, 1.0), {}) == "to 32 KiB"


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
