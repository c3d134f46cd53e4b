"""Stored runs of a study as data: the study, the request of each cell, and the figures.

Values that are missing in old formats are derived here, so that `study.outcome` treats runs of all versions alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from octant.analysis.figures import Figure
from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
from octant.renamed import names_of
from octant.store import StoredRun, StudyRequest
from octant.study import file
from octant.study.cells import cells, with_axis_values
from octant.study.design import MpiInUse, design
from octant.study.file import StudyError
from octant.study.measures import metric_of
from octant.study.parts import Cell
from octant.study.question import Study


@dataclass(frozen=True)
class RequestedCells:
    """Requests of a run for the cells of its study, and the cells without one."""

    requests: Mapping[Cell, str]  # the key of the request of a cell
    absent: Mapping[Cell, str]  # why a cell has no request
    axes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of `cells.axis_values`


NO_REQUESTED_CELLS = RequestedCells({}, {})
"""Requests of a study of a model."""


@dataclass(frozen=True)
class StudyRun:
    """Stored run of a study with its figures."""

    run: StoredRun
    name: str  # of the study
    study: Study  # with the axis values of the machine that it ran on
    requested_cells: RequestedCells
    metrics: Mapping[Cell, str]  # of each requested cell, the full name of its metric
    figures: tuple[Figure, ...]  # of these metrics, and of every other that the run's own report shows


def study_run(run: StoredRun) -> StudyRun:
    """Return the study, the cells and the figures of a stored run.

    Raises:
        Refusal: the run belongs to no study, or to a study file that this version cannot read.
    """
    if run.study is None:
        raise Refusal(
            f"run {run.id} is not a run of a study ({run.title}); try octant report {run.id}",
            Exit.WRONG_WORD,
        )
    try:
        study = file.parse(run.study.text, run.study.name, stored=True)
    except StudyError as error:
        why = f"its stored study {run.study.name} cannot be read, {error.reason}"
        raise StudyError(f"cannot report on {run.id} as a study ({why}); try octant report {run.id}") from error
    requested_cells = _cells_asked(study, run, run.study)
    names = {request.key: request.subject.name for request in run.requests}
    metrics = {
        cell: metric_of(study.measures[cell.measure], study.named_levels(cell)).name
        for cell in requested_cells.requests
    }
    wanted = {(names[key], metrics[cell]) for cell, key in requested_cells.requests.items() if key in names}
    figures = summarise(run, further=wanted).every
    return StudyRun(
        run, run.study.name, with_axis_values(study, requested_cells.axes), requested_cells, metrics, figures
    )


def _cells_asked(study: Study, run: StoredRun, stored: StudyRequest) -> RequestedCells:
    """Return the stored cells; for a run of format 1, which stored none, plan the study again."""
    if not stored.cells:
        plan = design(study, run.machine, stored.seed, MpiInUse(stored.library, stored.lacking))
        return RequestedCells(plan.questions, plan.absent)
    every = {str(cell): cell for cell in cells(study)}
    requests = {every[text]: request for text, request in stored.cells.items() if text in every}
    absent = {every[text]: why for text, why in stored.absent.items() if text in every}
    axes = {name: _current_axis(study, name, axis) for name, axis in stored.axes.items() if name in study.measures}
    return RequestedCells(requests, absent, axes)


def _current_axis(study: Study, name: str, written: Mapping[str, str]) -> dict[str, str]:
    """Return what the values of an axis come to, under current names of values."""
    measure = study.measures[name]
    if measure.axis is None or measure.command:
        return dict(written)
    names, knob = names_of(measure.workload), measure.axis.knob
    return {names.value(knob, text): names.value(knob, values) for text, values in written.items()}
