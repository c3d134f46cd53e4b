"""The page of a profile: one HTML file in the style of all pages, with the profile as JSON in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.advice.findings import Review
from octant.analysis.profiles import newest_analysis
from octant.failure import Refusal
from octant.report.export.sharing import cleaned
from octant.report.page import html
from octant.report.profile.document import document
from octant.report.profile.first import first_screen_of
from octant.report.profile.pictures import profile_pictures, without_pictures
from octant.report.profile.tables import TEXTS, sections
from octant.report.screen.answer import Reliability
from octant.report.screen.sections import MAX_SHOWN, Section

if TYPE_CHECKING:
    from pathlib import Path

    from octant.profile.results import Analysis
    from octant.report.page.html import Clean
    from octant.report.screen.first_screen import RunReport

GRADES = ("reliable", "note", "limited", "not measurable", "wrong")
"""Grades of reliability, the best first."""


def write(analysis: Analysis, path: Path, review: Review | None = None, run: str = "", clean: Clean = str) -> Path:
    """Write the page of a profile and return its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(analysis, review, run, clean), path)


def render(analysis: Analysis, review: Review | None = None, run: str = "", clean: Clean = str) -> str:
    """Return the page of a profile; the same analysis gives the same text.

    Args:
        review: the findings about the run.
        run: id of the run.
        clean: applied to every text (`sharing.cleaner`).
    """
    tables = sections(analysis)
    pictures = [cleaned(picture, clean) for picture in profile_pictures(analysis, tables)]
    name = run or "profile"
    data = {
        "run": name, "document": html.packed(cleaned(document(analysis), clean)),
        "exports": html.exports(pictures, name),
    }  # fmt: skip
    return html.render(
        "profile.html.jinja", data, clean=clean, first=first_screen_of(analysis, review), pictures=pictures,
        style=html.sections_style(),
        sections=without_pictures(tables, pictures), most=MAX_SHOWN, run=run,
    )  # fmt: skip


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
    worst = max(mine.reliability, own.reliability, key=lambda one: GRADES.index(one.grade))
    text = mine.reliability.text if worst is mine.reliability else f"{mine.reliability.text} {own.reliability.text}"
    rows = (*mine.reliability.rows, *(row for row in own.reliability.rows if row.what != "Launches"))
    first = replace(
        mine, reliability=Reliability(worst.grade, text, rows), identity=own.identity, incomplete=own.incomplete,
        absent=own.absent,
    )  # fmt: skip
    return replace(
        report, first=first, pictures=(*pictures, *report.pictures), sections=without_pictures(tables, pictures),
        documents={"profile": document(analysis)},
    )  # fmt: skip
