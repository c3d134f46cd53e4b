"""Lost time by length of interruption and lane, for pictures of noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.metric import Interruptions

BINS_A_DECADE = 4
EDGES_S = tuple(10 ** (n / BINS_A_DECADE - 7) for n in range(7 * BINS_A_DECADE + 1))
"""Bounds of the length intervals, from 0.1 µs to 1 s; shorter or longer ones are in the first or the last."""


@dataclass(frozen=True)
class LaneTime:
    """Lost time of one lane or rank."""

    rank: int
    thread: int
    whole_s: float
    lost_s: tuple[float, ...]  # by length interval: one less than `EDGES_S`

    @property
    def share(self) -> float:
        """The share of its time that was lost, 0 to 1."""
        return sum(self.lost_s) / self.whole_s


def lane_time(of: Interruptions) -> LaneTime:
    """Return the interruptions of a lane by length."""
    lengths = np.asarray(of.ns, np.float64) * 1e-9
    inner = np.clip(lengths, EDGES_S[0], np.nextafter(EDGES_S[-1], 0))
    sums, _ = np.histogram(inner, EDGES_S, weights=lengths * of.counts)
    return LaneTime(of.rank, of.thread, of.whole_ns * 1e-9, tuple(map(float, sums)))


def lost_share(lanes: Iterable[LaneTime]) -> float:
    """Return the share of the time of all lanes that was lost: a sum over a sum."""
    every = list(lanes)
    whole = sum(lane.whole_s for lane in every)
    return sum(sum(lane.lost_s) for lane in every) / whole if whole else 0.0


def share_by_length(lanes: Sequence[LaneTime]) -> tuple[float, ...]:
    """Return the share of the time of all lanes in interruptions of each length interval."""
    whole = sum(lane.whole_s for lane in lanes)
    return tuple(sum(of) / whole for of in zip(*(lane.lost_s for lane in lanes), strict=True)) if whole else ()
