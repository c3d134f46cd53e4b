"""Topologies in network files: one class per generator."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from msgspec import Meta

from octant import _network
from octant.failure import Exit, Refusal
from octant.network.graph import Graph
from octant.network.shape import MAX_NODES, Count, Rows, Sides, TopologyShape, require_size
from octant.units import counted


class TwoLevelDirect(TopologyShape, tag="two-level-direct", frozen=True, kw_only=True):
    """Octants in drawers in supernodes, fully connected at both levels (IBM Power 775).

    `links_per_host` D links connect a host octant with each other supernode. The host octant for supernode j is octant
    j mod 8 of every drawer (`hosts = "drawer"`) or octant j mod 32 of the supernode (`hosts = "supernode"`). With
    `assignment = "block"`, supernodes are assigned in blocks.
    """

    supernodes: Count
    drawers: Annotated[int, Meta(ge=1, le=64)] = 4
    octants: Annotated[int, Meta(ge=2, le=64)] = 8
    links_per_host: Annotated[int, Meta(ge=1, le=64)] = 2
    hosts: Literal["drawer", "supernode"] = "drawer"
    assignment: Literal["modulo", "block"] = "modulo"
    d_ports: Annotated[int, Meta(ge=1, le=256)] = 16
    holes: Annotated[
        tuple[Annotated[int, Meta(ge=0, lt=64 * 64)], ...], Meta(max_length=64 * 64)
    ] = ()  # octants of every supernode that are not compute nodes
    job_supernodes: Count | None = None  # traffic stays within the first so many

    def __post_init__(self) -> None:
        require_size(self)
        size = self.drawers * self.octants
        for hole in self.holes:
            if hole >= size:
                raise ValueError(f"hole {hole} is not an octant of a supernode; use 0 to {size - 1}")
        if len(set(self.holes)) >= size:
            raise ValueError("a supernode has no compute octant; use fewer holes")
        if self.job_supernodes is not None and self.job_supernodes > self.supernodes:
            raise ValueError(
                f"a job on {self.job_supernodes} supernodes exceeds the machine ({self.supernodes}); reduce the job"
            )

    size_word: ClassVar[str] = "supernodes"

    def nodes_per_part(self) -> int:
        """Return the octants per supernode, including idle ones."""
        return self.drawers * self.octants

    def size(self) -> int:
        """Return the number of supernodes."""
        return self.job_supernodes or self.supernodes

    def link_classes(self) -> tuple[str, ...]:
        """Return L-local, L-remote, D."""
        return ("L-local", "L-remote", "D")

    def nodes(self) -> int:
        """Return the number of octants."""
        return self.supernodes * self.drawers * self.octants

    def switches(self) -> int:
        """Return 0: octants contain their switches."""
        return 0

    def fabric_links(self) -> int:
        """Return the number of L links within supernodes and D links between them."""
        hosts = self.drawers if self.hosts == "drawer" else 1
        d_links = self.supernodes * (self.supernodes - 1) * hosts * self.links_per_host
        return self.nodes() * (self.drawers * self.octants - 1) + d_links

    def notes(self) -> tuple[str, ...]:
        """Return a remark about octants without D links, if blocks of supernodes are incomplete."""
        among = self.octants if self.hosts == "drawer" else self.octants * self.drawers
        block = math.ceil(self.supernodes / among)
        idle = among - math.ceil(self.supernodes / block)
        if self.assignment == "modulo" or block == 1 or not idle:
            return ()
        return (f"blocks of {block} supernodes leave {idle} of {among} octants of a {self.hosts} without D links",)

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Return the compute octants in the supernodes of the job."""
        size = self.drawers * self.octants
        members = np.setdiff1d(np.arange(size), self.holes)
        first = np.arange(self.job_supernodes or self.supernodes) * size
        return (first[:, None] + members).reshape(-1).astype(np.int32)

    def at_size(self, supernodes: int) -> Self:
        """Return the machine with this number of supernodes, with fewer cables if there are too few D ports."""
        among = {"drawer": self.octants, "supernode": self.octants * self.drawers}
        for hosts, gang in ((self.hosts, self.links_per_host), ("drawer", 1), ("supernode", 2), ("supernode", 1)):
            if math.ceil(supernodes / among[hosts]) * gang <= self.d_ports:
                change = {"supernodes": supernodes, "hosts": hosts, "links_per_host": gang, "job_supernodes": None}
                return self.changed(**change)
        most = among["supernode"] * self.d_ports
        raise Refusal(
            f"cannot connect {supernodes} supernodes (the D ports suffice for {most}); use at most {most}",
            Exit.WRONG_WORD,
        )

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """Build the engine's topology."""
        return _network.two_level(
            self.supernodes, self.drawers, self.octants, self.links_per_host, self.hosts == "drawer",
            self.assignment == "block", self.d_ports, list(self.holes), rows, to_itself,
        )  # fmt: skip


