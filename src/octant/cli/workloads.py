"""`octant workloads`: what can be measured, and the knobs of each."""

from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("workloads")(workloads)


def workloads(
    name: Annotated[
        str | None, typer.Argument(help="Show the page and the knobs of this one.", autocompletion=_complete.workloads)
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the workloads, or show one with its knobs."""
    from octant.report import catalogue

    if name is None:
        print(catalogue.workloads_json() if json else catalogue.workloads_text())
    else:
        print(catalogue.workload_json(name) if json else catalogue.workload_text(name))
