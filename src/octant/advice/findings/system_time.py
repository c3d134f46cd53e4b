"""A program has more system time than user time, by page faults or system calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._huge_pages import HUGE_PAGE_TUNABLE, needs_heap_request
from octant.advice.findings._programs import glibc_tunables, program_cells
from octant.advice.findings._thresholds import FAULT_S, OF_FAULTS, ORDER, SHORT_S
from octant.analysis.program import MAJOR_FAULTS, MINOR_FAULTS, SYSTEM, USER
from octant.units import percent_text, si_text

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary

TUNABLES = ("glibc.malloc.mmap_threshold=33554432", "glibc.malloc.trim_threshold=4294967296")
"""With these, freed memory stays in the program instead of being returned to the system and faulted in again."""


def judge(summary: Summary) -> RuleResult:
    """Return a finding on the cell with the largest share of system time, if it exceeds the user time."""
    cells = [cell for cell in program_cells(summary) if cell.middle(USER) + cell.middle(SYSTEM) >= SHORT_S]
    found = [(_share(cell), cell) for cell in cells if cell.middle(SYSTEM) > cell.middle(USER)]
    if not found:
        return RuleResult(passed=("system time is below user time",) if cells else ())
    share, cell = max(found, key=lambda one: one[0])
    faults = cell.middle(MINOR_FAULTS) + cell.middle(MAJOR_FAULTS)
    by_faults = faults * FAULT_S >= OF_FAULTS * cell.middle(SYSTEM)
    if by_faults:
        title = f"{percent_text(share)} of CPU time is system time, much of it from {faults:,.0f} page faults"
        requests = needs_heap_request(summary.run.machine)
        body = "The kernel fills memory with zeros each time it is freed and allocated again. The command keeps freed "
        body += "malloc blocks of up to 32 MiB in the process" + " and requests huge pages" * requests + "."
        settings = (*TUNABLES, f"{HUGE_PAGE_TUNABLE}=1") if requests else TUNABLES
        lines = cell.line(glibc_tunables(cell.request.subject.environment, *settings))
    else:
        title = f"{percent_text(share)} of CPU time is system time"
        body = f"The cause is system calls; {faults:,.0f} page faults do not explain it. The command lists the system "
        body += "calls by time."
        lines = cell.under("strace", "-f", "-c", "-S", "time")
    system, user = (si_text(cell.middle(name), "s") for name in (SYSTEM, USER))
    return RuleResult(
        (
            RunFinding(
                rule="system time",
                title=title,
                body=body,
                lines=lines,
                family="system",
                gain=ORDER["system time"],
                details=(f"system time {system}, user time {user}",),
            ),
        )
    )


def _share(cell: ProgramCell) -> float:
    return cell.middle(SYSTEM) / (cell.middle(SYSTEM) + cell.middle(USER))
