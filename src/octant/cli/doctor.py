"""`octant doctor`: show what disturbs measurements or reduces performance."""

from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._help import MACHINE
from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("doctor", rich_help_panel=MACHINE)(doctor)


def doctor(
    json: JsonOption = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="RULE", help="Print the description of one rule and exit.", autocompletion=_complete.rules
        ),
    ] = None,
) -> None:
    """Show what disturbs measurements or reduces performance.

    Each entry has its evidence and the command that fixes it. Exit code 0: the system is fit for measurements; 7: it
    is not.
    """
    from octant.advice import Facts, diagnose, page
    from octant.failure import Exit
    from octant.machine.discover import discover
    from octant.report.machine import advice as writer
    from octant.software.observe import observe

    if explain is not None:
        print(page(explain))
        return
    machine = discover()
    found = diagnose(Facts(machine, observe(machine.topology.usable_cores(), machine.processor.flags)))
    print(writer.as_json(found) if json else writer.as_text(found))
    if any(advice.severity == "spoils" for advice in found.advice):
        raise typer.Exit(int(Exit.UNFIT))
