"""Which memory levels serve the footprints of a run's table: a note on those that are near the size of a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import total_footprint
from octant.analysis.names import knob_of
from octant.limit import LEVELS, MEMORY, cache_capacities, levels_serving
from octant.report.sentences import Sentences
from octant.workload import Ladder

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.machine import Machine

MAX_TEXTS = 12
CERTAIN = 1 / 4
"""Fraction of a cache that is its own in any case: METHOD.md, Footprints near the size of a cache."""
_TEXTS = Sentences("octant.report.tables", "footprints")


def footprint_texts(summary: Summary) -> list[str]:
    """Return a sentence for each footprint that is near the size of a cache, or that was requested by memory level.

    Blocked algorithms are omitted: their footprint is not traversed repeatedly as a whole.
    """
    if summary.run.benchmark or summary.run.imported or summary.run.study:
        return []
    found = dict.fromkeys(
        text for one in summary.figures if one.show.table and (text := _text(one, summary.run.machine))
    )
    return list(found)[:MAX_TEXTS]


def _text(figure: Figure, machine: Machine) -> str:
    """Return the levels that serve the footprint of a figure; "" if nothing has to be said about it."""
    x = next((one.x for one in figure.workload.pictures if isinstance(one, Ladder)), "")
    footprint, threads = total_footprint(figure, machine), figure.point.hardware_threads
    if not x or not footprint or not cache_capacities(machine, threads):
        return ""
    levels, is_named = levels_serving(machine, threads, footprint), x in figure.show.expressions
    first = levels[0]
    capacity = 0 if first == MEMORY else cache_capacities(machine, threads)[LEVELS.index(first) + 1]
    share = footprint / capacity if capacity else 0.0
    if len(levels) == 1 and share <= CERTAIN and not is_named:
        return ""
    size = knob_of(figure, x)
    total = units.bytes_text(footprint) if units.bytes_text(footprint) not in size else ""
    return _TEXTS.line("served", size, total, len(threads), levels, share, CERTAIN)
