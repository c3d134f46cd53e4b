"""Comparison of an observed program with the placement that it was started with."""

import re
from collections import Counter
from collections.abc import Sequence

from octant.launch.watch import Watched, WatchedProcess
from octant.placement import Placement, RankPlacement, numbers_text
from octant.units import bytes_text

_STRAY_SHARE = 0.05
_WORTH_BYTES = 16 << 20  # less memory has no heap worth huge pages
_HUGE_SHARE = 0.5
_HUGE_BYTES = 2 << 20


def differences(
    placement: Placement, watched: Watched, huge_heap: bool = False, huge_segments: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return sentences on processes whose threads or memory differ from the placement.

    `huge_heap`: most memory was to be on huge pages. It has to be looked at, since glibc 2.36 compares a text without
    its end (`__malloc_thp_mode`), and whether `glibc.malloc.hugetlb=1` does anything then changes from start to start.
    `huge_segments`: parts that were requested on huge pages, too; the system accepts requests without fulfilling them.
    """
    alike: dict[
        tuple[int, str, str, int], list[tuple[WatchedProcess, str]]
    ] = {}  # of one rank and name, but for numbers
    for process in watched.processes:
        rank, times = process.local_rank if process.rank is None else process.rank, Counter[str]()
        for text in _of_process(placement, process, huge_heap, huge_segments):
            about = re.sub(r"\d\S*", "", text)
            alike.setdefault((rank, process.name, about, times[about]), []).append((process, text))
            times[about] += 1
    found = [_describe_first(rank, several) for (rank, *_), several in alike.items()]
    seen = {process.local_rank for process in watched.processes}
    for place in placement.ranks:
        most = max((len(p.threads) for p in watched.processes if p.local_rank == place.rank), default=0)
        if 0 < most < len(place.threads):
            found.append(f"rank {place.rank}: {len(place.threads)} threads requested, {most} found")
    missing = tuple(number for number in range(len(placement.ranks)) if number not in seen)
    if missing:
        found.append(f"ranks {numbers_text(missing)} of this node: not found")
    return tuple(found)


def _of_process(
    placement: Placement, process: WatchedProcess, huge_heap: bool, huge_segments: Sequence[str]
) -> list[str]:
    """Return the differences between one process and its requested placement."""
    if process.local_rank >= len(placement.ranks):
        return ["the placement has no entry for this rank"]
    found = _process(placement.ranks[process.local_rank], process)
    total = sum(process.node_bytes.values())
    if huge_heap and total > _WORTH_BYTES and process.huge_bytes < _HUGE_SHARE * total:
        share = 100 * process.huge_bytes / total
        found.append(f"huge pages were requested for its heap; {share:.0f} % of its memory is on huge pages")
    return [*found, *_small_segments(process, huge_segments)]


def _describe_first(rank: int, alike: Sequence[tuple[WatchedProcess, str]]) -> str:
    """Return a sentence on the first of similar processes, with the number of the others."""
    process, text = alike[0]
    others = f" and {len(alike) - 1} more of this name" if len(alike) > 1 else ""
    return f"rank {rank} ({process.name} {process.pid}{others}): {text}"


def _small_segments(process: WatchedProcess, wanted: Sequence[str]) -> list[str]:
    """Return the segments that are mostly on small pages although huge pages were requested."""
    found = []
    for segment in wanted:
        sizes = process.pages.by_segment.get(segment, {}) if process.pages else {}
        total, large = sum(sizes.values()), sum(held for size, held in sizes.items() if size >= _HUGE_BYTES)
        if large < _HUGE_SHARE * total or not total:
            share = (
                f"{100 * large / total:.0f} % of {bytes_text(total)} is on huge pages"
                if total
                else "the segment was not found"
            )
            found.append(f"huge pages were requested for its {segment}; {share}")
    return found


def _process(place: RankPlacement, process: WatchedProcess) -> list[str]:
    found = []
    for thread in process.threads.values():
        outside = thread.mask - place.cpus
        if outside:
            found.append(
                f"thread {thread.tid} may use {numbers_text(thread.mask)}, but its rank was placed on "
                f"{numbers_text(place.cpus)}"
            )
    wanted = Counter(place.threads)
    held = Counter(thread.mask for thread in process.threads.values())
    if len(process.threads) >= len(place.threads):
        for mask, count in wanted.items():
            if held[mask] < count:
                found.append(
                    f"{count} of its threads were placed on {numbers_text(mask)}, {held[mask]} are bound there"
                )
    total = sum(process.node_bytes.values())
    away = total - sum(process.node_bytes.get(node, 0) for node in place.memory)
    if place.memory and away > _STRAY_SHARE * total:
        others = numbers_text(tuple(node for node in process.node_bytes if node not in place.memory))
        found.append(
            f"{100 * away / total:.0f} % of its memory is on NUMA node {others} instead of {numbers_text(place.memory)}"
        )
    return found
