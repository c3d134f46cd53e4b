"""`octant place`: placements, and their syntax for every launcher."""

from pathlib import Path
from typing import Annotated

import typer

from octant.cli._help import PLACE
from octant.cli._options import JsonOption, options_under

MOST = 1_000_000  # of a torus; `octant.placement.request` bounds a node

placement_option, torus_option, translation_option = map(
    options_under, ("Placement in a node", "Nodes of a torus", "Machine and launcher")
)

RanksOption = Annotated[int | None, placement_option(min=1, max=MOST, help="Ranks of one node.")]
ThreadsOption = Annotated[int | None, placement_option(min=1, max=MOST, help="Threads of each rank.")]
RequestOption = Annotated[
    str | None,
    placement_option(
        "--place", metavar="REQUEST", help="4x2,unit=core,order=scatter,memory=local; LIKWID or hwloc forms."
    ),
]
UnitOption = Annotated[str | None, placement_option(help="hwthread, core, l2, l3, numa or package.")]
OrderOption = Annotated[str | None, placement_option(help="compact, scatter, scatter:UNIT, or letters with --torus.")]
SmtOption = Annotated[str | None, placement_option(help="Hardware threads used per core: 1, 2, 4, 8 or all.")]
MemoryOption = Annotated[str | None, placement_option(help="local, interleave, bind[:NODES] or preferred:NODE.")]
PagesOption = Annotated[str | None, placement_option(help="4k, 64k, thp, 2m, 16m or 1g.")]
TorusOption = Annotated[str | None, torus_option(help="Nodes of a torus, such as 8x8x16.")]
MapFileOption = Annotated[
    str | None, torus_option("--map", metavar="FILE", help="With --torus: node and place in it, one line per rank.")
]
OnOption = Annotated[
    str,
    translation_option(metavar="MACHINE", help="here, an hwloc XML or .synthetic file, a description, a recording."),
]
LauncherOption = Annotated[
    list[str] | None,
    translation_option("--for", metavar="LAUNCHERS", help="Print it in the syntax of these launchers: a,b,c or all."),
]
LinesOption = Annotated[
    str | None, translation_option("--from", metavar="LINES", help="Read launcher options instead; - reads stdin.")
]
SvgOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the drawing to this file.")]


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
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
    """Show where ranks and threads go, print it for any launcher, or read launcher options back."""
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
            raise ValueError(f"cannot take the word {context.args[0]!r}; try --place {context.args[0]}")
        text = sys.stdin.read() if lines == "-" else lines
        stated = {**options, "pages": pages, "torus": torus, "map": map_file}
        if text is None:
            text = request_text(request, stated)
        elif request is not None or any(value is not None for value in stated.values()):
            name = next((key for key, value in {"place": request, **stated}.items() if value is not None))
            raise ValueError(f"cannot take --{name} beside --from, whose lines say where ranks go; give one of them")
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
        print(f"octant: caches are not known: {reason}", file=sys.stderr)
    for note in () if json else writer.notes(answer):
        print(f"octant: {note}", file=sys.stderr)
