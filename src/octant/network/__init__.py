"""The network model's Python face: networks, traffic, answers, and the questions one asks of them."""

from octant.network.files import NetworkFile, load, names
from octant.network.predictions import Bottleneck, Bound, Prediction
from octant.network.solve import Settings, solve
from octant.network.traffic import Cost, Flows, Pattern, make

__all__ = [
    "Bottleneck",
    "Bound",
    "Cost",
    "Flows",
    "NetworkFile",
    "Pattern",
    "Prediction",
    "Settings",
    "load",
    "make",
    "names",
    "solve",
]
