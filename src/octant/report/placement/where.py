"""Observed placement of a program: a row for each thread, and JSON."""

import json
from collections.abc import Mapping, Sequence

from octant.launch.pages import MIDDLE, SEGMENTS, PageSizes
from octant.launch.watch import Watched
from octant.placement import numbers_text
from octant.report.tables.layout import fill


def as_text(watched: Watched, differences: tuple[str, ...] | None) -> str:
    """Return a table for the terminal; `differences` are those from the requested placement (`None`: no request)."""
    return fill(
        "placement/where", "page", watched=watched, differences=differences, numbers=numbers_text, tables=_page_table
    )


def _page_table(pages: PageSizes) -> tuple[Sequence[int], Mapping[str, Mapping[int, int]], int]:
    """Return the sizes of pages, the bytes on them by segment and in all, and the size that may be unknown."""
    sizes, total = pages.sizes(), {size: pages.total(size) for size in pages.sizes()}
    held = {name: pages.by_segment[name] for name in SEGMENTS if name in pages.by_segment}
    return sizes, {**held, "all": total}, MIDDLE


def as_json(watched: Watched, differences: tuple[str, ...] | None) -> str:
    """Return the same as JSON."""
    processes = [
        {
            **{name: getattr(process, name) for name in ("rank", "local_rank", "pid", "name")},
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
