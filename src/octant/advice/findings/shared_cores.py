"""Ranks of a program are bound to the same hardware threads although others are free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells, shared_mask
from octant.advice.findings._thresholds import ORDER
from octant.placement import numbers_text
from octant.units import counted

if TYPE_CHECKING:
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding on the cell in which most ranks of a host are bound to too few hardware threads."""
    cells = [cell for cell in program_cells(summary) if cell.occupied and len(cell.occupied.ranks) > 1]
    found = [(ranks, cpus, cell) for cell in cells for ranks, cpus in [shared_mask(cell)] if ranks]
    if not found:
        return RuleResult(passed=("no ranks are bound to the same hardware threads",) if cells else ())
    ranks, cpus, cell = max(found, key=lambda one: one[0] / len(one[1]))
    local = max(len(those) for those in cell.occupied.by_host.values()) if cell.occupied else ranks
    free = len(summary.run.machine.topology.usable())
    return RuleResult(
        (
            RunFinding(
                rule="shared cores",
                title=f"{counted(ranks, 'rank')} share {counted(len(cpus), 'hardware thread')}",
                body=f"All of them are bound to {numbers_text(sorted(cpus))}, although the machine has "
                f"{counted(free, 'hardware thread')}. The placement binds each rank to different ones.",
                lines=cell.line(place=f"{local}x1"),
                family="binding",
                gain=ORDER["shared cores"],
            ),
        )
    )
