"""Sizes of caches as the system states them, as lines across a picture over footprints, with doubt in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import disputed_levels, stated_sizes
from octant.report.charts.picture import Mark

if TYPE_CHECKING:
    from octant.machine import Machine


def size_text(machine: Machine, level: int) -> str:
    """The size of a level as stated: `2 MiB`, `480 MiB (the host's)`."""
    caveat = disputed_levels(machine).get(level)
    return units.bytes_text(stated_sizes(machine)[level]) + (f" ({caveat})" if caveat else "")


def cache_marks(machine: Machine, least: float, most: float) -> tuple[Mark, ...]:
    """A line at each stated size between two footprints in bytes."""
    return tuple(
        Mark(float(size), f"L{level} {size_text(machine, level)}")
        for level, size in stated_sizes(machine).items()
        if least <= size <= most
    )
