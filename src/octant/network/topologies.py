"""Topologies as files describe them: one class per generator, with what it takes to build it at another size."""

import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from octant import _network
from octant.failure import Exit, Refusal
from octant.network import ibnet

MOST_NODES = 2**20
Count = Annotated[int, Field(ge=1, le=MOST_NODES)]
Rows = list[tuple[str, float, float, int]]


class _Topology(BaseModel, ABC):
    model_config = ConfigDict(extra="forbid", frozen=True)

    size_word: ClassVar[str] = "nodes"  # what `at_size` counts

    def size(self) -> int:
        """Present size, in what `at_size` counts."""
        return self.nodes()

    def nodes_per_part(self) -> int:
        """Nodes of one supernode or group, in which jobs are counted; 1 where they are counted in nodes."""
        return 1

    @abstractmethod
    def link_classes(self) -> tuple[str, ...]:
        """Names of the fabric's link classes, in the engine's order."""

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Nodes that take part in traffic."""
        return np.arange(self.nodes(), dtype=np.int32)

    @abstractmethod
    def nodes(self) -> int:
        """Endpoints, idle ones included."""


def _sensible(shape: _Topology) -> None:
    if shape.nodes() > MOST_NODES:
        raise ValueError(f"{shape.nodes():,} nodes are too many (at most {MOST_NODES:,}); try smaller numbers")


class TwoLevelDirect(_Topology):
    """Octants in drawers in supernodes, every pair joined at both levels (IBM Power 775).

    `links_per_host` D links join a host octant to each other supernode; supernode j hangs on octant j mod 8 of every
    drawer (`hosts = "drawer"`) or on octant j mod 32 of the supernode (`hosts = "supernode"`); `assignment = "block"`
    deals them in blocks instead.
    """

    kind: Literal["two-level-direct"]
    supernodes: Count
    drawers: Annotated[int, Field(ge=1, le=64)] = 4
    octants: Annotated[int, Field(ge=2, le=64)] = 8
    links_per_host: Annotated[int, Field(ge=1, le=64)] = 2
    hosts: Literal["drawer", "supernode"] = "drawer"
    assignment: Literal["modulo", "block"] = "modulo"
    d_ports: Annotated[int, Field(ge=1, le=256)] = 16
    holes: tuple[int, ...] = ()  # octants of every supernode that are not compute nodes
    job_supernodes: int | None = Field(None, ge=1)  # traffic stays within the first so many

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _sensible(self)
        size = self.drawers * self.octants
        for hole in self.holes:
            if not 0 <= hole < size:
                raise ValueError(f"hole {hole} is no octant of a supernode (0 … {size - 1})")
        if len(set(self.holes)) >= size:
            raise ValueError("no octant is left to compute; name fewer holes")
        if self.job_supernodes is not None and self.job_supernodes > self.supernodes:
            raise ValueError(f"a job on {self.job_supernodes} supernodes does not fit {self.supernodes}")
        return self

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
                return type(self).model_validate({**self.model_dump(), **change})
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


class Torus(_Topology):
    """Torus or mesh, chosen per dimension (`wraps`); node numbers run through the first dimension fastest."""

    kind: Literal["torus"]
    sizes: tuple[Count, ...] = Field(min_length=1, max_length=8)
    wraps: tuple[bool, ...] | bool = True

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _sensible(self)
        if not isinstance(self.wraps, bool) and len(self.wraps) != len(self.sizes):
            raise ValueError(
                f"{len(self.wraps)} wraps do not fit {len(self.sizes)} dimensions; give one each, or one for all"
            )
        return self

    def link_classes(self) -> tuple[str, ...]:
        """One class."""
        return ("link",)

    def nodes(self) -> int:
        """Product of the sizes."""
        return math.prod(self.sizes)

    def wrapped(self) -> tuple[bool, ...]:
        """One answer per dimension."""
        return (self.wraps,) * len(self.sizes) if isinstance(self.wraps, bool) else self.wraps

    def at_size(self, nodes: int) -> Self:
        """The same dimensions with about equal sides: `nodes` must be such a product, e.g. 512 = 8 × 8 × 8."""
        left, sides = nodes, []
        for remaining in range(len(self.sizes), 0, -1):
            side = next(d for d in range(max(1, math.ceil(left ** (1 / remaining) - 1e-9)), left + 1) if left % d == 0)
            sides.append(side)
            left //= side
        return type(self).model_validate({**self.model_dump(), "sizes": tuple(sides)})

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.torus(list(self.sizes), list(self.wrapped()), rows, to_itself)


class FatTree(_Topology):
    """Fat tree, once per plane: `down` and `up` are children and parents of a switch, leaf level first."""

    kind: Literal["fat-tree"]
    planes: Annotated[int, Field(ge=1, le=64)] = 1
    down: tuple[Count, ...] = Field(min_length=1, max_length=6)
    up: tuple[Count, ...] = ()
    job_nodes: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _sensible(self)
        if len(self.up) != len(self.down) - 1:
            raise ValueError(
                f"{len(self.up)} numbers of parents do not fit {len(self.down)} levels; give one per level but the top"
            )
        if self.job_nodes is not None and self.job_nodes > self.nodes():
            raise ValueError(f"a job on {self.job_nodes} nodes does not fit {self.nodes()}; enlarge 'down'")
        return self

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

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """The job's nodes."""
        return np.arange(self.job_nodes or self.nodes(), dtype=np.int32)

    def at_size(self, nodes: int) -> Self:
        """A job on the first `nodes` nodes; the top switches get more children where they must."""
        below = math.prod(self.down[:-1])
        down = (*self.down[:-1], max(self.down[-1], math.ceil(nodes / below)))
        return type(self).model_validate({**self.model_dump(), "down": down, "job_nodes": nodes})

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.fat_tree(self.planes, list(self.down), list(self.up), rows, to_itself)


