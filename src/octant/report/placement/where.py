"""Observed placement of a program: a row for each thread, and JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence

from octant.launch.pages import MIDDLE, SEGMENTS, PageSizes
from octant.launch.watch import Watched, WatchedProcess
from octant.placement import numbers_text
from octant.report.plain import clean
from octant.report.tables.layout import fill
from octant.units import bytes_text

_MISSED = 1.05
"""Ratio of the largest resident size to that of the sample above which the difference is reported."""


def as_text(watched: Watched, differences: tuple[str, ...] | None) -> str:
    """Return a table for the terminal; `differences` are those from the requested placement (`None`: no request)."""
    return fill(
        "placement/where", "page", watched=watched, differences=differences, numbers=numbers_text, tables=_page_table,
        missed_peaks=_missed_peaks,
    )  # fmt: skip


def _missed_peaks(processes: Iterable[WatchedProcess]) -> list[str]:
    """Return a sentence for each process that had more memory between two samples than in its largest sample."""
    return [
        f"{clean(one.name)} {one.pid} had up to {bytes_text(one.peak_bytes)} resident between two samples; "
        f"the sample shown has {bytes_text(one.resident_bytes)}"
        for one in processes
        if one.peak_bytes > _MISSED * one.resident_bytes > 0
    ]


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
            "resident_bytes": process.resident_bytes,
            "sampled_s": process.sampled_s,
            "peak_resident_bytes": process.peak_bytes,
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
