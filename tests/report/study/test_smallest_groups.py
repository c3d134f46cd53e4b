"""Where to put what exchanges much, by the times of pairs that a study measured."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from octant.machine import Topology
from octant.report.study.advice import smallest_groups
from octant.stats import Caveat, Grade, Interval
from octant.study.outcome import Outcome
from octant.study.parts import Cell
from octant.study.values import LaunchValue, Quantity, StudyValue, StudyValues
from pair_times import TWO_SOCKETS, flat, values

ONE = LaunchValue(Interval(1e-7, 1e-7, 1e-7), 0, datetime(2026, 11, 23, 16, 0, tzinfo=UTC))


def outcome(topology: Topology, pairs: Mapping[tuple[int, int], float], **changes: Any) -> Outcome:
    found = {Cell("exchange", ("all",)): {"": StudyValue((ONE,), pairs=pairs, **changes)}}
    known = StudyValues({"exchange": Quantity("s", "lower")}, found, {}, {}, topology=topology)
    return cast(Outcome, SimpleNamespace(values=known))


def test_the_smallest_groups_are_named_with_a_line_for_one_of_them() -> None:
    (found,) = smallest_groups(outcome(TWO_SOCKETS, values(range(16))))
    assert found.title == "Place communicating threads in the same of 8 groups (cores)"
    assert found.lines == ("octant bind --place 0-1",)
    (one_each,) = smallest_groups(outcome(TWO_SOCKETS, values(range(0, 16, 2))))
    assert one_each.title.endswith("4 groups (L3 caches)")
    assert one_each.lines == ("octant bind --place 0,2",)


def test_nothing_is_said_without_groups_or_of_what_is_invalid_or_incomplete() -> None:
    pairs = values(range(16))
    assert not list(smallest_groups(outcome(flat(), values(range(16), lambda _a, _b: 50.0))))
    assert not list(smallest_groups(outcome(TWO_SOCKETS, pairs, caveats=(Caveat("lost time", Grade.INVALID, "lost"),))))
    assert not list(smallest_groups(outcome(TWO_SOCKETS, dict(list(pairs.items())[1:]))))
