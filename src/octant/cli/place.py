"""`octant place`: show placements, and translate them between launchers."""

from pathlib import Path
from typing import Annotated

import typer

from octant.cli._help import PLACE
from octant.cli._options import JsonOption, options_under

MAX_TORUS_RANKS = 1_000_000  # ranks of a torus; `octant.placement.request` limits those of a node

placement_option, torus_option, translation_option = map(
    options_under, ("Placement within a node", "Nodes of a torus", "Machine and launcher")
)

RanksOption = Annotated[int | None, placement_option(min=1, max=MAX_TORUS_RANKS, help="Number of ranks per node.")]
ThreadsOption = Annotated[int | None, placement_option(min=1, max=MAX_TORUS_RANKS, help="Number of threads per rank.")]
RequestOption = Annotated[
    str | None,
    placement_option(
        "--place",
        metavar="REQUEST",
        help="Placement, e.g. 4x2,unit=core,order=scatter,memory=local; LIKWID and hwloc forms are accepted.",
    ),
]
UnitOption = Annotated[
    str | None, placement_option(help="Unit of each thread: hwthread, core, l2, l3, numa or package.")
]
OrderOption = Annotated[
    str | None, placement_option(help="Order: compact, scatter, scatter:UNIT, or letters with --torus.")
]
SmtOption = Annotated[str | None, placement_option(help="Number of hardware threads per core: 1, 2, 4, 8 or all.")]
MemoryOption = Annotated[
    str | None, placement_option(help="Memory policy: local, interleave, bind[:NODES] or preferred:NODE.")
]
PagesOption = Annotated[str | None, placement_option(help="Page size: 4k, 64k, thp, 2m, 16m or 1g.")]
TorusOption = Annotated[str | None, torus_option(help="Shape of the torus, e.g. 8x8x16.")]
MapFileOption = Annotated[
    str | None,
    torus_option(
        "--map", metavar="FILE", help="With --torus: file with node and position in the node, one line per rank."
    ),
]
OnOption = Annotated[
    str,
    translation_option(
        metavar="MACHINE",
        help="Machine: here, an hwloc XML or .synthetic file, a synthetic description, or a recording.",
    ),
]
LauncherOption = Annotated[
    list[str] | None,
    translation_option(
        "--for", metavar="LAUNCHERS", help="Print the placement as options of these launchers: a,b,c or all."
    ),
]
LinesOption = Annotated[
    str | None,
    translation_option(
        "--from", metavar="LINES", help="Read the placement from launcher options; - reads standard input."
    ),
]
SvgOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the drawing to this file (SVG).")]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("place", rich_help_panel=PLACE, context_settings={"allow_extra_args": True})(place)


def place(
    context: typer.Context,
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
    """Show a placement, or translate it between launchers."""
    import sys

    from octant import output
    from octant.failure import Exit, Refusal
    from octant.launchers import request_text, translate
    from octant.machine.load import load_machine
    from octant.placement.draw import as_svg
    from octant.placement.planner import DoesNotFitError
    from octant.report.placement import text as writer
    from octant.report.plain import clean_lines

    options = {"ranks": ranks, "threads": threads, "unit": unit, "order": order, "smt": smt, "memory": memory}
    try:
        if context.args:
            raise ValueError(f"cannot use {context.args[0]!r} (unexpected argument); try --place {context.args[0]}")
        text = sys.stdin.read() if lines == "-" else lines
        stated = {**options, "pages": pages, "torus": torus, "map": map_file}
        if text is None:
            text = request_text(request, stated)
        elif request is not None or any(value is not None for value in stated.values()):
            name = next((key for key, value in {"place": request, **stated}.items() if value is not None))
            raise ValueError(f"cannot use --{name} with --from (both define the placement); use one of them")
        machine = load_machine(on)
        topology, page_sizes = machine.topology, machine.page_sizes or None
        named = [name.strip() for text in launcher or () for name in text.split(",")]
        answer = translate(text, topology, named, lines=lines is not None, here=on == "here", page_sizes=page_sizes)
        if svg is not None:
            drawing = clean_lines(as_svg(topology, answer.placement, f"{answer.request}"))
            output.save(svg, drawing, "try another --svg FILE")
    except DoesNotFitError as refusal:
        raise Refusal(str(refusal), code=Exit.NOT_SUPPORTED) from refusal
    except ValueError as error:
        raise Refusal(str(error), code=Exit.WRONG_WORD) from error
    print(writer.as_json(answer) if json else writer.syntax_text(answer) if launcher else writer.as_text(answer))
    if reason := machine.system.get("caches_unknown"):
        print(f"octant: the caches are unknown: {reason}", file=sys.stderr)
    for note in () if json else writer.notes(answer):
        print(f"octant: {note}", file=sys.stderr)
