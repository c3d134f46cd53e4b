"""Launchers' words in tests: asked of the reference node, read on it."""

from octant.launchers import LauncherReading, Syntax, from_syntax, to_syntax
from octant.machine import Topology
from octant.machine.hwloc import load
from octant.placement import set_text
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from paths import MACHINES

REFERENCE = load(MACHINES / "frameworks-node.synthetic")
POWER575 = load(MACHINES / "power575.synthetic")
GOALS = ["4x2", "4x2,order=scatter:numa", "4x2,unit=hwthread,smt=2", "4x2,unit=numa", "4x2,order=scatter:package"]


def syntax_of(name: str, text: str, topology: Topology = REFERENCE) -> Syntax:
    request = parse_place(text, topology)
    return to_syntax(name, plan(topology, request), request, topology)


def read(text: str, topology: Topology = REFERENCE) -> LauncherReading:
    return from_syntax(text, topology)[1]


def masks(reading: LauncherReading) -> list[str]:
    return [set_text(place.cpus) for place in reading.placement.ranks]


def remarks_of(text: str, topology: Topology = REFERENCE) -> str:
    return " / ".join(read(text, topology).remarks)
