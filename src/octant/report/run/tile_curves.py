"""What a curve says in a tile: the levels of memory that it shows, and the length with half of the best bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import doubted_levels, stated_sizes, unseen_levels
from octant.analysis.plateaus import level_name, plateaus
from octant.report import claims
from octant.report.charts.lines import Line
from octant.report.run.chosen import matching

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import Named

_MOST_LEVELS = 3


def levels_text(summary: Summary, named: Named) -> str:
    """The plateaus whose edge was seen: `L1 2.32 ns, L2 7.29 ns; no plateau of an L3 seen`; empty without a curve."""
    line = _along_sizes(summary, named).measurable
    if len(line.xs) < 2:
        return ""
    stated, doubted = stated_sizes(summary.run.machine), doubted_levels(summary.run.machine)
    found = plateaus(line.points)
    names = [(level_name(one, stated, doubted), one) for one in found]
    seen = [(name, one) for name, one in names if name.startswith(("L", "to ")) and one.beyond]
    within = seen[:_MOST_LEVELS]
    unit = line.figures[0].metric.unit
    text = ", ".join(f"{name} {claims.quantity(one.value, unit)}" for name, one in within)
    last = max(stated, default=0)
    unseen = f"no plateau of an L{last} seen" if last in unseen_levels(stated, found, line.xs[-1]) else ""
    return "; ".join(filter(None, [text, unseen]))


def half_length_text(summary: Summary, named: Named) -> str:
    """`N½ 52.3 KiB`; empty of a time, and where the curve does not reach half of its best from below."""
    length = _along_sizes(summary, named).half_length
    return f"N½ {claims.quantity(length, 'B')}" if length else ""


def _along_sizes(summary: Summary, named: Named) -> Line:
    """The cells of a curve with a value, by their `bytes`."""
    found: dict[float, Figure] = {}
    for figure in matching(summary, named):
        try:
            size = units.parse_bytes(figure.knobs.get("bytes", ""))
        except ValueError:
            continue
        if figure.value and figure.value.middle > 0:
            found.setdefault(float(size), figure)
    xs = sorted(found)
    return Line(named.title, tuple(xs), tuple(found[x] for x in xs))
