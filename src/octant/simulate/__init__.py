"""The network model's Python face: networks, traffic, answers, and the questions one asks of them."""

from octant.simulate.answers import Answer, Bottleneck, Bound
from octant.simulate.network import NetworkFile, load, names
from octant.simulate.patterns import Cost, Flows, Pattern, make
from octant.simulate.solve import Settings, solve

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
