"""What casts doubt on a figure, as data: a kind, a grade and a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum


class Grade(IntEnum):
    """How much a doubt takes away; greater is worse."""

    NOTE = 1  # worth knowing; views hide it unless asked
    DOUBTFUL = 2  # the figure may be off by more than its interval says
    INVALID = 3  # no share of a limit, no verdict


GRADES: Mapping[str, Grade] = {
    "wrong answer": Grade.INVALID,
    "not as asked": Grade.INVALID,
    "fault-injection build": Grade.INVALID,
    "cores shared": Grade.DOUBTFUL,
    "window halved": Grade.DOUBTFUL,
    "lanes rarely together": Grade.DOUBTFUL,
    "short phase": Grade.DOUBTFUL,
    "long samples": Grade.DOUBTFUL,
    "drift": Grade.DOUBTFUL,
    "equal points differ": Grade.DOUBTFUL,
    "beyond its limit": Grade.DOUBTFUL,
    "launches left out": Grade.DOUBTFUL,
    "sources disagree": Grade.DOUBTFUL,
    "unexplained loss": Grade.DOUBTFUL,
    "not verified": Grade.DOUBTFUL,
    "count not stated": Grade.DOUBTFUL,
    "processes outlived": Grade.DOUBTFUL,
    "ranks missing": Grade.DOUBTFUL,
    "command after failed": Grade.DOUBTFUL,
    "launch problems": Grade.DOUBTFUL,
    "imported": Grade.NOTE,
    "emulated link": Grade.NOTE,
    "memory copy": Grade.NOTE,
    "sizes rounded": Grade.NOTE,
    "small load": Grade.NOTE,
    "launches resemble their neighbours": Grade.NOTE,
    "few launches": Grade.NOTE,
    "one draw of CPUs": Grade.NOTE,
    "few bursts": Grade.NOTE,
    "few samples": Grade.NOTE,
    "precision not reached": Grade.NOTE,
    "preempted": Grade.NOTE,
    "foreign load": Grade.NOTE,
    "output cut": Grade.NOTE,
    "launcher binds": Grade.NOTE,
    "outliers": Grade.NOTE,
}
"""The grade of each kind that does not depend on a size."""

BOUNDS: Mapping[str, tuple[float, float, float]] = {
    "lost time": (0.01, 0.05, 0.5),
    "stolen time": (0.01, 0.05, 0.5),
    "wide interval": (0.03, 0.1, 0.3),
}
"""Kinds graded by a size: up to the first bound there is no doubt, then a note, doubtful, and invalid beyond the last.

Lost and stolen time are shares of the wall time; the size of an interval is half its width over the value.
"""


@dataclass(frozen=True)
class Doubt:
    """One doubt; two of the same kind differ only in their numbers, of which `size` is the one that grades them."""

    kind: str
    grade: Grade
    text: str  # for people: "49 % of the time was lost to a CPU quota"
    size: float = 0.0  # a greater one is worse, among doubts of the same kind; 0: they are equally bad


def doubt(kind: str, text: str, size: float = 0.0) -> Doubt:
    """A doubt with the grade of its kind.

    Args:
        size: how bad it is among doubts of this kind; a text with a number needs it.

    Raises:
        KeyError: `GRADES` has no such kind.
    """
    return Doubt(kind, GRADES[kind], text, size)


def graded(kind: str, size: float, text: str) -> tuple[Doubt, ...]:
    """The doubt that something of this size casts; none up to the first bound of its kind.

    Raises:
        KeyError: `BOUNDS` has no such kind.
    """
    passed = sum(size > bound for bound in BOUNDS[kind])
    return (Doubt(kind, Grade(passed), text, size),) if passed else ()


def worst_of_each_kind(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """The worst doubt of each kind, by grade and size; the first of equal ones. The worst kinds come first."""
    worst: dict[str, Doubt] = {}
    for one in doubts:
        known = worst.get(one.kind)
        if known is None or (one.grade, one.size) > (known.grade, known.size):
            worst[one.kind] = one
    return tuple(sorted(worst.values(), key=lambda one: -one.grade))


def warnings(doubts: Iterable[Doubt]) -> list[str]:
    """The doubts that every view shows."""
    return [one.text for one in doubts if one.grade > Grade.NOTE]


def notes(doubts: Iterable[Doubt]) -> list[str]:
    """The doubts that a view shows if asked."""
    return [one.text for one in doubts if one.grade == Grade.NOTE]
