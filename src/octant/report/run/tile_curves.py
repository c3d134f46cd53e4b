"""What a curve says in a tile: the levels of memory that it shows, and the length with half of the best bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.plateaus import level_name, plateaus
from octant.analysis.segments import half_length
from octant.report import claims
from octant.report.charts.caches import doubted_levels, stated_sizes, unseen_levels
from octant.report.run.chosen import matching

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import Named

_MOST_LEVELS = 3


def levels_text(summary: Summary, named: Named) -> str:
    """The plateaus whose edge was seen: `L1 2.32 ns, L2 7.29 ns; no plateau of an L3 seen`; empty without a curve."""
    figures = _along_sizes(summary, named)
    if len(figures) < 2:
        return ""
    stated, doubted = stated_sizes(summary.run.machine), doubted_levels(summary.run.machine)
    found = plateaus([(x, _value(figure)) for x, figure in figures])
    names = [(level_name(one, stated, doubted), one) for one in found]
    seen = [(name, one) for name, one in names if name.startswith(("L", "to ")) and one.beyond]
    within = seen[:_MOST_LEVELS]
    metric = figures[0][1].metric
    text = ", ".join(f"{name} {claims.quantity(one.value, metric.unit)}" for name, one in within)
    last = max(stated, default=0)
    unseen = f"no plateau of an L{last} seen" if last in unseen_levels(stated, found, figures[-1][0]) else ""
    return "; ".join(filter(None, [text, unseen]))


def half_length_text(summary: Summary, named: Named) -> str:
    """`N½ 52.3 KiB`; empty where the curve does not reach half of its best from below."""
    points = [(x, _value(figure)) for x, figure in _along_sizes(summary, named) if x]
    length = half_length(points) if len(points) > 1 else None
    return f"N½ {claims.quantity(length, 'B')}" if length else ""


def _along_sizes(summary: Summary, named: Named) -> list[tuple[float, Figure]]:
    """The cells of a curve with a value, by their `bytes`, ascending."""
    found: dict[float, Figure] = {}
    for figure in matching(summary, named):
        try:
            size = units.parse_bytes(figure.knobs.get("bytes", ""))
        except ValueError:
            continue
        if figure.value and figure.value.middle > 0:
            found.setdefault(float(size), figure)
    return sorted(found.items(), key=lambda one: one[0])


def _value(figure: Figure) -> float:
    return figure.value.middle if figure.value else 0.0
