"""Topologies as files describe them: one class per generator, with what it takes to build it at another size."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from msgspec import Meta

from octant import _network
from octant.failure import Exit, Refusal
from octant.network.graph import Graph
from octant.network.shape import MOST_NODES, Count, Rows, Sides, TopologyShape, require_size
from octant.units import counted


class TwoLevelDirect(TopologyShape, tag="two-level-direct", frozen=True, kw_only=True):
    """Octants in drawers in supernodes, every pair joined at both levels (IBM Power 775).

    `links_per_host` D links join a host octant to each other supernode; supernode j hangs on octant j mod 8 of every
    drawer (`hosts = "drawer"`) or on octant j mod 32 of the supernode (`hosts = "supernode"`); `assignment = "block"`
    deals them in blocks instead.
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
                raise ValueError(f"hole {hole} is no octant of a supernode (0 … {size - 1})")
        if len(set(self.holes)) >= size:
            raise ValueError("no octant is left to compute; name fewer holes")
        if self.job_supernodes is not None and self.job_supernodes > self.supernodes:
            raise ValueError(f"a job on {self.job_supernodes} supernodes does not fit {self.supernodes}")

    size_word: ClassVar[str] = "supernodes"

    def nodes_per_part(self) -> int:
        """Octants of a supernode, idle ones included."""
        return self.drawers * self.octants

    def size(self) -> int:
        """Supernodes."""
        return self.job_supernodes or self.supernodes

    def link_classes(self) -> tuple[str, ...]:
        """L-local, L-remote, D."""
        return ("L-local", "L-remote", "D")

    def nodes(self) -> int:
        """All octants."""
        return self.supernodes * self.drawers * self.octants

    def switches(self) -> int:
        """None: octants are their own."""
        return 0

    def fabric_links(self) -> int:
        """L links within supernodes, D links between them."""
        hosts = self.drawers if self.hosts == "drawer" else 1
        d_links = self.supernodes * (self.supernodes - 1) * hosts * self.links_per_host
        return self.nodes() * (self.drawers * self.octants - 1) + d_links

    def notes(self) -> tuple[str, ...]:
        """Octants that could hold D links and hold none, where blocks of supernodes do not come out even."""
        among = self.octants if self.hosts == "drawer" else self.octants * self.drawers
        block = math.ceil(self.supernodes / among)
        idle = among - math.ceil(self.supernodes / block)
        if self.assignment == "modulo" or block == 1 or not idle:
            return ()
        return (f"blocks of {block} supernodes leave {idle} of {among} octants of a {self.hosts} without D links",)

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Compute octants of the job's supernodes."""
        size = self.drawers * self.octants
        members = np.setdiff1d(np.arange(size), self.holes)
        first = np.arange(self.job_supernodes or self.supernodes) * size
        return (first[:, None] + members).reshape(-1).astype(np.int32)

    def at_size(self, supernodes: int) -> Self:
        """The same machine with that many supernodes; cabling is thinned only where the D ports do not suffice."""
        among = {"drawer": self.octants, "supernode": self.octants * self.drawers}
        for hosts, gang in ((self.hosts, self.links_per_host), ("drawer", 1), ("supernode", 2), ("supernode", 1)):
            if math.ceil(supernodes / among[hosts]) * gang <= self.d_ports:
                change = {"supernodes": supernodes, "hosts": hosts, "links_per_host": gang, "job_supernodes": None}
                return self.changed(**change)
        most = among["supernode"] * self.d_ports
        raise Refusal(
            f"cannot cable {supernodes} supernodes (the D ports reach {most}); try at most {most}", Exit.WRONG_WORD
        )

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.two_level(
            self.supernodes, self.drawers, self.octants, self.links_per_host, self.hosts == "drawer",
            self.assignment == "block", self.d_ports, list(self.holes), rows, to_itself,
        )  # fmt: skip


