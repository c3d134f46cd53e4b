"""Speeds of the lanes of a launch, each of which works alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from octant.analysis.reduce import steady_values

if TYPE_CHECKING:
    from octant.record import Point, Samples

Lane: TypeAlias = tuple[int, int]
"""A rank, and a thread of it."""


def lane_speeds(point: Point, samples: Samples) -> tuple[tuple[Lane, float], ...]:
    """Return the chunks or steps per second of each lane or rank that works alone while others do too.

    Medians of the steady samples. Lanes that do different amounts of work are not compared, nor ranks of a record that
    kept neither their samples nor a sketch of each.
    """
    alone = point.pace == "chunks" or (len(point.groups) > 1 and all(len(group) == 1 for group in point.groups))
    if not alone or any(work.by_rank for work in point.work):
        return ()
    batches = {work.group: point.batch_of(work.group, point.first_role) for work in point.work}
    found = [
        ((one.head.rank, one.head.thread), batches.get(one.head.group, point.batch), float(np.median(values)))
        for one in samples.series
        if (one.head.name, one.head.role) == ("step", point.first_role)
        for values in [steady_values(one, point)]
        if len(values)
    ]
    if not found:
        found = [
            ((part.ranks[0].rank, 0), batches.get(part.group, point.batch), part.sketch.quantile(0.5) * point.coalesced)
            for part in samples.reduced
            if part.name == "step" and part.role == point.first_role and len(part.ranks) == 1 and part.sketch.count
        ]
    speeds = tuple((lane, batch / ns * 1e9) for lane, batch, ns in found if ns > 0)
    return speeds if len(speeds) > 1 else ()
