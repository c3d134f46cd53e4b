"""Names of the levels of a ladder, on models of caches: never a wrong one, and the right one where levels are clear."""

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from cache_models import KIB, MIB, PROCESSORS, SCENARIOS, Case, Scenario, case, cases, stated_by_name
from octant.analysis.level_names import NamedPlateau, named_plateaus
from octant.limit import MEMORY
from paths import DATA

SIZES = sorted({8 * KIB << i for i in range(16)} | {12 * KIB << i for i in range(10)})
STATED = {1: 48 * KIB, 2: 2 * MIB, 3: 32 * MIB}
LATENCY = {"L1": (48 * KIB, 1.4e-9), "L2": (2 * MIB, 5e-9), "L3": (32 * MIB, 24e-9), "memory": (2**40, 110e-9)}
BANDWIDTH = {"L1": (48 * KIB, 400e9), "L2": (2 * MIB, 110e9), "L3": (32 * MIB, 30e9), "memory": (2**40, 12e9)}
RECORDED = json.loads((DATA / "ladders-of-a-zen5-guest.json").read_text(encoding="utf-8"))
DRAWS = 24
"""Ladders of each machine and scenario."""


def curve(levels: Mapping[str, tuple[float, float]], noise: float = 0.0, seed: int = 0) -> list[tuple[float, float]]:
    draw = random.Random(seed)
    found = []
    for size in SIZES:
        value = next(value for top, value in levels.values() if size <= top)
        found.append((float(size), value * (1 + draw.uniform(-noise, noise))))
    return found


def of(*steps: tuple[float, float], disputed: tuple[int, ...] = (), stated: Mapping[int, int] = STATED) -> list[str]:
    """Return the names on a ladder of times with these values up to these sizes."""
    points = [
        (float(size), next(value for top, value in steps if size <= top)) for size in SIZES if size <= steps[-1][0]
    ]
    return [one.name for one in named_plateaus(points, stated, disputed)]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_plateau_has_a_wrong_name(scenario: Scenario) -> None:
    """Whatever the levels' ratio from 1.1 to 3, the noise up to 10 %, and the part of the caches that a guest gets.

    Only where a guest has no L3 at all and its memory grows slower with the footprint, noise may look like the end of
    an L3: in fewer than one of 200 ladders.
    """
    every = [(name, one) for name in stated_by_name() for one in cases(name, scenario, DRAWS)]
    wrong = [(name, text) for name, one in every for text in one.wrong_plateaus()]
    assert len(every) > 400
    assert len(wrong) <= (len(every) / 200 if scenario == "drift" else 0), wrong


@pytest.mark.parametrize("name", PROCESSORS)
@pytest.mark.parametrize("ratio", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.04])
def test_clear_levels_have_their_own_names(name: str, ratio: float, noise: float) -> None:
    """No answer such as `L2–L3` where neighbouring levels differ by half or more, and little noise."""
    draw = random.Random(f"{name}, {ratio}, {noise}")
    for _ in range(4):
        one = case(stated_by_name()[name], "as stated", ratio, noise, draw, "sharp")
        values = {plateau.name: plateau.value for plateau in one.named}
        last = MEMORY if len(one.capacities) > 2 else f"beyond L{max(one.capacities)}"
        expected = dict(zip(one.names, (ratio**i for i in range(len(one.names))), strict=True))
        expected[last] = expected.pop(MEMORY)
        for level in one.levels_with_points():
            own = last if level == MEMORY else level
            true = expected[own] if one.rising else 1 / expected[own]
            assert values[own] == pytest.approx(true, rel=noise + 1e-9), (own, one.named)
        assert all(len(plateau.levels) < 2 for plateau in one.named)


@pytest.mark.parametrize("name", ["Zen 4", "Zen 5", "Skylake server", "Neoverse N1"])
def test_neighbours_that_differ_by_a_fifth_are_not_mixed(name: str) -> None:
    """The defect that this test is for: `L3 108 GB/s` of an L2 with 115 and an L3 with 97."""
    stated = stated_by_name()[name]
    values = dict(zip((1, 2, 3, 4), (264e9, 115e9, 97e9, 30e9), strict=True))
    for noise in (0.0, 0.01, 0.02):
        draw = random.Random(f"{name}, {noise}")
        points = [
            (
                float(size),
                values[next((n for n, most in stated.items() if size <= most), 4)] * draw.uniform(1 - noise, 1 + noise),
            )
            for size in SIZES
        ]
        found = {one.name: one.value for one in named_plateaus(points, stated, rising=False)}
        assert found["L2"] == pytest.approx(115e9, rel=noise + 1e-9)
        assert found["L3"] == pytest.approx(97e9, rel=noise + 1e-9)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ["Zen 4", "Sapphire Rapids", "POWER9"])
def test_no_plateau_spans_an_undisputed_size_without_saying_so(name: str, scenario: Scenario) -> None:
    for one in cases(name, scenario, DRAWS, seed=1):
        for plateau in one.named:
            spanned = [n for n, size in one.stated.items() if plateau.first <= size < plateau.last]
            assert len(plateau.levels) > len(spanned) or not spanned, (plateau, one.stated)


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: str(recorded["what"]))
def test_ladders_of_stored_runs(recorded: dict[str, Any]) -> None:
    """Medians of three runs of `octant evaluate --quick` on a guest with two Zen 5 cores and other work."""
    sizes = {int(level): size for level, size in recorded["sizes"].items()}
    found = named_plateaus(recorded["points"], sizes, rising=recorded["rising"])
    assert [one.name for one in found] == recorded["names"]


