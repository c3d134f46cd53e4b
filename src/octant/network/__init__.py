"""Python interface of the network model: networks, traffic patterns, solvers and predictions."""

from octant.network.files import NetworkFile, load, names
from octant.network.predictions import Bottleneck, Bound, Prediction
from octant.network.solve import SolverSettings, solve
from octant.network.traffic import Flows, TrafficCost, TrafficPattern, make

__all__ = [
    "Bottleneck",
    "Bound",
    "Flows",
    "NetworkFile",
    "Prediction",
    "SolverSettings",
    "TrafficCost",
    "TrafficPattern",
    "load",
    "make",
    "names",
    "solve",
]