class Torus(TopologyShape, tag="torus", frozen=True, kw_only=True):
    """Torus or mesh, chosen per dimension (`wraps`); node numbers run through the first dimension fastest."""

    sizes: Sides
    wraps: Annotated[tuple[bool, ...], Meta(max_length=_network.MOST_DIMENSIONS)] | bool = True

    def __post_init__(self) -> None:
        require_size(self)
        if not isinstance(self.wraps, bool) and len(self.wraps) != len(self.sizes):
            raise ValueError(
                f"{len(self.wraps)} wraps do not fit {len(self.sizes)} dimensions; give one each, or one for all"
            )

    def link_classes(self) -> tuple[str, ...]:
        """One class."""
        return ("link",)

    def nodes(self) -> int:
        """Product of the sizes."""
        return math.prod(self.sizes)

    def switches(self) -> int:
        """None: nodes are their own."""
        return 0

    def fabric_links(self) -> int:
        """Two per node and dimension; where a mesh ends they lead nowhere."""
        return 2 * self.nodes() * len(self.sizes)

    def wrapped(self) -> tuple[bool, ...]:
        """One answer per dimension."""
        return (self.wraps,) * len(self.sizes) if isinstance(self.wraps, bool) else self.wraps

    def at_size(self, nodes: int) -> Self:
        """The same dimensions with about equal sides, the longest first: 512 = 8 × 8 × 8, 1024 = 16 × 8 × 8."""
        if nodes == self.nodes():
            return self
        left, sides = nodes, []
        for remaining in range(len(self.sizes), 0, -1):
            side = next(d for d in range(max(1, math.ceil(left ** (1 / remaining) - 1e-9)), left + 1) if left % d == 0)
            sides.append(side)
            left //= side
        return self.changed(sizes=tuple(sides))

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.torus(list(self.sizes), list(self.wrapped()), rows, to_itself)


class FatTree(TopologyShape, tag="fat-tree", frozen=True, kw_only=True):
    """Fat tree, once per plane: `down` and `up` are children and parents of a switch, leaf level first."""

    planes: Annotated[int, Meta(ge=1, le=64)] = 1
    down: Sides
    up: Annotated[tuple[Count, ...], Meta(max_length=_network.MOST_DIMENSIONS - 1)] = ()
    job_nodes: Count | None = None

    def __post_init__(self) -> None:
        if len(self.up) != len(self.down) - 1:
            raise ValueError(
                f"{len(self.up)} numbers of parents do not fit {len(self.down)} levels; give one per level but the top"
            )
        require_size(self)
        if self.job_nodes is not None and self.job_nodes > self.nodes():
            raise ValueError(f"a job on {self.job_nodes} nodes does not fit {self.nodes()}; enlarge 'down'")

    size_word: ClassVar[str] = "nodes"

    def size(self) -> int:
        """Nodes."""
        return self.job_nodes or self.nodes()

    def link_classes(self) -> tuple[str, ...]:
        """Between node and leaf, and between switches."""
        return ("port", "trunk")

    def nodes(self) -> int:
        """Product of the children."""
        return math.prod(self.down)

    def _switches_of_levels(self) -> list[int]:
        """Of one plane, leaf level first: one for each subtree and column."""
        return [math.prod(self.down[level + 1 :]) * math.prod(self.up[:level]) for level in range(len(self.down))]

    def switches(self) -> int:
        """Of all levels and planes."""
        return self.planes * sum(self._switches_of_levels())

    def fabric_links(self) -> int:
        """Ports of the nodes and trunks between levels, in every plane."""
        trunks = sum(count * up for count, up in zip(self._switches_of_levels(), self.up, strict=False))
        return 2 * self.planes * (self.nodes() + trunks)

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """The job's nodes."""
        return np.arange(self.job_nodes or self.nodes(), dtype=np.int32)

    def at_size(self, nodes: int) -> Self:
        """A job on the first `nodes` nodes; the top switches get more children where they must."""
        below = math.prod(self.down[:-1])
        down = (*self.down[:-1], max(self.down[-1], math.ceil(nodes / below)))
        return self.changed(down=down, job_nodes=nodes)

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.fat_tree(self.planes, list(self.down), list(self.up), rows, to_itself)


