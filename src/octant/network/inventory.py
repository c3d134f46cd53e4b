"""Inventory of a network: nodes, switches and cables; for a fabric also the devices and lines of its dump."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from octant.failure import Exit, Refusal
from octant.network import fabric, ibnet
from octant.network.fabric import Fabric
from octant.network.files import NetworkFile, load, names, parse
from octant.network.graph import Graph
from octant.untrusted import is_file, read_text


@dataclass(frozen=True)
class ClassSummary:
    """The cables of one class: their number, and bytes per second of one direction (`None`: no limit)."""

    name: str
    cables: int
    bytes_per_s: float | None


@dataclass(frozen=True)
class NetworkInventory:
    """A network with its nodes, switches and cables."""

    network: str
    title: str
    kind: str
    routing: str
    nodes: int
    switches: int
    classes: tuple[ClassSummary, ...]
    vertex_names: tuple[str, ...]  # by number, nodes first; only a graph has names
    notes: tuple[str, ...]
    fabric: Fabric | None  # of a dump of ibnetdiscover
    network_file: str = field(default="", compare=False)  # network file that was generated for a dump


def inventory(name: str) -> NetworkInventory:
    """Return the inventory of a network of the catalogue, of a network file, or of a file from `ibnetdiscover`.

    Raises:
        Refusal: no such network, or a file that is neither.
    """
    path = Path(name)
    if name in names() or path.suffix == ".toml" or not is_file(path):
        return of_network(load(name))
    text = read_text(path, "dump of a fabric")
    if not ibnet.is_dump(text):
        raise Refusal(f"cannot read {name} ({ibnet.why_not_dump(text)}); {ibnet.COMMAND}", Exit.WRONG_WORD)
    try:
        written = network_file(fabric.read(text), path)
    except ValueError as error:
        raise Refusal(f"cannot read {name}: {error}", Exit.WRONG_WORD) from error
    return of_network(parse(written, name, path.parent), written)


def of_network(network: NetworkFile, written: str = "") -> NetworkInventory:
    """Return the inventory of a network; `written` is the network file that was made for it."""
    topology, shape = network.build(), network.topology
    kinds, (sources, targets) = topology.link_classes()[topology.fabric :], topology.ends()
    real = sources[topology.fabric :] != targets[topology.fabric :]  # a mesh has unused link numbers at its borders
    counts = np.bincount(kinds[real], minlength=len(network.class_names))
    classes = []
    for number, name in enumerate(network.class_names[3:], start=3):
        rate = network.link_class(name).bytes_per_s
        classes.append(ClassSummary(name, int(counts[number]) // 2, rate.value if rate else None))
    graph = shape if isinstance(shape, Graph) else None
    return NetworkInventory(
        network.name,
        network.title,
        shape.kind,
        network.routing.name,
        shape.nodes(),
        shape.switches(),
        tuple(classes),
        tuple(graph.read().numbers) if graph else (),
        shape.notes(),
        graph.fabric() if graph else None,
        written,
    )


def network_file(found: Fabric, dump: Path) -> str:
    """Return a network file for a dump: a class for each width and speed, with the data rate of the line."""
    speeds = list(found.speeds()) or ["link"]
    name = re.sub(r"[^\w.+-]", "-", dump.stem, flags=re.ASCII).lstrip("-_.+")[:100] or "fabric"
    lines = [f"name = {json.dumps(name)}", "[topology]", 'kind = "graph"', f"edges = {json.dumps(dump.name)}"]
    lines.append(f"classes = {json.dumps(speeds)}")
    for speed in speeds:
        rate = fabric.rate_text(speed)
        lines.append(f"[links.{json.dumps(speed)}]")
        lines.append(f'bytes_per_s = "{rate}"  # data rate of the line' if rate else "# add bytes_per_s")
    return "\n".join([*lines, "[routing]", 'name = "ecmp"', ""])
