"""Where a study's values come from: the launches of a stored run, or a model. Both give the same type."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from octant import stats, workloads
from octant.analysis.figures import figure as figure_of
from octant.analysis.given import with_mismatches
from octant.record import Failure, Point
from octant.simulate.studied import MODELS
from octant.store import StoredRun
from octant.study.design import Cell, Design, combinations
from octant.study.file import Argument, Measure, Study, StudyError
from octant.workload import Metric

Model = Callable[..., "float | stats.Interval"]


@dataclass(frozen=True)
class Answer:
    """One value of a study. Of a measurement: the samples of every launch. Of a model: the value with its bounds."""

    launches: tuple[NDArray[np.float64], ...] = ()  # samples in time order, base units, one array a launch
    modelled: stats.Interval | None = None
    doubts: tuple[str, ...] = ()

    @property
    def value(self) -> stats.Interval:
        """The median over launches with its interval; of a model, what it says."""
        return self.modelled if self.modelled is not None else stats.over_launches(self._own())

    @property
    def reach(self) -> stats.Interval:
        """The same, from the lowest to the highest that any launch's own interval reaches, however many there are."""
        if self.modelled is not None:
            return self.modelled
        own = self._own()
        return stats.Interval(min(i.low for i in own), self.value.middle, max(i.high for i in own))

    def _own(self) -> list[stats.Interval]:
        return [stats.median_interval(s, stats.correlation_time(s)) for s in self.launches]


@dataclass(frozen=True)
class Answers:
    """The values of a study: by cell, then by axis value (`""` where the measure has no axis)."""

    kinds: Mapping[str, tuple[str, str]]  # measure -> (unit, "rate" or "time")
    values: Mapping[Cell, Mapping[str, Answer]]
    absent: Mapping[Cell, str]  # what could not be had, and why
    same: Mapping[Cell, Cell]  # cells that come to the same launch here as an earlier one
    wrong: tuple[str, ...] = ()  # checks that failed, in words
    gaps: Mapping[tuple[Cell, str], str] = field(default_factory=dict)  # axis values that a cell lacks, and why

    def better(self, measure: str) -> bool:
        """Whether more is better."""
        return self.kinds[measure][1] == "rate"


def measured(study: Study, design: Design, run: StoredRun) -> Answers:
    """The values that a run measured. What gave a wrong answer in one launch has no value: it has no speed."""
    cell_of: dict[str, Cell] = {}
    same: dict[Cell, Cell] = {}
    for cell, question in design.questions.items():
        first = cell_of.setdefault(question, cell)
        if first is not cell:
            same[cell] = first
    found = _points(study, cell_of, with_mismatches(run))
    failed: dict[str, list[Failure]] = {}
    for failure in run.failures:
        failed.setdefault(_question(failure.launch), []).append(failure)
    values: dict[Cell, dict[str, Answer]] = {}
    gaps: dict[tuple[Cell, str], str] = {}
    for question, cell in cell_of.items():
        axis = study.measures[cell.measure].axis
        for at in axis.values if axis else ("",):
            points = found.get((cell, at), {})
            reasons = _reasons(failed.get(question, ()), _knob(study, cell), at)
            wrong = sum(not point.verdict.passed for point in points.values())
            if points and not wrong:
                lost = {launch: why for launch, why in reasons.items() if launch not in points}
                values.setdefault(cell, {})[at] = _answer(study.measures[cell.measure], points, lost)
            elif wrong:
                gaps[cell, at] = f"wrong answers in {wrong} of {len(points)} launches"
            else:
                gaps[cell, at] = next(iter(reasons.values()), "not measured yet")
    absent = dict(design.absent)
    for cell in design.questions:
        first = same.get(cell, cell)
        if first in values:
            values[cell] = values[first]
        else:
            absent[cell] = next(why for (owner, _), why in gaps.items() if owner == first)
    gaps = {(cell, at): why for (cell, at), why in gaps.items() if cell in values}
    return Answers(kinds(study), values, absent, same, _wrong(found), gaps)


def _points(study: Study, cell_of: Mapping[str, Cell], run: StoredRun) -> dict[tuple[Cell, str], dict[str, Point]]:
    """The points of each cell and axis value, by launch: a launch is one sample, however often it was recorded."""
    found: dict[tuple[Cell, str], dict[str, Point]] = {}
    for point in run.points:
        owner = cell_of.get(_question(point.launch))
        if owner is not None:
            found.setdefault((owner, point.knobs.get(_knob(study, owner), "")), {})[point.launch] = point
    return found


