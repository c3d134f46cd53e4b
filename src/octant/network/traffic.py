"""Traffic patterns: senders, receivers and amounts, in units with a known cost on links."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.topologies import Torus, TwoLevelDirect
from octant.units import counted
from octant.untrusted import read_text

Nodes = NDArray[np.int32]
Amounts = NDArray[np.float64]
MAX_UNITS = 1e18  # of one flow
MAX_RANKS = 2**24
MAX_RANKS_PER_NODE = 2**16
_MAX_PARAMETER = 2**31


@dataclass(frozen=True)
class TrafficCost:
    """Cost of one unit of traffic: payload at endpoints, bytes on links, packets on both."""

    payload_bytes: float = 1.0
    wire_bytes: float = 1.0
    packets: float = 0.0


@dataclass(frozen=True)
class Flows:
    """Parallel arrays of shape (flows,): sender, receiver, units, and number of the job."""

    sources: Nodes
    targets: Nodes
    units: Amounts
    job: NDArray[np.uint16] = field(default_factory=lambda: np.empty(0, np.uint16))

    def __len__(self) -> int:
        return len(self.sources)

    def placed(self, node_of_rank: Nodes) -> "Flows":
        """Return the flows between the nodes of the ranks."""
        most = int(max(self.sources.max(initial=-1), self.targets.max(initial=-1)))
        if most >= len(node_of_rank):
            raise Refusal(
                f"the placement has no node for rank {most} (it contains {len(node_of_rank)} ranks); extend the map",
                Exit.WRONG_WORD,
            )
        return replace(self, sources=node_of_rank[self.sources], targets=node_of_rank[self.targets])


@dataclass(frozen=True)
class TrafficPattern:
    """A traffic pattern on nodes. Without `flows` it is uniform: one unit from every active node to all of them."""

    name: str
    unit: str  # "update", "B"
    cost: TrafficCost
    active: Nodes
    flows: Flows | None = None
    per: str = "node"  # unit of the rate: per "node" or "flow"

    def native(self) -> _network.Traffic:
        """Return the pattern in the form of the engine."""
        if self.flows is None:
            return _network.Traffic.uniform(self.active)
        f = self.flows
        return _network.Traffic.flows(f.sources, f.targets, f.units, f.job)

    @property
    def shape(self) -> _network.UnitCost:
        """The cost in the form of the engine."""
        return _network.UnitCost(self.cost.payload_bytes, self.cost.wire_bytes, self.cost.packets)

    @property
    def units_per_round(self) -> float:
        """Units of one sender (uniform) or of the largest flow."""
        return 1.0 if self.flows is None else float(self.flows.units.max(initial=0.0))


def bulk(network: NetworkFile) -> TrafficCost:
    """Return the cost of one byte of large messages, in full packets."""
    packet = network.packet
    wire = (packet.payload_bytes + packet.overhead_bytes) / packet.payload_bytes
    return TrafficCost(1.0, wire, 1.0 / packet.payload_bytes)


RANDOM_ACCESS = TrafficCost(payload_bytes=8, wire_bytes=32, packets=1)
"""One update: 8 bytes in a packet of 32 (Power 775 at scale, section 4.1)."""

TRANSPOSE = TrafficCost(payload_bytes=1, wire_bytes=1920 / 1800, packets=1 / 1800)
"""One byte of a 15 × 15 block of doubles in a packet of 1,920 bytes (section 4.2)."""

UNIFORM = {"uniform": "bulk", "randomaccess": "update", "ptrans": "transpose"}
_PERMUTATIONS = ("shift", "transpose", "reverse", "tornado", "bit-reverse", "random")
_MEASURED = {
    "sendrecv": "shift",
    "exchange": "ordered-ring",
    "biband": "bisection",
    "fan-in": "incast",
    "halo-2d": "halo2d",
    "halo-3d": "halo3d",
}
"""Names of patterns in the workload p2p, mostly those of the Intel MPI Benchmarks."""
NAMES = (
    *UNIFORM,
    *_PERMUTATIONS,
    "ordered-ring",
    "random-ring",
    "halo2d",
    "halo3d",
    "bisection",
    "incast",
    "pingping",
    "first-to-last",
    "to-itself",
    "uniband",
    "fan-out",
    *_MEASURED,
)


ALIASES = {
    **dict.fromkeys(("alltoall", "all-to-all"), "uniform"),
    "gups": "randomaccess",
    "ring": "ordered-ring",
    "pingpong": "first-to-last",
    "permutation": "random",
    **dict.fromkeys(("halo", "stencil"), "halo3d"),
}
"""Names of patterns in other tools, each with the pattern that has the same flows."""


def unit_and_cost(network: NetworkFile, kind: str) -> tuple[str, TrafficCost]:
    """Return the unit of a kind of traffic (`bulk`, `update`, `transpose`), and its cost on links."""
    kinds = {"bulk": ("B", bulk(network)), "update": ("update", RANDOM_ACCESS), "transpose": ("B", TRANSPOSE)}
    return kinds[kind]


def make(
    network: NetworkFile,
    name: str,
    parameter: int = 1,
    bytes_each: float = 1.0,
    cost: str = "bulk",
    job: Nodes | None = None,
) -> TrafficPattern:
    """Return a named pattern among the nodes of a job, with one rank per node.

    Args:
        network: the network.
        name: name of the pattern.
        parameter: distance of a shift, seed of random patterns, or central rank of an incast or a fan.
        bytes_each: size of every flow, in the units of `cost` (see `unit_and_cost`); unused for uniform patterns.
        cost: kind of traffic.
        job: nodes with traffic, shape (ranks,); `None`: all active nodes.

    Raises:
        Refusal: the name is unknown, the parameter or size is out of range, or the pattern does not support this number
            of nodes.
    """
    if not -_MAX_PARAMETER < parameter < _MAX_PARAMETER:
        raise Refusal(f"--parameter {parameter} is out of range (|parameter| < 2^31); try 1", Exit.WRONG_WORD)
    if not 0 < bytes_each < MAX_UNITS:
        raise Refusal(
            f"a flow size of {bytes_each:g} is out of range; use 1 to 10^18 bytes",
            Exit.WRONG_WORD,
        )
    active = network.topology.active() if job is None else job
    if name in UNIFORM:
        return TrafficPattern(name, *unit_and_cost(network, UNIFORM[name]), active)
    ranks = len(active)
    try:
        columns = _columns(name, ranks, parameter)
    except ValueError as error:
        raise Refusal(f"{error}; use another number of nodes or pattern", Exit.WRONG_WORD) from error
    sources, targets, units = columns
    if not len(sources):
        raise Refusal(f"pattern {name!r} has no pairs with {counted(ranks, 'rank')}; use more nodes", Exit.WRONG_WORD)
    flows = Flows(sources, targets, units * bytes_each).placed(active)
    return TrafficPattern(name, *unit_and_cost(network, cost), active, flows, per="flow")


def _columns(name: str, ranks: int, parameter: int) -> tuple[Nodes, Nodes, Amounts]:
    if name in _MEASURED:
        return _columns(_MEASURED[name], ranks, parameter if name == "fan-in" else 1)
    if name == "uniband":  # the first half to the second
        sources, targets, units = _network.bisection(ranks)
        return sources[::2].copy(), targets[::2].copy(), units[::2].copy()
    if name == "fan-out":
        sources, targets, units = _network.incast(ranks, parameter)
        return targets, sources, units
    if name == "pingping":  # the first rank with the last, both ways
        ends = np.array([0, ranks - 1], np.int32)
        return ends, ends[::-1].copy(), np.ones(2)
    if name in ("first-to-last", "to-itself"):
        last = ranks - 1 if name == "first-to-last" else 0
        return np.array([0], np.int32), np.array([last], np.int32), np.ones(1)
    if name in _PERMUTATIONS:
        return _network.permutation(name, ranks, parameter)
    if name == "random-ring" and parameter < 1:
        raise Refusal(f"the seed of a random ring is at least 1, not {parameter}; try --parameter 1", Exit.WRONG_WORD)
    if name in ("ordered-ring", "random-ring"):
        return _network.ring(ranks, parameter if name == "random-ring" else 0)
    if name in ("halo2d", "halo3d"):
        return _network.halo(_near_cube(ranks, int(name[4])), True)
    if name == "bisection":
        return _network.bisection(ranks)
    if name == "incast":
        return _network.incast(ranks, parameter)
    raise Refusal(f"unknown traffic pattern {name!r}; {suggestion(name, NAMES)}", Exit.WRONG_WORD)


def rank_flows(name: str, ranks: int, parameter: int = 1) -> Flows:
    """Return the flows of a named pattern among ranks, with one unit each; `Flows.placed` maps them to nodes.

    Raises:
        Refusal: as `make`.
    """
    try:
        return Flows(*_columns(name, ranks, parameter))
    except ValueError as error:
        raise Refusal(f"{error}; use another number of ranks or pattern", Exit.WRONG_WORD) from error


def _near_cube(count: int, dimensions: int) -> list[int]:
    shape = Torus(sizes=(1,) * dimensions).at_size(count)
    return list(shape.sizes)


def pairs(
    network: NetworkFile, rows: Sequence[tuple[int, int, float]], node_of_rank: Nodes | None = None
) -> TrafficPattern:
    """Return traffic from flows (sender, receiver, bytes) between ranks, or between nodes without a placement.

    Empty flows are ignored.

    Raises:
        Refusal: all flows are empty, or a rank has no node.
    """
    table = np.array([row for row in rows if row[2] > 0], dtype=np.float64)
    if not len(table):
        text = "the list of pairs is empty or contains no bytes; add lines 'from to bytes'"
        raise Refusal(text, Exit.WRONG_WORD)
    flows = Flows(table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), np.ascontiguousarray(table[:, 2]))
    if node_of_rank is not None:
        flows = flows.placed(node_of_rank)
    return TrafficPattern("pairs", "B", bulk(network), network.topology.active(), flows, per="flow")


def matrix(network: NetworkFile, bytes_sent: Amounts, node_of_rank: Nodes | None = None) -> TrafficPattern:
    """Return traffic from a matrix of bytes, shape (ranks, ranks): row sends to column."""
    sources, targets = np.nonzero(bytes_sent)
    rows = [(int(s), int(t), float(bytes_sent[s, t])) for s, t in zip(sources, targets, strict=True)]
    return pairs(network, rows, node_of_rank)


def read_pairs(path: Path) -> list[tuple[int, int, float]]:
    """Read rows `from to bytes` of a text file; `#` begins a comment.

    Raises:
        Refusal: the file cannot be read, or a line is invalid; the message states the line.
    """
    rows = []
    for number, line in enumerate(read_text(path, "list of pairs").splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            source, target, amount = int(words[0]), int(words[1]), float(words[2])
            if len(words) != 3 or not 0 <= source < MAX_RANKS > target >= 0 or not 0 <= amount < MAX_UNITS:
                raise ValueError
        except (ValueError, IndexError):
            raise Refusal(
                f"cannot read {path}, line {number}: {line.strip()!r} is not a flow; write: from to bytes",
                Exit.WRONG_WORD,
            ) from None
        rows.append((source, target, amount))
    return rows


def mix(name: str, jobs: Sequence[TrafficPattern]) -> TrafficPattern:
    """Combine jobs; each flow keeps the number of its job. All jobs need the same unit and cost."""
    if len({(job.unit, job.cost) for job in jobs}) != 1 or any(job.flows is None for job in jobs):
        raise Refusal(
            "cannot combine these jobs (they need lists of flows with the same unit and cost); use patterns of bytes",
            Exit.WRONG_WORD,
        )
    listed = [job.flows for job in jobs if job.flows is not None]
    flows = Flows(
        np.concatenate([f.sources for f in listed]),
        np.concatenate([f.targets for f in listed]),
        np.concatenate([f.units for f in listed]),
        np.concatenate([np.full(len(f), number, np.uint16) for number, f in enumerate(listed)]),
    )
    active = np.unique(np.concatenate([job.active for job in jobs])).astype(np.int32)
    return TrafficPattern(name, jobs[0].unit, jobs[0].cost, active, flows, per="flow")


def place(network: NetworkFile, order: str, ranks: int, per_node: int = 1) -> Nodes:
    """Return the node of every rank, shape (ranks,).

    `order` is `block` (fill one node after another), `round-robin` (one rank per node, cyclically), a permutation of
    torus letters with T for the position within a node (`TXYZ`, `XYZT`: the leftmost letter changes fastest, as on Blue
    Gene), or `diagonal-cyclic` (two-level networks: successive ranks are on successive supernodes and, within them, on
    octants shifted by the number of the supernode).

    Raises:
        Refusal: there are more ranks than places, or the network does not support the order.
    """
    active = network.topology.active()
    if not 1 <= per_node <= MAX_RANKS_PER_NODE:
        raise Refusal(
            f"the number of ranks per node is 1 to {MAX_RANKS_PER_NODE:,}, not {per_node}; try --per-node 1",
            Exit.WRONG_WORD,
        )
    if not 1 <= ranks <= min(len(active) * per_node, MAX_RANKS):
        raise Refusal(
            f"cannot place {ranks} ranks on {len(active)} nodes × {per_node}; use more nodes or ranks per node",
            Exit.WRONG_WORD,
        )
    rank = np.arange(ranks)
    if order == "block":
        return active[rank // per_node]
    if order == "round-robin":
        return active[rank % len(active)]
    shape = network.topology
    if order == "diagonal-cyclic" and isinstance(shape, TwoLevelDirect):
        groups = shape.job_supernodes or shape.supernodes
        each = len(active) // groups
        slot = rank % (len(active))
        group = slot % groups
        return active[group * each + (slot // groups + group) % each]
    letters = "XYZABCDE"[: len(shape.sizes)] if isinstance(shape, Torus) else ""
    if letters and sorted(order) == sorted(letters + "T"):
        extent = dict(zip(letters, shape.sizes, strict=True)) if isinstance(shape, Torus) else {}
        extent["T"] = per_node
        node = np.zeros(ranks, dtype=np.int64)
        left = rank
        for letter in order:
            stride = int(np.prod([extent[other] for other in letters[: letters.index(letter)]])) if letter != "T" else 0
            node += left % extent[letter] * stride
            left = left // extent[letter]
        return node.astype(np.int32)
    known = ["block", "round-robin", *(["T" + letters, letters + "T"] if letters else [])]
    raise Refusal(
        f"unknown order of ranks {order!r} on a {shape.kind} network; {suggestion(order, known)}",
        Exit.WRONG_WORD,
    )


def read_map(path: Path) -> Nodes:
    """Read the node of every rank from a map file with one node number per line.

    Raises:
        Refusal: the file cannot be read, or a line is invalid; the message states the line.
    """
    found = []
    for number, line in enumerate(read_text(path, "map file").splitlines(), start=1):
        words = line.split("#")[0].split()
        if words and not (len(words) == 1 and words[0].isdecimal() and len(words[0]) < 10):
            raise Refusal(
                f"cannot read the map file {path}, line {number}: {line.strip()[:80]!r} is not a node number; "
                "write one node number per line",
                Exit.WRONG_WORD,
            )
        found += [int(word) for word in words]
    return np.array(found, np.int32)
