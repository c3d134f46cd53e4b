"""Where a study's values come from: the launches of a stored run, or a model. Both give the same type."""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octant import analysis, registry, stats
from octant.record import Point
from octant.store import StoredRun
from octant.study.design import Cell, Design, combinations
from octant.study.file import Argument, Measure, Study, StudyError
from octant.workload import Metric

MODELS = "octant.simulate.studied"
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
        if self.modelled is not None:
            return self.modelled
        return stats.over_launches([stats.median_interval(s, stats.correlation_time(s)) for s in self.launches])


@dataclass(frozen=True)
class Answers:
    """The values of a study: by cell, then by axis value (`""` where the measure has no axis)."""

    kinds: Mapping[str, tuple[str, str]]  # measure -> (unit, "rate" or "time")
    values: Mapping[Cell, Mapping[str, Answer]]
    absent: Mapping[Cell, str]  # what could not be had, and why
    same: Mapping[Cell, Cell]  # cells that come to the same launch here as an earlier one
    wrong: tuple[str, ...] = ()  # checks that failed, in words

    def better(self, measure: str) -> bool:
        """Whether more is better."""
        return self.kinds[measure][1] == "rate"


def measured(study: Study, design: Design, run: StoredRun) -> Answers:
    """The values that a run measured; a point whose check failed has none."""
    cell_of: dict[str, Cell] = {}
    same: dict[Cell, Cell] = {}
    for cell, question in design.questions.items():
        first = cell_of.setdefault(question, cell)
        if first is not cell:
            same[cell] = first
    found: dict[Cell, dict[str, list[Point]]] = {}
    wrong = []
    for point in run.points:
        owner = cell_of.get(point.launch.rpartition("-")[0])
        if owner is None:
            continue
        if not point.verdict.passed:
            wrong.append(f"{owner}: {point.verdict.check} {point.verdict.error:g} > {point.verdict.tolerance:g}")
            continue
        axis = study.measures[owner.measure].axis
        found.setdefault(owner, {}).setdefault(_axis_value(study, owner, point) if axis else "", []).append(point)
    metrics = {name: _metric(measure) for name, measure in study.measures.items()}
    values = {
        cell: {at: _answer(metrics[cell.measure], points) for at, points in curve.items()}
        for cell, curve in found.items()
    }
    for cell, first in same.items():
        if first in values:
            values[cell] = values[first]
    absent = dict(design.absent)
    reasons = {failure.launch.rpartition("-")[0]: _first_line(failure.reason) for failure in run.failures}
    for cell, question in design.questions.items():
        if cell not in values:
            absent[cell] = reasons.get(question, "wrong answers" if wrong else "not measured yet")
    return Answers(kinds(study), values, absent, same, tuple(wrong))


def _first_line(reason: str) -> str:
    """What a library says at length when it dies, in a line; the record keeps all of it."""
    return (reason.splitlines() or ["no reason given"])[0]


def _axis_value(study: Study, cell: Cell, point: Point) -> str:
    axis = study.measures[cell.measure].axis
    return point.knobs.get(axis.knob, "") if axis else ""


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
    return registry.workload(measure.workload).metric(measure.metric)


def _answer(metric: Metric, points: list[Point]) -> Answer:
    doubts: dict[str, str] = {}  # of doubts that differ in their numbers only, the first
    for doubt in (doubt for point in points for doubt in analysis.doubts(point)):
        doubts.setdefault(re.sub(r"\d+", "", doubt), doubt)
    return Answer(tuple(analysis.values(metric, point) for point in points), doubts=tuple(doubts.values()))


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

    The layer above holds the models, so they are found by name: a study file is where the two meet.

    Raises:
        StudyError: no such function.
    """
    try:
        found: Model = getattr(importlib.import_module(MODELS), name)
    except (ImportError, AttributeError) as error:
        raise StudyError(f"cannot ask the model {name!r} ({error}); try a function of {MODELS}") from error
    return found


def _curve(call: Model, measure: Measure, arguments: Mapping[str, Argument]) -> Iterator[tuple[str, Answer]]:
    axis = measure.axis
    for at in axis.values if axis else ("",):
        here = {**arguments, axis.knob: _number(at)} if axis else arguments
        answer = call(**here)
        interval = answer if isinstance(answer, stats.Interval) else stats.Interval(answer, answer, answer)
        yield at, Answer(modelled=interval)


def _number(text: str) -> Argument:
    try:
        return int(text)
    except ValueError:
        return text