class Torus(TopologyShape, tag="torus", frozen=True, kw_only=True):
    """Torus or mesh per dimension (`wraps`); the first dimension varies fastest in node numbers."""

    sizes: Sides
    wraps: Annotated[tuple[bool, ...], Meta(max_length=_network.MOST_DIMENSIONS)] | bool = True

    def __post_init__(self) -> None:
        require_size(self)
        if not isinstance(self.wraps, bool) and len(self.wraps) != len(self.sizes):
            raise ValueError(
                f"{len(self.wraps)} 'wraps' for {len(self.sizes)} dimensions; give one per dimension, or one for all"
            )

    def link_classes(self) -> tuple[str, ...]:
        """Return the only class."""
        return ("link",)

    def nodes(self) -> int:
        """Return the product of the sizes."""
        return math.prod(self.sizes)

    def switches(self) -> int:
        """Return 0: nodes contain their switches."""
        return 0

    def fabric_links(self) -> int:
        """Return two links per node and dimension; those at the borders of a mesh are unused."""
        return 2 * self.nodes() * len(self.sizes)

    def wrapped(self) -> tuple[bool, ...]:
        """Return one value per dimension."""
        return (self.wraps,) * len(self.sizes) if isinstance(self.wraps, bool) else self.wraps

    def at_size(self, nodes: int) -> Self:
        """Return the torus with nearly equal sides, the longest first: 512 = 8 × 8 × 8, 1024 = 16 × 8 × 8."""
        if nodes == self.nodes():
            return self
        left, sides = nodes, []
        for remaining in range(len(self.sizes), 0, -1):
            side = next(d for d in range(max(1, math.ceil(left ** (1 / remaining) - 1e-9)), left + 1) if left % d == 0)
            sides.append(side)
            left //= side
        return self.changed(sizes=tuple(sides))

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """Build the engine's topology."""
        return _network.torus(list(self.sizes), list(self.wrapped()), rows, to_itself)


class FatTree(TopologyShape, tag="fat-tree", frozen=True, kw_only=True):
    """Fat tree in each plane; `down` and `up` are the children and parents of a switch, leaf level first."""

    planes: Annotated[int, Meta(ge=1, le=64)] = 1
    down: Sides
    up: Annotated[tuple[Count, ...], Meta(max_length=_network.MOST_DIMENSIONS - 1)] = ()
    job_nodes: Count | None = None

    def __post_init__(self) -> None:
        if len(self.up) != len(self.down) - 1:
            raise ValueError(
                f"{len(self.up)} values of 'up' for {len(self.down)} levels; give one per level except the top level"
            )
        require_size(self)
        if self.job_nodes is not None and self.job_nodes > self.nodes():
            raise ValueError(f"a job on {self.job_nodes} nodes exceeds the machine ({self.nodes()}); enlarge 'down'")

    size_word: ClassVar[str] = "nodes"

    def size(self) -> int:
        """Return the number of nodes."""
        return self.job_nodes or self.nodes()

    def link_classes(self) -> tuple[str, ...]:
        """Return the classes between node and leaf switch, and between switches."""
        return ("port", "trunk")

    def nodes(self) -> int:
        """Return the product of the children."""
        return math.prod(self.down)

    def _switches_of_levels(self) -> list[int]:
        """Return the numbers of switches of one plane, leaf level first: one for each subtree and column."""
        return [math.prod(self.down[level + 1 :]) * math.prod(self.up[:level]) for level in range(len(self.down))]

    def switches(self) -> int:
        """Return the switches of all levels and planes."""
        return self.planes * sum(self._switches_of_levels())

    def fabric_links(self) -> int:
        """Return the links of the nodes and between levels, in all planes."""
        trunks = sum(count * up for count, up in zip(self._switches_of_levels(), self.up, strict=False))
        return 2 * self.planes * (self.nodes() + trunks)

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Return the nodes of the job."""
        return np.arange(self.job_nodes or self.nodes(), dtype=np.int32)

    def at_size(self, nodes: int) -> Self:
        """Return the tree with a job on the first `nodes` nodes; the top switches get more children if needed."""
        below = math.prod(self.down[:-1])
        down = (*self.down[:-1], max(self.down[-1], math.ceil(nodes / below)))
        return self.changed(down=down, job_nodes=nodes)

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """Build the engine's topology."""
        return _network.fat_tree(self.planes, list(self.down), list(self.up), rows, to_itself)


