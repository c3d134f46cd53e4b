"""`octant report`: show a run as a table, and write its HTML report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._help import SEE
from octant.cli._options import AllSamplesOption, NotesOption, StoreOption, SvgOption, files_option
from octant.failure import Exit, Refusal

ShareOption = Annotated[
    bool, files_option("--share", help="Remove user names, host names, paths and secrets [file: shared.html].")
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NETWORK",
        help="Draw predictions on this network from the measured messages [default: within the node].",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("report", rich_help_panel=SEE)(report)


def report(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Run: its id, its directory, last or previous.", autocompletion=_complete.runs
        ),
    ] = "last",
    output: Annotated[
        Path | None, files_option("-o", "--output", help="HTML file [default: report.html in the run's directory].")
    ] = None,
    pictures: Annotated[bool, typer.Option("--pictures", help="Also draw the charts in the terminal.")] = False,
    share: ShareOption = False,
    all_samples: AllSamplesOption = False,
    model: ModelOption = "",
    svg: SvgOption = None,
    notes: NotesOption = False,
    store: StoreOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON; write no HTML file.")] = False,
) -> None:
    """Show a run as a table and write an HTML report with charts.

    The last line of the output is the path of the HTML file; with --share, it is the only line.
    """
    from octant.analysis.summary import summarise
    from octant.cli._stored import find_run
    from octant.report.charts.draw import write_svgs
    from octant.report.charts.pictures import pictures as pictures_of
    from octant.report.export import sharing, tidy
    from octant.report.page import run_page
    from octant.report.profile.run_report import profiled
    from octant.report.screen.first_screen import RunReport, first_screen
    from octant.report.screen.level_section import with_levels
    from octant.report.tables import text

    if json and output is not None:
        why = "--json writes no HTML file"
        raise Refusal(f"cannot use --output with --json ({why}); use one of them", Exit.WRONG_WORD)
    run = find_run(store, name)
    summary = summarise(run, all_metrics=True)
    if model:
        from octant.network import load
        from octant.simulate.model_comparison import with_model

        summary = with_model(summary, load(model))
    clean = sharing.cleaner(run) if share else str
    drawn = () if json and svg is None else pictures_of(summary)
    shown = with_levels(profiled(RunReport(summary, first_screen(summary), drawn)))
    if svg is not None:
        write_svgs((sharing.cleaned(one, clean) for one in shown.pictures), svg, run.id)
    if json:
        print(tidy.as_json(shown, clean=clean))
        return
    path = output or run.folder / ("shared.html" if share else "report.html")
    run_page.write(shown, path, clean, all_samples)  # before the table, so that an error is reported at once
    if not share:  # the table may break lines within a text to be removed
        text.show(shown, notes=notes)
    if pictures:
        text.show_pictures([sharing.cleaned(one, clean) for one in shown.pictures])
    print(path)