@pytest.mark.parametrize("levels", [LATENCY, BANDWIDTH])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1])
@pytest.mark.parametrize("seed", range(20))
def test_levels_are_found_with_their_edges_within_a_point(
    levels: dict[str, tuple[float, float]], noise: float, seed: int
) -> None:
    found = {one.name: one for one in named_plateaus(curve(levels, noise, seed), STATED, rising=levels is LATENCY)}
    assert list(found) == list(levels)
    for name, one in found.items():
        top, value = levels[name]
        last = max(size for size in SIZES if size <= top)
        assert abs(SIZES.index(int(one.last)) - SIZES.index(last)) <= 1
        assert one.value == pytest.approx(value, rel=noise + 1e-9)
        assert one.beyond == (None if one.last == SIZES[-1] else SIZES[SIZES.index(int(one.last)) + 1])


@pytest.mark.parametrize("missed", ["L1", "L2", "L3"])
def test_a_missing_plateau_never_renames_another(missed: str) -> None:
    whole = {one.name: one.last for one in named_plateaus(curve(LATENCY), STATED)}
    tops = [0, *(top for top, _ in LATENCY.values())]
    number = list(LATENCY).index(missed)
    within = [x for x, _ in curve(LATENCY) if tops[number] < x <= tops[number + 1]]
    (_, low), (_, high) = [(0, 0.2e-9), *LATENCY.values()][number], list(LATENCY.values())[number + 1]
    steps = {x: low * (high / low) ** ((i + 0.5) / len(within)) for i, x in enumerate(within)}
    steep = [(x, steps.get(x, y)) for x, y in curve(LATENCY)]
    found = named_plateaus(steep, STATED)
    assert not any(one.levels == (missed,) for one in found)
    for name, last in whole.items():
        levels = next(one.levels for one in found if one.first <= last <= one.last) if name != missed else (name,)
        assert name in levels


def test_levels_of_equal_speed_share_a_name() -> None:
    assert of((48 * KIB, 1), (2 * MIB, 5), (32 * MIB, 5.1), (256 * MIB, 100)) == ["L1", "L2–L3", "memory"]
    assert of((48 * KIB, 1), (2 * MIB, 5), (32 * MIB, 24), (256 * MIB, 24.5)) == ["L1", "L2", "L3–memory"]
    assert of((48 * KIB, 1), (2 * MIB, 5), (256 * MIB, 5)) == ["L1", "L2–memory"]


def test_the_last_cache_needs_an_edge() -> None:
    """A guest may get less of it than is stated, so a ladder that ends within it does not tell it from memory."""
    assert of((48 * KIB, 1), (2 * MIB, 5), (16 * MIB, 24)) == ["L1", "L2", "L3–memory"]
    assert of((48 * KIB, 1), (1 * MIB, 5)) == ["L1", "L2"], "a core has its L2 for itself"


def test_a_part_of_the_last_cache_is_distinguished_from_memory_by_its_edge() -> None:
    assert of((48 * KIB, 1), (2 * MIB, 5), (16 * MIB, 24), (256 * MIB, 110)) == ["L1", "L2", "L3", "memory"]
    assert of((48 * KIB, 1), (2 * MIB, 5), (8 * MIB, 24), (256 * MIB, 110))[2] == "L3–memory", "hits in L2 look alike"
    assert of((48 * KIB, 1), (2 * MIB, 5), (8 * MIB, 10), (256 * MIB, 110))[2] == "L3", "too fast for hits in L2"


def test_a_size_in_doubt_names_nothing() -> None:
    steps = ((48 * KIB, 1), (2 * MIB, 5), (16 * MIB, 24), (256 * MIB, 110))
    assert of(*steps, disputed=(3,)) == ["L1", "L2", "to 16 MiB", "beyond L2"]
    assert of(*steps[:2], (256 * MIB, 110), disputed=(3,)) == ["L1", "L2", "beyond L2"]
    assert of(*steps[:2], disputed=(3,)) == ["L1", "L2"]
    assert of(*steps, stated={}) == ["to 48 KiB", "to 2 MiB", "to 16 MiB", "to 256 MiB"]


def test_beyond_two_stated_levels_a_third_may_follow() -> None:
    """Linux states no system-level cache of Arm processors."""
    steps = ((64 * KIB, 1), (1 * MIB, 4), (16 * MIB, 30), (256 * MIB, 100))
    assert of(*steps, stated={1: 64 * KIB, 2: MIB}) == ["L1", "L2", "to 16 MiB", "beyond L2"]


def test_a_level_that_is_faster_than_the_one_before_it_is_no_level() -> None:
    """Values that go the wrong way are noise or another effect, and not an edge between two levels."""
    assert of((48 * KIB, 1), (2 * MIB, 5), (32 * MIB, 4.4), (256 * MIB, 100)) == ["L1", "L2–L3", "memory"]


def test_names_hold_for_rates_as_for_times() -> None:
    one: Case
    for one in cases("Zen 4", "as stated", DRAWS):
        inverse = named_plateaus([(x, 1 / y) for x, y in one.points], one.stated, rising=not one.rising)
        assert [_edges(p) for p in inverse] == [_edges(p) for p in one.named]


def _edges(plateau: NamedPlateau) -> tuple[str, float, float]:
    return plateau.name, plateau.first, plateau.last
