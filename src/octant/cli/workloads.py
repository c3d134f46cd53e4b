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
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|WORD]...",
            help="Show the description, metrics, limits and knobs of this workload, or list those with all words.",
            autocompletion=_complete.workloads,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the workloads, or describe one workload."""
    from octant.report.tables import workloads as writer
    from octant.runs import command_line

    if words and len(words) == 1 and (note := command_line.expand_alias(words[0], ())[2]):
        typer.echo(f"octant: {note}", err=True)
    if words and len(words) == 1 and (name := words[0]) and writer.is_one_workload(name):
        print(writer.workload_json(name) if json else writer.workload_text(name))
    else:
        print(writer.workloads_json(words or ()) if json else writer.workloads_text(words or ()))
