"""`octant report`: a run as a table and as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._help import SEE
from octant.cli._options import NotesOption, StoreOption, SvgOption, files_option
from octant.failure import Exit, Refusal

ShareOption = Annotated[
    bool, files_option("--share", help="Leave out user and host names, paths and secrets [default file: shared.html].")
]
AllSamplesOption = Annotated[
    bool, files_option("--all-samples", help="Keep every sample in the HTML file [default: 1 MB of them].")
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NETWORK",
        help="Draw this network beside messages [default: the node, where the run measured its messages].",
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("report", rich_help_panel=SEE)(report)


def report(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run: its id, its folder, last or previous.", autocompletion=_complete.runs
        ),
    ] = "last",
    output: Annotated[
        Path | None, files_option("-o", "--output", help="The HTML file [default: report.html in the run's folder].")
    ] = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Draw the pictures here too.")] = False,
    share: ShareOption = False,
    all_samples: AllSamplesOption = False,
    model: ModelOption = "",
    svg: SvgOption = None,
    notes: NotesOption = False,
    store: StoreOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON; no HTML file.")] = False,
) -> None:
    """Show a run: the table here, the pictures in one HTML file whose path is the last line.

    With --share the HTML file is for others, and only its path is printed.
    """
    from octant.analysis.summary import summarise
    from octant.cli._stored import find_run
    from octant.report.charts.files import write_svgs
    from octant.report.charts.pictures import pictures as pictures_of
    from octant.report.export import sharing, tidy
    from octant.report.page import run_page
    from octant.report.screen.first_screen import RunReport, first_screen
    from octant.report.tables import text

    if json and output is not None:
        raise Refusal("cannot write an HTML file with --json (it prints figures only); leave out one", Exit.WRONG_WORD)
    run = find_run(store, name)
    summary = summarise(run, all_metrics=True)
    if model:
        from octant.network import load
        from octant.simulate.model_comparison import with_model

        summary = with_model(summary, load(model))
    clean = sharing.cleaner(run) if share else str
    drawn = () if json and svg is None else pictures_of(summary)
    if svg is not None:
        write_svgs((sharing.cleaned(one, clean) for one in drawn), svg, run.id)
    said = RunReport(summary, first_screen(summary), drawn)
    if json:
        print(tidy.as_json(said, clean=clean))
        return
    path = output or run.folder / ("shared.html" if share else "report.html")
    run_page.write(said, path, clean, all_samples)  # first: a file that cannot be written is refused at once
    if not share:  # the table breaks lines inside of what is to be hidden
        text.show(said, notes=notes)
    if pictures:
        text.show_pictures([sharing.cleaned(one, clean) for one in drawn])
    print(path)
