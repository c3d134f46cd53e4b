"""Differences between the plan of a launch and the resources that its ranks report, each as a sentence.

The stored plan is used. A run is never planned again, so that a better planner does not object to old runs. Runs of
version 0.1 have no plan; only their pages are compared.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from octant.machine.cpusets import parse_cpus
from octant.mpi.inventory import agrees
from octant.placement import RankPlacement, numbers_text
from octant.program import is_program
from octant.record import SMALL_PAGES, Buffer, Point, RankResources
from octant.store import StoredRun


def mismatches_of(run: StoredRun, point: Point) -> tuple[str, ...]:
    """Return the differences of a measurement from its request."""
    planned = run.plans.get(point.launch)
    placed = mismatches(planned.places, point, planned.launch.request.shape.ranks) if planned and planned.places else ()
    asked = planned.launch.request.mpi if planned else {}
    page_notes = (point.notes[SMALL_PAGES],) if SMALL_PAGES in point.notes else ()
    nodes = node_mismatches(point)
    return (*page_mismatches(point), *nodes, *placed, *page_notes, *setting_mismatches(run, asked, point))


def all_mismatches(run: StoredRun) -> list[str]:
    """Return the differences of all measurements of a run from their requests, each once."""
    return sorted({text for point in run.points for text in mismatches_of(run, point)})


_HUGE_SHARE = 0.9  # of the resident bytes; the ends of a buffer may be on small pages
_STRAY_SHARE = 0.05  # of the pages that were examined


def mismatches(places: Sequence[RankPlacement], point: Point, ranks: int) -> tuple[str, ...]:
    """Return the differences between planned and actual ranks, threads, hardware threads and memory.

    Args:
        places: placement of the ranks of one node; the n-th rank of every host has the n-th.
        ranks: planned number on all hosts.
    """
    found = []
    if point.ranks != ranks:
        found.append(
            f"{ranks} ranks requested, MPI_COMM_WORLD has {point.ranks}: launcher and MPI library do not match; "
            "use the launcher of this library"
        )
    local: Counter[str] = Counter()
    for rank, given in enumerate(point.given):
        number = local[given.host]
        local[given.host] += 1
        if number >= len(places):
            found.append(f"{given.host} has more ranks than the plan ({len(places)}): rank {rank} has no entry")
            continue
        differences = _rank_of_program if is_program(point.workload) else _rank
        found += [f"rank {rank}: {text}" for text in differences(places[number], given)]
    return tuple(found)


def setting_mismatches(run: StoredRun, asked: Mapping[str, str], point: Point) -> tuple[str, ...]:
    """Return the settings of the MPI library that did not take effect, according to the probe or the library itself.

    Args:
        asked: requested variables of the launch.
    """
    read = point.process.settings
    found = [setting.caveat for setting in run.settings if setting.caveat]
    for name, value in asked.items():
        if name in read and not agrees(value, read[name]):
            found.append(f"{name}={value} requested, the library reports {read[name][-1] if read[name] else 'nothing'}")
    return tuple(found)


def page_mismatches(point: Point) -> tuple[str, ...]:
    """Return the differences between the requested page size (knob `pages`) and that of the buffers."""
    asked = point.knobs.get("pages", "default")
    if asked in ("default", "try-thp") or is_program(point.workload):
        return ()
    found = []
    for rank, given in enumerate(point.given):
        if any(not buffer.page_bytes and buffer.resident_bytes for buffer in given.buffers):
            found.append(f"rank {rank}: pages={asked} requested; the pages could not be checked, since that needs root")
            continue
        wrong = [buffer for buffer in given.buffers if not _on(asked, buffer)]
        if wrong:
            share = 100 * min(wrong, key=lambda b: abs(b.huge_share - 0.5)).huge_share
            found.append(f"rank {rank}: pages={asked} requested, {share:.0f} % of a buffer is on huge pages")
    return tuple(found)


def node_mismatches(point: Point) -> tuple[str, ...]:
    """Return the differences between the requested NUMA nodes (knob `memory`) and those of the buffers."""
    policy, _, nodes = point.knobs.get("memory", "default").partition(":")
    if policy != "bind" or is_program(point.workload):
        return ()
    try:
        bound = parse_cpus(nodes.replace("+", ","), or_none=True)
    except ValueError:  # kernels reject such a list
        return ()
    found = []
    for rank, given in enumerate(point.given):
        pages = sum((Counter(buffer.pages_on_node) for buffer in given.buffers), Counter[str]())
        away = pages.total() - sum(pages[str(node)] for node in bound)
        if away > _STRAY_SHARE * pages.total():
            share = 100 * away / pages.total()
            found.append(
                f"rank {rank}: memory=bind:{nodes} requested, {share:.0f} % of the memory is on other NUMA nodes"
            )
    return tuple(found)


def _on(asked: str, buffer: Buffer) -> bool:
    if not buffer.resident_bytes:
        return True
    return buffer.huge_share <= 1 - _HUGE_SHARE if asked == "base" else buffer.huge_share >= _HUGE_SHARE


def _rank_of_program(place: RankPlacement, given: RankResources) -> list[str]:
    """Return the threads of a user's program that may run outside the placement of their rank."""
    asked = frozenset().union(*place.threads)
    outside = [mask for mask in given.thread_masks if not asked.issuperset(mask)]
    found = [f"CPUs {numbers_text(asked)} requested, a thread may run on {numbers_text(mask)}" for mask in outside[:1]]
    return found + _memory_differences(place, given)


def _rank(place: RankPlacement, given: RankResources) -> list[str]:
    found = []
    if len(given.thread_masks) != len(place.threads):
        found.append(f"{len(place.threads)} threads requested, it has {len(given.thread_masks)}")
    for thread, (asked, mask) in enumerate(zip(place.threads, given.thread_masks, strict=False)):
        name = f"thread {thread}: " if len(place.threads) > 1 else ""
        if asked != frozenset(mask):
            found.append(f"{name}CPUs {numbers_text(asked)} requested, bound to {numbers_text(mask)}")
        elif thread < len(given.cpus) and given.cpus[thread] not in asked:
            found.append(f"{name}CPUs {numbers_text(asked)} requested, ran on {given.cpus[thread]}")
    return found + _memory_differences(place, given)


def _memory_differences(place: RankPlacement, given: RankResources) -> list[str]:
    found = []
    pages: Counter[int] = Counter()
    for buffer in given.buffers:
        pages.update({int(node): count for node, count in buffer.pages_on_node.items()})
    away = pages.total() - sum(pages[node] for node in place.memory)
    if place.memory and away > _STRAY_SHARE * pages.total():
        others = numbers_text(tuple(node for node in pages if node not in place.memory))
        share = 100 * away / pages.total()
        found.append(f"memory on NUMA nodes {numbers_text(place.memory)} requested, {share:.0f} % is on {others}")
    return found
