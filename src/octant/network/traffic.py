"""Traffic: who sends how much to whom, in units whose cost on the wire is known."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.topologies import Torus, TwoLevelDirect
from octant.untrusted import read_text

Nodes = NDArray[np.int32]
Amounts = NDArray[np.float64]
MOST_UNITS = 1e18  # of one flow
MOST_RANKS = 2**24
MOST_RANKS_PER_NODE = 2**16
_MOST_PARAMETER = 2**31


@dataclass(frozen=True)
class TrafficCost:
    """What one unit of traffic costs: payload at the endpoints, bytes on links, packets on both."""

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
        """The same flows between the nodes that the ranks sit on."""
        most = int(max(self.sources.max(initial=-1), self.targets.max(initial=-1)))
        if most >= len(node_of_rank):
            raise Refusal(
                f"cannot place rank {most} (the placement names {len(node_of_rank)} ranks); try a longer map",
                Exit.WRONG_WORD,
            )
        return replace(self, sources=node_of_rank[self.sources], targets=node_of_rank[self.targets])


@dataclass(frozen=True)
class TrafficPattern:
    """A traffic pattern on nodes. Uniform where `flows` is None: one unit from every active node to all of them."""

    name: str
    unit: str  # "update", "B"
    cost: TrafficCost
    active: Nodes
    flows: Flows | None = None
    per: str = "node"  # whose rate is given: "node" or "flow"

    def native(self) -> _network.Traffic:
        """The engine's form."""
        if self.flows is None:
            return _network.Traffic.uniform(self.active)
        f = self.flows
        return _network.Traffic.flows(f.sources, f.targets, f.units, f.job)

    @property
    def shape(self) -> _network.UnitCost:
        """The engine's form of the cost."""
        return _network.UnitCost(self.cost.payload_bytes, self.cost.wire_bytes, self.cost.packets)

    @property
    def units_per_round(self) -> float:
        """Units of one sender (uniform) or of the largest flow."""
        return 1.0 if self.flows is None else float(self.flows.units.max(initial=0.0))


def bulk(network: NetworkFile) -> TrafficCost:
    """Cost of one byte of large messages, in full packets."""
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
"""What the workload p2p calls them, most as Intel's MPI benchmarks do."""
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


def unit_and_cost(network: NetworkFile, kind: str) -> tuple[str, TrafficCost]:
    """What traffic of a kind (`bulk`, `update`, `transpose`) counts in, and what one of it takes on the wire."""
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
    """A named pattern among the nodes of a job, one rank per node.

    `parameter` is the distance of a shift, the seed of random patterns, the one rank of an incast or a fan.
    `bytes_each` is the size of every flow, in the units of `cost` (see `unit_and_cost`); uniform patterns have their
    own cost. `job`, shape (ranks,), holds the nodes that take part; all active ones where it is `None`.

    Raises:
        Refusal: unknown name, a parameter or size out of range, or a number of nodes that the pattern cannot have.
    """
    if not -_MOST_PARAMETER < parameter < _MOST_PARAMETER:
        raise Refusal(f"cannot use parameter {parameter} (less than 2^31 either way); try 1", Exit.WRONG_WORD)
    if not 0 < bytes_each < MOST_UNITS:
        raise Refusal(
            f"cannot send flows of {bytes_each:g} (nothing, a negative or an unbounded amount); try 1 to 10^18 bytes",
            Exit.WRONG_WORD,
        )
    active = network.topology.active() if job is None else job
    if name in UNIFORM:
        return TrafficPattern(name, *unit_and_cost(network, UNIFORM[name]), active)
    ranks = len(active)
    try:
        columns = _columns(name, ranks, parameter)
    except ValueError as error:
        raise Refusal(f"{error}; try another number of nodes or pattern", Exit.WRONG_WORD) from error
    sources, targets, units = columns
    if not len(sources):
        raise Refusal(
            f"cannot make pattern {name!r} of {ranks} ranks (nobody has a partner); try more nodes", Exit.WRONG_WORD
        )
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
        raise Refusal(f"cannot draw a random ring with seed {parameter}; try --parameter 1 or more", Exit.WRONG_WORD)
    if name in ("ordered-ring", "random-ring"):
        return _network.ring(ranks, parameter if name == "random-ring" else 0)
    if name in ("halo2d", "halo3d"):
        return _network.halo(_near_cube(ranks, int(name[4])), True)
    if name == "bisection":
        return _network.bisection(ranks)
    if name == "incast":
        return _network.incast(ranks, parameter)
    raise Refusal(f"cannot make traffic {name!r} (no such pattern); {suggestion(name, NAMES)}", Exit.WRONG_WORD)


