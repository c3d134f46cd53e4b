"""Requested placements: the drawing, a table of ranks, and the syntax of launchers."""

import json

from octant.launchers import Syntax, Translation, launchers_with_role
from octant.placement import numbers_text
from octant.placement.draw import as_text as drawing
from octant.report.tables.layout import text_table
from octant.report.terminal import render, screen_columns

MAX_DRAWN = 2048
"""Maximum number of hardware threads of a drawing."""


def as_text(answer: Translation) -> str:
    """Return the drawing and a table of ranks; remarks are for standard error."""
    read_from = f"  (read from {launchers_with_role('read')[answer.read_as].TITLE})" if answer.read_as else ""
    head = f"{answer.request}{read_from}"
    torus = bool(answer.placement.ranks[0].coordinates)
    rows = []
    for place in answer.placement.ranks:
        own = " / ".join(numbers_text(held) for held in place.threads) if len(set(place.threads)) > 1 else ""
        at = [" ".join(str(n) for n in place.coordinates)] if torus else []
        memory = numbers_text(place.memory) or "not known"
        rows.append((place.rank, *at, numbers_text(place.cpus), own, memory))
    columns = (">rank", *(["node and position"] * torus), "hardware threads", "per thread", "NUMA nodes of memory")
    width = max(screen_columns(80), 60)
    cpus = len(answer.topology.cpus)
    drawn = f"(not drawn: {cpus} hardware threads, more than {MAX_DRAWN})"
    if cpus <= MAX_DRAWN:
        drawn = render(drawing(answer.topology, answer.placement, width))
    return "\n\n".join([head, drawn, text_table(columns, rows)])


def syntax_text(answer: Translation) -> str:
    """Return the command lines of one launcher, or those of several with headings."""
    if len(answer.launchers) == 1 and not answer.broken:
        return "\n".join(_lines(next(iter(answer.launchers.values()))))
    known, sections = launchers_with_role("write"), []
    for name, syntax in answer.launchers.items():
        exact = "" if syntax.exact else "  (not necessarily the same hardware threads)"
        rows = [f"{name}: {known[name].TITLE}{exact}", *(f"  {line}" for line in _lines(syntax))]
        sections.append("\n".join([*rows, *(f"  ! {text}" for text in syntax.cannot)]))
    sections += [f"{one.name}: cannot be used ({one.reason})" for one in answer.broken]
    return "\n\n".join(sections)


def _lines(syntax: Syntax) -> list[str]:
    files = [line for name, content in syntax.files for line in (f"# file {name}:", *content.splitlines())]
    return [*syntax.lines, *files]


def notes(answer: Translation) -> list[str]:
    """Return remarks, and what a single launcher cannot express, for standard error."""
    cannot = next(iter(answer.launchers.values())).cannot if len(answer.launchers) == 1 else ()
    return [*answer.remarks, *cannot]


def as_json(answer: Translation) -> str:
    """Return everything as JSON; sets are lists of numbers."""
    ranks = [
        {
            "rank": place.rank,
            "cpus": sorted(place.cpus),
            "threads": [sorted(held) for held in place.threads],
            "memory": place.memory,
            "coordinates": place.coordinates,
        }
        for place in answer.placement.ranks
    ]
    launchers = {name: {**vars(one), "files": dict(one.files)} for name, one in answer.launchers.items()}
    launchers |= {one.name: one.as_data() for one in answer.broken}
    found = {"request": str(answer.request), "read_as": answer.read_as, "ranks": ranks}
    return json.dumps({**found, "remarks": answer.remarks, "launchers": launchers}, indent=2)
