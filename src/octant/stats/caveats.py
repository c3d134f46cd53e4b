"""Caveats of figures, as data: a kind, a grade and a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from octant.units import percent_text


class Grade(IntEnum):
    """Severity of a caveat; greater is worse."""

    NOTE = 1  # information; views show it with --notes
    LIMITED = 2  # the error may exceed the interval
    INVALID = 3  # the figure has no share of a limit and no verdict


GRADES: Mapping[str, Grade] = {
    "wrong result": Grade.INVALID,
    "request not met": Grade.INVALID,
    "fault-injection build": Grade.INVALID,
    "oversubscription": Grade.LIMITED,
    "possible SMT interference": Grade.LIMITED,
    "threads rarely concurrent": Grade.LIMITED,
    "phase too short": Grade.LIMITED,
    "long preempted samples": Grade.LIMITED,
    "drift": Grade.LIMITED,
    "inconsistent repeated measurements": Grade.LIMITED,
    "measured above the limit": Grade.LIMITED,
    "launches excluded": Grade.LIMITED,
    "inconsistent lost-time sources": Grade.LIMITED,
    "unexplained lost time": Grade.LIMITED,
    "result not verified": Grade.LIMITED,
    "rank or thread count not stated": Grade.LIMITED,
    "processes outlived the program": Grade.LIMITED,
    "ranks without a report": Grade.LIMITED,
    "failed command after the launch": Grade.LIMITED,
    "launch problems": Grade.LIMITED,
    "imported result": Grade.NOTE,
    "emulated link": Grade.NOTE,
    "access to memory instead of storage": Grade.NOTE,
    "rounded sizes": Grade.NOTE,
    "insufficient memory load": Grade.NOTE,
    "autocorrelated launches": Grade.NOTE,
    "few launches": Grade.NOTE,
    "single choice of CPUs": Grade.NOTE,
    "few bursts": Grade.NOTE,
    "few samples": Grade.NOTE,
    "precision not reached": Grade.NOTE,
    "preempted samples": Grade.NOTE,
    "load from other processes": Grade.NOTE,
    "truncated output": Grade.NOTE,
    "binding by the launcher": Grade.NOTE,
    "outliers": Grade.NOTE,
}
"""Grade of each kind whose grade does not depend on a size. Kinds are noun phrases of at most eight words."""

BOUNDS: Mapping[str, tuple[float, float, float]] = {
    "lost time": (0.01, 0.05, 0.5),
    "stolen time": (0.01, 0.05, 0.5),
    "wide interval": (0.03, 0.1, 0.3),
}
"""Kinds graded by size. Above the first bound the grade is a note, above the second limited, above the third invalid.

The size of lost and stolen time is the share of the wall time; that of an interval is half its width over the value.
"""

SHARES = frozenset((*BOUNDS, "drift", "unexplained lost time"))
"""Kinds whose size is a share, 0 to 1."""


@dataclass(frozen=True)
class Caveat:
    """Caveat of a figure. Caveats of one kind differ only in their numbers; `size` ranks them."""

    kind: str
    grade: Grade
    text: str  # for people: "49 % of the time was lost to a CPU quota"
    size: float = 0.0  # greater is worse among caveats of one kind; 0: equally bad
    is_upper_bound: bool = False  # the size is the greatest possible one

    @property
    def short_text(self) -> str:
        """Kind and size: `lost time 49 %`, `wide interval ±12 %`; the kind alone if its size is not a share."""
        if self.kind not in SHARES:
            return self.kind
        sign = "±" if self.kind == "wide interval" else "up to " if self.is_upper_bound else ""
        return f"{self.kind} {sign}{percent_text(self.size)}"


def caveat(kind: str, text: str, size: float = 0.0) -> Caveat:
    """Return a caveat with the grade of its kind.

    Args:
        size: severity among caveats of this kind; required if the text contains a number.

    Raises:
        KeyError: `GRADES` has no such kind.
    """
    return Caveat(kind, GRADES[kind], text, size)


def graded(kind: str, size: float, text: str) -> tuple[Caveat, ...]:
    """Return the caveat for this size; none up to the first bound of its kind.

    Raises:
        KeyError: `BOUNDS` has no such kind.
    """
    passed = sum(size > bound for bound in BOUNDS[kind])
    return (Caveat(kind, Grade(passed), text, size),) if passed else ()


def worst_of_each_kind(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Return the worst caveat of each kind by grade and size, the worst kinds first; of equal ones the first."""
    worst: dict[str, Caveat] = {}
    for one in caveats:
        known = worst.get(one.kind)
        if known is None or (one.grade, one.size) > (known.grade, known.size):
            worst[one.kind] = one
    return tuple(sorted(worst.values(), key=lambda one: -one.grade))


def warnings(caveats: Iterable[Caveat]) -> list[str]:
    """Return the texts of the caveats that every view shows."""
    return [one.text for one in caveats if one.grade > Grade.NOTE]


def notes(caveats: Iterable[Caveat]) -> list[str]:
    """Return the texts of the caveats that views show with --notes."""
    return [one.text for one in caveats if one.grade == Grade.NOTE]
