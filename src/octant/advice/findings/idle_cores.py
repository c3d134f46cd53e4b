"""A program used one of many available hardware threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells
from octant.advice.findings._thresholds import LEAST_IDLE, ONE_BUSY, ORDER

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding if a program of one rank used about one of at least `LEAST_IDLE` hardware threads."""
    cells = [cell for cell in program_cells(summary) if cell.occupied and len(cell.occupied.ranks) == 1]
    idle = [
        (_allowed(cell), cell)
        for cell in cells
        if _allowed(cell) >= LEAST_IDLE
        and ONE_BUSY[0] <= cell.cores_used <= ONE_BUSY[1]
        and not _has_thread_setting(cell)
    ]
    if not idle:
        return RuleResult()
    number, cell = max(idle, key=lambda one: one[0])
    counts = [str(2**power) for power in range(number.bit_length()) if 2**power <= number]
    return RuleResult(
        (
            RunFinding(
                rule="idle cores",
                title=f"Only one of {number} hardware threads was busy",
                body=f"The program used {cell.cores_used:.2g} cores on average. The command measures it with more "
                "OpenMP threads; programs without OpenMP may have an option for this.",
                lines=cell.line(threads=",".join(counts)),
                family="threads",
                gain=ORDER["idle cores"],
            ),
        )
    )


def _allowed(cell: ProgramCell) -> int:
    return len(cell.occupied.hardware_threads) if cell.occupied else 0


def _has_thread_setting(cell: ProgramCell) -> bool:
    """Return whether the user set the number of threads."""
    return "threads" in cell.request.knobs or "OMP_NUM_THREADS" in cell.request.subject.environment