def rank_flows(name: str, ranks: int, parameter: int = 1) -> Flows:
    """The flows of a named pattern among ranks, one unit each; place them with `Flows.placed`.

    Raises:
        Refusal: as `make`.
    """
    try:
        return Flows(*_columns(name, ranks, parameter))
    except ValueError as error:
        raise Refusal(f"{error}; try another number of ranks or pattern", Exit.WRONG_WORD) from error


def _near_cube(count: int, dimensions: int) -> list[int]:
    shape = Torus(sizes=(1,) * dimensions).at_size(count)
    return list(shape.sizes)


def pairs(
    network: NetworkFile, rows: Sequence[tuple[int, int, float]], node_of_rank: Nodes | None = None
) -> TrafficPattern:
    """Traffic given flow by flow as (sender, receiver, bytes); ranks where a placement is given, else nodes.

    Flows of no bytes are left out.

    Raises:
        Refusal: no flow is left, or a rank has no place.
    """
    table = np.array([row for row in rows if row[2] > 0], dtype=np.float64)
    if not len(table):
        text = "cannot send nothing (the list of pairs is empty, or holds no bytes); add lines 'from to bytes'"
        raise Refusal(text, Exit.WRONG_WORD)
    flows = Flows(table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), np.ascontiguousarray(table[:, 2]))
    if node_of_rank is not None:
        flows = flows.placed(node_of_rank)
    return TrafficPattern("pairs", "B", bulk(network), network.topology.active(), flows, per="flow")


def matrix(network: NetworkFile, bytes_sent: Amounts, node_of_rank: Nodes | None = None) -> TrafficPattern:
    """Traffic as a matrix of bytes, shape (ranks, ranks): row sends to column."""
    sources, targets = np.nonzero(bytes_sent)
    rows = [(int(s), int(t), float(bytes_sent[s, t])) for s, t in zip(sources, targets, strict=True)]
    return pairs(network, rows, node_of_rank)


def read_pairs(path: Path) -> list[tuple[int, int, float]]:
    """Rows `from to bytes` of a text file; `#` begins a comment.

    Raises:
        Refusal: the file cannot be read, or a line is no such row; the message names the line.
    """
    rows = []
    for number, line in enumerate(read_text(path, "list of pairs").splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            source, target, amount = int(words[0]), int(words[1]), float(words[2])
            if len(words) != 3 or not 0 <= source < MOST_RANKS > target >= 0 or not 0 <= amount < MOST_UNITS:
                raise ValueError
        except (ValueError, IndexError):
            raise Refusal(
                f"cannot read {path}, line {number}: {line.strip()!r} is no flow; write: from to bytes", Exit.WRONG_WORD
            ) from None
        rows.append((source, target, amount))
    return rows


def mix(name: str, jobs: Sequence[TrafficPattern]) -> TrafficPattern:
    """Several jobs at once; each flow keeps the number of its job. All must count in the same unit at the same cost."""
    if len({(job.unit, job.cost) for job in jobs}) != 1 or any(job.flows is None for job in jobs):
        raise Refusal(
            "cannot mix these jobs (they must be lists of flows in one unit at one cost); try patterns of bytes",
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
    """Node of every rank, shape (ranks,).

    `order` is `block` (fill a node, then the next), `round-robin` (one rank per node in turn), a permutation of torus
    letters with T for the place within a node (`TXYZ`, `XYZT`: the leftmost letter changes fastest, as on Blue Gene),
    or `diagonal-cyclic` (two-level networks: successive ranks go to successive supernodes and, within them, to octants
    shifted by the supernode's number).

    Raises:
        Refusal: more ranks than places, or an order that the network does not have.
    """
    active = network.topology.active()
    if not 1 <= per_node <= MOST_RANKS_PER_NODE:
        raise Refusal(
            f"cannot place {per_node} ranks per node; try 1 to {MOST_RANKS_PER_NODE:,}",
            Exit.WRONG_WORD,
        )
    if not 1 <= ranks <= min(len(active) * per_node, MOST_RANKS):
        raise Refusal(
            f"cannot place {ranks} ranks ({len(active)} nodes × {per_node}); try more nodes or ranks per node",
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
        f"cannot place ranks in order {order!r} (no such order on a {shape.kind} network); {suggestion(order, known)}",
        Exit.WRONG_WORD,
    )


def read_map(path: Path) -> Nodes:
    """Node of every rank from a map file: one node number per line.

    Raises:
        Refusal: the file cannot be read, or a line is no number of a node; the message names the line.
    """
    found = []
    for number, line in enumerate(read_text(path, "map file").splitlines(), start=1):
        words = line.split("#")[0].split()
        if words and not (len(words) == 1 and words[0].isdecimal() and len(words[0]) < 10):
            raise Refusal(
                f"cannot read the map file {path}, line {number}: {line.strip()[:80]!r} is no node; "
                "write one node number per line",
                Exit.WRONG_WORD,
            )
        found += [int(word) for word in words]
    return np.array(found, np.int32)
