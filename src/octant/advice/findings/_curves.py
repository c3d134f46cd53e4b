"""Curves: figures that differ only in one knob, as declared by the workload."""

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
    """Return the knob on the x-axis of the workload's curve; empty if it has none."""
    pictures = figure.workload.pictures
    return next((one.x for one in pictures if isinstance(one, (Curve, Ladder, Messages)) and one.x in figure.knobs), "")


def size_of(figure: Figure, knob: str) -> float:
    """Return the value of a knob that is a size or count; NaN if it is neither."""
    try:
        return float(units.parse_bytes(figure.knobs.get(knob, "")))
    except ValueError:
        return math.nan


def size_text(figure: Figure) -> str:
    """Return the size of a figure as text; empty if its workload has no curve."""
    knob = size_knob(figure)
    size = size_of(figure, knob) if knob == "bytes" else math.nan
    return figure.knobs.get(knob, "") if math.isnan(size) else units.bytes_text(size)


def groups(figures: Iterable[Figure], *knobs: str) -> list[list[Figure]]:
    """Group figures that differ only in these knobs (and in effort), each cell once, in the order of the run."""
    found: dict[object, dict[object, Figure]] = {}
    for figure in figures:
        name = figure.workload.name
        excluded = {*knobs, *effort_knobs(name)}
        rest = sorted((k, comparable_value(v, name)) for k, v in figure.knobs.items() if k not in excluded)
        alike = (figure.workload.name, figure.metric.name, figure.point.ranks, *rest)
        cell = tuple(comparable_value(figure.knobs.get(knob, ""), name) for knob in knobs)
        found.setdefault(alike, {}).setdefault(cell, figure)
    return [list(group.values()) for group in found.values()]


def subject(figures: Iterable[Figure]) -> str:
    """Return the quantity of figures of a workload, from its first request in the table: `random load`."""
    ordered = sorted(figures, key=lambda figure: not figure.show.table)
    label = next((one.show.short or one.label.partition(",")[0] for one in ordered), "")
    return label[:1].lower() + label[1:]
