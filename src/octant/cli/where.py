"""`octant where`, `octant bind`: where a program's threads and memory are, and the command that places them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli._help import PLACE
from octant.cli._options import MOST_RANKS, JsonOption

if TYPE_CHECKING:
    from octant.runs.requests import Requested

PlaceOption = Annotated[str, typer.Option(help="Ranks x threads and where they go: 2x4,unit=core,memory=local.")]
Program = Annotated[list[str], typer.Argument(metavar="PROGRAM...", help="The program and its arguments, after --.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("where", rich_help_panel=PLACE)(where)
    app.command("bind", rich_help_panel=PLACE)(bind)


def where(
    program: Program,
    ranks: Annotated[
        int | None, typer.Option(min=1, max=MOST_RANKS, help="Ranks [default: those of --place, or 1].")
    ] = None,
    place: PlaceOption = "",
    launcher: Annotated[str, typer.Option(help="direct, mpiexec, srun, flux [default: the one available].")] = "",
    to: Annotated[Path | None, typer.Option(help="Write here instead of to standard error.")] = None,
    json: JsonOption = False,
) -> None:
    """Run a program and show, for every rank and thread, where it ran and where its memory is.

    The program keeps its input, output and exit code; the table goes to standard error.
    """
    from octant.launch import bind as words
    from octant.launch.compare import differences
    from octant.launch.launchers import JobSize
    from octant.launch.watch import watch
    from octant.output import save
    from octant.report.placement import where as report

    if to is not None:
        save(to, "", "try another --to FILE")  # before the program runs, which may take hours
    asked = _request(place) if place else None
    shape = JobSize(ranks or (asked.request.ranks if asked else 1))
    seen = watch(program, shape, launcher, words.words(asked.placement, asked.request) if asked else [])
    differ = differences(asked.placement, seen, asked.request.heap == "huge") if asked else None
    text = report.as_json(seen, differ) if json else report.as_text(seen, differ)
    if to is None:
        typer.echo(text, err=True)
    else:
        save(to, text + "\n", "try another --to FILE")
    raise typer.Exit(seen.code)


def bind(
    place: PlaceOption,
    json: Annotated[bool, typer.Option("--json", help="The command as a JSON list.")] = False,
) -> None:
    """Print the command that gives this placement to the ranks of any launcher: put it before the program."""
    import json as codec
    import shlex

    from octant import build
    from octant.launch import bind as words

    asked = _request(place)
    line = [str(build.find("bind")), *words.words(asked.placement, asked.request), "--"]
    print(codec.dumps(line) if json else shlex.join(line))


def _request(place: str) -> Requested:
    from octant.machine.discover import discover
    from octant.runs import requests

    asked = requests.requested(place, discover())
    for remark in asked.placement.remarks:
        typer.echo(f"octant: {remark}", err=True)
    return asked
