"""A stored run of a study as data: the study as it was, what each cell asked, and the figures its values are views of.

Whatever the run's format lacks is derived here, once: `study.outcome` works on runs of all versions alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from octant.analysis.figures import Figure
from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
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
    """What a run asked for each cell of its study, and what it could not ask."""

    requests: Mapping[Cell, str]  # the key of the request that answers a cell
    absent: Mapping[Cell, str]  # why a cell was not asked
    axes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # as `cells.axis_values` gave them


NO_REQUESTED_CELLS = RequestedCells({}, {})
"""Of a model."""


@dataclass(frozen=True)
class StudyRun:
    """A stored run of a study with its figures."""

    run: StoredRun
    name: str  # of the study
    study: Study  # with the axis values of the machine that it ran on
    asked: RequestedCells
    metrics: Mapping[str, str]  # of each measure that was asked: its metric's full name
    figures: tuple[Figure, ...]  # of these metrics, and of every other that the run's own report shows


def study_run(run: StoredRun) -> StudyRun:
    """The study, the cells and the figures of a stored run.

    Raises:
        Refusal: the run belongs to no study, or to a study file that this version cannot read.
    """
    if run.study is None:
        raise Refusal(
            f"cannot report on {run.id} as a study (it is none: {run.title}); try octant report {run.id}",
            Exit.WRONG_WORD,
        )
    try:
        study = file.parse(run.study.text, run.study.name, stored=True)
    except StudyError as error:
        why = f"the study {run.study.name} that it stored cannot be read here, {error.reason}"
        raise StudyError(f"cannot report on {run.id} as a study ({why}); try octant report {run.id}") from error
    asked = _cells_asked(study, run, run.study)
    asked_of = {request.key: request.subject.name for request in run.requests}
    metrics = {cell.measure: metric_of(study.measures[cell.measure]).name for cell in asked.requests}
    wanted = {(asked_of[key], metrics[cell.measure]) for cell, key in asked.requests.items() if key in asked_of}
    figures = summarise(run, further=wanted).every
    return StudyRun(run, run.study.name, with_axis_values(study, asked.axes), asked, metrics, figures)


def _cells_asked(study: Study, run: StoredRun, stored: StudyRequest) -> RequestedCells:
    """What the run stored; of a run of format 1, which stored no cells, what its study asks when designed again."""
    if not stored.cells:
        plan = design(study, run.machine, stored.seed, MpiInUse(stored.library, stored.lacking))
        return RequestedCells(plan.questions, plan.absent)
    every = {str(cell): cell for cell in cells(study)}
    requests = {every[text]: request for text, request in stored.cells.items() if text in every}
    absent = {every[text]: why for text, why in stored.absent.items() if text in every}
    return RequestedCells(
        requests, absent, {name: axis for name, axis in stored.axes.items() if name in study.measures}
    )
