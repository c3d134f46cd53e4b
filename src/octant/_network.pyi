"""Network model: topologies, routings, traffic and solvers"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

MOST_NODES: int
MOST_VERTICES: int
MOST_LINKS: int
MOST_DIMENSIONS: int

class UnknownWord(ValueError):  # noqa: N818 - see Refusal
    """A word that a closed list lacks: why, the word, the list"""

class UnitCost:
    """Cost of one unit of traffic"""

    def __init__(self, payload_bytes: float, wire_bytes: float, packets: float) -> None: ...

class Traffic:
    """Flows, or uniform all-to-all traffic"""

    @staticmethod
    def uniform(
        active: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Traffic: ...
    @staticmethod
    def flows(
        sources: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        units: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        job: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Traffic: ...

class Bottleneck:
    """The link of a class that limits the pattern most"""

    @property
    def link_class(self) -> int: ...
    @property
    def link(self) -> int: ...
    @property
    def load(self) -> float: ...
    @property
    def capacity(self) -> float: ...
    @property
    def rounds_per_s(self) -> float: ...
    @property
    def packets(self) -> bool: ...
    @property
    def links(self) -> float: ...

class Solution:
    """Result of a solver"""

    @property
    def solver(self) -> str: ...
    @property
    def rounds_per_s(self) -> float: ...
    @property
    def bottlenecks(self) -> list[Bottleneck]: ...
    @property
    def stalled(self) -> float: ...
    @property
    def events(self) -> int: ...
    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def rates(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def groups(self) -> list[tuple[int, float, float]]: ...

class Topology:
    """A shape of network"""

    @property
    def nodes(self) -> int: ...
    @property
    def vertices(self) -> int: ...
    @property
    def links(self) -> int: ...
    @property
    def fabric(self) -> int: ...
    def class_of(self, link: int) -> int: ...
    def name(self, link: int) -> str: ...
    def node_name(self, node: int) -> str: ...
    def entry(self, node: int) -> int: ...
    def relation(self, source: int, target: int) -> str: ...
    def link_classes(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    def ends(
        self,
    ) -> tuple[
        Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]
    ]: ...

def two_level(
    supernodes: int,
    drawers: int,
    octants: int,
    gang: int,
    host_in_every_drawer: bool,
    block: bool,
    d_ports: int,
    holes: Sequence[int],
    classes: Sequence[tuple[str, float, float, int]],
    self: str,
) -> Topology: ...
def torus(
    sizes: Sequence[int], wraps: Sequence[bool], classes: Sequence[tuple[str, float, float, int]], self: str
) -> Topology: ...
def fat_tree(
    planes: int, down: Sequence[int], up: Sequence[int], classes: Sequence[tuple[str, float, float, int]], self: str
) -> Topology: ...
def dragonfly(
    groups: int,
    routers: int,
    nodes: int,
    global_links: int,
    classes: Sequence[tuple[str, float, float, int]],
    self: str,
) -> Topology: ...
def hyperx(
    sizes: Sequence[int], nodes: int, classes: Sequence[tuple[str, float, float, int]], self: str
) -> Topology: ...
def graph(
    nodes: int,
    vertices: int,
    sources: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    link_class: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    nodes_forward: bool,
    classes: Sequence[tuple[str, float, float, int]],
    self: str,
) -> Topology: ...

class Network:
    """A topology with its routing and the health of its links"""

    def __init__(
        self,
        topology: Topology,
        routing: str,
        policy: str,
        numbers: Mapping[str, float],
        order: Sequence[int],
        scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    def by_class(self, traffic: Traffic, shape: UnitCost) -> Solution: ...
    def exactly(self, traffic: Traffic, shape: UnitCost, every_link: bool) -> Solution: ...
    def enumerate(self, traffic: Traffic, shape: UnitCost) -> Solution: ...
    def max_min(self, traffic: Traffic, shape: UnitCost) -> Solution: ...
    def fluid(self, traffic: Traffic, shape: UnitCost) -> Solution: ...
    def closed_queue(self, answer: Solution, shape: UnitCost, senders: float, window: float) -> float: ...
    def packets(
        self,
        traffic: Traffic,
        shape: UnitCost,
        units_per_packet: float,
        window: int,
        packets: int,
        seed: int,
        in_order: bool,
        failing: int,
        fails_ps: int,
        timeout_ps: int,
        ping_ps: int,
        retries: int,
    ) -> tuple[Solution, int, int, int, int, int]: ...
    def price(
        self,
        operation: str,
        algorithms: Sequence[str],
        node_of_rank: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        shape: UnitCost,
        alternative: str,
    ) -> list[list[tuple[int, float, bool, float, int, int, int, float, float, float, int, float, float]]]: ...
    def price_flows(
        self,
        sources: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        units: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        node_of_rank: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        shape: UnitCost,
    ) -> tuple[int, float, bool, float, int, int, int, float, float, float, int, float, float]: ...
    def each(self, traffics: Sequence[Traffic], shape: UnitCost) -> list[float]: ...
    def sweep(
        self, traffic: Traffic, shape: UnitCost, links: Sequence[int], left: float
    ) -> list[tuple[int, float, int, float]]: ...
    def fail_at_random(
        self, traffic: Traffic, shape: UnitCost, links: Sequence[int], count: int, left: float, trials: int, seed: int
    ) -> list[float]: ...
    def adaptive(
        self, second: Network, traffic: Traffic, shape: UnitCost, rounds: int
    ) -> tuple[Solution, float, float]: ...
    def causes(self, traffic: Traffic, link: int) -> list[tuple[str, int, int, float]]: ...
    def shares(self, source: int, target: int) -> list[tuple[int, float]]: ...
    def path(self, source: int, target: int, draw: int) -> list[int]: ...

def soft_minimum(answer: Solution, exponent: float) -> float: ...
def permutation(
    name: str, ranks: int, parameter: int
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def ring(
    ranks: int, seed: int
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def halo(
    sizes: Sequence[int], periodic: bool
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def bisection(
    ranks: int,
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def incast(
    ranks: int, target: int
) -> tuple[
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.int32], dict(shape=(None,))],
    Annotated[NDArray[numpy.float64], dict(shape=(None,))],
]: ...
def collectives() -> list[tuple[str, str]]: ...
def messages(operation: str, algorithm: str, ranks: int) -> float: ...
def collective(
    operation: str, algorithm: str, ranks: int
) -> list[
    tuple[
        int,
        float,
        bool,
        tuple[
            Annotated[NDArray[numpy.int32], dict(shape=(None,))],
            Annotated[NDArray[numpy.int32], dict(shape=(None,))],
            Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        ],
    ]
]: ...
def progress() -> tuple[float, float]: ...
