"""Segments of a message's time over its length: where one straight line ends and another begins, and half of the rate.

In each segment a message of n bytes takes t0 + n / B. Segments are found by the curve alone: a change of protocol, of a
copy loop, and the end of a cache look alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST_LENGTHS = 3
"""Of a segment: two would fit any line."""
MOST_BREAKS = 3
GAIN = 1 / 3
"""By so much each break has to lower the worst error of segments."""
LEAST_NOISE = 0.01
"""Relative standard deviation of a point of which nothing is known."""
WITHIN_NOISE = 2.5
"""Errors up to so many standard deviations are no reason for a break: the worst of twenty points is about as large."""
TRUSTED = 0.25
"""A line with a worse error at any length describes another curve."""
MOST_LENGTHS = 64
"""Of more lengths so many are used, evenly chosen: the search takes time with their square."""


@dataclass(frozen=True)
class Segment:
    """Messages from `first` to `last` bytes, both measured and included, and the line that fits them best."""

    first: float
    last: float
    startup_s: float  # t0
    seconds_per_byte: float  # 1 / B
    error: float  # the largest of |line - measured| / measured

    def seconds(self, length: float) -> float:
        """What the line says of a message of so many bytes."""
        return self.startup_s + length * self.seconds_per_byte

    @property
    def bandwidth(self) -> float:
        """B, bytes per second; infinite where length made no difference."""
        return 1 / self.seconds_per_byte if self.seconds_per_byte > 0 else math.inf

    @property
    def fits(self) -> bool:
        """Whether the line is close enough everywhere to stand for the curve."""
        return self.error <= TRUSTED


_Stretch: TypeAlias = tuple[int, int]
_Lines: TypeAlias = dict[_Stretch, Segment]
"""By the places of their first length and of the one after their last."""
_Chain: TypeAlias = tuple[Segment, ...]


@dataclass(frozen=True)
class _Found:
    """Segments from the first length on, and their cost: over all lengths, the worst error of their segment."""

    cost: float
    chain: _Chain

    @property
    def end_s(self) -> float:
        """What the last line says of its last length."""
        return self.chain[-1].seconds(self.chain[-1].last)


def segments(points: Sequence[tuple[float, float]], noise: float = LEAST_NOISE) -> tuple[Segment, ...]:
    """The segments of a curve, from short messages to long; one where no break lowers the error by a third.

    Of all ways to break the curve that one counts in which lengths have the least worst error of their segment, as a
    mean, each break paying with a third of it: a segment that no line fits hides no break elsewhere. Lines are least
    squares of the relative errors with t0 and 1 / B not below 0, and none begins below the end of the one before it.

    Args:
        points: (bytes, seconds above 0), the bytes ascending.
        noise: relative standard deviation of one point; smaller errors justify no break.

    Returns:
        None for fewer than three lengths.
    """
    if len(points) < LEAST_LENGTHS:
        return ()
    if len(points) > MOST_LENGTHS:
        points = [points[i] for i in np.linspace(0, len(points) - 1, MOST_LENGTHS).astype(int)]
    lengths, seconds = (np.array(column, np.float64) for column in zip(*points, strict=True))
    lines = {
        (begin, end): _line(lengths[begin:end], seconds[begin:end])
        for begin in range(len(points))
        for end in range(begin + LEAST_LENGTHS, len(points) + 1)
    }
    return _cheapest(lines, len(points), WITHIN_NOISE * max(noise, LEAST_NOISE))


def _line(lengths: NDArray[np.float64], seconds: NDArray[np.float64]) -> Segment:
    rows = np.stack([1 / seconds, lengths / seconds], axis=1)
    (aa, ab), (_, bb) = rows.T @ rows
    a, b = rows.sum(axis=0)
    determinant = aa * bb - ab * ab
    startup, slope = (0.0, 0.0) if determinant <= 0 else ((a * bb - b * ab), (b * aa - a * ab)) / determinant
    if startup < 0 or determinant <= 0:
        startup, slope = 0.0, b / bb if bb else 0.0
    if slope < 0:
        startup, slope = a / aa, 0.0
    error = float(np.abs(rows @ (startup, slope) - 1).max())
    return Segment(float(lengths[0]), float(lengths[-1]), float(startup), float(slope), error)


def _cheapest(lines: _Lines, count: int, unseen: float) -> _Chain:
    """The chain over all lengths of least cost, each break paying with the third that it has to gain."""
    cost = {stretch: max(unseen, line.error) * (stretch[1] - stretch[0]) for stretch, line in lines.items()}
    chains: dict[_Stretch, _Found] = {
        (0, end): _Found(cost[0, end], (lines[0, end],)) for end in range(LEAST_LENGTHS, count + 1)
    }
    best = chains[0, count]
    for _ in range(MOST_BREAKS):
        chains = _with_one_more(chains, lines, cost)
        whole = [found for (_, end), found in chains.items() if end == count]
        best = min([best, *whole], key=lambda found: found.cost / (1 - GAIN) ** (len(found.chain) - 1))
    return best.chain


def _with_one_more(
    chains: dict[_Stretch, _Found], lines: _Lines, cost: dict[_Stretch, float]
) -> dict[_Stretch, _Found]:
    """For each last segment the best chain of one segment more."""
    ending: dict[int, list[_Found]] = {}
    for (_, end), found in chains.items():
        ending.setdefault(end, []).append(found)
    longer: dict[_Stretch, _Found] = {}
    for (begin, end), line in lines.items():
        rising = [one for one in ending.get(begin, ()) if line.seconds(line.first) >= one.end_s]
        if rising:
            best = min(rising, key=lambda found: found.cost)
            longer[begin, end] = _Found(best.cost + cost[begin, end], (*best.chain, line))
    return longer


def half_length(points: Sequence[tuple[float, float]]) -> float | None:
    """N½: the first length with half of the best bandwidth, interpolated on the logarithms of both.

    Args:
        points: (bytes above 0, bytes per second), the bytes ascending.

    Returns:
        Bytes; `None` where already the shortest reaches it.
    """
    half = max((rate for _, rate in points), default=0.0) / 2
    place = next((i for i, (_, rate) in enumerate(points) if rate >= half), 0)
    if not place:
        return None
    (x0, y0), (x1, y1) = points[place - 1 : place + 1]
    return math.exp(math.log(x0) + math.log(x1 / x0) * math.log(half / y0) / math.log(y1 / y0))
