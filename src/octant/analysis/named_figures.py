"""Lookup of the figures of a run that a first screen names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from octant.request import comparable_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import NamedFigure


def place_of(summary: Summary, figure: Figure) -> int | None:
    """Return the index of the headline figure of a figure's cell in the summary."""
    cell = (figure.identity.cell, figure.title)
    return next((i for i, one in enumerate(summary.figures) if (one.identity.cell, one.title) == cell), None)


def _has(figure: Figure, knobs: Mapping[str, str]) -> bool:
    spelled = partial(comparable_value, subject=figure.workload.name)
    return all(spelled(figure.knobs.get(name, "")) == spelled(value) for name, value in knobs.items())


def matching(summary: Summary, named: NamedFigure) -> list[Figure]:
    """Return the figures that match a name, in the order of the requests."""
    cells = [figure for figure in summary.figures if figure.label == named.title and _has(figure, named.knobs)]
    return [figure for cell in cells if (figure := summary.figure(cell, named.metric))]


def find(summary: Summary, named: NamedFigure) -> Figure | None:
    """Return the named figure of a run; `None` if it was not measured."""
    found = matching(summary, named)
    if named.pick == "best":
        good = [(figure.value.middle, i) for i, figure in enumerate(found) if figure.value and not figure.invalid]
        best = max if found and found[0].metric.better == "higher" else min
        return found[best(good)[1]] if good else None
    return found[-1 if named.pick == "last" else 0] if found else None


def first(summary: Summary, named: Iterable[NamedFigure]) -> Figure | None:
    """Return the first figure that has a value or a wrong result, else the first that exists."""
    found = [figure for one in named if (figure := find(summary, one))]
    return next((figure for figure in found if figure.value or figure.wrong), found[0] if found else None)
