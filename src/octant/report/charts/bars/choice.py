"""What the worst of several ways costs against the best, by everything else that was varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.analysis.choices import choices
from octant.analysis.names import knob_text, picture_title
from octant.report.charts.bars.bars import places_axis
from octant.report.charts.picture import MOST_BARS, Axis, ChartSeries, Note, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import even_ticks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.analysis.choices import RankedFigures
    from octant.analysis.figures import Figure
    from octant.report.charts.cells import MeasuredCells
    from octant.workload import Choice

_ROOM = 1.9  # the axis against the longest bar, for the words at its end


def choice(cells: MeasuredCells, shown: Choice) -> Picture | None:
    """A bar for each combination of the other knobs: how many times as good the best is; `None` without any."""
    workload, found = cells.workload, choices(cells.figures, shown.x)
    if not found:
        return None
    kept = thin(found, MOST_BARS)
    costs = [one.cost for one in kept]
    labels = [given_text(one) or "all" for one in kept]
    series = ChartSeries(
        "worst over best", "across", tuple(cost.middle for cost in costs), tuple(map(float, range(len(costs)))),
        tuple(cost.low for cost in costs), tuple(cost.high for cost in costs), tuple(labels), role="grey",
    )  # fmt: skip
    most = max((*series.x, *series.high))
    ticks = even_ticks(most, lambda value: f"×{value:g}")
    return Picture(
        "choice",
        picture_title([one.best for one in kept], f"best {shown.x}, and what the worst costs"),
        f"{workload.summary}. How many times as good the best {shown.x} is as the worst, in launches that have both; "
        "both are picked for their medians, so noise alone puts it above 1."
        + thinned_text(len(kept), len(found), "bars"),
        (
            Panel(
                Axis("worst over best", False, ticks, "1", ends=(0.0, _ROOM * most)),
                places_axis("", labels),
                (series,),
                notes=tuple(
                    Note(max(cost.middle, cost.high), float(i), f"{one.best.knobs[one.knob]} best")
                    for i, (one, cost) in enumerate(zip(kept, costs, strict=True))
                ),
            ),
        ),
        ("case", f"best {shown.x}", "value", "as good", "worst", "value", "best over worst"),
        tuple(_row(label, one) for label, one in zip(labels, kept, strict=True)),
    )


def choice_texts(figures: Iterable[Figure], knob: str) -> list[str]:
    """`8 B, single: isend-mprobe best (712 ns); as good: sendrecv; worst ordered, ×2.6 [2.4, 2.8] of that`."""
    texts = []
    for one in choices(figures, knob):
        given, also = given_text(one), names(one.equivalents, knob)
        best = f"{f'{given}: ' if given else ''}{one.best.knobs[knob]} best ({_value(one.best)})"
        worst = f"worst {one.worst.knobs[knob]} ({_value(one.worst)}), {cost_text(one)}"
        texts.append("; ".join([best, *[f"as good: {also}"] * bool(also), worst]))
    return texts


def given_text(chosen: RankedFigures) -> str:
    """The other knobs in words: `8 B, single mode`."""
    return ", ".join(knob_text(name, value) for name, value in chosen.others.items())


def cost_text(chosen: RankedFigures) -> str:
    """How many times as good the best is as the worst: `×2.61 [2.40, 2.83]`."""
    low, middle, high = (f"{end:.3g}" for end in (chosen.cost.low, chosen.cost.middle, chosen.cost.high))
    return f"×{middle}" + f" [{low}, {high}]" * (low != high)


def names(figures: Iterable[Figure], knob: str) -> str:
    """The values of the knob, one after the other."""
    return ", ".join(figure.knobs[knob] for figure in figures)


def _value(figure: Figure) -> str:
    return units.si_text(figure.value.middle, figure.metric.unit) if figure.value else ""


def _row(label: str, one: RankedFigures) -> tuple[str, ...]:
    return (
        label, one.best.knobs[one.knob], _value(one.best), names(one.equivalents, one.knob), one.worst.knobs[one.knob],
        _value(one.worst), cost_text(one),
    )  # fmt: skip
