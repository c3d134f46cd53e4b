"""What commands that measure or report studies share: showing an outcome, and writing its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from octant.study.outcome import Outcome


def show_run(found: Outcome, json: bool) -> None:
    """Prints what a run of a study says, and writes its page into the run's folder; as JSON without the page."""
    show(found, json)
    if found.run and not json:
        write(found, found.run.folder / "study.html", json)


def write(found: Outcome, path: Path, json: bool) -> None:
    """Writes the page of what a study says, and prints its path."""
    from octant.report.study import page

    typer.echo(page.write(found, path), err=json)


def show(found: Outcome, json: bool) -> None:
    """Prints what a study says."""
    from octant.report.study import text as study

    print(study.report_json(found) if json else study.report_text(found))
