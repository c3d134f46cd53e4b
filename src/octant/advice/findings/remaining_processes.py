"""Processes of a program kept running after it had ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells
from octant.units import counted

if TYPE_CHECKING:
    from octant.analysis.summary import Summary

NOTE = "outlived"


def judge(summary: Summary) -> RuleResult:
    """Return a finding if the guard ended processes that were running after the program had ended."""
    cells = program_cells(summary)
    for cell in cells:
        noted = [point.notes[NOTE] for point in cell.figure.points if NOTE in point.notes]
        if noted:
            launches = counted(len(cell.figure.points), "launch")
            return RuleResult(
                (
                    RunFinding(
                        rule="remaining processes",
                        title=f"Processes kept running after the program in {len(noted)} of {launches}",
                        body=f"Octant ended them, so results may be incomplete: {noted[0]}. Let the program wait for "
                        f"its "
                        "child processes (`wait` in a shell), then measure again.",
                        lines=cell.line(),
                        family="processes",
                        kind="reliability",
                    ),
                )
            )
    return RuleResult(passed=("no process kept running after the program",) if cells else ())