class Dragonfly(_Topology):
    """Routers fully connected in groups, groups fully connected by global links."""

    kind: Literal["dragonfly"]
    groups: int = Field(ge=2, le=MOST_NODES)
    routers: Count
    nodes_per_router: Count
    global_links: Count

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _sensible(self)
        if self.routers * self.global_links < self.groups - 1:
            have = self.routers * self.global_links
            raise ValueError(
                f"a group has {have} global links and {self.groups - 1} peers: the network is disconnected; add links"
            )
        return self

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

    def at_size(self, groups: int) -> Self:
        """The same groups, another number of them."""
        return type(self).model_validate({**self.model_dump(), "groups": groups})

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.dragonfly(self.groups, self.routers, self.nodes_per_router, self.global_links, rows, to_itself)


class HyperX(_Topology):
    """Routers on a lattice, fully connected along every dimension."""

    kind: Literal["hyperx"]
    sizes: tuple[Count, ...] = Field(min_length=1, max_length=8)
    nodes_per_router: Count

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _sensible(self)
        return self

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

    def at_size(self, side: int) -> Self:
        """The same number of dimensions, each of that size."""
        return type(self).model_validate({**self.model_dump(), "sizes": (side,) * len(self.sizes)})

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology."""
        return _network.hyperx(list(self.sizes), self.nodes_per_router, rows, to_itself)


class Graph(_Topology):
    """Any network: cables `a b [class]`, one per line, in `edges` (text, or a file's name beside the network file).

    Names are free words; `hosts` says how the names of nodes begin, all other vertices are switches.
    """

    kind: Literal["graph"]
    edges: str
    hosts: str = ""
    order: tuple[str, ...] = ()  # names of the nodes by number; those not named follow as the cables mention them
    classes: tuple[str, ...] = ("link",)
    folder: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        graph = self.read()
        _sensible(self)
        seen = {0}
        queue = [0]
        neighbours: dict[int, list[int]] = {}
        for a, b, _ in graph[1]:
            neighbours.setdefault(a, []).append(b)
            neighbours.setdefault(b, []).append(a)
        while queue:
            fresh = [v for v in neighbours.get(queue.pop(), []) if v not in seen]
            seen.update(fresh)
            queue.extend(fresh)
        lost = [name for name, number in graph[0].items() if number not in seen]
        if lost:
            raise ValueError(
                f"the network is disconnected ({', '.join(lost[:5])} cannot be reached); add the missing cables"
            )
        return self

    def _text(self) -> str:
        if "\n" in self.edges or not self.folder:
            return self.edges
        return (Path(self.folder) / self.edges).read_text(encoding="utf-8")

    def prefix(self) -> str:
        """How the names of nodes begin."""
        return self.hosts or (ibnet.HOSTS if ibnet.is_dump(self._text()) else "")

    def read(self) -> tuple[dict[str, int], list[tuple[int, int, int]]]:
        """Numbers of the vertices by name, nodes first, and the cables as (a, b, class)."""
        text, prefix = self._text(), self.prefix()
        rows = ibnet.cables(text, self.classes) if ibnet.is_dump(text) else self._cables(text)
        names = list(dict.fromkeys([*self.order, *(name for row in rows for name in row[:2])]))
        ordered = sorted(names, key=lambda name: not name.startswith(prefix))
        number_of = {name: i for i, name in enumerate(ordered)}
        if not any(name.startswith(prefix) for name in names):
            raise ValueError(f"no vertex begins with {prefix!r}; set 'hosts' to how the names of nodes begin")
        return number_of, [(number_of[a], number_of[b], kind) for a, b, kind in rows]

    def _cables(self, text: str) -> list[tuple[str, str, int]]:
        rows = []
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) not in (2, 3):
                raise ValueError(f"edge list, line {number}: {line.strip()!r} is no cable; write: a b [class]")
            kind = words[2] if len(words) == 3 else self.classes[0]
            if kind not in self.classes:
                raise ValueError(f"edge list, line {number}: no class {kind!r}; known are {', '.join(self.classes)}")
            if words[0] == words[1]:
                raise ValueError(
                    f"edge list, line {number}: {words[0]!r} is cabled to itself, a cycle of one; remove it"
                )
            rows.append((words[0], words[1], self.classes.index(kind)))
        return rows

    def link_classes(self) -> tuple[str, ...]:
        """As named."""
        return self.classes

    def nodes(self) -> int:
        """Vertices that are nodes."""
        prefix = self.prefix()
        return sum(name.startswith(prefix) for name in self.read()[0])

    def at_size(self, nodes: int) -> Self:
        """A graph has one size."""
        if nodes == self.nodes():
            return self
        raise Refusal(
            f"cannot build this graph with {nodes} nodes (it is given link by link with {self.nodes()}); try that size",
            Exit.WRONG_WORD,
        )

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """The engine's topology; every cable is two links."""
        names, cables = self.read()
        a, b, kind = (np.array(column, dtype=np.int32) for column in zip(*cables, strict=True))
        ends = np.concatenate([a, b]), np.concatenate([b, a])
        return _network.graph(self.nodes(), len(names), *ends, np.concatenate([kind, kind]), rows, to_itself)


Topology = TwoLevelDirect | Torus | FatTree | Dragonfly | HyperX | Graph
