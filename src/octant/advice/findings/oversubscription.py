"""A program has more busy threads than the hardware threads that it may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._programs import program_cells, shared_mask
from octant.advice.findings._thresholds import ORDER
from octant.record import THREADS_OF_PROCESS
from octant.units import counted

if TYPE_CHECKING:
    from octant.advice.findings._programs import ProgramCell
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding on the cell with most busy threads per hardware thread of a host, if threads waited."""
    cells = [cell for cell in program_cells(summary) if cell.occupied and cell.occupied.threads]
    crowded = [
        (threads, cpus, ranks, cell)
        for cell in cells
        for threads, cpus, ranks in [_most_crowded(cell)]
        if threads > cpus and cell.shares_cpus and not shared_mask(cell)[0]
    ]
    if not crowded:
        return RuleResult(passed=("threads did not share hardware threads",) if cells else ())
    threads, cpus, ranks, cell = max(crowded, key=lambda one: one[0] / one[1])
    each = max(1, cpus // ranks)
    too_many_ranks = ranks > cpus
    of_process = _threads_of_process(cell)
    if too_many_ranks:
        what, fewer = counted(ranks, "rank"), "fewer ranks"
    elif of_process == 1:
        what, fewer = f"{threads} busy processes", "fewer processes"
    else:
        what = counted(threads, "busy thread")
        fewer = counted(each, "thread") + " in each rank" * (ranks > 1) if of_process else "fewer threads or processes"
    lines = _lines(cell, each, of_process)
    return RuleResult(
        (
            RunFinding(
                rule="oversubscription",
                title=f"{what} on {counted(cpus, 'hardware thread')}: oversubscribed",
                body=f"Ready threads wait for a hardware thread. Start {fewer}, or allow more hardware threads"
                + ("; the command sets the number of OpenMP threads." if "OMP_NUM_THREADS" in lines[0] else "."),
                lines=lines,
                family="threads",
                gain=ORDER["oversubscription"],
                details=(f"{counted(threads, 'thread')} used CPU time on {cpus} available hardware threads",),
            ),
        )
    )


def _threads_of_process(cell: ProgramCell) -> int:
    """Return the largest number of busy threads of a process; 0 if not known."""
    texts = [point.notes.get(THREADS_OF_PROCESS, "") for point in cell.figure.points]
    return max((int(text) for text in texts if text.isascii() and text.isdigit()), default=0)


def _lines(cell: ProgramCell, threads: int, of_process: int) -> tuple[str, ...]:
    """Return the command, with fewer threads if the program has a knob for them or a multithreaded process."""
    if "threads" in cell.request.knobs:
        return cell.line(threads=str(threads))
    if of_process < 2:
        return cell.line()
    return cell.line({"OMP_NUM_THREADS": str(threads)})


def _most_crowded(cell: ProgramCell) -> tuple[int, int, int]:
    """Return busy threads, hardware threads and ranks of the host with most busy threads per hardware thread."""
    hosts = cell.occupied.by_host.values() if cell.occupied else ()
    found = [
        (sum(rank.threads for rank in ranks), len(frozenset().union(*(rank.cpus for rank in ranks))), len(ranks))
        for ranks in hosts
    ]
    return max((one for one in found if one[1]), key=lambda one: one[0] / one[1], default=(0, 1, 1))
