"""The metrics of a user's program: the values that were asked for, then what is measured of every program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.metric import Metric, result
from octant.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.ask import Subject
    from octant.record import Point

_ALWAYS = (
    ("wall time", "s", "of the whole command line, the launcher included"),
    ("user time", "s", "of all processes"),
    ("system time", "s", "of all processes"),
    ("memory", "B", "the most that one process had resident"),
    ("minor page faults", "1", "of all processes"),
    ("major page faults", "1", "of all processes"),
    ("voluntary context switches", "1", "of all processes"),
    ("involuntary context switches", "1", "of all processes"),
)


def program_workload(subject: Subject, points: Sequence[Point] | None = None) -> Workload:
    """The workload of a program, whose headline is the first value that was asked for, else the wall time.

    It bounds nothing and has no limit.

    Args:
        points: that were measured; `None`: nothing is measured yet, and the workload has every metric.
    """
    known = {one.name for point in points or () for one in point.results if one.bound is None}
    known |= {name for name, *_ in _ALWAYS} if points is None else set()
    metrics = [
        Metric(value.name, value.unit, value.better, result(value.name), note="as the program states it")
        for value in subject.values
    ]
    metrics += [Metric(name, unit, "lower", result(name), note=note) for name, unit, note in _ALWAYS if name in known]
    return Workload(f"The program {subject.name.partition('/')[2]}", tuple(metrics), {}, subject.name)
