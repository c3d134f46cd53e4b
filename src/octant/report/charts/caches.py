"""Sizes of caches as the system states them, as lines across a picture over footprints, with doubt in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.machine import LAST_CACHE
from octant.report.charts.picture import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.plateaus import Plateau
    from octant.machine import Machine


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


def size_text(machine: Machine, level: int) -> str:
    """The size of a level as stated: `2 MiB`, `480 MiB (the host's)`."""
    doubt = doubted_levels(machine).get(level)
    return units.bytes_text(stated_sizes(machine)[level]) + (f" ({doubt})" if doubt else "")


def cache_marks(machine: Machine, least: float, most: float) -> tuple[Mark, ...]:
    """A line at each stated size between two footprints in bytes."""
    return tuple(
        Mark(float(size), f"L{level} {size_text(machine, level)}")
        for level, size in stated_sizes(machine).items()
        if least <= size <= most
    )
