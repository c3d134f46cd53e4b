"""Levels of caches: what the system states, what a ladder over footprints shows of it, and what it shows instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.plateaus import LEAST_POINTS, plateaus
from octant.machine import LAST_CACHE
from octant.machine.facts import usable_cores
from octant.workload import Ladder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.plateaus import Plateau
    from octant.machine import Machine

BEYOND = 2
"""A ladder says what caches hold only if it goes on to this multiple of what the system states."""


def stated_sizes(machine: Machine) -> dict[int, int]:
    """Bytes of one cache of each level that there is."""
    sizes = ((level, machine.cache_bytes(level)) for level in range(1, 5))
    return {level: size for level, size in sizes if size}


def doubted_levels(machine: Machine) -> dict[int, str]:
    """Levels whose size a source contradicts, and the doubt in words: `the host's`."""
    found = next((entry for entry in machine.disagreements if entry.subject == LAST_CACHE), None)
    if found is None:
        return {}
    hosts = any("host's" in statement for _, statement in found.statements)
    return {max(stated_sizes(machine), default=0): "the host's" if hosts else "disputed"}


def unseen_levels(stated: Mapping[int, int], found: Sequence[Plateau], longest: float) -> list[int]:
    """Levels that show no plateau, though footprints up to `longest` bytes go beyond the level before."""
    below = {level: stated.get(level - 1, 0) for level in stated}
    return [
        level
        for level, size in stated.items()
        if longest > below[level] and not any(below[level] < one.last <= size for one in found)
    ]


def cached_by_ladder(figures: Iterable[Figure], machine: Machine) -> int | None:
    """What the caches of all usable cores hold together at most, where ladders of one core show less than is stated.

    That is the case if no plateau of the last level is seen, and the last plateau begins below its stated size and
    goes on to the end of a ladder that is well longer. Of several ladders the largest answer counts, and one that shows
    the level outdoes all: the others were disturbed.

    Returns:
        Bytes; `None` where no ladder is long enough, or the stated size is not contradicted.
    """
    stated = stated_sizes(machine)
    last, cores = max(stated, default=0), len(usable_cores(machine))
    edges = []
    for points in _ladders(figures):
        if len(points) < LEAST_POINTS or not last or points[-1][0] < BEYOND * stated[last]:
            continue
        found = plateaus(points)
        ends = bool(found) and found[-1].beyond is None and found[-1].first < stated[last]
        if not ends or last not in unseen_levels(stated, found, points[-1][0]):
            return None
        edges.append(int(found[-1].first) * cores)
    return min(max(edges), machine.last_level_cache_bytes()) if edges else None


def _ladders(figures: Iterable[Figure]) -> list[list[tuple[float, float]]]:
    """(bytes, seconds), the bytes ascending, of each ladder of times that one hardware thread climbed with large pages.

    With base pages the reach of the TLB would pass for a level.
    """
    found: dict[tuple[object, ...], dict[float, float]] = {}
    for figure in figures:
        shown = next((one for one in figure.workload.pictures if isinstance(one, Ladder)), None)
        times = shown and figure.workload.metric(shown.y) is figure.metric and figure.metric.unit == "s"
        large = figure.knobs.get("pages", "default") not in ("base", "default")
        if not shown or not times or not large or len(figure.point.hardware_threads) != 1:
            continue
        if figure.value is None or figure.invalid:
            continue
        try:
            size = units.parse_bytes(figure.knobs.get(shown.x, ""))
        except ValueError:
            continue
        found.setdefault((figure.workload.name, figure.label, figure.knobs["pages"]), {})[size] = figure.value.middle
    return [sorted(points.items()) for points in found.values()]
