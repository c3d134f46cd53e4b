"""Observed placement of a program: a row for each thread, and JSON."""

import json

from octant.launch.pages import MIDDLE, SEGMENTS, PageSizes
from octant.launch.watch import Thread, Watched, WatchedProcess
from octant.placement import numbers_text
from octant.report.tables.layout import text_table
from octant.units import bytes_text, counted


def as_text(watched: Watched, differences: tuple[str, ...] | None) -> str:
    """Return a table for the terminal; `differences` are those from the requested placement (`None`: no request)."""
    if not watched.processes:
        return f"octant where: no process of the program was observed on {watched.host} (it ran for {watched.seconds:.2f} s)"
    columns = (
        ">rank", "process", ">thread", "allowed CPUs", "ran on", ">CPU time", ">memory", "NUMA nodes", ">huge pages"
    )  # fmt: skip
    rows = [
        _row(process, thread, first=number == 0)
        for process in watched.processes
        for number, thread in enumerate(process.threads.values())
    ]
    lines = [text_table(columns, rows), *map(_pages, filter(None, (process.pages for process in watched.processes)))]
    lines += [f"{watched.host}, {watched.seconds:.1f} s, {counted(watched.looks, 'sample')}"]
    if differences is not None:
        lines += [f"NOT AS REQUESTED: {text}" for text in differences] or ["placed as requested"]
    return "\n".join(lines)


def _row(process: WatchedProcess, thread: Thread, first: bool) -> list[str]:
    ran = ", ".join(f"{cpu}: {100 * n / thread.seen_on.total():.0f} %" for cpu, n in thread.seen_on.most_common(4))
    if len(thread.seen_on) == 1:
        ran = str(next(iter(thread.seen_on)))
    total = sum(process.node_bytes.values())
    nodes = (
        ", ".join(f"{node}: {100 * held / total:.0f} %" for node, held in process.node_bytes.items()) if total else ""
    )
    rank = str(process.local_rank if process.rank is None else process.rank)
    head = [rank, f"{process.name} {process.pid}"] if first else ["", ""]
    memory = [bytes_text(total) if total else "", nodes, f"{100 * process.huge_bytes / total:.0f} %" if total else ""]
    return [
        *head,
        thread.name if thread.tid != process.pid else "main",
        numbers_text(thread.mask),
        ran,
        f"{thread.cpu_s:.2f} s",
        *(memory if first else ["", "", ""]),
    ]


def _pages(pages: PageSizes) -> str:
    """Return MiB of each segment on pages of each size."""
    sizes = pages.sizes()
    rows = []
    for segment in (name for name in SEGMENTS if name in pages.by_segment):
        held = pages.by_segment[segment]
        cells = (_mib(pages, held.get(size, 0), size) for size in sizes)
        rows.append((segment, *cells, f"{sum(held.values()) / 2**20:.1f}"))
    rows.append(("all", *(_mib(pages, pages.total(size), size) for size in sizes), f"{pages.total() / 2**20:.1f}"))
    table = text_table(("MiB on pages of", *(f">{bytes_text(size)}" for size in sizes), ">all"), rows)
    note = f"\nThe column {bytes_text(sizes[0])} includes pages of {bytes_text(MIDDLE)}: {pages.unknown}."
    return "\n" + table + note * bool(pages.unknown)


def _mib(pages: PageSizes, held: int, size: int) -> str:
    if size == MIDDLE and pages.unknown and size != pages.base_bytes:
        return "unknown"
    return f"{held / 2**20:.1f}" if held else ""


def as_json(watched: Watched, differences: tuple[str, ...] | None) -> str:
    """Return the same as JSON."""
    processes = [
        {
            "rank": process.rank,
            "local_rank": process.local_rank,
            "pid": process.pid,
            "name": process.name,
            "bytes_on_node": {str(node): held for node, held in process.node_bytes.items()},
            "huge_bytes": process.huge_bytes,
            "pages": _pages_json(process.pages),
            "threads": [
                {
                    "tid": thread.tid,
                    "name": thread.name,
                    "may_use": sorted(thread.mask),
                    "seen_on": {str(cpu): looks for cpu, looks in sorted(thread.seen_on.items())},
                    "cpu_s": thread.cpu_s,
                }
                for thread in process.threads.values()
            ],
        }
        for process in watched.processes
    ]
    facts = {"host": watched.host, "seconds": watched.seconds, "looks": watched.looks, "exit": watched.code}
    return json.dumps({**facts, "processes": processes, "not_as_asked": differences}, indent=2)


def _pages_json(pages: PageSizes | None) -> dict[str, object] | None:
    """Return bytes by segment and page size; those of 64 KiB are `null` if they are unknown, and `unknown` is the reason."""
    if pages is None:
        return None
    unknown = {str(MIDDLE): None} if pages.unknown and pages.base_bytes != MIDDLE else {}
    segments = {
        name: {str(size): held for size, held in sorted(sizes.items())} | unknown
        for name, sizes in pages.by_segment.items()
    }
    return {"segments": segments, "unknown": pages.unknown or None}
