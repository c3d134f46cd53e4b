"""Resources of a user's program: usable hardware threads, busy threads, memory by node and page size.

The guards of its ranks read these facts back. They exclude threads that used less than a twentieth of the CPU time of
the busiest one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from octant.placement import numbers_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.record import Point, RankResources


@dataclass(frozen=True)
class RankOccupancy:
    """Resources that one rank occupied."""

    host: str
    cpus: frozenset[int]  # hardware threads that it may use
    threads: int  # busy threads; 0: it ended before it was examined
    masks: tuple[frozenset[int], ...]  # of these threads
    bytes_on_node: Mapping[str, int]  # maximum private memory by NUMA domain; empty: not known
    resident_bytes: int  # the same, all domains together
    huge_bytes: int  # part of it on huge pages


@dataclass(frozen=True)
class Occupancy:
    """Resources that one launch of a program occupied, all ranks together."""

    ranks: tuple[RankOccupancy, ...]

    @cached_property
    def hardware_threads(self) -> frozenset[tuple[str, int]]:
        """(host, number) of all hardware threads that its ranks may use."""
        return frozenset((rank.host, cpu) for rank in self.ranks for cpu in rank.cpus)

    @property
    def threads(self) -> int:
        """The number of busy threads; 0 if no rank was examined."""
        return sum(rank.threads for rank in self.ranks)

    @property
    def resident_bytes(self) -> int:
        """Private memory of all ranks; 0: not known."""
        return sum(rank.resident_bytes for rank in self.ranks)

    @property
    def huge_share(self) -> float | None:
        """The share of the private memory on huge pages; `None` if it is not known."""
        resident = self.resident_bytes
        return sum(rank.huge_bytes for rank in self.ranks) / resident if resident else None

    @cached_property
    def by_host(self) -> Mapping[str, tuple[RankOccupancy, ...]]:
        """The ranks of each host."""
        found: dict[str, list[RankOccupancy]] = {}
        for rank in self.ranks:
            found.setdefault(rank.host, []).append(rank)
        return {host: tuple(ranks) for host, ranks in found.items()}

    @property
    def place_text(self) -> str:
        """Where the threads may run: `on 0-3`, `on 0 or 1` of several ranks, or `on 0-3 of 4 hosts`."""
        sets = [sorted({cpu for rank in ranks for cpu in rank.cpus}) for ranks in self.by_host.values()]
        texts = list(dict.fromkeys(numbers_text(cpus) for cpus in sets))
        hosts = f" of {len(sets)} hosts" if len(sets) > 1 else ""
        return f"on {' or '.join(texts)}{hosts}"

    @property
    def memory_text(self) -> str:
        """Where the private memory is: `memory on node 0`, or the share of each node; "": not known."""
        nodes = sum((Counter(rank.bytes_on_node) for rank in self.ranks), Counter[str]())
        held = [(node, count) for node, count in nodes.most_common() if count * 100 >= nodes.total()]
        if not held:
            return ""
        if len(held) == 1:
            return f"memory on node {held[0][0]}"
        return "memory on nodes " + ", ".join(f"{node} ({100 * count / nodes.total():.0f} %)" for node, count in held)


def occupancy(point: Point) -> Occupancy | None:
    """Return the resources that a launch of a program occupied; `None` if nothing was read back."""
    ranks = tuple(map(_of_rank, point.given))
    return Occupancy(ranks) if any(rank.cpus for rank in ranks) else None


def _of_rank(given: RankResources) -> RankOccupancy:
    masks = tuple(map(frozenset, given.thread_masks))
    pages: Counter[str] = Counter()
    for buffer in given.buffers:
        for node, count in buffer.pages_on_node.items():
            pages[node] += count * (buffer.page_bytes or 1)
    threads = len(given.cpus)
    return RankOccupancy(
        given.host,
        frozenset().union(*masks),
        threads,
        masks[:threads],
        pages,
        sum(buffer.resident_bytes for buffer in given.buffers),
        sum(buffer.huge_bytes for buffer in given.buffers),
    )


def most_occupied(points: Sequence[Point]) -> Occupancy | None:
    """Return the occupancy of the launch in which most threads were seen, then most memory."""
    found = [one for point in points if (one := occupancy(point))]
    return max(found, key=lambda one: (one.threads, one.resident_bytes), default=None)
