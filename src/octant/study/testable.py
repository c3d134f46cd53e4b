"""Which findings of the catalogue a study tests, and which of them a machine can test: decided without a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from octant import catalogue, facts, registry, stats
from octant.machine import Machine
from octant.registry import Broken
from octant.runs.declared import nothing_fits
from octant.study import file
from octant.study.cells import axis_values, with_axis_values
from octant.study.design import NO_LIBRARY, Design, MpiInUse, design
from octant.study.measures import metric_of
from octant.study.parts import Cell
from octant.study.question import FindingTest, Study, quantities
from octant.study.values import SAME_LAUNCH, CannotTest, StudyValue, StudyValues

_ANY = stats.Interval(1.0, 1.0, 1.0)  # stands for a value that a launch would give


@dataclass(frozen=True)
class StudiedFinding:
    """A finding of the catalogue that studies test."""

    id: str
    studies: tuple[str, ...]
    why_not: str  # why the machine can carry out none of the tests; empty where it can


@dataclass(frozen=True)
class _Planned(StudyValues):
    """The values that a plan would have, and what was looked for among those that it cannot have."""

    lacking: list[Cell] = field(default_factory=list, compare=False, repr=False)

    def value(self, cell: Cell, at: str) -> StudyValue:
        if cell in self.absent:
            self.lacking.append(cell)
        return super().value(cell, at)


def findings_asked(
    machine: Machine,
    library_of: Callable[[Study], MpiInUse] = lambda _study: NO_LIBRARY,
    explain_missing_link: Callable[[str], str] = lambda _link: "",
) -> tuple[StudiedFinding, ...]:
    """Every finding that a study tests, in the order of the catalogue.

    Args:
        machine: on which it would be run. Models need none.
        library_of: the MPI library whose settings a study turns.
        explain_missing_link: says why an emulated link cannot be had; "" where it can.

    Studies whose file cannot be read are left out.
    """
    studies: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for name, study in file.entries().working.items():
        for finding, why in _reasons_or_error(name, study, machine, library_of, explain_missing_link):
            studies.setdefault(finding, []).append(name)
            reasons.setdefault(finding, []).append(why)
    return tuple(
        StudiedFinding(one, tuple(dict.fromkeys(studies[one])), "" if "" in reasons[one] else reasons[one][0])
        for one in catalogue.findings()
        if one in studies
    )


def count_lines(asked: Iterable[StudiedFinding]) -> list[str]:
    """How many of the catalogue's findings have a study, how many can be tested, and why how many cannot."""
    every = tuple(asked)
    why_not = Counter(one.why_not for one in every if one.why_not)
    said = f"{len(every)} of {len(catalogue.findings())} findings have a study; "
    said += f"{len(every) - why_not.total()} can be tested here"
    if not why_not:
        return [f"{said}."]
    return [f"{said}, {why_not.total()} cannot:", *(f"{number:5}  {why}" for why, number in why_not.most_common())]


def _reasons_or_error(
    name: str,
    study: Study,
    machine: Machine,
    library_of: Callable[[Study], MpiInUse],
    explain_missing_link: Callable[[str], str],
) -> Iterable[tuple[str, str]]:
    """As `_reasons`; of a study that cannot be planned on this machine each test with the error."""
    planned = registry.attempt(
        name, file.path_of(name), lambda: list(_reasons(study, machine, library_of, explain_missing_link))
    )
    if not isinstance(planned, Broken):
        return planned
    return [(asked.id, f"the study {name} cannot be planned here ({planned.error})") for asked in study.findings]


def _reasons(
    study: Study, machine: Machine, library_of: Callable[[Study], MpiInUse], explain_missing_link: Callable[[str], str]
) -> Iterable[tuple[str, str]]:
    """Of each test of a study its finding, and why the machine cannot carry it out."""
    if study.source == "model" or not study.findings:
        return [(asked.id, "") for asked in study.findings]
    axes = axis_values(study, facts.numbers(machine))
    study = with_axis_values(study, axes)
    plan = design(study, machine, 0, library_of(study), explain_missing_link, nothing_fits)
    return [(asked.id, _why_not(study, plan, axes, machine, asked)) for asked in study.findings]


def _why_not(
    study: Study, plan: Design, axes: Mapping[str, Mapping[str, str]], machine: Machine, asked: FindingTest
) -> str:
    """Judges what a launch might give: what a test says of the values does not count, what it lacks does."""
    lacking = [why for need in asked.needs if (why := facts.missing(need, machine))]
    values = _planned(study, plan, axes)
    if lacking:
        return lacking[0]
    try:
        asked.test.judge(study, values)
    except CannotTest as reason:
        return str(reason) if values.lacking or str(reason) == SAME_LAUNCH else ""
    return ""


def _planned(study: Study, plan: Design, axes: Mapping[str, Mapping[str, str]]) -> _Planned:
    by_cell: dict[Cell, dict[str, StudyValue]] = {}
    firsts: dict[tuple[str, str], Cell] = {}
    same: dict[Cell, Cell] = {}
    for cell, request in plan.questions.items():
        measure = study.measures[cell.measure]
        first = firsts.setdefault((request, metric_of(measure).name), cell)
        if first is not cell:
            same[cell] = first
        by_cell[cell] = {at: StudyValue(modelled=_ANY) for at in (measure.axis.values if measure.axis else ("",))}
    return _Planned(quantities(study), by_cell, plan.absent, same, written=axes)
