"""Processes of a program went on after it had ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells
from octant.units import counted

if TYPE_CHECKING:
    from octant.analysis.summary import Summary

NOTE = "outlived"


def judge(summary: Summary) -> RuleResult:
    """Fires where the guard ended processes that were still alive when the program had ended."""
    cells = program_cells(summary)
    for cell in cells:
        noted = [point.notes[NOTE] for point in cell.figure.points if NOTE in point.notes]
        if noted:
            launches = counted(len(cell.figure.points), "launch")
            return RuleResult(
                (
                    RunFinding(
                        rule="outlived",
                        title=f"Processes outlived the program in {len(noted)} of {launches}",
                        body=f"They were ended, so their work may be missing: {noted[0]}. Make the program wait for "
                        "its children (wait in a shell), then measure again.",
                        lines=cell.line(),
                        family="processes",
                        kind="reliability",
                    ),
                )
            )
    return RuleResult(passed=("no process outlived the program",) if cells else ())
