"""What the time of a run was lost to, in words: one sum over all of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.analysis.lost import lost_time_of
from octant.stats import graded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.record import Point
    from octant.report.run.answer import Doubt

_WORDS: tuple[Doubt, ...] = ("sound", "note", "doubtful", "not measurable")


def share_lost(points: Iterable[Point]) -> float | None:
    """The share of all time of these points that was lost, a sum over a sum; `None` where no record says it."""
    found = [(point, lost) for point in points if (lost := lost_time_of(point))]
    weights = [sum(ns for rank in point.taken for ns in rank.wall_ns) for point, _ in found]
    lost_ns = sum(lost.share * weight for (_, lost), weight in zip(found, weights, strict=True))
    return lost_ns / sum(weights) if found else None


def grade_of(share: float | None) -> Doubt:
    """The grade of a share of lost time, in words; sound where it is not known."""
    return _WORDS[max((one.grade for one in graded("lost time", share or 0.0, "")), default=0)]
