"""Networks that are defined by a list of cables."""

from functools import lru_cache
from typing import Annotated, NamedTuple, Self

import numpy as np
from msgspec import Meta

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.network import fabric, ibnet
from octant.network.quoting import quoted
from octant.network.reachable import require_reachable
from octant.network.shape import MAX_NODES, Rows, TopologyShape, require_size

MAX_CABLES = 2**20
_RESERVED = ("injection", "ejection", "local")  # the classes of every network's endpoints

Word = Annotated[str, Meta(pattern=r"^[^\s#]{1,200}\Z")]
ClassWord = Annotated[str, Meta(pattern=r"^[^\s#]{1,64}\Z")]


class Cables(NamedTuple):
    """Numbers of the vertices by name, nodes first; the number of nodes; and the cables as (a, b, class)."""

    numbers: dict[str, int]
    nodes: int
    rows: list[tuple[int, int, int]]
    nodes_forward: bool  # nodes forward traffic of others: in an edge list without switches
    notes: tuple[str, ...]  # remarks about a dump of ibnetdiscover


class Graph(TopologyShape, tag="graph", frozen=True):
    """Any network: cables `a b [class]`, one per line, in `edges` (text, or a file in the folder of the network file).

    Names of nodes begin with `hosts`; all other vertices are switches. The text may also be output of `ibnetdiscover`.
    """

    edges: str
    hosts: Annotated[str, Meta(max_length=200)] = ""
    order: Annotated[tuple[Word, ...], Meta(max_length=MAX_NODES)] = ()
    classes: Annotated[tuple[ClassWord, ...], Meta(min_length=1, max_length=64)] = ("link",)

    def __post_init__(self) -> None:
        for name in self.classes:
            if name in _RESERVED or self.classes.count(name) > 1:
                raise ValueError(f"link class {name!r} occurs twice or is reserved for endpoints; rename it")
        require_size(self)
        cables = self.read()
        _require_connected(cables)
        if ibnet.is_dump(self.edges):
            require_reachable(list(cables.numbers), cables.nodes, cables.rows)

    def read(self) -> Cables:
        """Read the cables with numbered vertices.

        Raises:
            ValueError: the text is not a list of cables, or is too long; the message states the line.
        """
        return _read(self.edges, self.hosts, self.order, self.classes)

    def link_classes(self) -> tuple[str, ...]:
        """Return the classes of the file."""
        return self.classes

    def nodes(self) -> int:
        """Return the number of nodes."""
        return self.read().nodes

    def switches(self) -> int:
        """Return the number of switches."""
        return len(self.read().numbers) - self.nodes()

    def fabric_links(self) -> int:
        """Return two links per cable."""
        return 2 * len(self.read().rows)

    def notes(self) -> tuple[str, ...]:
        """Return the assumptions about a dump of ibnetdiscover, and the parts that may be missing."""
        return self.read().notes

    def fabric(self) -> fabric.Fabric | None:
        """Return the fabric of a dump of ibnetdiscover; `None`: an edge list."""
        return fabric.read(self.edges, self.hosts or fabric.HOSTS) if ibnet.is_dump(self.edges) else None

    def at_size(self, nodes: int) -> Self:
        """Return the graph; it has a single size."""
        if nodes == self.nodes():
            return self
        raise Refusal(
            f"a graph has a fixed size ({self.nodes()} nodes); use this size instead of {nodes}",
            Exit.WRONG_WORD,
        )

    def build(self, rows: Rows, to_itself: str) -> _network.Topology:
        """Build the engine's topology; every cable is two links."""
        names, nodes, cables, forward, _ = self.read()
        a, b, kind = (np.array(column, dtype=np.int32) for column in zip(*cables, strict=True))
        ends = np.concatenate([a, b]), np.concatenate([b, a])
        return _network.graph(nodes, len(names), *ends, np.concatenate([kind, kind]), forward, rows, to_itself)


@lru_cache(maxsize=8)
def _read(text: str, hosts: str, order: tuple[str, ...], classes: tuple[str, ...]) -> Cables:
    found = fabric.read(text, hosts or fabric.HOSTS) if ibnet.is_dump(text) else None
    rows = fabric.by_class(found, classes) if found else _cables(text, classes)
    if len(rows) > MAX_CABLES:
        raise ValueError(f"{len(rows):,} cables are too many (maximum: {MAX_CABLES:,}); use a smaller network")
    prefix = fabric.HOSTS if found else hosts
    names = list(dict.fromkeys([*order, *(name for row in rows for name in row[:2])]))
    nodes = sum(name.startswith(prefix) for name in names)
    if found and not rows:
        remarks = f" ({'; '.join(found.remarks)})" if found.remarks else ""
        raise ValueError(f"the dump has no cable of a compute node{remarks}; {ibnet.COMMAND}")
    if not nodes:
        raise ValueError(f"no vertex name begins with {prefix!r}; set 'hosts' to the common prefix of node names")
    if not rows:
        raise ValueError("the edge list is empty; add lines: a b [class]")
    number_of = {name: i for i, name in enumerate(sorted(names, key=lambda name: not name.startswith(prefix)))}
    numbered = [(number_of[a], number_of[b], kind) for a, b, kind in rows]
    return Cables(number_of, nodes, numbered, found is None and nodes == len(names), found.remarks if found else ())


def _cables(text: str, classes: tuple[str, ...]) -> list[tuple[str, str, int]]:
    if tool := ibnet.other_tool(text):
        raise ValueError(f"the edge list is output of {tool}, which is not supported; {ibnet.COMMAND}")
    rows: list[tuple[str, str, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        where = f"edge list, line {number}"
        if len(rows) == MAX_CABLES:
            raise ValueError(f"{where}: more than {MAX_CABLES:,} cables; use a smaller network")
        if len(words) not in (2, 3) or max(map(len, words)) > 200:
            raise ValueError(f"{where}: {quoted(line.strip())} is not a cable; write: a b [class]")
        kind = words[2] if len(words) == 3 else classes[0]
        if kind not in classes:
            raise ValueError(f"{where}: unknown class {quoted(kind)}; {suggestion(kind, classes)}")
        if words[0] == words[1]:
            raise ValueError(f"{where}: the cable connects {quoted(words[0])} to itself; remove it")
        rows.append((words[0], words[1], classes.index(kind)))
    return rows


def _require_connected(cables: Cables) -> None:
    neighbours: dict[int, list[int]] = {}
    for a, b, _ in cables.rows:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    seen, queue = {0}, [0]
    while queue:
        fresh = {v for v in neighbours.get(queue.pop(), []) if v not in seen}
        seen.update(fresh)
        queue.extend(fresh)
    lost = [name for name, number in cables.numbers.items() if number not in seen]
    if lost:
        shown = ", ".join(map(quoted, lost[:5]))
        raise ValueError(f"the network is disconnected (no path to {shown}); add the missing cables")
