"""Requested placements: the drawing, a table of ranks, and the syntax of launchers."""

import json
from collections.abc import Sequence

from octant.launchers import Syntax, Translation, launchers_with_role
from octant.placement import numbers_text
from octant.placement.advice import PlacementWarning
from octant.placement.draw import as_text as drawing
from octant.placement.request import PlacementRequest
from octant.report.tables.layout import fill
from octant.report.terminal import render, screen_columns

MAX_DRAWN = 2048
"""Maximum number of hardware threads of a drawing."""


def as_text(answer: Translation) -> str:
    """Return the drawing and a table of ranks; remarks are for standard error."""
    cpus, width = len(answer.topology.cpus), max(screen_columns(80), 60)
    ranks = [
        (rank, numbers_text(rank.cpus), [numbers_text(held) for held in rank.threads], numbers_text(rank.memory))
        for rank in answer.placement.ranks
    ]
    return fill(
        "placement/place", "placement", answer=answer, ranks=ranks, cpus=cpus, most=MAX_DRAWN,
        read_from=launchers_with_role("read")[answer.read_as].TITLE if answer.read_as else "",
        drawing=render(drawing(answer.topology, answer.placement, width)) if cpus <= MAX_DRAWN else "",
        has_positions=bool(answer.placement.ranks[0].coordinates),
    )  # fmt: skip


def syntax_text(answer: Translation) -> str:
    """Return the command lines of one launcher, or those of several with headings."""
    if len(answer.launchers) == 1 and not answer.broken:
        return "\n".join(_lines(next(iter(answer.launchers.values()))))
    found = [(name, syntax, _lines(syntax)) for name, syntax in answer.launchers.items()]
    return fill("placement/place", "launchers", found=found, titles=launchers_with_role("write"), broken=answer.broken)


def _lines(syntax: Syntax) -> list[str]:
    files = [line for name, content in syntax.files for line in (f"# file {name}:", *content.splitlines())]
    return [*syntax.lines, *files]


def notes(answer: Translation) -> list[str]:
    """Return remarks, and what a single launcher cannot express, for standard error."""
    cannot = next(iter(answer.launchers.values())).cannot if len(answer.launchers) == 1 else ()
    return [*answer.remarks, *cannot, *advice_lines(answer.advice.warnings, answer.better, answer.better_lines)]


def advice_lines(
    warnings: Sequence[PlacementWarning], better: PlacementRequest | None, lines: Sequence[str] = ()
) -> list[str]:
    """Return the warnings about a placement, and the better request with its lines for a launcher."""
    texts = [f"warning: {one.text}" for one in warnings]
    return [*texts, f"better placement: --place {better}", *(f"  {line}" for line in lines)] if better else texts


def as_json(answer: Translation) -> str:
    """Return everything as JSON; sets are lists of numbers."""
    names = ("rank", "cpus", "threads", "memory", "coordinates")
    ranks = [{name: getattr(rank, name) for name in names} for rank in answer.placement.ranks]
    launchers = {name: {**vars(one), "files": dict(one.files)} for name, one in answer.launchers.items()}
    launchers |= {one.name: one.as_data() for one in answer.broken}
    found = {"request": str(answer.request), "read_as": answer.read_as, "ranks": ranks}
    better = {"request": str(answer.better), "lines": answer.better_lines} if answer.better else None
    advice = {"warnings": [vars(one) for one in answer.advice.warnings], "better": better}
    everything = {**found, "remarks": answer.remarks, **advice, "launchers": launchers}
    return json.dumps(everything, indent=2, default=sorted)
