"""Rooflines: upper bounds of kernels by arithmetic intensity (Williams, Waterman, Patterson 2009).

Each layout of hardware threads has its own roofs: slanted ones from the best traffic of the run in each level, flat
ones from multiply-adds in each precision. They equal the limits of the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.limit import FMA, LEVELS, MEMORY, SCALAR, Level, fma_peak, level_of, pattern, traffic_in
from octant.metric import Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from octant.analysis.figures import Figure
    from octant.limit import Known, Threads
    from octant.machine import Machine
    from octant.record import Point

ABOVE = 1.03
"""Share of a roof beyond which units, counting or clock are questionable."""


@dataclass(frozen=True)
class Extent:
    """Level with a roof of its own, or several with a common one that a ladder does not distinguish."""

    levels: tuple[Level, ...]  # the nearest first
    last: float = math.inf  # bytes, up to which a ladder shows data in these levels


ALONE = tuple(Extent((level,)) for level in LEVELS)
"""Every level separately, by stated sizes."""


@dataclass(frozen=True)
class Slope:
    """Memory roof: the best traffic of any loop of the run in a level."""

    extent: Extent
    bytes_per_s: float
    cell: Hashable  # of the figure that reached it

    @property
    def level(self) -> str:
        """The name of the level: `L2`, or `L2–L3` for several."""
        return "–".join(dict.fromkeys((self.extent.levels[0], self.extent.levels[-1])))


@dataclass(frozen=True)
class Flat:
    """Arithmetic roof: multiply-adds of a precision, or scalar ones in double."""

    name: str  # double, single, scalar
    flops_per_s: float
    cell: Hashable  # of the figure that reached it; "": it is twice double's


@dataclass(frozen=True)
class Roofs:
    """Roofs of one layout of hardware threads."""

    threads: Threads
    slopes: tuple[Slope, ...]  # the first level first; memory always
    flats: tuple[Flat, ...]  # the highest first; double always

    def slope(self, level: Level) -> Slope | None:
        """Return the roof of a level."""
        return next((one for one in self.slopes if level in one.extent.levels), None)

    def flat(self, name: str) -> Flat | None:
        """Return the roof of a precision."""
        return next((one for one in self.flats if one.name == name), None)

    @property
    def ridge(self) -> float:
        """The least intensity, in flop/B of memory traffic, at which double precision can be kept busy."""
        memory, double = self.slope(MEMORY), self.flat("double")
        assert memory is not None  # noqa: S101 - guaranteed by `roofs`
        assert double is not None  # noqa: S101 - likewise
        return double.flops_per_s / memory.bytes_per_s


@dataclass(frozen=True)
class Kernel:
    """Figure under its roofs."""

    figure: Figure
    level: Level | None  # of its data by stated sizes and the ladder; `None`: between levels, or not known
    intensity: float  # flop/B of the traffic of its level
    rate: float  # flop/s
    low: float
    high: float
    roof: float | None  # maximum flop/s by level and precision; `None`: not certain
    roof_name: str  # "memory", "L1", "double"
    is_limit: bool  # it provides this roof

    @property
    def share(self) -> float | None:
        """The share of its roof; none of a figure that is not measurable or that made the roof."""
        measurable = self.roof is not None and not self.figure.invalid and not self.is_limit
        return self.rate / self.roof if measurable and self.roof else None


def roofs(known: Known, threads: Threads, single: bool = True, extents: Sequence[Extent] = ALONE) -> Roofs | None:
    """Return the roofs of hardware threads with this layout; `None` without peak or memory.

    Args:
        single: whether single precision without a measurement of its own has twice the roof of double.
        extents: the levels that have roofs.
    """
    limits = known.only((*FMA.values(), SCALAR, *map(traffic_in, LEVELS)))
    slopes = []
    for extent in extents:
        reached = [best for level in extent.levels if (best := limits.best(traffic_in(level), threads)) is not None]
        if reached:
            fastest = max(reached, key=lambda best: best.value)
            slopes.append(Slope(extent, fastest.value, fastest.cell))
    flats = []
    for element, name in FMA.items():
        peak, best = fma_peak(limits, element, threads), limits.best(name, threads)
        if peak is not None and (best is not None or single):
            flats.append(Flat(element, 1 / peak.seconds, best.cell if best else ""))
    scalar = limits.best(SCALAR, threads)
    if scalar is not None:
        flats.append(Flat("scalar", scalar.value, scalar.cell))
    if all(MEMORY not in slope.extent.levels for slope in slopes) or all(flat.name != "double" for flat in flats):
        return None
    return Roofs(threads, tuple(slopes), tuple(sorted(flats, key=lambda flat: -flat.flops_per_s)))


def layouts(
    known: Known, figures: Sequence[Figure], extents: Callable[[Threads], Sequence[Extent]] = lambda _threads: ALONE
) -> list[tuple[Roofs, list[Figure]]]:
    """Return the figures that count flops and bytes by layout of hardware threads, few threads first.

    Those without roofs are skipped.

    Args:
        extents: the levels that have roofs on such hardware threads.
    """
    groups: dict[object, list[Figure]] = {}
    for figure in figures:
        if intensity(figure.point) is not None and figure.value is not None:
            groups.setdefault(pattern(known.topology, figure.point.hardware_threads), []).append(figure)
    found = []
    for mine in groups.values():
        single = any(element_of(figure.point) == "single" for figure in mine)
        threads = mine[0].point.hardware_threads
        over = roofs(known, threads, single, extents(threads))
        if over is not None:
            found.append((over, mine))
    return sorted(found, key=lambda one: len(one[0].threads))


def kernel(over: Roofs, figure: Figure, machine: Machine) -> Kernel | None:
    """Return the figure under these roofs; `None` without both counts or if its metric is not a step time."""
    point, value = figure.point, figure.value
    moved_bytes, unit_value = figure.workload.footprint(machine, point), figure.at(1.0)
    level = None if moved_bytes is None else level_of(machine, point.hardware_threads, moved_bytes)
    under = over.slope(level) if level else None
    if level and moved_bytes and (under is None or moved_bytes > under.extent.last):
        level = None
    per_byte = intensity(point, level)
    if per_byte is None or value is None or not unit_value or not (value.low > 0 and value.middle > 0):
        return None
    flops = point.count("flops")
    low, middle, high = sorted(
        flops * (v / unit_value if isinstance(figure.metric.value, Rate) else unit_value / v)
        for v in (value.low, value.middle, value.high)
    )
    roof, name, cell = _roof(over, level, element_of(point), per_byte)
    return Kernel(figure, level, per_byte, middle, low, high, roof, name, bool(cell) and cell == figure.identity.cell)


def _roof(over: Roofs, level: Level | None, element: str, per_byte: float) -> tuple[float | None, str, Hashable]:
    """Return the maximum flop/s, its cause, and the cell that reached it.

    Right of the memory ridge, arithmetic is the bound in every level; left of it, an unknown level gives no bound.
    """
    flat, memory, slope = over.flat(element), over.slope(MEMORY), over.slope(level) if level else None
    if flat is None or memory is None:
        return None, "", ""
    by_level = slope.bytes_per_s * per_byte if slope else None
    if by_level is not None and slope and by_level < flat.flops_per_s:
        return by_level, slope.level, slope.cell
    if by_level is not None or memory.bytes_per_s * per_byte >= flat.flops_per_s:
        return flat.flops_per_s, flat.name, flat.cell
    return None, "", ""


def element_of(point: Point) -> str:
    """Return the precision of a point: its knob `element`, or double."""
    named = point.knobs.get("element", "")
    return named if named in FMA else "double"


def intensity(point: Point, level: Level | None = None) -> float | None:
    """Return the flop/B of a kernel's own counts; `None` if it moves or computes nothing.

    Write-allocate traffic counts, except in the first cache, which holds these lines already.
    """
    allocated = () if level == LEVELS[0] else ("bytes_allocated",)
    moved = point.count("bytes_read", "bytes_written", *allocated)
    flops = point.count("flops")
    return flops / moved if moved > 0 and flops > 0 else None
