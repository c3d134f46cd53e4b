"""Workloads that went under another name: what they are called today, and what their old records leave unsaid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from octant.record import Failure, Point


@dataclass(frozen=True)
class Today:
    """What a workload is today."""

    name: str  # family/name
    knobs: Mapping[str, str] = field(default_factory=dict)  # that it has now, each at its default
    counts: Mapping[str, str] = field(default_factory=dict)  # that it has now, and the old one that each equals


RENAMED = {
    "mpi/pingpong": Today(
        "mpi/p2p", {"pattern": "pingpong"}, {"turns": "messages", "bytes_passed": "bytes_sent"}
    ),
}  # fmt: skip
"""By the old name. The knobs of an old ask need no more: the new ones are at their defaults."""


def todays_name(name: str) -> str:
    """Return the present name of a workload `family/name`."""
    return RENAMED[name].name if name in RENAMED else name


def meant_today(name: str, known: Sequence[str]) -> str:
    """Return the one of the `known` that an old `family/name`, or its bare second half, means; empty for none."""
    for old, today in RENAMED.items():
        if name in (old, old.rpartition("/")[2]) and today.name in known:
            return today.name
    return ""


def point_today(point: Point) -> Point:
    """Return a point as the workload would write it today."""
    today = RENAMED.get(point.workload)
    if today is None:
        return point
    work = tuple(
        replace(one, counts={**{new: one.counts[old] for new, old in today.counts.items() if old in one.counts},
                             **one.counts})
        for one in point.work
    )  # fmt: skip
    return replace(point, workload=today.name, knobs={**today.knobs, **point.knobs}, work=work)


def failure_today(failure: Failure) -> Failure:
    """Return a failure as the workload would write it today."""
    today = RENAMED.get(failure.workload)
    if today is None:
        return failure
    return replace(failure, workload=today.name, knobs={**today.knobs, **failure.knobs})
