"""Groups of hardware threads by the time of a cache-line transfer, compared with the reported topology."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from octant.machine import CpuSet, Topology
from octant.placement import numbers_text

if TYPE_CHECKING:
    from octant.analysis.figures import Figure

Pair: TypeAlias = tuple[int, int]
Partition: TypeAlias = tuple[CpuSet, ...]
"""Groups of hardware threads, ordered by the lowest of each."""

GAP = 1.4
"""Ratio of the nearest pair between two groups to the longest step within them, above which groups are separate."""
UNITS = {"core": "cores", "l2": "L2 caches", "l3": "L3 caches", "numa": "NUMA nodes", "package": "packages"}
_SHOWN = ("core", "l3")
"""Units with a shared cache, whose threads should be nearer to each other than to others."""


@dataclass(frozen=True)
class PairClusters:
    """Groups that the times of pairs show."""

    groups: Partition
    within: float  # the longest step that joins a group, in the unit of the values
    between: float  # the shortest between two groups


@dataclass(frozen=True)
class Clusters:
    """Detected groups, the smallest first, and reported groups."""

    found: tuple[PairClusters, ...]
    reported: Mapping[str, Partition]  # by unit, of the threads that were measured
    number: int  # of hardware threads
    pairs: int  # that were measured

    @property
    def complete(self) -> bool:
        """Whether every pair was measured."""
        return self.pairs == self.number * (self.number - 1) // 2

    @property
    def unreported(self) -> tuple[PairClusters, ...]:
        """The detected groups that are no reported unit."""
        return tuple(one for one in self.found if one.groups not in self.reported.values())

    @property
    def undetected(self) -> tuple[str, ...]:
        """Reported units with a shared cache whose threads are no nearer to each other than to others."""
        seen = [one.groups for one in self.found]
        return tuple(unit for unit in _SHOWN if unit in self.reported and self.reported[unit] not in seen)

    def names(self, groups: Partition) -> str:
        """Return the reported units of these groups: `cores`, `L3 caches and packages`; empty: none."""
        return " and ".join(UNITS[unit] for unit, reported in self.reported.items() if reported == groups)


def values_of_pairs(figure: Figure) -> dict[Pair, float]:
    """Return the value of each pair of hardware threads, the median over launches."""
    by_pair: dict[Pair, list[float]] = {}
    for launch in figure.counted:
        for pair, value in launch.by_pair.items():
            by_pair.setdefault(pair, []).append(value)
    return {pair: float(np.median(values)) for pair, values in sorted(by_pair.items())}


def clusters(values: Mapping[Pair, float], topology: Topology) -> Clusters:
    """Return the groups among the hardware threads of these pairs."""
    cpus = sorted({cpu for pair in values for cpu in pair})
    return Clusters(_found(values, cpus), reported_groups(topology, cpus), len(cpus), len(values))


def reported_groups(topology: Topology, cpus: Collection[int]) -> dict[str, Partition]:
    """Return by unit how the system groups these hardware threads, without units that form one group or none."""
    wanted = frozenset(cpus)
    levels = {f"l{cache.level}" for cache in topology.caches or ()}
    found = {}
    for unit in (unit for unit in UNITS if unit[0] != "l" or unit in levels):
        groups = _ordered([group & wanted for group in topology.groups(unit) if group & wanted])
        if 1 < len(groups) < len(wanted):
            found[unit] = groups
    return found


def in_order(topology: Topology, cpus: Collection[int]) -> list[int]:
    """Return these hardware threads ordered so that those that share most are neighbours; unknown ones last."""
    last = 1 << 20
    units = ("core",) if topology.caches is None else ("l3", "l2", "core")
    places = {
        cpu.os: (
            cpu.package,
            last if cpu.numa is None else cpu.numa,
            *(_lowest(topology, unit, cpu.os) for unit in units),
            cpu.os,
        )
        for cpu in topology.cpus
    }
    return sorted(cpus, key=lambda cpu: places.get(cpu, (last, cpu)))


def groups_text(groups: Partition, most: int = 4) -> str:
    """Return the groups as text: `0,4; 1,5; 2,6 and 13 more`."""
    more = f" and {len(groups) - most} more" if len(groups) > most else ""
    return "; ".join(numbers_text(group) for group in groups[:most]) + more


def _lowest(topology: Topology, unit: str, cpu: int) -> int:
    return next((min(group) for group in topology.groups(unit) if cpu in group), cpu)


def _found(values: Mapping[Pair, float], cpus: Collection[int]) -> tuple[PairClusters, ...]:
    """Return cuts where the next step of single-linkage clustering takes `GAP` times as long as the previous one.

    A single disturbed pair neither joins separate groups nor separates near threads, which have other pairs.
    """
    home = {cpu: cpu for cpu in cpus}
    members = {cpu: {cpu} for cpu in cpus}
    found: list[PairClusters] = []
    last = 0.0
    for (a, b), value in sorted(values.items(), key=lambda item: item[1]):
        one, other = home[a], home[b]
        if one == other:
            continue
        if last and value >= GAP * last:
            found.append(PairClusters(_ordered(map(frozenset, members.values())), last, value))
        last = value
        members[one] |= members.pop(other)
        for cpu in members[one]:
            home[cpu] = one
    return tuple(found)


def _ordered(groups: Iterable[CpuSet]) -> Partition:
    return tuple(sorted(groups, key=min))
