"""Export of a network: edge list, network file of kind `graph`, and SimGrid's platform XML."""

from collections.abc import Callable, Mapping

from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.graph_file import graph_file
from octant.network.platform import platform, simgrid_xml


def edges(network: NetworkFile) -> str:
    """Return every fabric link as `from to class bytes_per_s packets_per_s latency_s` with vertex numbers."""
    topology = network.build()
    sources, targets = topology.ends()
    kinds = topology.link_classes()
    names = network.class_names
    lines = [
        f"# {network.name}: {topology.nodes} nodes (vertices 0 … {topology.nodes - 1}), {topology.vertices} vertices"
    ]
    lines += [f"# note: {note}" for note in network.topology.notes()]
    lines.append("# from to class bytes_per_s packets_per_s latency_s")
    rows = {}
    for name in network.class_names:
        link = network.link_class(name)
        rates = [f"{q.value:.10g}" if q else "inf" for q in (link.bytes_per_s, link.packets_per_s)]
        rows[name] = f"{name} {rates[0]} {rates[1]} {link.latency:.10g}"
    for node in range(topology.nodes):
        if (router := topology.entry(node)) != node:
            lines += [f"{node} {router} {rows['injection']}", f"{router} {node} {rows['ejection']}"]
    for number in range(topology.fabric, topology.links):
        if sources[number] != targets[number]:  # unused links at the borders of a mesh have equal ends
            lines.append(f"{sources[number]} {targets[number]} {rows[names[kinds[number]]]}")
    return "\n".join(lines) + "\n"


def simgrid(network: NetworkFile) -> str:
    """Return SimGrid's platform XML of all compute nodes."""
    return simgrid_xml(platform(network, network.topology.active()), network.topology.notes())


FORMATS: Mapping[str, Callable[[NetworkFile], str]] = {"edges": edges, "graph": graph_file, "simgrid": simgrid}


def write(network: NetworkFile, to: str, formats: Mapping[str, Callable[[NetworkFile], str]] = FORMATS) -> str:
    """Return the network in a format by name.

    Raises:
        Refusal: the format is unknown.
    """
    if to not in formats:
        raise Refusal(f"unknown export format {to!r}; {suggestion(to, formats)}", Exit.WRONG_WORD)
    return formats[to](network)
