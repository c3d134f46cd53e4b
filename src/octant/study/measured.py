"""Values of a measured study: views of the figures of its run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.request import comparable
from octant.study.question import quantities
from octant.study.values import StudyValue, StudyValues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.analysis.figures import Figure
    from octant.record import Result
    from octant.store import StoredRun
    from octant.study.parts import Cell
    from octant.study.stored import StudyRun


def measured_values(of: StudyRun) -> StudyValues:
    """Return the values of a run. A cell with a wrong result in any launch has no value."""
    study, requested_cells, run = of.study, of.requested_cells, of.run
    firsts: dict[tuple[str, str], Cell] = {}  # of cells with the same request and metric here
    same: dict[Cell, Cell] = {}
    for cell, request in requested_cells.requests.items():
        first = firsts.setdefault((request, of.metrics[cell]), cell)
        if first is not cell:
            same[cell] = first
    figures = _figures(of)
    by_cell: dict[Cell, dict[str, StudyValue]] = {}
    gaps: dict[tuple[Cell, str], str] = {}
    wrong: list[str] = []
    for (request, metric), cell in firsts.items():
        axis = study.measures[cell.measure].axis
        for at in axis.values if axis else ("",):
            figure = figures.get((request, metric, comparable(at)))
            value = _value(figure, _reasons(run, request, axis.knob if axis else "", at))
            if isinstance(value, StudyValue):
                by_cell.setdefault(cell, {})[at] = value
            else:
                gaps[cell, at] = value
            wrong += [_wrong_text(cell, at, check) for check in (figure.wrong if figure else ())]
    absent = dict(requested_cells.absent)
    for cell in requested_cells.requests:
        first = same.get(cell, cell)
        if first in by_cell:
            by_cell[cell] = by_cell[first]
        else:
            absent[cell] = next(why for (owner, _), why in gaps.items() if owner == first)
    gaps = {(cell, at): why for (cell, at), why in gaps.items() if cell in by_cell}
    return StudyValues(
        quantities(study), by_cell, absent, same, tuple(wrong), gaps, run.machine.topology, requested_cells.axes
    )  # fmt: skip


def _figures(of: StudyRun) -> dict[tuple[str, str, str], Figure]:
    """Return the figures of a run by request, metric and axis value."""
    found: dict[tuple[str, str, str], Figure] = {}
    for name, metric in dict.fromkeys((cell.measure, metric) for cell, metric in of.metrics.items()):
        axis = of.study.measures[name].axis
        for figure in of.figures:
            if figure.metric.name == metric:
                at = comparable(figure.knobs.get(axis.knob, "")) if axis else ""
                found.setdefault((figure.request, metric, at), replace(figure, equal=()))
    return found


def _reasons(run: StoredRun, request: str, knob: str, at: str) -> dict[str, str]:
    """Why launches of a request have no value at an axis value, by launch."""
    return {
        failure.launch: (failure.reason.splitlines() or ["no reason given"])[0]
        for failure in run.failures
        if (requested_cells := run.request_of(failure.launch))
        and requested_cells.key == request
        and comparable(at) in map(comparable, failure.knobs.get(knob, at).split(","))
    }


def _value(figure: Figure | None, reasons: Mapping[str, str]) -> StudyValue | str:
    """Return the value from all launches, or why there is none.

    Args:
        reasons: why launches have no value, by launch.
    """
    if figure is None:
        return next(iter(reasons.values()), "not measured yet")
    if figure.wrong:
        wrong = sum(not point.passed for point in figure.points)
        return f"wrong results in {wrong} of {len(figure.points)} launches"
    if not figure.launches:
        return figure.missing
    return StudyValue.of(figure)


def _wrong_text(cell: Cell, at: str, check: Result) -> str:
    where = f" ({check.where})" if check.where else ""
    return f"{cell}{f' at {at}' if at else ''}: {check.name} {check.value:g} > {check.bound:g}{where}"
