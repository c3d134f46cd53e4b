"""Groups of hardware threads that the times of pairs show, and those that the system reports."""

import random

import pytest

from octant.analysis.clusters import clusters, groups_text, in_order, reported_groups
from octant.machine.hwloc import read_synthetic
from pair_times import TWO_SOCKETS, distance_ns, flat, values

CORES = tuple(frozenset({n, n + 1}) for n in range(0, 16, 2))
CACHES = tuple(frozenset(range(n, n + 4)) for n in range(0, 16, 4))
PACKAGES = (frozenset(range(8)), frozenset(range(8, 16)))


def noisy(a: int, b: int) -> float:
    """15 % either way, and one pair in twenty disturbed for long."""
    drawn = random.Random(f"{a} {b}")
    return distance_ns(a, b) * drawn.uniform(0.85, 1.15) * (3 if drawn.random() < 0.05 else 1)


@pytest.mark.parametrize("ns", [distance_ns, noisy])
def test_every_level_is_found_under_its_reported_name(ns: object) -> None:
    found = clusters(values(range(16), ns), TWO_SOCKETS)  # type: ignore[arg-type]
    assert [one.groups for one in found.found] == [CORES, CACHES, PACKAGES]
    assert [found.names(one.groups) for one in found.found] == ["cores", "L3 caches", "packages"]
    assert not found.unreported
    assert not found.undetected
    assert found.complete


def test_unreported_siblings_are_found() -> None:
    found = clusters(values(range(16)), read_synthetic("pack:2 l3:2 core:4 pu:1"))
    assert [one.groups for one in found.unreported] == [CORES]
    assert found.unreported[0].within == pytest.approx(7e-9)
    assert found.unreported[0].between == pytest.approx(20e-9)


def test_reported_groups_without_a_difference_are_undetected() -> None:
    found = clusters(values(range(16), lambda _a, _b: 50.0), TWO_SOCKETS)
    assert found.found == ()
    assert found.undetected == ("core", "l3")
    assert not clusters(values(range(16), lambda _a, _b: 50.0), flat()).undetected


def test_steps_that_lead_gradually_to_the_next_core_are_no_groups() -> None:
    """As in a mesh: from 45 to 75 ns by the way between two cores."""
    assert clusters(values(range(16), lambda a, b: 45 + 2 * (b - a)), flat()).found == ()


def test_only_reported_groups_of_the_measured_threads_count() -> None:
    assert reported_groups(TWO_SOCKETS, [0, 2, 4, 6]) == {"l3": (frozenset({0, 2}), frozenset({4, 6}))}
    assert reported_groups(TWO_SOCKETS, [0, 8]) == {}
    found = clusters(values([0, 2, 4, 6]), TWO_SOCKETS)
    assert [found.names(one.groups) for one in found.found] == ["L3 caches"]
    some = values(range(16))
    del some[0, 5]
    assert not clusters(some, TWO_SOCKETS).complete


def test_threads_are_ordered_by_what_they_share() -> None:
    """On many machines the second thread of a core has a number far from the first's."""
    siblings = read_synthetic("pack:2 core:2 pu:2(indexes=2*4:1*2)")
    assert in_order(siblings, range(8)) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert in_order(siblings, [7, 3, 0]) == [0, 3, 7]
    assert groups_text(CORES, 2) == "0-1; 2-3 and 6 more"
