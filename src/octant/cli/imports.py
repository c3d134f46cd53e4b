"""`octant import`: import the output of other benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octant import registry
from octant.cli._help import SEE
from octant.cli._options import MAX_RANKS, JsonOption, NotesOption, StoreOption

TOOLS = registry.names("octant.foreign")
"""Names of the import formats, from the names of their files."""


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("import", rich_help_panel=SEE)(import_)


def import_(
    tool: Annotated[str, typer.Argument(help=f"Benchmark: {', '.join(TOOLS[:-1])} or {TOOLS[-1]}.")],
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Output file of the benchmark, unmodified. If there are several files, each is one launch.",
        ),
    ],
    ranks: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_RANKS, help="Number of MPI ranks, if the file does not state it (osu)."),
    ] = None,
    machine: Annotated[str, typer.Option(help="Name of the machine that the results came from.")] = "",
    notes: NotesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Import the output of another benchmark as a run.

    Every view marks the run as imported. Octant never starts anything from it.
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
        for text_of_output in (*further, *foreign.summary(output)):
            typer.echo(f"octant: {path}: {text_of_output}", err=True)
    summary = summarise(run, all_metrics=json)
    report = RunReport(summary, first_screen(summary))
    if json:
        print(tidy.as_json(report))
    else:
        text.show(report, notes=notes)
    end_command(list_exit_reasons(run))
