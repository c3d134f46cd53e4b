"""Small networks with round capacities, for tests of the network model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from octant.network import Flows, NetworkFile, SolverSettings, TrafficPattern, solve
from octant.network.predictions import Prediction
from octant.network.traffic import TrafficCost
from octant.untrusted import convert

UNIT = TrafficCost(1.0, 1.0, 1.0)
ROUTINGS = {
    "two-level-direct": "direct",
    "torus": "dimension-ordered",
    "fat-tree": "d-mod-k",
    "dragonfly": "minimal",
    "hyperx": "dimension-ordered",
    "graph": "ecmp",
}
CLASSES = {
    "two-level-direct": ("L-local", "L-remote", "D"),
    "torus": ("link",),
    "fat-tree": ("port", "trunk"),
    "dragonfly": ("group", "global"),
    "hyperx": ("link",),
    "graph": ("link",),
}


def network(
    kind: str, routing: str = "", policy: str = "stall", rates: dict[str, float] | None = None, **shape: Any
) -> NetworkFile:
    """A network of that shape; every link and endpoint carries 1 MB/s unless `rates` says otherwise."""
    split_ties = bool(shape.pop("split_ties", True))
    order = shape.pop("order", ())
    to_itself = shape.pop("to_itself", "memory")
    rate = {"endpoint": 1e6, **dict.fromkeys(CLASSES[kind], 1e6), **(rates or {})}
    return convert(
        {
            "name": "test",
            "topology": {"kind": kind, **shape},
            "links": {name: {"bytes_per_s": rate[name]} for name in CLASSES[kind]},
            "endpoint": {"injection": {"bytes_per_s": rate["endpoint"]}, "to_itself": to_itself},
            "routing": {
                "name": routing or ROUTINGS[kind],
                "policy": policy,
                "split_ties": split_ties,
                "order": order,
            },
            "packet": {"payload_bytes": 1},
        },
        NetworkFile,
    )


def flows(
    network: NetworkFile,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    units: NDArray[np.float64] | None = None,
) -> TrafficPattern:
    """A list of flows; one unit each unless said otherwise."""
    amounts = np.ones(len(sources)) if units is None else units
    listed = Flows(sources.astype(np.int32), targets.astype(np.int32), amounts)
    return TrafficPattern("flows", "B", UNIT, network.topology.active(), listed, per="flow")


def uniform(network: NetworkFile) -> TrafficPattern:
    """Everybody to everybody."""
    return TrafficPattern("uniform", "B", UNIT, network.topology.active())


def largest(answer: Prediction, link_class: str) -> float:
    """Load of the most loaded link of a class."""
    return max((b.load for b in answer.bottlenecks if b.link_class == link_class), default=0.0)


def packets(network: NetworkFile, pattern: TrafficPattern, per_packet: float, window: int) -> Prediction:
    """The packet simulation's answer."""
    return solve(network, pattern, "packets", SolverSettings(window=window, units_per_packet=per_packet))
