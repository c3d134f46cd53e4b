"""A single-threaded program waited for most of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells
from octant.advice.findings._thresholds import ORDER, SHORT_S, WAITED
from octant.analysis.causes import causes_of_points
from octant.analysis.program import CORES_USED, WAITS, WALL
from octant.units import percent_text, si_text

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding on the cell of one rank that waited most, if for more than `WAITED` of its time."""
    cells = [cell for cell in program_cells(summary) if cell.figure.point.ranks == 1]
    known = [cell for cell in cells if summary.figure(cell.figure, CORES_USED)]
    waited = [(share, cell) for cell in known for share in [_waited(cell)] if share > WAITED]
    long = [(share, cell) for share, cell in waited if share * cell.middle(WALL) >= SHORT_S]
    if not long:
        return RuleResult(
            passed=(f"the program ran for at least {percent_text(1 - WAITED)} of its time",) if known else ()
        )
    share, cell = max(long, key=lambda one: one[0])
    waits = cell.middle(WAITS)
    each = f", {si_text(share * cell.middle(WALL) / waits, 's')} each on average," if waits >= 1 else ""
    return RuleResult(
        (
            RunFinding(
                rule="waiting",
                title=f"The program waited for {percent_text(share)} of its time",
                body=f"It blocked {waits:,.0f} times{each} on files, the network, other processes or timers. The "
                f"command "
                "lists its system calls by time.",
                lines=cell.under("strace", "-f", "-c", "-w", "-S", "time"),
                family="system",
                gain=ORDER["waiting"],
            ),
        )
    )


def _waited(cell: ProgramCell) -> float:
    """Return the share of wall time in which no thread ran, without lost time."""
    lost = causes_of_points(cell.figure.points)
    return 1 - cell.cores_used - (lost.lost if lost else 0.0)
