"""A program uses much memory on base pages, although the system provides huge pages on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._huge_pages import HUGE_PAGE_TUNABLE, needs_heap_request
from octant.advice.findings._programs import glibc_tunables, program_cells
from octant.advice.findings._thresholds import LARGE_MEMORY, ON_HUGE, ORDER
from octant.units import bytes_text, percent_text

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding on the rank with most private memory: at least `LARGE_MEMORY`, below `ON_HUGE` on huge pages."""
    cells = [(held, share, cell) for cell in program_cells(summary) for held, share in [_largest(cell)] if held]
    if not cells or not needs_heap_request(summary.run.machine):
        return RuleResult()
    large = [one for one in cells if one[0] >= LARGE_MEMORY and one[1] < ON_HUGE and not _requests_huge_pages(one[2])]
    if not large:
        return RuleResult(passed=("no large memory is on base pages",))
    held, share, cell = max(large, key=lambda one: one[0])
    return RuleResult(
        (
            RunFinding(
                rule="base pages",
                title=f"Only {percent_text(share)} of {bytes_text(held)} of memory is on huge pages",
                body="Random access to base pages causes many TLB misses. The command requests huge pages for memory "
                "from malloc; compare its result with this run.",
                lines=cell.line(glibc_tunables(cell.request.subject.environment, f"{HUGE_PAGE_TUNABLE}=1")),
                family="pages",
                gain=ORDER["base pages"],
            ),
        )
    )


def _largest(cell: ProgramCell) -> tuple[int, float]:
    """Return the private memory in bytes of the rank with most, and the share on huge pages; 0 if not known."""
    ranks = cell.occupied.ranks if cell.occupied else ()
    most = max(ranks, key=lambda rank: rank.resident_bytes, default=None)
    return (most.resident_bytes, most.huge_bytes / most.resident_bytes) if most and most.resident_bytes else (0, 0.0)


def _requests_huge_pages(cell: ProgramCell) -> bool:
    """Return whether huge pages were requested already, so that the command would have no effect."""
    return (
        HUGE_PAGE_TUNABLE in cell.request.subject.environment.get("GLIBC_TUNABLES", "")
        or "heap=huge" in cell.request.shape.place
    )
