"""What a point says it was given, against what was planned when it started: every difference in a sentence.

The plan is the stored one. A run is never planned again, so a better planner does not find fault with old runs; runs of
version 0.1, which kept no plan, are compared in their pages alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from octant.machine.cpusets import parse_cpus
from octant.mpi.inventory import agrees
from octant.placement import RankPlacement, numbers_text
from octant.program import is_program
from octant.record import SMALL_PAGES, Buffer, Given, Point
from octant.store import StoredRun


def mismatches_of(run: StoredRun, point: Point) -> tuple[str, ...]:
    """What a point of a run was given other than asked."""
    planned = run.plans.get(point.launch)
    placed = mismatches(planned.places, point, planned.launch.request.shape.ranks) if planned and planned.places else ()
    asked = planned.launch.request.mpi if planned else {}
    told = (point.notes[SMALL_PAGES],) if SMALL_PAGES in point.notes else ()
    nodes = node_mismatches(point)
    return (*page_mismatches(point), *nodes, *placed, *told, *setting_mismatches(run, asked, point))


def all_mismatches(run: StoredRun) -> list[str]:
    """What any point of a run was given other than asked, each sentence once."""
    return sorted({text for point in run.points for text in mismatches_of(run, point)})


_HUGE_SHARE = 0.9  # of the resident bytes: the ends of a buffer may lie on small pages
_STRAY_SHARE = 0.05  # of the pages that were looked at


def mismatches(places: Sequence[RankPlacement], point: Point, ranks: int) -> tuple[str, ...]:
    """Sentences on ranks, threads, hardware threads and memory that are not where they were asked to be.

    Args:
        places: one node's; the n-th rank of every host has the n-th.
        ranks: how many were started on all hosts.
    """
    found = []
    if point.ranks != ranks:
        found.append(
            f"{ranks} ranks asked, {point.ranks} given: the launcher and the MPI library do not speak the same "
            "language, so ranks were alone in their worlds"
        )
    local: Counter[str] = Counter()
    for rank, given in enumerate(point.given):
        number = local[given.host]
        local[given.host] += 1
        if number >= len(places):
            found.append(f"rank {rank}: number {number + 1} on {given.host}, which was to hold {len(places)}")
            continue
        differences = _rank_of_program if is_program(point.workload) else _rank
        found += [f"rank {rank}: {text}" for text in differences(places[number], given)]
    return tuple(found)


def setting_mismatches(run: StoredRun, asked: Mapping[str, str], point: Point) -> tuple[str, ...]:
    """Sentences on settings of the MPI library that the probe or the library itself says are not as asked.

    Args:
        asked: the variables that the launch was given.
    """
    read = point.process.settings
    found = [setting.caveat for setting in run.settings if setting.caveat]
    for name, value in asked.items():
        if name in read and not agrees(value, read[name]):
            found.append(f"{name}={value} asked, the library reads back {read[name][-1] if read[name] else 'nothing'}")
    return tuple(found)


def page_mismatches(point: Point) -> tuple[str, ...]:
    """Sentences on buffers that are not on pages of the kind that the knob `pages` asked for."""
    asked = point.knobs.get("pages", "default")
    if asked in ("default", "try-thp") or is_program(point.workload):
        return ()
    found = []
    for rank, given in enumerate(point.given):
        if any(not buffer.page_bytes and buffer.resident_bytes for buffer in given.buffers):
            found.append(f"rank {rank}: pages={asked} asked, and only root may see what was given")
            continue
        wrong = [buffer for buffer in given.buffers if not _on(asked, buffer)]
        if wrong:
            share = 100 * min(wrong, key=lambda b: abs(b.huge_share - 0.5)).huge_share
            found.append(f"rank {rank}: pages={asked} asked, {share:.0f} % of a buffer is on huge pages")
    return tuple(found)


def node_mismatches(point: Point) -> tuple[str, ...]:
    """Sentences on buffers that are not on the memory nodes that the knob `memory` binds them to."""
    policy, _, nodes = point.knobs.get("memory", "default").partition(":")
    if policy != "bind" or is_program(point.workload):
        return ()
    try:
        bound = parse_cpus(nodes.replace("+", ","), or_none=True)
    except ValueError:  # no kernel takes such a list
        return ()
    found = []
    for rank, given in enumerate(point.given):
        pages = sum((Counter(buffer.pages_on_node) for buffer in given.buffers), Counter[str]())
        away = pages.total() - sum(pages[str(node)] for node in bound)
        if away > _STRAY_SHARE * pages.total():
            share = 100 * away / pages.total()
            found.append(f"rank {rank}: memory=bind:{nodes} asked, {share:.0f} % of it lies on other nodes")
    return tuple(found)


def _on(asked: str, buffer: Buffer) -> bool:
    if not buffer.resident_bytes:
        return True
    return buffer.huge_share <= 1 - _HUGE_SHARE if asked == "base" else buffer.huge_share >= _HUGE_SHARE


def _rank_of_program(place: RankPlacement, given: Given) -> list[str]:
    """Threads of a user's program that may run elsewhere: how many it has, and where within its place, is its own."""
    asked = frozenset().union(*place.threads)
    outside = [mask for mask in given.thread_masks if not asked.issuperset(mask)]
    found = [
        f"asked for hardware threads {numbers_text(asked)}, a thread may use {numbers_text(mask)}"
        for mask in outside[:1]
    ]
    return found + _memory_differences(place, given)


def _rank(place: RankPlacement, given: Given) -> list[str]:
    found = []
    if len(given.thread_masks) != len(place.threads):
        found.append(f"{len(place.threads)} threads asked, {len(given.thread_masks)} given")
    for thread, (asked, mask) in enumerate(zip(place.threads, given.thread_masks, strict=False)):
        name = f"thread {thread} " if len(place.threads) > 1 else ""
        if asked != frozenset(mask):
            found.append(f"{name}asked for hardware threads {numbers_text(asked)}, may use {numbers_text(mask)}")
        elif thread < len(given.cpus) and given.cpus[thread] not in asked:
            found.append(f"{name}asked for hardware threads {numbers_text(asked)}, ran on {given.cpus[thread]}")
    return found + _memory_differences(place, given)


def _memory_differences(place: RankPlacement, given: Given) -> list[str]:
    found = []
    pages: Counter[int] = Counter()
    for buffer in given.buffers:
        pages.update({int(node): count for node, count in buffer.pages_on_node.items()})
    away = pages.total() - sum(pages[node] for node in place.memory)
    if place.memory and away > _STRAY_SHARE * pages.total():
        others = numbers_text(tuple(node for node in pages if node not in place.memory))
        share = 100 * away / pages.total()
        found.append(f"asked for memory of nodes {numbers_text(place.memory)}, {share:.0f} % of it lies on {others}")
    return found
