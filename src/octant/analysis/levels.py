"""Memory levels of a ladder over footprints: the only source of their names, values and edges in a run.

Tiles, pictures, tables and the roofline use a `LevelCurve`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from octant import units
from octant.analysis.level_names import named_plateaus
from octant.analysis.plateaus import LEAST_POINTS
from octant.facts import usable_cores
from octant.limit import MEMORY, cache_capacities
from octant.machine.cache_levels import disputed_levels, stated_sizes
from octant.request import EFFORT
from octant.workload import Ladder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.level_names import NamedPlateau
    from octant.machine import Machine
    from octant.record import Point

BEYOND = 2
"""Multiple of the stated cache size up to which a ladder must extend to show the capacity."""
Verdict: TypeAlias = Literal["distinct", "shared", "unnamed", "unseen", "unknown"]
"""Evidence of a ladder for a cache: a plateau of its own; one shared with another level; one of disputed size; none; or
too few footprints."""


@dataclass(frozen=True)
class LevelCurve:
    """Ladder of one metric, with its levels."""

    points: tuple[tuple[float, float], ...]  # (bytes, value), the bytes ascending
    sizes: Mapping[int, int]  # stated capacity of each level, in bytes along the ladder
    disputed: frozenset[int]  # levels without a certain size
    plateaus: tuple[NamedPlateau, ...]

    def at(self, size: float) -> NamedPlateau | None:
        """Return the plateau that contains a footprint."""
        return next((one for one in self.plateaus if one.first <= size <= one.last), None)

    def verdict(self, level: int) -> Verdict:
        """Return what the ladder shows of a cache."""
        name, size, below = f"L{level}", self.sizes.get(level, 0), self.sizes.get(level - 1, 0)
        if any(one.levels == (name,) for one in self.plateaus):
            return "distinct"
        if any(name in one.levels for one in self.plateaus):
            return "shared"
        if level in self.disputed and any(below < one.last <= size for one in self.plateaus):
            return "unnamed"
        within = sum(below < at <= size for at, _ in self.points)
        return "unseen" if within >= LEAST_POINTS else "unknown"

    def shared_with(self, level: int) -> tuple[str, ...]:
        """Return the other levels of the plateaus that a cache shares."""
        name = f"L{level}"
        others = (other for one in self.plateaus if name in one.levels for other in one.levels if other != name)
        return tuple(dict.fromkeys(others))


def level_curve(at: Sequence[tuple[float, Figure]], machine: Machine) -> LevelCurve:
    """Return the ladder that these figures make, with the names of its plateaus.

    Args:
        at: (bytes, figure with a positive value), the bytes ascending.
    """
    sizes, disputed = _sizes_along(at, machine)
    points = tuple((size, one.value.middle) for size, one in at if one.value)
    rising = not at or at[0][1].metric.better == "lower"
    return LevelCurve(points, sizes, disputed, named_plateaus(points, sizes, disputed, rising))


def _sizes_along(at: Sequence[tuple[float, Figure]], machine: Machine) -> tuple[dict[int, int], frozenset[int]]:
    """Return the size of each level along a ladder, and the levels whose size varies or is disputed.

    Several threads divide their footprint and share caches; cores may have different caches.
    """
    seen: dict[tuple[object, ...], dict[int, int]] = {}
    for size, one in at:
        for point in one.points:
            threads = point.hardware_threads
            total = _footprint(one, point, machine) or size * len(threads)
            key = (threads, round(total / size, 3))
            if key not in seen:
                capacities = cache_capacities(machine, threads)
                seen[key] = {level: round(fits * size / total) for level, fits in capacities.items() if total}
    found: dict[int, set[int]] = {}
    for capacities in seen.values():
        for level, fits in (capacities or stated_sizes(machine)).items():
            found.setdefault(level, set()).add(fits)
    differing = {level for level, fits in found.items() if len(fits) > 1}
    return {level: max(fits) for level, fits in sorted(found.items())}, frozenset(
        differing | set(disputed_levels(machine))
    )


def _footprint(figure: Figure, point: Point, machine: Machine) -> int | None:
    """Return the bytes of all threads together; `None` if the workload or the point does not state it."""
    try:
        return figure.workload.footprint(machine, point)
    except (KeyError, ValueError):
        return None


def total_footprint(figure: Figure, machine: Machine) -> int | None:
    """Return the bytes that all threads of a figure together traverse; `None` if they are not known.

    A workload with a ladder that declares no footprint has one of the ladder's size for each thread.
    """
    point = figure.point
    if (declared := _footprint(figure, point, machine)) is not None:
        return declared
    shown = next((one for one in figure.workload.pictures if isinstance(one, Ladder)), None)
    try:
        return units.parse_bytes(figure.knobs[shown.x]) * len(point.hardware_threads) if shown else None
    except (KeyError, ValueError):
        return None


def cached_by_ladder(figures: Iterable[Figure], machine: Machine) -> int | None:
    """Return the capacity of the caches of all usable cores if ladders of one core show less than is stated.

    This requires that the last cache has no plateau of its own in any ladder, and that the last plateau of a ladder of
    times begins below the stated size and extends to the end of a much longer ladder. Of several such ladders, the
    largest result counts: the others were disturbed.

    Returns:
        Bytes; `None` if no ladder of times is long enough, or the stated size is not contradicted.
    """
    stated = stated_sizes(machine)
    last, cores = max(stated, default=0), len(usable_cores(machine))
    edges = []
    for at in _ladders(figures) if last else ():
        curve, times = level_curve(at, machine), at[0][1].metric.unit == "s"
        if curve.verdict(last) == "distinct":
            return None
        if len(at) < LEAST_POINTS or not times or at[-1][0] < BEYOND * stated[last]:
            continue
        tail = curve.plateaus[-1] if curve.plateaus else None
        goes_on = tail is not None and tail.beyond is None and tail.levels in ((), (f"L{last}", MEMORY))
        if tail is None or not goes_on or tail.first >= stated[last] or curve.verdict(last) == "unnamed":
            return None
        edges.append(int(tail.first) * cores)
    stated_bytes = machine.last_level_cache_bytes()
    return None if not edges else max(edges) if stated_bytes is None else min(max(edges), stated_bytes)


def _ladders(figures: Iterable[Figure]) -> list[list[tuple[float, Figure]]]:
    """Return (bytes, figure) pairs of each ladder of one hardware thread with large pages, ascending.

    With base pages, the TLB reach would look like a level.
    """
    found: dict[tuple[object, ...], dict[float, Figure]] = {}
    for figure in figures:
        shown = next((one for one in figure.workload.pictures if isinstance(one, Ladder)), None)
        large = figure.knobs.get("pages", "default") not in ("base", "default")
        if not shown or figure.workload.metric(shown.y) is not figure.metric or not large:
            continue
        if len(figure.point.hardware_threads) != 1 or not figure.value or figure.invalid or figure.value.middle <= 0:
            continue
        try:
            size = units.parse_bytes(figure.knobs.get(shown.x, ""))
        except ValueError:
            continue
        others = sorted((name, text) for name, text in figure.knobs.items() if name not in (shown.x, *EFFORT))
        found.setdefault((figure.workload.name, figure.label, *others), {})[size] = figure
    return [sorted(points.items()) for points in found.values()]
