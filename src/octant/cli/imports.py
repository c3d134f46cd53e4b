"""`octant import`: what other benchmarks measured, into the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octant import registry
from octant.cli._help import SEE
from octant.cli._options import MOST_RANKS, JsonOption, NotesOption, StoreOption

TOOLS = registry.names("octant.foreign")
"""Their names are those of files; none is loaded."""


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("import", rich_help_panel=SEE)(import_)


def import_(
    tool: Annotated[str, typer.Argument(help=f"{', '.join(TOOLS[:-1])} or {TOOLS[-1]}.")],
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Its output, as it is; of several each is a launch.")
    ],
    ranks: Annotated[
        int | None, typer.Option(min=1, max=MOST_RANKS, help="MPI ranks, where the file does not say it (osu).")
    ] = None,
    machine: Annotated[str, typer.Option(help="What to call the machine that it is of.")] = "",
    notes: NotesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Read the output of another benchmark into the store, as a run beside those that were measured.

    It is marked as imported in every view, and nothing of it is ever started.
    """
    from octant import foreign
    from octant.analysis.summary import summarise
    from octant.cli._measure import end_command
    from octant.report.export import tidy
    from octant.report.screen.first_screen import RunReport, first_screen
    from octant.report.tables import text
    from octant.runs.exit_reasons import list_exit_reasons
    from octant.store import imported, open_store

    outputs = [(path, foreign.read_file(tool, path)) for path in map(Path, files)]
    run = imported.create(open_store(store), tool, outputs, machine[:200], ranks)
    for (path, output), stored in zip(outputs, run.imported, strict=True):
        further = [remark for remark in stored.remarks if remark not in output.remarks]
        for told in (*further, *foreign.summary(output)):
            typer.echo(f"octant: {path}: {told}", err=True)
    summary = summarise(run, all_metrics=json)
    report = RunReport(summary, first_screen(summary))
    if json:
        print(tidy.as_json(report))
    else:
        text.show(report, notes=notes)
    end_command(list_exit_reasons(run))
