"""Threads of a program may migrate between NUMA domains, away from their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells
from octant.advice.findings._thresholds import OFF_NODE, ORDER
from octant.units import counted, percent_text

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary
    from octant.machine import Topology


def judge(summary: Summary) -> RuleResult:
    """Return a finding on the cell with most threads that may run in several NUMA domains."""
    topology = summary.run.machine.topology
    if len(topology.groups("numa")) < 2:
        return RuleResult()
    cells = [cell for cell in program_cells(summary) if cell.occupied and cell.occupied.threads]
    counts = [(_unbound(cell, topology), cell) for cell in cells]
    loose = [(number, cell) for number, cell in counts if number > 1 or (number and _off_node(cell) >= OFF_NODE)]
    if not loose:
        return RuleResult(passed=("threads are bound within a NUMA domain",) if cells else ())
    number, cell = max(loose, key=lambda one: one[0])
    assert cell.occupied is not None  # noqa: S101 - `cells` have it
    domains = len(topology.groups("numa"))
    ranks = max(len(those) for those in cell.occupied.by_host.values())
    most = max(rank.threads for rank in cell.occupied.ranks)
    cores = len(topology.groups("core"))
    away = _off_node(cell)
    held = f" {percent_text(away)} of the memory is on other NUMA domains." if away >= OFF_NODE else ""
    return RuleResult(
        (
            RunFinding(
                rule="unbound threads",
                title=f"{counted(number, 'thread')} may migrate between {domains} NUMA domains",
                body=f"The memory of a thread does not migrate with it, so launches differ.{held} "
                "The placement binds each thread to a core.",
                lines=cell.line(place=f"{ranks}x{max(1, min(most, cores // ranks))}"),
                family="binding",
                gain=ORDER["unbound threads"],
            ),
        )
    )


def _unbound(cell: ProgramCell, topology: Topology) -> int:
    """Return the number of busy threads that may run in several NUMA domains."""
    domains = [set(group) for group in topology.groups("numa")]
    masks = [mask for rank in (cell.occupied.ranks if cell.occupied else ()) for mask in rank.masks]
    return sum(sum(bool(mask & domain) for domain in domains) > 1 for mask in masks)


def _off_node(cell: ProgramCell) -> float:
    """Return the largest share of a rank's private memory outside its main NUMA domain."""
    shares = [
        1 - max(rank.bytes_on_node.values()) / sum(rank.bytes_on_node.values())
        for rank in (cell.occupied.ranks if cell.occupied else ())
        if sum(rank.bytes_on_node.values())
    ]
    return max(shares, default=0.0)
