"""What a network consists of, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from octant.report.terminal import render
from octant.units import counted, si_text

if TYPE_CHECKING:
    from octant.network.fabric import Fabric
    from octant.network.inventory import NetworkInventory


def inventory_text(shown: NetworkInventory) -> str:
    """Return nodes, switches and cables; of a fabric also the devices without traffic and the lines of the dump."""
    head = f"{shown.network}: {shown.kind}, {counted(shown.nodes, 'node')}, {counted(shown.switches, 'switch')}"
    parts = [f"{head}, routing {shown.routing}", *([shown.title] if shown.title else [])]
    table = Table(box=None, pad_edge=False)
    table.add_column("class")
    table.add_column("cables", justify="right")
    table.add_column("one direction", justify="right")
    for one in shown.classes:
        rate = si_text(one.bytes_per_s, "B/s") if one.bytes_per_s is not None else "no limit"
        table.add_row(one.name, f"{one.cables:,}", rate)
    parts.append(render(table))
    if shown.fabric is not None:
        parts += _fabric_lines(shown.fabric)
    parts += [f"note: {note}" for note in shown.notes]
    if shown.network_file:
        parts += ["", "a network file to begin with:", shown.network_file.rstrip()]
    return "\n".join(parts)


def _fabric_lines(found: Fabric) -> list[str]:
    rails = ", ".join(
        f"{counted(count, 'node')} with {counted(rails, 'cable')}" for rails, count in found.rails.items()
    )
    lines = [f"rails: {rails}"]
    if found.apart:
        table = Table(box=None, pad_edge=False)
        table.add_column("devices without traffic")
        table.add_column("count", justify="right")
        table.add_column("reason")
        for one in found.apart:
            table.add_row(one.kind, f"{one.count:,}", one.reason)
        lines.append(render(table))
    read = found.lines
    lines.append(
        f"lines of the dump: {read.interpreted:,} interpreted, {sum(read.irrelevant.values()):,} irrelevant, "
        f"{counted(len(read.warnings), 'warning')}, {len(read.unrecognised):,} unrecognised"
    )
    return lines
