"""The network model's Python face: networks, traffic, answers, and the questions one asks of them."""

from octant.network.answers import Answer, Bottleneck, Bound
from octant.network.files import NetworkFile, load, names
from octant.network.solve import Settings, solve
from octant.network.traffic import Cost, Flows, Pattern, make

__all__ = [
    "Answer",
    "Bottleneck",
    "Bound",
    "Cost",
    "Flows",
    "NetworkFile",
    "Pattern",
    "Settings",
    "load",
    "make",
    "names",
    "solve",
]