class Dragonfly(TopologyShape, tag="dragonfly", frozen=True, kw_only=True):
    """Routers fully connected in groups, groups fully connected by global links.

    Port j of a group's global links leads j + 1 groups on, and again from the first with the ports that are left (the
    relative, or palmtree, arrangement); ports of the last, incomplete round lead to the nearest groups on both sides,
    and to the opposite one. Links lie evenly over the routers of a group.
    """

    groups: Annotated[int, Meta(ge=2, le=MOST_NODES)]
    routers: Count
    nodes_per_router: Count
    global_links: Count

    def __post_init__(self) -> None:
        require_size(self)
        if self.routers * self.global_links < self.groups - 1:
            have = self.routers * self.global_links
            raise ValueError(
                f"a group has {have} global links and {self.groups - 1} peers: the network is disconnected; add links"
            )

    size_word: ClassVar[str] = "groups"

    def nodes_per_part(self) -> int:
        """Nodes of a group."""
        return self.routers * self.nodes_per_router

    def size(self) -> int:
        """Groups."""
        return self.groups

    def link_classes(self) -> tuple[str, ...]:
        """Within a group, and between groups."""
        return ("group", "global")

    def nodes(self) -> int:
        """All nodes."""
        return self.groups * self.routers * self.nodes_per_router

    def switches(self) -> int:
        """All routers."""
        return self.groups * self.routers

    def _shared_out(self) -> tuple[int, int, int]:
        """Global links of a group to every other group, other groups to which there is one more, and ports left."""
        gang, left = divmod(self.routers * self.global_links, self.groups - 1)
        unused = left % 2 * (self.groups % 2)  # a cable needs two ends, and all groups look alike
        return gang, left - unused, unused

    def fabric_links(self) -> int:
        """Links within groups, and global ones."""
        gang, extra, _ = self._shared_out()
        return self.switches() * (self.routers - 1) + self.groups * (gang * (self.groups - 1) + extra)

    def notes(self) -> tuple[str, ...]:
        """Pairs of groups with different numbers of links, and ports without a cable."""
        gang, extra, unused = self._shared_out()
        found = []
        if extra:
            fewer = self.groups - 1 - extra
            found.append(
                f"a group has {counted(gang + 1, 'global link')} to each of {counted(extra, 'group')} and {gang} to "
                f"each of {fewer} others: {self.routers * self.global_links} ports do not divide by {self.groups - 1}"
            )
        if unused:
            found.append("one global port of every group stays unused")
        return tuple(found)

    def at_size(self, groups: int) -> Self:
        """The same groups, another number of them."""
        return self.changed(groups=groups)

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.dragonfly(self.groups, self.routers, self.nodes_per_router, self.global_links, rows, to_itself)


class HyperX(TopologyShape, tag="hyperx", frozen=True, kw_only=True):
    """Routers on a lattice, fully connected along every dimension."""

    sizes: Sides
    nodes_per_router: Count

    def __post_init__(self) -> None:
        require_size(self)

    size_word: ClassVar[str] = "side"

    def size(self) -> int:
        """Side."""
        return self.sizes[0]

    def link_classes(self) -> tuple[str, ...]:
        """One class."""
        return ("link",)

    def nodes(self) -> int:
        """All nodes."""
        return math.prod(self.sizes) * self.nodes_per_router

    def switches(self) -> int:
        """All routers."""
        return math.prod(self.sizes)

    def fabric_links(self) -> int:
        """Of every router, one to each other along every dimension."""
        return self.switches() * sum(size - 1 for size in self.sizes)

    def at_size(self, side: int) -> Self:
        """The same number of dimensions, each of that size."""
        if side == self.size():
            return self
        return self.changed(sizes=(side,) * len(self.sizes))

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.hyperx(list(self.sizes), self.nodes_per_router, rows, to_itself)


KINDS: dict[str, type[TopologyShape]] = {
    "two-level-direct": TwoLevelDirect,
    "torus": Torus,
    "fat-tree": FatTree,
    "dragonfly": Dragonfly,
    "hyperx": HyperX,
    "graph": Graph,
}
"""The shapes by the word that a file names them with."""
Topology = TwoLevelDirect | Torus | FatTree | Dragonfly | HyperX | Graph
