"""Plateaus of a curve over sizes, by its values alone, with their edges. `level_names` gives them names."""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

EVEN = 1.3
"""All values of a plateau lie within this factor of their median."""
LEAST_POINTS = 3
"""Minimum number of points of a plateau."""
APART = 1.1
"""Factor above which curves of two page sizes differ."""


@dataclass(frozen=True)
class Plateau:
    """Neighbouring points of even values."""

    first: float  # bytes
    last: float  # bytes of its last point
    beyond: float | None  # bytes of the next point, beyond its edge; `None`: the curve ends on it
    value: float  # the median


def plateaus(points: Sequence[tuple[float, float]]) -> tuple[Plateau, ...]:
    """Return the plateaus of a curve, from small sizes to large, as `even_runs` finds them.

    Args:
        points: (bytes, positive value), the bytes ascending.
    """
    return tuple(plateau_of(points, members) for members in even_runs([value for _, value in points]))


def even_runs(values: Sequence[float]) -> list[list[int]]:
    """Return the positions of neighbouring values that are even, in ascending order.

    Each run grows from the most even remaining neighbours to the side with the nearer next value, while all values are
    within `EVEN` of their median. A single outlier is skipped if the next value is even again. Adjacent runs whose
    values are even together are joined.

    Args:
        values: all positive.
    """
    logs = [math.log(value) for value in values]
    found: list[list[int]] = []
    free = set(range(len(logs)))
    for seed in sorted(range(len(logs) - 1), key=lambda i: abs(logs[i + 1] - logs[i])):
        if {seed, seed + 1} <= free and is_even(logs[seed : seed + 2]):
            grown = _grown(logs, [seed, seed + 1], free)
            if len(grown) >= LEAST_POINTS:
                found.append(grown)
                free -= set(range(grown[0], grown[-1] + 1))
    return _joined(logs, sorted(found))


def _grown(logs: Sequence[float], members: list[int], free: Container[int]) -> list[int]:
    """Return all members of the plateau; between two of them at most one point is skipped."""
    values = sorted(logs[i] for i in members)
    while True:
        middle = _middle(values)
        first, last = members[0], members[-1]
        sides = [i for i in (first - 1, last + 1, first - 2, last + 2) if i in free]
        sides.sort(key=lambda i: (not first - 1 <= i <= last + 1, abs(logs[i] - middle)))
        added = next((i for i in sides if is_even([*values, logs[i]])), None)
        if added is None:
            return members
        insort(members, added)
        insort(values, logs[added])


def _joined(logs: Sequence[float], found: Sequence[list[int]]) -> list[list[int]]:
    joined: list[list[int]] = []
    for members in found:
        together = [*joined[-1], *members] if joined and members[0] == joined[-1][-1] + 1 else []
        if together and is_even([logs[i] for i in together]):
            joined[-1] = together
        else:
            joined.append(members)
    return joined


def _middle(ordered: Sequence[float]) -> float:
    """Return the median of values in their order."""
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def is_even(logs: Sequence[float]) -> bool:
    """Return whether all values, given as logarithms, lie within `EVEN` of their median."""
    ordered = sorted(logs)
    middle = _middle(ordered)
    return max(middle - ordered[0], ordered[-1] - middle) <= math.log(EVEN)


def plateau_of(points: Sequence[tuple[float, float]], members: Sequence[int]) -> Plateau:
    """Return the plateau of these points of a curve, given in ascending order."""
    beyond = points[members[-1] + 1][0] if members[-1] + 1 < len(points) else None
    return Plateau(points[members[0]][0], points[members[-1]][0], beyond, median(points[i][1] for i in members))


def reach(ratios: Sequence[tuple[float, float]]) -> float | None:
    """Return the first size from which two curves differ by more than `APART`: the TLB reach of one of them.

    Args:
        ratios: (bytes, time with small pages over time with large ones), the bytes ascending.

    Returns:
        Bytes; `None` if fewer than two sizes remain, or if the curves differed before at two neighbouring sizes and met
        again (a single size may be disturbed).
    """
    apart = [ratio > APART for _, ratio in ratios]
    together = max((i for i, one in enumerate(apart) if not one), default=-1)
    if together + 2 >= len(apart) or any(a and b for a, b in pairwise(apart[:together])):
        return None
    return ratios[together + 1][0]
