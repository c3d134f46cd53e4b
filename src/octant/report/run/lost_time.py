"""What the time of a run was lost to: one share over all of its points, and its grade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.analysis.causes import causes_of_points
from octant.report.run.answer import DOUBTS
from octant.stats import graded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.record import Point
    from octant.report.run.answer import Doubt

LOST_LITTLE = 0.01
"""A share of lost time that is not worth a sentence."""


def share_lost(points: Iterable[Point]) -> float | None:
    """The share of all time of these points that was lost; `None` where no record says it."""
    found = causes_of_points(points)
    return found.lost if found else None


def grade_of(share: float | None) -> Doubt:
    """The grade of a share of lost time, in words; sound where it is not known."""
    return DOUBTS[max((one.grade for one in graded("lost time", share or 0.0, "")), default=0)]