class Dragonfly(TopologyShape, tag="dragonfly", frozen=True, kw_only=True):
    """Routers that are fully connected in groups, and groups that are fully connected by global links.

    Port j of the global links of a group leads to the group j + 1 positions on, cyclically (the relative, or palmtree,
    arrangement). Ports of the last, incomplete cycle lead to the nearest groups on both sides, and to the opposite one.
    Links are distributed evenly over the routers of a group.
    """

    groups: Annotated[int, Meta(ge=2, le=MAX_NODES)]
    routers: Count
    nodes_per_router: Count
    global_links: Count

    def __post_init__(self) -> None:
        require_size(self)
        if self.routers * self.global_links < self.groups - 1:
            have = self.routers * self.global_links
            raise ValueError(
                f"{have} global links per group cannot reach {self.groups - 1} other groups; add global links"
            )

    size_word: ClassVar[str] = "groups"

    def nodes_per_part(self) -> int:
        """Return the nodes per group."""
        return self.routers * self.nodes_per_router

    def size(self) -> int:
        """Return the number of groups."""
        return self.groups

    def link_classes(self) -> tuple[str, ...]:
        """Return the classes within a group, and between groups."""
        return ("group", "global")

    def nodes(self) -> int:
        """Return the number of nodes."""
        return self.groups * self.routers * self.nodes_per_router

    def switches(self) -> int:
        """Return the number of routers."""
        return self.groups * self.routers

    def _shared_out(self) -> tuple[int, int, int]:
        """Return links per pair of groups, number of pairs of a group with one more link, and unused ports."""
        gang, left = divmod(self.routers * self.global_links, self.groups - 1)
        unused = left % 2 * (self.groups % 2)  # a cable has two ends, and all groups are equal
        return gang, left - unused, unused

    def fabric_links(self) -> int:
        """Return the links within groups and the global links."""
        gang, extra, _ = self._shared_out()
        return self.switches() * (self.routers - 1) + self.groups * (gang * (self.groups - 1) + extra)

    def notes(self) -> tuple[str, ...]:
        """Return remarks about pairs of groups with different numbers of links, and about unused ports."""
        gang, extra, unused = self._shared_out()
        found = []
        if extra:
            fewer = self.groups - 1 - extra
            found.append(
                f"each group has {counted(gang + 1, 'global link')} to each of {counted(extra, 'group')} and {gang} to "
                f"each of the {fewer} others, because {self.routers * self.global_links} ports are not a multiple of "
                f"{self.groups - 1}"
            )
        if unused:
            found.append("one global port of every group is unused")
        return tuple(found)

    def at_size(self, groups: int) -> Self:
        """Return the network with another number of equal groups."""
        return self.changed(groups=groups)

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """Build the engine's topology."""
        return _network.dragonfly(self.groups, self.routers, self.nodes_per_router, self.global_links, rows, to_itself)


class HyperX(TopologyShape, tag="hyperx", frozen=True, kw_only=True):
    """Routers in a lattice that are fully connected along every dimension."""

    sizes: Sides
    nodes_per_router: Count

    def __post_init__(self) -> None:
        require_size(self)

    size_word: ClassVar[str] = "side"

    def size(self) -> int:
        """Return the length of the first side."""
        return self.sizes[0]

    def link_classes(self) -> tuple[str, ...]:
        """Return the only class."""
        return ("link",)

    def nodes(self) -> int:
        """Return the number of nodes."""
        return math.prod(self.sizes) * self.nodes_per_router

    def switches(self) -> int:
        """Return the number of routers."""
        return math.prod(self.sizes)

    def fabric_links(self) -> int:
        """Return the links of every router to each other router along every dimension."""
        return self.switches() * sum(size - 1 for size in self.sizes)

    def at_size(self, side: int) -> Self:
        """Return the lattice with this size in every dimension."""
        if side == self.size():
            return self
        return self.changed(sizes=(side,) * len(self.sizes))

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """Build the engine's topology."""
        return _network.hyperx(list(self.sizes), self.nodes_per_router, rows, to_itself)


KINDS: dict[str, type[TopologyShape]] = {
    "two-level-direct": TwoLevelDirect,
    "torus": Torus,
    "fat-tree": FatTree,
    "dragonfly": Dragonfly,
    "hyperx": HyperX,
    "graph": Graph,
}
"""The topologies by their name in network files."""
Topology = TwoLevelDirect | Torus | FatTree | Dragonfly | HyperX | Graph
