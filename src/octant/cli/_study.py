"""Shared by commands that measure or report studies: print an outcome and write its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from octant.study.outcome import Outcome
    from octant.study.testable import PlannedStudy


def show_run(found: Outcome, json: bool) -> None:
    """Print the outcome of a study's run, and write its page to the run's folder; with JSON, write no page."""
    show(found, json)
    if found.run and not json:
        write(found, found.run.folder / "study.html", json)


def check_plan(name: str, planned: PlannedStudy, anyway: bool) -> None:
    """Print the tests of a study that cannot be decided.

    Args:
        anyway: measure even if none can be decided.

    Raises:
        Refusal: no test can be decided.
    """
    from octant.cli._stored import warn
    from octant.study.prechecks import check_decidable

    for text in check_decidable(name, planned, anyway):
        warn(text)


def write(found: Outcome, path: Path, json: bool) -> None:
    """Write the page of an outcome, and print its path."""
    from octant.report.page import html
    from octant.report.study import page

    typer.echo(html.save(page.render(found), path, found.run), err=json)


def show(found: Outcome, json: bool, notes: bool = False) -> None:
    """Print the outcome of a study; `notes`: with all caveats of each row."""
    from octant.report.study import text as study

    print(study.report_json(found) if json else study.report_text(found, notes))
