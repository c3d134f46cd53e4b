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
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID|WORD]...", help="Show the entry with this id, or list those with all words."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show published machines, results, findings and settings."""
    from octant.report.study import published

    if kind is None:
        print(published.counts_json() if json else published.counts_text())
        return
    found, is_entry = published.find(kind, words or ())
    if json:
        print(published.as_json(found))
    elif is_entry:
        print("\n\n".join(published.entry_text(entry) for entry in found))
    else:
        print(published.list_text(kind, found))
