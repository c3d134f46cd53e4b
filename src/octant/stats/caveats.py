"""What casts doubt on a figure, as data: a kind, a grade and a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum


class Grade(IntEnum):
    """How much a caveat takes away; greater is worse."""

    NOTE = 1  # worth knowing; views hide it unless asked
    LIMITED = 2  # the figure may be off by more than its interval says
    INVALID = 3  # no share of a limit, no verdict


GRADES: Mapping[str, Grade] = {
    "wrong answer": Grade.INVALID,
    "not as asked": Grade.INVALID,
    "fault-injection build": Grade.INVALID,
    "cores shared": Grade.LIMITED,
    "window halved": Grade.LIMITED,
    "lanes rarely together": Grade.LIMITED,
    "short phase": Grade.LIMITED,
    "long samples": Grade.LIMITED,
    "drift": Grade.LIMITED,
    "equal points differ": Grade.LIMITED,
    "beyond its limit": Grade.LIMITED,
    "launches left out": Grade.LIMITED,
    "sources disagree": Grade.LIMITED,
    "unexplained loss": Grade.LIMITED,
    "not verified": Grade.LIMITED,
    "count not stated": Grade.LIMITED,
    "processes outlived": Grade.LIMITED,
    "ranks missing": Grade.LIMITED,
    "command after failed": Grade.LIMITED,
    "launch problems": Grade.LIMITED,
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
"""Kinds graded by a size: up to the first bound there is no caveat, then a note, limited, and invalid beyond the last.

Lost and stolen time are shares of the wall time; the size of an interval is half its width over the value.
"""


@dataclass(frozen=True)
class Caveat:
    """One doubt; two of the same kind differ only in their numbers, of which `size` is the one that grades them."""

    kind: str
    grade: Grade
    text: str  # for people: "49 % of the time was lost to a CPU quota"
    size: float = 0.0  # a greater one is worse, among caveats of the same kind; 0: they are equally bad


def caveat(kind: str, text: str, size: float = 0.0) -> Caveat:
    """A caveat with the grade of its kind.

    Args:
        size: how bad it is among caveats of this kind; a text with a number needs it.

    Raises:
        KeyError: `GRADES` has no such kind.
    """
    return Caveat(kind, GRADES[kind], text, size)


def graded(kind: str, size: float, text: str) -> tuple[Caveat, ...]:
    """The caveat that something of this size casts; none up to the first bound of its kind.

    Raises:
        KeyError: `BOUNDS` has no such kind.
    """
    passed = sum(size > bound for bound in BOUNDS[kind])
    return (Caveat(kind, Grade(passed), text, size),) if passed else ()


def worst_of_each_kind(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """The worst caveat of each kind, by grade and size; the first of equal ones. The worst kinds come first."""
    worst: dict[str, Caveat] = {}
    for one in caveats:
        known = worst.get(one.kind)
        if known is None or (one.grade, one.size) > (known.grade, known.size):
            worst[one.kind] = one
    return tuple(sorted(worst.values(), key=lambda one: -one.grade))


def warnings(caveats: Iterable[Caveat]) -> list[str]:
    """The caveats that every view shows."""
    return [one.text for one in caveats if one.grade > Grade.NOTE]


def notes(caveats: Iterable[Caveat]) -> list[str]:
    """The caveats that a view shows if asked."""
    return [one.text for one in caveats if one.grade == Grade.NOTE]
