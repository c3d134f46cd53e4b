"""`octant place`: placements, and their syntax for every launcher."""

from pathlib import Path
from typing import Annotated

import typer

from octant.cli._help import PLACE
from octant.cli._options import JsonOption

MOST = 1_000_000  # of a torus; `octant.placement.request` bounds a node

PLACEMENT, TORUS, TRANSLATION = "Placement in a node", "Nodes of a torus", "Machine and launcher"
"""Headings of options."""

RanksOption = Annotated[int | None, typer.Option(min=1, max=MOST, help="Ranks of one node.", rich_help_panel=PLACEMENT)]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, max=MOST, help="Threads of each rank.", rich_help_panel=PLACEMENT)
]
RequestOption = Annotated[
    str | None,
    typer.Option(
        "--place",
        metavar="REQUEST",
        help="4x2,unit=core,order=scatter,memory=local; LIKWID or hwloc forms.",
        rich_help_panel=PLACEMENT,
    ),
]
UnitOption = Annotated[
    str | None, typer.Option(help="hwthread, core, l2, l3, numa or package.", rich_help_panel=PLACEMENT)
]
OrderOption = Annotated[
    str | None,
    typer.Option(help="compact, scatter, scatter:UNIT, or letters with --torus.", rich_help_panel=PLACEMENT),
]
SmtOption = Annotated[
    str | None, typer.Option(help="Hardware threads used per core: 1, 2, 4, 8 or all.", rich_help_panel=PLACEMENT)
]
MemoryOption = Annotated[
    str | None, typer.Option(help="local, interleave, bind[:NODES] or preferred:NODE.", rich_help_panel=PLACEMENT)
]
PagesOption = Annotated[str | None, typer.Option(help="4k, 64k, thp, 2m, 16m or 1g.", rich_help_panel=PLACEMENT)]
TorusOption = Annotated[str | None, typer.Option(help="Nodes of a torus, such as 8x8x16.", rich_help_panel=TORUS)]
MapFileOption = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="FILE",
        help="With --torus: node and place in it, one line per rank.",
        rich_help_panel=TORUS,
    ),
]
OnOption = Annotated[
    str,
    typer.Option(
        metavar="MACHINE",
        help="here, an hwloc XML or .synthetic file, a description, a recording.",
        rich_help_panel=TRANSLATION,
    ),
]
LauncherOption = Annotated[
    list[str] | None,
    typer.Option(
        "--for", metavar="LAUNCHER", help="Print it in this launcher's syntax; or all.", rich_help_panel=TRANSLATION
    ),
]
LinesOption = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="LINES", help="Read launcher options instead; - reads stdin.", rich_help_panel=TRANSLATION
    ),
]
SvgOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the drawing to this file.")]


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("place", rich_help_panel=PLACE)(place)


def place(
    request: RequestOption = None,
    ranks: RanksOption = None,
    threads: ThreadsOption = None,
    unit: UnitOption = None,
    order: OrderOption = None,
    smt: SmtOption = None,
    memory: MemoryOption = None,
    pages: PagesOption = None,
    torus: TorusOption = None,
    map_file: MapFileOption = None,
    on: OnOption = "here",
    launcher: LauncherOption = None,
    lines: LinesOption = None,
    svg: SvgOption = None,
    json: JsonOption = False,
) -> None:
    """Show where ranks and threads go, print it for any launcher, or read launcher options back."""
    import sys

    from octant import output
    from octant.failure import Exit, Refusal
    from octant.launchers import request_text, translate
    from octant.machine.load import load
    from octant.placement.draw import as_svg
    from octant.placement.planner import DoesNotFit
    from octant.report.placement import text as writer
    from octant.report.plain import clean_lines

    options = {"ranks": ranks, "threads": threads, "unit": unit, "order": order, "smt": smt, "memory": memory}
    try:
        text = sys.stdin.read() if lines == "-" else lines
        if text is None:
            text = request_text(request, {**options, "pages": pages, "torus": torus, "map": map_file})
        topology, page_sizes = load(on)
        answer = translate(text, topology, launcher or (), lines=lines is not None, page_sizes=page_sizes)
        if svg is not None:
            drawing = clean_lines(as_svg(topology, answer.placement, f"{answer.request}"))
            output.save(svg, drawing, "try another --svg FILE")
    except DoesNotFit as refusal:
        raise Refusal(str(refusal), code=Exit.NOT_SUPPORTED) from refusal
    except ValueError as error:
        raise Refusal(str(error), code=Exit.WRONG_WORD) from error
    print(writer.as_json(answer) if json else writer.syntax_text(answer) if launcher else writer.as_text(answer))
    for note in () if json else writer.notes(answer):
        print(f"octant: {note}", file=sys.stderr)
