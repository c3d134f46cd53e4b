"""The values of a study from the launches of a stored run, made from the same figures as everywhere else."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from octant import workloads
from octant.analysis.clusters import values_of_pairs
from octant.analysis.figures import Figure, LaunchFigure, figures_of
from octant.analysis.given import mismatches_of
from octant.analysis.probes import doubts_by_probes
from octant.ask import canonical
from octant.record import Failure, Point, RecordError
from octant.stats import Doubt, doubt, worst_of_each_kind
from octant.store import StoredRun
from octant.study.cells import Cell
from octant.study.file import Study
from octant.study.parts import Measure
from octant.study.values import LaunchValue, StudyValue, StudyValues, quantities


@dataclass(frozen=True)
class CellsAsked:
    """What a run asked for each cell of its study, and what it could not ask."""

    asks: Mapping[Cell, str]  # the key of the ask that answers a cell
    absent: Mapping[Cell, str]  # why a cell was not asked
    axes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # as `cells.axis_values` gave them


def measured_values(study: Study, asked: CellsAsked, run: StoredRun) -> StudyValues:
    """The values that a run measured. What gave a wrong answer in one launch has no value: it has no speed.

    Args:
        study: with the axis values of the machine that it ran on.
    """
    firsts: dict[tuple[str, str], Cell] = {}  # of several cells with the same ask and metric here
    owners: dict[str, list[Cell]] = {}  # of an ask: the first cell for each metric
    same: dict[Cell, Cell] = {}
    for cell, ask in asked.asks.items():
        measure = study.measures[cell.measure]
        first = firsts.setdefault((ask, workloads.workload(measure.workload).metric(measure.metric).name), cell)
        if first is cell:
            owners.setdefault(ask, []).append(cell)
        else:
            same[cell] = first
    points = _points_by_cell(study, owners, run)
    failures = _failures_by_cell(owners, run)
    beside = doubts_by_probes(run, workloads.workloads())
    by_cell: dict[Cell, dict[str, StudyValue]] = {}
    gaps: dict[tuple[Cell, str], str] = {}
    for cell in firsts.values():
        axis = study.measures[cell.measure].axis
        for at in axis.values if axis else ("",):
            reasons = _reasons(failures.get(cell, ()), axis.knob if axis else "", at)
            value = _value(study.measures[cell.measure], points.get((cell, canonical(at)), {}), reasons, run)
            if isinstance(value, StudyValue):
                value = replace(value, doubts=worst_of_each_kind((*value.doubts, *beside)))
                by_cell.setdefault(cell, {})[at] = value
            else:
                gaps[cell, at] = value
    absent = dict(asked.absent)
    for cell in asked.asks:
        first = same.get(cell, cell)
        if first in by_cell:
            by_cell[cell] = by_cell[first]
        else:
            absent[cell] = next(why for (owner, _), why in gaps.items() if owner == first)
    gaps = {(cell, at): why for (cell, at), why in gaps.items() if cell in by_cell}
    return StudyValues(
        quantities(study), by_cell, absent, same, _wrong_texts(points), gaps, run.machine.topology, asked.axes
    )


Launched = dict[tuple[Cell, str], dict[str, Point]]


def _points_by_cell(study: Study, owners: Mapping[str, Sequence[Cell]], run: StoredRun) -> Launched:
    """The points of each cell and axis value, by launch: a launch is one sample, however often it was recorded."""
    points: Launched = {}
    for point in run.points:
        ask = run.ask_of(point.launch)
        for cell in owners.get(ask.key, ()) if ask else ():
            axis = study.measures[cell.measure].axis
            at = canonical(point.knobs.get(axis.knob, "")) if axis else ""
            by_launch = points.setdefault((cell, at), {})
            if point.launch not in by_launch or by_launch[point.launch].passed:  # a wrong answer is not outdone
                by_launch[point.launch] = point
    return points


def _failures_by_cell(owners: Mapping[str, Sequence[Cell]], run: StoredRun) -> dict[Cell, list[Failure]]:
    failures: dict[Cell, list[Failure]] = {}
    for failure in run.failures:
        ask = run.ask_of(failure.launch)
        for cell in owners.get(ask.key, ()) if ask else ():
            failures.setdefault(cell, []).append(failure)
    return failures


def _reasons(failures: Iterable[Failure], knob: str, at: str) -> dict[str, str]:
    """Why launches gave nothing at an axis value, by launch: a failure of that point, or of a list that it is in."""
    return {
        failure.launch: _first_line(failure.reason)
        for failure in failures
        if canonical(at) in map(canonical, failure.knobs.get(knob, at).split(","))
    }


def _first_line(reason: str) -> str:
    """The first line of what may be a long message; the record keeps all of it."""
    return (reason.splitlines() or ["no reason given"])[0]


def _value(
    measure: Measure, points: Mapping[str, Point], reasons: Mapping[str, str], run: StoredRun
) -> StudyValue | str:
    """The value from all launches, or why there is none.

    Args:
        points: by launch.
        reasons: why launches gave nothing, by launch.
    """
    wrong = sum(not point.passed for point in points.values())
    if wrong:
        return f"wrong answers in {wrong} of {len(points)} launches"
    if not points:
        return next(iter(reasons.values()), "not measured yet")
    workload = workloads.workload(measure.workload)
    metric = workload.metric(measure.metric)
    mismatches = {place: mismatches_of(run, point) for place, point in enumerate(points.values())}
    try:
        figure = figures_of(workload, tuple(points.values()), (metric,), mismatches)[metric.name]
    except RecordError as error:
        return f"cannot read the samples ({error})"
    if not figure.launches:
        return figure.missing
    lost = [why for launch, why in reasons.items() if launch not in points]
    lost += [figure.missing] * (len(points) - len(figure.launches))
    launches = tuple(map(_launch_value, figure.counted))
    return StudyValue(launches, doubts=_doubts(figure, lost), pairs=values_of_pairs(figure))


def _launch_value(launch: LaunchFigure) -> LaunchValue:
    begun = launch.point.process.begun
    if begun is None:
        raise ValueError(f"the record of {launch.point.launch} does not say when it started")
    return LaunchValue(launch.value, int(launch.point.launch.rpartition("-")[2]), begun, launch.whole_s)


def _doubts(figure: Figure, lost: list[str]) -> tuple[Doubt, ...]:
    """The worst doubt of each kind about launches, and that `lost` launches gave no value."""
    found = [one for launch in figure.counted for one in launch.doubts]
    tried = len(lost) + len(figure.launches)
    if lost:
        found.append(doubt("launches left out", f"{len(lost)} of {tried} launches failed ({lost[0]})", len(lost)))
    if unusable := len(figure.launches) - len(figure.counted):
        text = f"{unusable} of {tried} launches lost more than half of their time, and do not count"
        found.append(doubt("launches left out", text, unusable))
    return worst_of_each_kind(found)


def _wrong_texts(points: Launched) -> tuple[str, ...]:
    return tuple(
        f"{cell}{f' at {at}' if at else ''}: {check.name} {check.value:g} > {check.bound:g}"
        f"{f' ({check.where})' if check.where else ''}"
        for (cell, at), launched in points.items()
        for point in launched.values()
        for check in point.failed_checks
    )
