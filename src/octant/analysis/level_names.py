"""Names of the plateaus of a ladder: the memory level of each, by cache sizes and values.

The curve must support each name. It is cut at every cache size that no source contradicts, so plateaus never span one.
Two levels keep their own names if the values change at their border by more than they vary within each of them.
Otherwise they share one name, such as `L2–L3`: the levels are not distinguishable.

The last cache requires more evidence, because guests and partitions often have less of it than the system states. It
has its own name only if an edge follows its plateau.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import mean, median
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.plateaus import EVEN, LEAST_POINTS, Plateau, even_runs, is_even, plateau_of
from octant.limit import CLEAR, MEMORY, NEAR

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

_STEP, _LAST_STEP = (1.05, 3), (1.1, 6)
"""Factor, and multiple of their spread (half the range), by which distinguishable levels differ. The second pair is for
the end of the last cache."""
_HITS = 5
"""Multiple of a cache size up to which random accesses hit it often enough to resemble a separate level."""
_OCTAVE = 0.99 * math.log(2)
_LAST_CACHES = (3, 4)
"""Levels followed by memory. After an L2, an unstated system-level cache may follow."""


@dataclass(frozen=True)
class NamedPlateau(Plateau):
    """Plateau with its possible levels: one, several that are not distinguishable, or none."""

    levels: tuple[str, ...]  # "L1" … "L4" and "memory", the nearest first
    name: str  # "L2", "L2–L3", "memory"; "beyond L2" or "to 12 MiB" if no size identifies the level


def named_plateaus(
    points: Sequence[tuple[float, float]], stated: Mapping[int, int], disputed: Container[int] = (), rising: bool = True
) -> tuple[NamedPlateau, ...]:
    """Return the plateaus of a ladder with their names, from small footprints to large.

    Args:
        points: (bytes, positive value), the bytes ascending.
        stated: bytes that fit into the caches of each level.
        doubted: levels whose size a source contradicts. Such a size neither cuts the curve nor gives a name.
        rising: whether values grow from level to level (times); rates fall.
    """
    return _Namer(points, stated, disputed, rising).named()


@dataclass
class _Part:
    """Neighbouring even points between two sizes, or across a size between indistinguishable levels."""

    members: list[int]
    low: int  # indices of known caches, from 0; their number means beyond all of them
    high: int
    first: bool  # the first part of its stretch
    begins_clearly: bool = True
    ends_clearly: bool = True
    levels: list[int] = field(default_factory=list)


class _Namer:
    """The points of one curve and the sizes that cut it."""

    def __init__(
        self,
        points: Sequence[tuple[float, float]],
        stated: Mapping[int, int],
        disputed: Container[int],
        rising: bool,
    ) -> None:
        known = [(level, size) for level, size in sorted(stated.items()) if level not in disputed]
        self.points = points
        self.outermost, self.largest = max(stated.items(), default=(0, 0))
        self.numbers = [level for level, _ in known]
        self.sizes = [size for _, size in known]
        self.at = [math.log(size) for size, _ in points]
        self.depth = [math.log(value) if rising else -math.log(value) for _, value in points]
        self.stretches: list[list[int]] = [[] for _ in range(len(known) + 1)]
        for place, (size, _) in enumerate(points):
            self.stretches[sum(size > limit for limit in self.sizes)].append(place)
        self.unevenness = 0.0

    def named(self) -> tuple[NamedPlateau, ...]:
        parts = self._parts()
        for number, part in enumerate(parts):
            part.levels = self._levels(part, parts[:number], parts[number + 1 :])
        return tuple(self._plateau(part) for part in parts if len(part.members) >= LEAST_POINTS)

    def _parts(self) -> list[_Part]:
        """Return the even runs of each stretch, joined if no step at the size between them separates them."""
        runs = [
            (number, [stretch[i] for i in run])
            for number, stretch in enumerate(self.stretches)
            for run in even_runs([self.points[i][1] for i in stretch])
        ]
        self.unevenness = mean([_spread([self.depth[i] for i in self._clear(run)]) for _, run in runs] or [0.0])
        parts: list[_Part] = []
        for number, run in runs:
            for piece in self._pieces(run, _HITS * self.sizes[number - 1] if number else 0):
                before = parts[-1] if parts else None
                part = _Part(piece, number, number, first=before is None or before.high < number)
                if part.first and before and before.high == number - 1 and not self._steps(before.members, piece):
                    if is_even([self.depth[i] for i in (*before.members, *piece)]):
                        before.members, before.high = [*before.members, *piece], number
                        continue
                    before.ends_clearly = part.begins_clearly = False
                parts.append(part)
        return parts

    def _pieces(self, run: list[int], begin: int) -> list[list[int]]:
        """Return the run, split in two if a step inside it shows an edge that no stated size explains.

        Args:
            begin: bytes, below which hits in the previous cache may make values rise.
        """
        found = []
        for cut in range(2, len(run) - 1):
            before, after = run[:cut], run[cut:]
            if self.points[after[0]][0] < begin:
                continue
            # The point next to the edge may belong to both levels.
            sides = [(before, after), (before[:-1], after), (before, after[1:])]
            if any(len(a) > 1 and len(b) > 1 and self._is_step(a, b, _STEP) for a, b in sides):
                height = self._middle(after) - self._middle(before)
                found.append((height, [before, after]))
        return max(found)[1] if found else [run]

    def _clear(self, members: Sequence[int], least: int = LEAST_POINTS) -> list[int]:
        """Return the points that are not near the capacity of a cache; all of them if these are too few."""
        kept = [i for i in members if not any(NEAR * size < self.points[i][0] < CLEAR * size for size in self.sizes)]
        return kept if len(kept) >= least else list(members)

    def _steps(self, before: Sequence[int], after: Sequence[int], least: tuple[float, float] = _STEP) -> bool:
        return self._is_step(self._clear(before), self._clear(after), least)

    def _is_step(self, before: Sequence[int], after: Sequence[int], least: tuple[float, float]) -> bool:
        """Return whether values differ by more than their spread and more than a slope of both sides."""
        ratio, spreads = least
        spread = max(self.unevenness, *(_spread([self.depth[i] for i in side]) for side in (before, after)))
        beyond = self._middle(after) - self._middle(before) - max(math.log(ratio), spreads * spread)
        if beyond <= 0:
            return False
        slopes = [slope for side in (before, after) if (slope := self._slope(side)) is not None]
        drift = max(0.0, min(slopes, default=0.0))
        return beyond > drift * (median(self.at[i] for i in after) - median(self.at[i] for i in before))

    def _slope(self, members: Sequence[int]) -> float | None:
        """Return the median slope between points at least an octave apart (Theil and Sen); `None` for too few."""
        pairs = [(a, b) for n, a in enumerate(members) for b in members[n + 1 :] if self.at[b] - self.at[a] >= _OCTAVE]
        slopes = [(self.depth[b] - self.depth[a]) / (self.at[b] - self.at[a]) for a, b in pairs]
        return median(slopes) if slopes and len(members) >= LEAST_POINTS else None

    def _middle(self, members: Sequence[int]) -> float:
        return median(self.depth[i] for i in members)

    def _levels(self, part: _Part, before: Sequence[_Part], after: Sequence[_Part]) -> list[int]:
        """Return the numbers of the levels that a part may be; none if no size identifies one."""
        last = len(self.sizes) - 1
        low = part.low - (not part.begins_clearly)
        if part.low > last:
            return self._beyond(part, before, low)
        high = part.high + (not part.ends_clearly)
        if not part.first:  # the part before it ends at an edge that no stated size explains
            high = max(high, part.high + 1)
        is_outermost = high == last and self.numbers[last] == self.outermost
        if is_outermost and not self._ends_last_cache(part, after):
            high += 1
        return list(range(low, min(high, last + 1) + 1))

    def _ends_last_cache(self, part: _Part, after: Sequence[_Part]) -> bool:
        """Return whether a part in the last cache ends at an edge, so that it is not memory already."""
        last = len(self.sizes) - 1
        mixed = part.low == last > 0 and self.points[part.members[-1]][0] < _HITS * self.sizes[last - 1]
        if (mixed and not self._exceeds_hits(part, after)) or not part.begins_clearly:
            return False
        following = after[0].members if after else range(part.members[-1] + 1, len(self.points))
        if len(following) < 2:
            return False
        return self._is_step(self._clear(part.members), self._clear(following, least=2), _LAST_STEP)

    def _exceeds_hits(self, part: _Part, after: Sequence[_Part]) -> bool:
        """Return whether a part is too fast to be memory with hits in the cache before the last one."""
        if not after or after[-1].members[-1] != len(self.points) - 1 or after[-1].low < len(self.sizes):
            return False
        return all(self._faster_than_hits(part.members, self._middle(after[-1].members)))

    def _faster_than_hits(self, members: Sequence[int], memory: float) -> list[bool]:
        """Return for each point whether it is faster than memory of this depth with hits in the cache before the last.

        Random accesses hit this cache in the share of the footprint that it holds. Hits are assumed to take no time, so
        that a slower point may still be in the last cache.
        """
        last = len(self.sizes) - 1
        within = self.sizes[last - 1] if last else 0
        sizes = [(self.points[i][0], self.depth[i]) for i in members]
        return [memory - depth - math.log(size / (size - within)) > 2 * math.log(EVEN) for size, depth in sizes]

    def _beyond(self, part: _Part, before: Sequence[_Part], low: int) -> list[int]:
        """Return the levels of a part beyond every known size: memory, if a cache was identified before it."""
        last, goes_on = len(self.sizes) - 1, part.members[-1] == len(self.points) - 1
        if last < 0 or not goes_on:
            return []
        if low <= last:
            return list(range(low, last + 2))
        begin = self.points[part.members[0]][0]
        if self.outermost not in _LAST_CACHES or begin <= self.largest:
            return []
        if self.largest > self.sizes[last]:  # a disputed size is the host's, an upper bound
            return [last + 1]
        is_memory = self._is_slower_than_cache(part, before) if self.stretches[last] else begin >= CLEAR * self.largest
        return [last + 1] if is_memory else [last, last + 1]

    def _is_slower_than_cache(self, part: _Part, before: Sequence[_Part]) -> bool:
        """Return whether the last cache shows before a part: as a plateau, or by points faster than hits explain."""
        last = len(self.sizes) - 1
        if any(one.levels == [last] and self._steps(one.members, part.members, _LAST_STEP) for one in before):
            return True
        return sum(self._faster_than_hits(self.stretches[last], self._middle(part.members))) > 1

    def _plateau(self, part: _Part) -> NamedPlateau:
        found = plateau_of(self.points, part.members)
        names = [f"L{self.numbers[i]}" if i < len(self.numbers) else MEMORY for i in part.levels]
        if names:
            name = "–".join(dict.fromkeys((names[0], names[-1])))
        elif self.sizes and found.beyond is None and found.first > self.sizes[-1]:
            name = f"beyond L{self.numbers[-1]}"
        else:
            name = f"to {units.bytes_text(found.last)}"
        return NamedPlateau(found.first, found.last, found.beyond, found.value, tuple(names), name)


def _spread(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / 2
