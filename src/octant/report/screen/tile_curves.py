"""What a curve says in a tile: the levels of memory that it shows, and the length with half of the best bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.named_figures import matching
from octant.report import claims
from octant.report.charts.curves.figure_curves import FigureCurve
from octant.report.charts.curves.ladders import Ladders, rungs

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import NamedFigure

_MOST_LEVELS = 3


def levels_text(summary: Summary, named: NamedFigure) -> str:
    """The plateaus whose edge was seen: `L1 2.32 ns, L2 7.29 ns; no plateau of an L3 seen`; empty without a curve."""
    ladders = Ladders(rungs(summary), summary.run.machine)
    found = ladders.of_figures(named.title, matching(summary, named))
    if found is None or len(found[0].points) < 2:
        return ""
    curve, metric = found
    seen = [one for one in curve.plateaus if one.beyond]
    text = ", ".join(f"{one.name} {claims.quantity(one.value, metric.unit)}" for one in seen[:_MOST_LEVELS])
    last = ladders.missing_text(curve, metric, max(curve.sizes, default=0))
    return "; ".join(filter(None, [text, last]))


def half_length_text(summary: Summary, named: NamedFigure) -> str:
    """`N½ 52.3 KiB`; empty of a time, and where the curve does not reach half of its best from below."""
    length = _along_sizes(summary, named).half_length
    return f"N½ {claims.quantity(length, 'B')}" if length else ""


def _along_sizes(summary: Summary, named: NamedFigure) -> FigureCurve:
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
    return FigureCurve(named.title, tuple(xs), tuple(found[x] for x in xs))
