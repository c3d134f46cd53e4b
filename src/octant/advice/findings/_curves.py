"""Figures that differ in one knob alone, as workloads declare their curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octant import units
from octant.request import comparable_value, effort_knobs
from octant.workload import Curve, Ladder, Messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.analysis.figures import Figure


def size_knob(figure: Figure) -> str:
    """The knob that the figure's workload draws a curve against; empty where it has none."""
    pictures = figure.workload.pictures
    return next((one.x for one in pictures if isinstance(one, (Curve, Ladder, Messages)) and one.x in figure.knobs), "")


def size_of(figure: Figure, knob: str) -> float:
    """The value of a knob that is a size or a count; not a number where it is neither."""
    try:
        return float(units.parse_bytes(figure.knobs.get(knob, "")))
    except ValueError:
        return math.nan


def size_text(figure: Figure) -> str:
    """The size of a figure as people read it; empty where its workload has no curve."""
    knob = size_knob(figure)
    size = size_of(figure, knob) if knob == "bytes" else math.nan
    return figure.knobs.get(knob, "") if math.isnan(size) else units.bytes_text(size)


def groups(figures: Iterable[Figure], *knobs: str) -> list[list[Figure]]:
    """Figures that differ in these knobs alone (and in effort), each cell once, in the order of the run."""
    found: dict[object, dict[object, Figure]] = {}
    for figure in figures:
        name = figure.workload.name
        left_out = {*knobs, *effort_knobs(name)}
        rest = sorted((k, comparable_value(v, name)) for k, v in figure.knobs.items() if k not in left_out)
        alike = (figure.workload.name, figure.metric.name, figure.point.ranks, *rest)
        cell = tuple(comparable_value(figure.knobs.get(knob, ""), name) for knob in knobs)
        found.setdefault(alike, {}).setdefault(cell, figure)
    return [list(group.values()) for group in found.values()]


def subject(figures: Iterable[Figure]) -> str:
    """What figures of one workload measure, in the words of its first request of the table: `random load`."""
    ordered = sorted(figures, key=lambda figure: not figure.show.table)
    words = next((one.show.short or one.label.partition(",")[0] for one in ordered), "")
    return words[:1].lower() + words[1:]
