"""`octant catalogue`: show published machines, results, findings and settings."""

from typing import Annotated

import typer

from octant.cli._help import STUDY
from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("catalogue", rich_help_panel=STUDY)(catalogue)


def catalogue(
    kind: Annotated[str | None, typer.Argument(help="Kind: machines, results, findings or settings.")] = None,
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="Show this entry in full.")] = None,
    json: JsonOption = False,
) -> None:
    """Show published machines, results, findings and settings."""
    from octant.report.study import published

    if kind is None:
        print(published.counts_json() if json else published.counts_text())
        return
    found = published.entries(kind, name)
    if json:
        print(published.as_json(found))
    elif name is None:
        print(published.list_text(found))
    else:
        print("\n\n".join(published.entry_text(entry) for entry in found))
