"""The roofline of a run: kernels that count flops and bytes, under the roofs that the run measured itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.roofline import element_of, intensity, rooflines
from octant.metric import Rate
from octant.report.charts.picture import MOST_LINES, MOST_POINTS, Axis, Panel, Picture, Series, thin, thinned_text
from octant.report.charts.ticks import decades, si_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.roofline import Roofline
    from octant.analysis.summary import Summary


def roofline(summary: Summary) -> Picture | None:
    """Measured kernels under the measured roofs (Williams, Waterman and Patterson 2009); `None` without both roofs."""
    listed = [(figure, dot) for figure in summary.figures if figure.show.table for dot in [_dot(figure)] if dot]
    points = [figure.point for figure, _ in listed]
    roofs = rooflines(summary.known, [(point.hardware_threads, element_of(point)) for point in points])
    if not roofs or not listed:
        return None
    dots = thin(listed, MOST_POINTS)
    groups: dict[str, list[tuple[Figure, tuple[float, float]]]] = {}
    for figure, dot in sorted(dots, key=lambda one: (one[0].workload.name, *_kind(one[0]))):
        threads, element = _kind(figure)
        name = f"{figure.workload.name}, {element}, {units.counted(threads, 'thread')}"
        groups.setdefault(name, []).append((figure, dot))
    kept = thin(list(groups.items()), MOST_LINES)
    xs = [x for _, mine in kept for _, (x, _) in mine]
    left, right = min([*xs, 0.05]) / 1.5, max([*xs, 10.0]) * 1.5
    series = [*_roofs(roofs, left, right), *(_dots(name, mine) for name, mine in kept)]
    every = [y for one in series for y in one.y]
    drawn = sum(len(mine) for _, mine in kept)
    return Picture(
        "roofline",
        "Roofline",
        "Each point is a kernel: how much it computes per byte of memory traffic (write-allocates counted), and how "
        "fast. The lines are roofs that this run measured itself: memory traffic on the left, multiply-adds of each "
        "precision on the right. Shares of these limits in the table are of the same values."
        + thinned_text(drawn, len(listed), "kernels"),
        (
            Panel(
                Axis("flop per byte", True, decades(left, right, lambda v: f"{v:g}")),
                Axis("rate", True, decades(min(every), max(every), si_ticks("flop/s")), "flop/s"),
                tuple(series),
            ),
        ),
        ("figure", "mode", "flop per byte", "rate"),
        tuple(
            (figure.title, figure.mode, f"{x:.3g}", units.si_text(y, "flop/s"))
            for _, mine in kept
            for figure, (x, y) in mine
        ),
    )


def _roofs(roofs: Sequence[Roofline], left: float, right: float) -> list[Series]:
    """Of each precision the roofs of the fewest and of the most threads."""
    found = []
    for element in dict.fromkeys(roof.element for roof in roofs):
        mine = [roof for roof in roofs if roof.element == element]
        for roof in dict.fromkeys((mine[0], mine[-1])):
            x = (left, min(max(roof.ridge, left), right), right)
            name = f"roof, {element}, {units.counted(roof.threads, 'thread')}"
            found.append(Series(name, "line", x, roof.curve(x)))
    return found


def _dots(name: str, mine: Sequence[tuple[Figure, tuple[float, float]]]) -> Series:
    xs, ys = tuple(x for _, (x, _) in mine), tuple(y for _, (_, y) in mine)
    return Series(name, "points", xs, ys, labels=tuple(figure.name for figure, _ in mine))


def _dot(figure: Figure) -> tuple[float, float] | None:
    """flop per byte and flop/s; `None` where the kernel does not count both, or the metric is not made of its steps."""
    per_byte, unit_value = intensity(figure.point), figure.at(1.0)
    if per_byte is None or figure.value is None or not unit_value or not figure.value.middle:
        return None
    rate = isinstance(figure.metric.value, Rate)
    steps_per_s = figure.value.middle / unit_value if rate else unit_value / figure.value.middle
    return per_byte, figure.point.count("flops") * steps_per_s


def _kind(figure: Figure) -> tuple[int, str]:
    """Hardware threads in use and precision: what decides which roof a point has."""
    return len(figure.point.hardware_threads), element_of(figure.point)
