"""`octant where`, `octant bind`: show where threads and memory of a program are, and place them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli._help import PLACE
from octant.cli._options import MAX_RANKS, JsonOption

if TYPE_CHECKING:
    from octant.runs.command_line import PlacementForms

PlaceOption = Annotated[
    str, typer.Option(help="Placement: RANKSxTHREADS and options, e.g. 2x4,unit=core,memory=local.")
]
Program = Annotated[list[str], typer.Argument(metavar="PROGRAM...", help="Program and its arguments, after --.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("where", rich_help_panel=PLACE)(where)
    app.command("bind", rich_help_panel=PLACE)(bind)


def where(
    program: Program,
    ranks: Annotated[
        int | None, typer.Option(min=1, max=MAX_RANKS, help="Number of ranks [default: that of --place, or 1].")
    ] = None,
    place: PlaceOption = "",
    launcher: Annotated[
        str, typer.Option(help="Launcher: direct, mpiexec, srun or flux [default: the one available].")
    ] = "",
    to: Annotated[Path | None, typer.Option(help="Write the table to this file instead of standard error.")] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="Also show memory by segment and page size; accepts a PID.")
    ] = False,
    live: Annotated[bool, typer.Option("--watch", help="Watch the process with this PID until it exits.")] = False,
    json: JsonOption = False,
) -> None:
    """Run a program and show where its ranks, threads and memory are.

    The program keeps its input, output and exit code; the table goes to standard error. If the argument of --pages or
    --watch is a PID, Octant shows that process once or until it exits, on standard output.
    """
    from octant.failure import Exit, Refusal
    from octant.launch import bind as words
    from octant.launch.compare import differences
    from octant.launch.watch import watch
    from octant.launchers import JobSize
    from octant.output import save
    from octant.report.placement import where as report

    if (pages or live) and len(program) == 1 and program[0].isdecimal() and len(program[0]) < 10:
        text = _followed(int(program[0]), pages, live, json)
        print(text) if to is None else save(to, text + "\n", "try another --to FILE")
        return
    if live:
        why = "--watch takes the PID of a running process"
        raise Refusal(f"cannot watch {program[0]!r} ({why}); try octant where --watch PID", Exit.WRONG_WORD)
    if to is not None:
        save(to, "", "try another --to FILE")  # before the program runs, which may take hours
    asked = _request(place) if place else None
    segments = asked.request.huge_segments if asked else ()
    shape = JobSize(ranks or (asked.request.ranks if asked else 1))
    seen = watch(
        program,
        shape,
        launcher,
        words.words(asked.placement, asked.request) if asked else [],
        pages or bool(segments),
        bool(segments),
    )
    differ = differences(asked.placement, seen, asked.request.heap == "huge", segments) if asked else None
    text = report.as_json(seen, differ) if json else report.as_text(seen, differ)
    if to is None:
        typer.echo(text, err=True)
    else:
        save(to, text + "\n", "try another --to FILE")
    raise typer.Exit(seen.code)


def _followed(pid: int, pages: bool, live: bool, json: bool) -> str:
    """Return the placement of a running process; `live`: watch it until it exits, on a terminal with updates."""
    import sys

    from octant.launch.watch import follow
    from octant.report.placement import where as report

    if live and sys.stdout.isatty() and not json:
        from rich.live import Live
        from rich.text import Text

        with Live(transient=True, refresh_per_second=5) as screen:
            seen = follow(pid, pages, lambda so_far: screen.update(Text.from_ansi(report.as_text(so_far, None))))
    else:
        seen = follow(pid, pages, (lambda _: None) if live else None)
    return report.as_json(seen, None) if json else report.as_text(seen, None)


def bind(
    place: PlaceOption,
    json: Annotated[bool, typer.Option("--json", help="Print the command as a JSON list.")] = False,
) -> None:
    """Print the command prefix that applies a placement.

    Put it before the program in the command line of any launcher.
    """
    import json as codec
    import shlex

    from octant import build
    from octant.launch import bind as words

    asked = _request(place)
    line = [str(build.find("bind")), *words.words(asked.placement, asked.request), "--"]
    print(codec.dumps(line) if json else shlex.join(line))


def _request(place: str) -> PlacementForms:
    from octant.machine.discover import discover
    from octant.runs import command_line

    asked = command_line.resolve_placement(place, discover())
    for remark in asked.placement.remarks:
        typer.echo(f"octant: {remark}", err=True)
    return asked
