"""Observed placement of a program: a row for each thread, and JSON."""

import json
from collections.abc import Iterator

from octant.launch.pages import MIDDLE, SEGMENTS, PageSizes
from octant.launch.watch import Watched, WatchedProcess
from octant.placement import numbers_text
from octant.report.tables.layout import text_table
from octant.units import bytes_text, counted


def as_text(watched: Watched, differences: tuple[str, ...] | None) -> str:
    """Return a table for the terminal; `differences` are those from the requested placement (`None`: no request)."""
    if not watched.processes:
        time = f"{watched.seconds:.2f} s"
        return f"octant where: no process of the program was observed on {watched.host} (it ran for {time})"
    columns = (
        ">rank", "process", ">thread", "allowed CPUs", "ran on", ">CPU time", ">memory", "NUMA nodes", ">huge pages"
    )  # fmt: skip
    lines = [text_table(columns, [row for process in watched.processes for row in _rows(process)])]
    lines += [_pages(process.pages) for process in watched.processes if process.pages]
    lines += [f"{watched.host}, {watched.seconds:.1f} s, {counted(watched.looks, 'sample')}"]
    if differences is not None:
        lines += [f"REQUEST NOT MET: {text}" for text in differences] or ["placed as requested"]
    return "\n".join(lines)


def _rows(process: WatchedProcess) -> Iterator[list[str]]:
    """Return a row for each thread; the first has the process and its memory."""
    total = sum(process.node_bytes.values())
    rank = process.local_rank if process.rank is None else process.rank
    head, memory = [str(rank), f"{process.name} {process.pid}"], list[str]()
    if total:
        nodes = ", ".join(f"{node}: {100 * held / total:.0f} %" for node, held in process.node_bytes.items())
        memory = [bytes_text(total), nodes, f"{100 * process.huge_bytes / total:.0f} %"]
    for thread in process.threads.values():
        ran = ", ".join(f"{cpu}: {100 * n / thread.seen_on.total():.0f} %" for cpu, n in thread.seen_on.most_common(4))
        if len(thread.seen_on) == 1:
            ran = str(next(iter(thread.seen_on)))
        name = thread.name if thread.tid != process.pid else "main"
        yield [*head, name, numbers_text(thread.mask), ran, f"{thread.cpu_s:.2f} s", *memory]
        head, memory = ["", ""], []


def _pages(pages: PageSizes) -> str:
    """Return MiB of each segment on pages of each size."""
    sizes = pages.sizes()
    held = {name: pages.by_segment[name] for name in SEGMENTS if name in pages.by_segment}
    rows = [
        (name, *(_mib(pages, by_size.get(size, 0), size) for size in sizes), f"{sum(by_size.values()) / 2**20:.1f}")
        for name, by_size in {**held, "all": {size: pages.total(size) for size in sizes}}.items()
    ]
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
            "pages": _pages_json(process.pages) if process.pages else None,
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


def _pages_json(pages: PageSizes) -> dict[str, object]:
    """Return bytes by segment and page size; those of 64 KiB are `null` if they are unknown, with the reason."""
    unknown = {str(MIDDLE): None} if pages.unknown and pages.base_bytes != MIDDLE else {}
    segments = {
        name: {str(size): held for size, held in sorted(sizes.items())} | unknown
        for name, sizes in pages.by_segment.items()
    }
    return {"segments": segments, "unknown": pages.unknown or None}
