"""A program keeps much memory on base pages, and the system gives huge pages to those who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._huge_pages import HEAP, heap_may_ask
from octant.advice.findings._programs import glibc_tunables, program_cells
from octant.advice.findings._thresholds import LARGE_MEMORY, ON_HUGE, ORDER
from octant.units import bytes_text, percent_text

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Fires for the rank with most private memory, from `LARGE_MEMORY` on, with less than `ON_HUGE` on huge pages."""
    cells = [(held, share, cell) for cell in program_cells(summary) for held, share in [_largest(cell)] if held]
    if not cells or not heap_may_ask(summary.run.machine):
        return RuleResult()
    large = [one for one in cells if one[0] >= LARGE_MEMORY and one[1] < ON_HUGE and not _requests(one[2])]
    if not large:
        return RuleResult(passed=("no large memory lies on base pages",))
    held, share, cell = max(large, key=lambda one: one[0])
    return RuleResult(
        (
            RunFinding(
                rule="base pages",
                title=f"{bytes_text(held)} of memory, {percent_text(share)} of it on huge pages",
                body="Random access to so much memory on base pages misses the TLB often. The line asks for huge pages "
                "for memory from malloc; compare it with this run.",
                lines=cell.line(glibc_tunables(cell.request.subject.environment, f"{HEAP}=1")),
                family="pages",
                gain=ORDER["base pages"],
            ),
        )
    )


def _largest(cell: ProgramCell) -> tuple[int, float]:
    """Private memory of the rank that has most, and the share of it on huge pages; 0: not known."""
    ranks = cell.occupied.ranks if cell.occupied else ()
    most = max(ranks, key=lambda rank: rank.resident_bytes, default=None)
    return (most.resident_bytes, most.huge_bytes / most.resident_bytes) if most and most.resident_bytes else (0, 0.0)


def _requests(cell: ProgramCell) -> bool:
    """Whether huge pages were asked for already, so that the line would change nothing."""
    return HEAP in cell.request.subject.environment.get("GLIBC_TUNABLES", "") or "heap=huge" in cell.request.shape.place