def _question(launch: str) -> str:
    return launch.rpartition("-")[0]


def _knob(study: Study, cell: Cell) -> str:
    axis = study.measures[cell.measure].axis
    return axis.knob if axis else ""


def _reasons(failures: Iterable[Failure], knob: str, at: str) -> dict[str, str]:
    """Why launches gave nothing at an axis value, by launch: a failure of that point, or of a list that it is in."""
    return {
        failure.launch: _first_line(failure.reason)
        for failure in failures
        if at in failure.knobs.get(knob, at).split(",")
    }


def _wrong(found: Mapping[tuple[Cell, str], Mapping[str, Point]]) -> tuple[str, ...]:
    checks = [(where, point.verdict) for where, points in found.items() for point in points.values()]
    return tuple(
        f"{cell}{f' at {at}' if at else ''}: {check.check} {check.error:g} > {check.tolerance:g}"
        for (cell, at), check in checks
        if not check.passed
    )


def _first_line(reason: str) -> str:
    """What a library says at length when it dies, in a line; the record keeps all of it."""
    return (reason.splitlines() or ["no reason given"])[0]


def kind_of(measure: Measure) -> tuple[str, str]:
    """Unit, and `rate` or `time`, of what is measured or modelled."""
    if measure.model:
        return measure.unit, measure.kind
    metric = _metric(measure)
    return metric.unit, metric.kind


def kinds(study: Study) -> dict[str, tuple[str, str]]:
    """The same for every measure of a study."""
    return {name: kind_of(measure) for name, measure in study.measures.items()}


def _metric(measure: Measure) -> Metric:
    return workloads.workload(measure.workload).metric(measure.metric)


def _answer(measure: Measure, points: Mapping[str, Point], lost: Mapping[str, str]) -> Answer:
    """The samples of every launch; `lost` are the launches that gave none, with their reasons."""
    workload = workloads.workload(measure.workload)
    figures = [figure_of(workload, point, metric=measure.metric) for point in points.values()]
    doubts: dict[str, str] = {}  # of doubts that differ in their numbers only, the first
    for doubt in (doubt for figure in figures for doubt in figure.flags):
        doubts.setdefault(re.sub(r"[-+]?\d+", "", doubt), doubt)
    if lost:
        doubts["lost"] = f"{len(lost)} of {len(lost) + len(points)} launches failed ({next(iter(lost.values()))})"
    return Answer(tuple(figure.samples for figure in figures), doubts=tuple(doubts.values()))


def modelled(study: Study) -> Answers:
    """The values that a study's models give, in every combination.

    Raises:
        StudyError: no such model here.
    """
    values: dict[Cell, dict[str, Answer]] = {}
    for name, measure in study.measures.items():
        call = model(measure.model)
        for levels in combinations(study):
            arguments = {**study.arguments, **measure.arguments}
            for factor, level in zip(study.factors, levels, strict=True):
                arguments |= study.factors[factor][level].arguments
            values[Cell(name, levels)] = dict(_curve(call, measure, arguments))
    return Answers(kinds(study), values, {}, {})


def model(name: str) -> Model:
    """The function of that name. It takes a study's arguments by name, and gives a number or an interval.

    Raises:
        StudyError: no such function.
    """
    if name not in MODELS:
        raise StudyError(f"cannot ask the model {name!r} (there is none of that name); try {', '.join(MODELS)}")
    return MODELS[name]


def _curve(call: Model, measure: Measure, arguments: Mapping[str, Argument]) -> Iterator[tuple[str, Answer]]:
    axis = measure.axis
    for at in axis.values if axis else ("",):
        here = {**arguments, axis.knob: _number(at)} if axis else arguments
        try:
            inspect.signature(call).bind(**here)
            answer = call(**here)
        except (TypeError, ValueError, KeyError, StopIteration) as error:
            reason = str(error) or "no such value"
            why = f"{', '.join(f'{key} = {value!r}' for key, value in here.items())}: {reason}"
            raise StudyError(f"cannot ask the model {measure.model!r} ({why}); correct its arguments") from error
        interval = answer if isinstance(answer, stats.Interval) else stats.Interval(answer, answer, answer)
        yield at, Answer(modelled=interval)


def _number(text: str) -> Argument:
    try:
        return int(text)
    except ValueError:
        return text
