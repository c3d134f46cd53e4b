"""Findings that studies test, and whether a machine can test them, without a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from octant import catalogue, facts, registry, stats
from octant.machine import Machine
from octant.registry import Broken
from octant.runs.cell_costs import explain_no_fit
from octant.study import file
from octant.study.baseline_verdicts import baseline_verdicts
from octant.study.cells import axis_values, with_axis_values
from octant.study.design import NO_LIBRARY, Design, MpiInUse, design
from octant.study.measures import metric_of
from octant.study.parts import Cell
from octant.study.question import FindingTest, Study, quantities
from octant.study.values import SAME_LAUNCH, CannotTest, LaunchValue, StudyValue, StudyValues

_ANY = stats.Interval(1.0, 1.0, 1.0)  # placeholder for a measured value


@dataclass(frozen=True)
class StudiedFinding:
    """Finding of the catalogue that studies test."""

    id: str
    studies: tuple[str, ...]
    why_not: str  # why the machine cannot carry out any test; empty if it can


@dataclass(frozen=True)
class _Planned(StudyValues):
    """Placeholder values of a plan, with the requested cells that are not available."""

    unavailable: list[Cell] = field(default_factory=list, compare=False, repr=False)

    def value(self, cell: Cell, at: str) -> StudyValue:
        if cell in self.absent:
            self.unavailable.append(cell)
        return super().value(cell, at)


def studied_findings(
    machine: Machine,
    library_of: Callable[[Study], MpiInUse] = lambda _study: NO_LIBRARY,
    explain_missing_link: Callable[[str], str] = lambda _link: "",
) -> tuple[StudiedFinding, ...]:
    """Return all findings that studies test, in the order of the catalogue.

    Args:
        machine: on which the studies would run; models need none.
        library_of: returns the MPI library whose settings a study changes.
        why_no_link: returns why an emulated link is not available; "" if it is.

    Studies with an unreadable file are excluded.
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


def count_lines(studied: Iterable[StudiedFinding]) -> list[str]:
    """Return lines with the numbers of findings that have a study and that can be tested, with reasons."""
    every = tuple(studied)
    why_not = Counter(one.why_not for one in every if one.why_not)
    summary = f"{len(every)} of {len(catalogue.findings())} findings have a study; "
    summary += f"{len(every) - why_not.total()} can be tested here"
    if not why_not:
        return [f"{summary}."]
    return [f"{summary}, {why_not.total()} cannot:", *(f"{number:5}  {why}" for why, number in why_not.most_common())]


def _reasons_or_error(
    name: str,
    study: Study,
    machine: Machine,
    library_of: Callable[[Study], MpiInUse],
    explain_missing_link: Callable[[str], str],
) -> Iterable[tuple[str, str]]:
    """Return the result of `_reasons`; if the study cannot be planned, each test with the error."""
    planned = registry.attempt(
        name, file.path_of(name), lambda: list(_reasons(study, machine, library_of, explain_missing_link))
    )
    if not isinstance(planned, Broken):
        return planned
    return [
        (finding_test.id, f"the study {name} cannot be planned on this machine ({planned.error})")
        for finding_test in study.findings
    ]


def _reasons(
    study: Study, machine: Machine, library_of: Callable[[Study], MpiInUse], explain_missing_link: Callable[[str], str]
) -> Iterable[tuple[str, str]]:
    """Return the finding of each test of a study, and why the machine cannot carry it out."""
    if study.source == "model" or not study.findings:
        return [(finding_test.id, "") for finding_test in study.findings]
    axes = axis_values(study, facts.numbers(machine))
    here = with_axis_values(study, axes)
    plan = design(here, machine, 0, library_of(here), explain_missing_link, explain_no_fit)
    planned = PlannedStudy(here, machine, axes, plan)
    return [(finding_test.id, planned.why_not(finding_test)) for finding_test in here.findings]


@dataclass(frozen=True)
class PlannedStudy:
    """Study on a machine before its first launch: which tests and comparisons are possible."""

    study: Study  # with the axis values of the machine
    machine: Machine
    axes: Mapping[str, Mapping[str, str]]  # of `cells.axis_values`
    plan: Design

    def why_not(self, finding_test: FindingTest) -> str:
        """Return why the machine cannot carry out a test; "" if it can.

        The test judges placeholder values; the judgement itself is ignored.
        """
        unmet = [why for need in finding_test.needs if (why := facts.missing(need, self.machine))]
        values = self._values(StudyValue(modelled=_ANY))
        if unmet:
            return unmet[0]
        try:
            finding_test.test.judge(self.study, values)
        except CannotTest as reason:
            return str(reason) if values.unavailable or str(reason) == SAME_LAUNCH else ""
        return ""

    def launches_of_comparisons(self) -> int | None:
        """Return the launches per configuration that comparisons with the baseline require and do not get.

        0: there are enough; `None`: the machine has no configuration that is compared with the baseline.
        """
        begun = datetime.now().astimezone()
        launches = tuple(LaunchValue(_ANY, number, begun) for number in range(self.study.repeats))
        found = baseline_verdicts(self.study, self._values(StudyValue(launches))).values()
        missing = [(one.needed or 0) if one.word == "insufficient data" else 0 for one in found]
        return min(missing, default=None)

    def _values(self, placeholder: StudyValue) -> _Planned:
        """Return the placeholder as the value of each available cell."""
        study, plan = self.study, self.plan
        by_cell: dict[Cell, dict[str, StudyValue]] = {}
        firsts: dict[tuple[str, str], Cell] = {}
        same: dict[Cell, Cell] = {}
        for cell, request in plan.questions.items():
            measure = study.measures[cell.measure]
            first = firsts.setdefault((request, metric_of(measure, study.named_levels(cell)).name), cell)
            if first is not cell:
                same[cell] = first
            by_cell[cell] = dict.fromkeys(measure.axis.values if measure.axis else ("",), placeholder)
        return _Planned(quantities(study), by_cell, plan.absent, same, written=self.axes)
