"""The report of a run with that of its profile: the terminal, the page and JSON show the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.advice.findings import Review
from octant.analysis.profiles import newest_analysis
from octant.failure import Refusal
from octant.report.profile.document import document
from octant.report.profile.first import first_screen_of
from octant.report.profile.pictures import profile_pictures, without_pictures
from octant.report.profile.tables import TEXTS, sections
from octant.report.screen.answer import Reliability
from octant.report.screen.sections import Section

if TYPE_CHECKING:
    from octant.profile.results import Analysis
    from octant.report.screen.first_screen import RunReport

GRADES = ("reliable", "note", "limited", "not measurable", "wrong")
"""Grades of reliability, the best first."""


def profiled(report: RunReport) -> RunReport:
    """Return the report of a run with that of its newest profile; the same report if the run has none."""
    try:
        analysis = newest_analysis(report.summary.run)
    except Refusal as error:
        text = TEXTS.line("unreadable", str(error))
        return replace(report, sections=(Section("mpi-profile", "MPI profile", (), (), text, brief=1),))
    return report if analysis is None else with_profile(report, analysis)


def with_profile(report: RunReport, analysis: Analysis) -> RunReport:
    """Return the report of a run with the first screen, the pictures and the tables of its profile."""
    tables, own = sections(analysis), report.first
    pictures = profile_pictures(analysis, tables)
    mine = first_screen_of(analysis, Review(own.findings, own.passed))
    has_figures = bool(report.summary.figures)
    worst = max(mine.reliability, own.reliability, key=lambda one: GRADES.index(one.grade) if has_figures else 0)
    text = mine.reliability.text if worst is mine.reliability else f"{mine.reliability.text} {own.reliability.text}"
    further = [row for row in own.reliability.rows if row.what != "Launches"] if has_figures else []
    first = replace(
        mine, reliability=Reliability(worst.grade, text, (*mine.reliability.rows, *further)), identity=own.identity,
        incomplete=own.incomplete, absent=own.absent,
    )  # fmt: skip
    return replace(
        report, first=first, pictures=(*pictures, *report.pictures), sections=without_pictures(tables, pictures),
        documents={"profile": document(analysis)},
    )  # fmt: skip
