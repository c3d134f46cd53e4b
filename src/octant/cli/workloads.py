"""`octant workloads`: list or show workloads."""

from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._help import MEASURE
from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("workloads", rich_help_panel=MEASURE)(workloads)


def workloads(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the description, metrics, limits and knobs of this workload.",
            autocompletion=_complete.workloads,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the workloads, or describe one workload."""
    from octant.report.tables import workloads as writer

    if name is None:
        print(writer.workloads_json() if json else writer.workloads_text())
    else:
        print(writer.workload_json(name) if json else writer.workload_text(name))
