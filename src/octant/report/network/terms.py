"""The words of a network's pictures, each explained in a sentence: its parts, its links, and how they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from octant import units
from octant.network.topologies import Dragonfly, FatTree, HyperX, Torus, TwoLevelDirect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octant.network.files import NetworkFile
    from octant.network.loads import LoadMap


class Term(NamedTuple):
    """A word of a picture and what it means."""

    word: str
    meaning: str


def of_links(found: LoadMap) -> tuple[Term, ...]:
    """The parts of the network, and the classes of links of a load map, with capacities and the file's own notes."""
    shape = found.network.topology
    ends = {
        "injection": f"the way of {_article(found.network.node)} into the network",
        "ejection": f"the way out of the network into {_article(found.network.node)}",
        "local": f"the way between ranks of one {found.network.node}, beside the network",
    }
    between = {**ends, **_links(found.network)}
    classes = [Term(one.link_class, _link_text(found.network, one.link_class, between)) for one in found.classes]
    return (*_parts(found.network, shape.size()), *classes)


def of_loads() -> tuple[Term, ...]:
    """How busy a link is, in numbers and colours."""
    return (
        Term(
            "busy",
            "the share of its capacity in use while the traffic runs as fast as it can: the fuller, the more",
        ),
        Term("saturated", "busy to 100 %: this link limits the traffic; orange, with an edge below or a thicker line"),
        Term("idle", "carries nothing of this traffic"),
    )


def of_drawing(found: LoadMap) -> tuple[Term, ...]:
    """What the drawing of a topology shows; none where there is no drawing."""
    half = Term("half of a line", "one direction: the half at A is the link from A to B, the half at B the way back")
    match found.network.topology:
        case TwoLevelDirect() as shape:
            hub = "the D links of an octant; the number at its end says to how many supernodes they lead"
            dashed = (Term("dashed circle", "an octant that computes nothing and only passes messages on"),)
            return (
                Term("number in a circle", "an octant of the drawer"),
                half,
                Term("line between boxes", "the L-remote links between two drawers: the busiest of them"),
                Term("line out of a circle", hub),
                *(dashed if shape.holes else ()),
            )
        case Torus() as shape:
            around = Term("line beyond the edge", "a link that leads around to the other side")
            shade = Term("shade of a circle", "the busiest link that leaves this node for another slice")
            wraps = shape.wraps if isinstance(shape.wraps, bool) else any(shape.wraps[:2])
            deep = len(shape.sizes) > 2 and shape.sizes[2] > 1
            return (
                Term("circle", f"{_article(found.network.node)} of the slice that holds the busiest link"),
                half,
                *((around,) if wraps else ()),
                *((shade,) if deep else ()),
            )
    return ()


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _parts(network: NetworkFile, size: int) -> Iterator[Term]:
    """The pieces that a network is made of, from the smallest."""
    node = network.node
    match network.topology:
        case TwoLevelDirect() as shape:
            count = shape.drawers * shape.octants
            compute = f"; {count - len(shape.holes)} of the {count} in a supernode compute" if shape.holes else ""
            yield Term("octant", f"a node, whose hub chip all its links end at{compute}")
            yield Term("drawer", f"{shape.octants} octants, each joined to every other by an L-local link")
            yield Term(
                "supernode",
                f"{shape.drawers} drawers; octants of different drawers are joined by an L-remote link each",
            )
        case Torus() as shape:
            sides = " × ".join(map(str, shape.sizes))
            wraps = [shape.wraps] * len(shape.sizes) if isinstance(shape.wraps, bool) else list(shape.wraps)
            if all(wraps):
                yield Term("torus", f"{sides} {node}s, the last of every row joined to its first")
            elif any(wraps):
                yield Term("torus", f"{sides} {node}s; in some directions the last of a row is joined to its first")
            else:
                yield Term("mesh", f"{sides} {node}s in rows without a way around from the last to the first")
        case FatTree() as shape:
            yield Term("leaf", f"a switch of the lowest level, with {units.counted(shape.down[0], node)} below it")
            if len(shape.down) > 1:
                yield Term("level", f"switches that join those below them; this tree has {len(shape.down)}")
            if shape.planes > 1:
                yield Term("plane", f"one of {shape.planes} equal trees; a {node} has a port in each")
        case Dragonfly() as shape:
            yield Term("router", f"a switch with {units.counted(shape.nodes_per_router, node)}")
            yield Term(
                "group of routers",
                f"{shape.routers} routers, each joined to every other; this machine has {size} groups",
            )
        case HyperX() as shape:
            sides = " × ".join(map(str, shape.sizes))
            yield Term(
                "router", f"a switch with {units.counted(shape.nodes_per_router, node)}, at a place of a lattice"
            )
            yield Term("lattice", f"{sides} routers; those of one row are joined each to every other")


def _links(network: NetworkFile) -> dict[str, str]:
    """What the fabric's classes of links join."""
    match network.topology:
        case TwoLevelDirect() as shape:
            most = shape.links_per_host * (shape.drawers if shape.hosts == "drawer" else 1)
            return {
                "L-local": "a link between two octants of one drawer",
                "L-remote": "a link between octants of two drawers of a supernode",
                "D": f"a link between two supernodes; each pair of them has {units.counted(most, 'link')}",
            }
        case Torus():
            return {"link": f"a link between neighbouring {network.node}s"}
        case FatTree():
            return {
                "port": f"a link between {_article(network.node)} and its leaf",
                "trunk": "a link between switches of two levels",
            }
        case Dragonfly():
            return {
                "group": "a link between two routers of one group",
                "global": "a link between routers of two groups",
            }
        case HyperX():
            return {"link": "a link between two routers of one row of the lattice"}
    return {}


def _link_text(network: NetworkFile, name: str, between: dict[str, str]) -> str:
    link = network.link_class(name)
    limits = [
        units.si_text(limit.value, unit)
        for limit, unit in ((link.bytes_per_s, "B/s"), (link.packets_per_s, "packets/s"))
        if limit is not None
    ]
    way = " each way" if name in network.topology.link_classes() else ""
    limit_text = f"{' and '.join(limits)}{way}" if limits else "no limit given"
    words = [between.get(name, "a link of this class"), *([link.note] if link.note else []), limit_text]
    return "; ".join(words)
