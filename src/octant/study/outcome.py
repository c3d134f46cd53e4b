"""Outcome of a study: values of a run or a model, published values, and verdicts."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from octant import facts
from octant.failure import Exit, Refusal, suggestion
from octant.launch.link import explain_missing_link
from octant.machine import Machine
from octant.mpi.inventory import linked
from octant.mpi.knobs import check_names
from octant.record import Failure
from octant.registry import Broken
from octant.runs.cell_costs import explain_no_fit
from octant.runs.knobs import check_requests
from octant.runs.probes import with_probes
from octant.runs.programs.permissions import check_allowed
from octant.runs.rounds import new_seed
from octant.store import Store, StoredRun, StudyRequest
from octant.study import file
from octant.study.baseline_verdicts import baseline_verdicts
from octant.study.cells import axis_values, combinations, with_axis_values
from octant.study.design import NO_LIBRARY, Design, MpiInUse, design
from octant.study.design import mpi_settings as settings_of
from octant.study.file import StudyError
from octant.study.local_reference import NO_LOCAL_RUN, THIS_MACHINE, LocalRun
from octant.study.measured import measured_values
from octant.study.modelled import modelled_values
from octant.study.parts import Cell
from octant.study.predicted import NONE, Predictions, predictions
from octant.study.published_values import published_gains, published_values
from octant.study.question import Study
from octant.study.stored import NO_REQUESTED_CELLS, RequestedCells
from octant.study.testable import PlannedStudy
from octant.study.values import PublishedValue, StudyValues
from octant.study.verdict import FindingVerdict, verdicts
from octant.untrusted import is_file

if TYPE_CHECKING:
    from octant.request import Request
    from octant.stats.verdicts import Verdict as RatioVerdict
    from octant.study.stored import StudyRun
    from octant.study.values import Place


@dataclass(frozen=True)
class Outcome:
    """Values of a study, published values, and a verdict for each finding."""

    name: str
    study: Study
    values: StudyValues
    published: tuple[PublishedValue, ...]
    verdicts: tuple[FindingVerdict, ...]
    run: StoredRun | None  # None: of a model
    requested_cells: RequestedCells = NO_REQUESTED_CELLS  # of that run
    local_run: LocalRun = NO_LOCAL_RUN  # of a model: this machine's

    @cached_property
    def predictions(self) -> Predictions:
        """Return the predictions of the network model for a measured study."""
        return predictions(self.study, self.requested_cells, self.values, self.run) if self.run else NONE

    @cached_property
    def baseline_verdicts(self) -> Mapping[Place, RatioVerdict]:
        """Return the verdict on each place compared with the baseline; empty for a model."""
        return baseline_verdicts(self.study, self.values)

    @cached_property
    def published_gains(self) -> Mapping[Place, tuple[float, float]]:
        """Return the published gain of each place over the baseline."""
        return published_gains(self.study)

    @property
    def repeats(self) -> int:
        """Launches of each combination that its run asks for; without probes of the machine; 0 for a model."""
        if self.run is None or self.run.study is None:
            return 0
        keys = set(self.run.study.cells.values())
        launches = (launch for launch in self.run.launches if not keys or launch.request.key in keys)
        return 1 + max((launch.repeat for launch in launches), default=-1)

    def cells(self, measure: str) -> list[Cell]:
        """Return the cells of a measure, in the order of the file."""
        known = dict.fromkeys([*self.values.by_cell, *self.values.absent])
        order = {levels: n for n, levels in enumerate(combinations(self.study))}
        return sorted((cell for cell in known if cell.measure == measure), key=lambda cell: order[cell.levels])


def begin(
    where: Store,
    name: str,
    machine: Machine,
    seed: int | None = None,
    repeats: int | None = None,
    *,
    probes: bool = False,
    allowed: Collection[str] = (),
    check: Callable[[str, PlannedStudy], None] = lambda _name, _planned: None,
) -> StoredRun:
    """Create a run of a study in the store; nothing is measured yet.

    Cells that are not available on this system are recorded as not supported, with the reason.

    Args:
        seed: of the order; `None`: a new one.
        repeats: per configuration; `None`: as in the study.
        probes: the run begins and ends with probes of the machine.
        allowed: programs of the study that may be started.
        check: called with the name and the plan before the run is created; it may refuse the plan.

    Raises:
        StudyError: no such study, or a study of a model.
        Refusal: an unknown knob or workload, a program that is not allowed, or a store that cannot be written.
    """
    found, text = file.source_text(name)
    study = file.parse(text, name)
    if study.source == "model":
        raise StudyError(
            f"cannot run {name} (it evaluates a model and measures nothing); try octant study report {name}"
        )
    if repeats is not None:
        study = replace_repeats(study, repeats)
    seed = new_seed() if seed is None else seed
    axes, library, plan = _planned(study, machine, found, seed, allowed)
    check_allowed(plan.requests, allowed, found, f"octant study run {shlex.quote(name)}")
    measures = {cell.measure for cell in plan.questions}
    if not measures:
        reasons = "; ".join(dict.fromkeys(plan.absent.values()))
        raise Refusal(
            f"cannot run {found} here ({reasons}); see `octant study show {found}` for its requirements",
            Exit.NOT_SUPPORTED,
        )
    check(found, PlannedStudy(with_axis_values(study, axes), machine, axes, plan))
    every, order = with_probes(plan.requests, plan.order) if probes else (plan.requests, plan.order)
    check_requests(every)
    requests, absent = ({str(cell): text for cell, text in part.items()} for part in (plan.questions, plan.absent))
    this = StudyRequest(found, seed, text, library.name, dict(library.lacking), requests, absent, axes)
    run = where.create(f"study {found}", machine, every, order, f"study {found}", this)
    # Not under the request's key: another combination that is available may have the same key.
    code = int(Exit.NOT_SUPPORTED)
    failures = [
        Failure(one.subject.name, f"absent: {one.show.title}", one.knobs, one.shape.ranks, why, code)
        for one, why in zip(plan.refused, plan.absent.values(), strict=True)
    ]
    if failures:
        where.append(run, *failures)
    return where.read(run.id)


def asks_again(run: StoredRun, name: str, allowed: Collection[str]) -> tuple[Request, ...]:
    """Return the requests of a study for the machine of a run, to compare the programs with those of its file.

    Raises:
        StudyError: no such study.
        Refusal: a program is not allowed.
    """
    found, text = file.source_text(name)
    _, _, plan = _planned(file.parse(text, name), run.machine, found, run.seed, allowed)
    check_allowed(plan.requests, allowed, found, f"octant resume {run.id} --from {shlex.quote(name)}")
    return plan.requests


def _planned(
    study: Study, machine: Machine, name: str, seed: int, allowed: Collection[str]
) -> tuple[dict[str, dict[str, str]], MpiInUse, Design]:
    axes, library = _axes_on(study, machine, name), library_of(study)
    here = with_axis_values(study, axes)
    return axes, library, design(here, machine, seed, library, explain_missing_link, explain_no_fit, allowed)


def _axes_on(study: Study, machine: Machine, name: str) -> dict[str, dict[str, str]]:
    try:
        return axis_values(study, facts.numbers(machine))
    except ValueError as error:
        raise StudyError(f"cannot run the study {name} here ({error}); change the values of its axis") from error


def library_of(study: Study) -> MpiInUse:
    """Return the MPI library of the kernels; it is examined only if the study changes its settings."""
    if not any(level.mpi for factor in study.factors.values() for level in factor.values()):
        return NO_LIBRARY
    try:
        inventory = linked()
    except Refusal:
        return NO_LIBRARY
    problems = check_names(settings_of(study, inventory.library), inventory)
    return MpiInUse(inventory.library, {problem.name: problem.text for problem in problems})


def replace_repeats(study: Study, repeats: int) -> Study:
    """Return the study with another number of launches per configuration.

    Raises:
        StudyError: less than 1, or more than 1000.
    """
    if not 1 <= repeats <= 1000:
        raise StudyError(f"cannot use {repeats} launches per configuration (1 to 1000); try --repeats 6")
    return msgspec.structs.replace(study, repeats=repeats)


def outcome_of_run(run: StudyRun) -> Outcome:
    """Return the outcome of a stored run of a study."""
    values = measured_values(run)
    return _outcome(run.name, run.study, values, run.run, run.requested_cells)


def outcome_of_model(name: str, local_run: LocalRun = NO_LOCAL_RUN) -> Outcome:
    """Return the outcome of a study of a model; nothing is measured or stored.

    Args:
        name: of the study.
        local_run: the run of this machine, for a study that has a row for it.

    Raises:
        StudyError: no such study, one that is measured, or no such model.
    """
    found, text = file.source_text(name)
    study = file.parse(text, name)
    if study.source != "model":
        raise StudyError(f"cannot report {name} without a run (it is measured); try octant study run {name}")
    return replace(_outcome(found, study, modelled_values(study, local_run), None), local_run=local_run)


def wanted_local_run(name: str) -> str:
    """Return the model of a study that has a row for this machine; empty if it has none."""
    study = file.load(name)
    levels = [level for factor in study.factors.values() for level in factor.values()]
    if all(level.arguments.get("system") != THIS_MACHINE for level in levels):
        return ""
    return next(iter(study.measures.values())).model


def _outcome(
    name: str,
    study: Study,
    values: StudyValues,
    run: StoredRun | None,
    requested_cells: RequestedCells = NO_REQUESTED_CELLS,
) -> Outcome:
    judged = verdicts(study, values, run.machine if run else None)
    return Outcome(name, study, values, tuple(published_values(study)), tuple(judged), run, requested_cells)


def last_run(where: Store, name: str) -> StoredRun:
    """Return the newest run of a study, or the run with this id.

    Raises:
        Refusal: none.
    """
    sought = Path(name).stem if name.endswith(".toml") else name
    for candidate in reversed(where.list_runs()):
        if candidate.study == sought:
            return where.read(candidate.id)
    if name in file.names():
        file.load(name)  # refuses a study that cannot be read with the reason
        raise Refusal(f"cannot report on {name} (it has not been run in {where.root}); try octant study run {name}")
    if name not in ("last", "previous") and not any(run.startswith(Path(name).name) for run in where.ids()):
        known = suggestion(name, file.names(), "octant study list")
        raise Refusal(f"cannot report on {name!r} (neither a study nor a run); {known}", Exit.WRONG_WORD)
    return where.find(name)


def is_model(name: str) -> bool:
    """Return whether a name or file is a readable study of a model.

    Raises:
        StudyError: a file of the user's that cannot be read.
    """
    if name in file.names():
        one = file.entry(name)
        return not isinstance(one, Broken) and one.source == "model"
    return name.endswith(".toml") and is_file(Path(name)) and file.load(name).source == "model"
