"""Terms of a network's pictures with their meanings: its parts, its links, and how they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from octant.report.tables.layout import fill

if TYPE_CHECKING:
    from octant.network.loads import LoadMap


class Term(NamedTuple):
    """A term of a picture and its meaning."""

    word: str
    meaning: str


def link_terms(found: LoadMap) -> tuple[Term, ...]:
    """Return the parts of the network, and the classes of links of a load map with their capacities and notes."""
    network, shape = found.network, found.network.topology
    named = {"shape": shape, "kind": type(shape).__name__, "node": network.node}
    classes = []
    for name in (one.link_class for one in found.classes):
        link = network.link_class(name)
        limits = fill("network/terms", "limits", found=link, each_way=name in shape.link_classes())
        meaning = fill("network/terms", "link", name=name, **named)
        classes.append(Term(name, "; ".join(filter(None, (meaning, link.note, limits)))))
    return (*_terms("parts", **named, size=shape.size()), *classes)


def load_terms() -> tuple[Term, ...]:
    """Return how loads are shown."""
    return _terms("loads")


def drawing_terms(found: LoadMap) -> tuple[Term, ...]:
    """Return what the drawing of a topology shows; empty if there is no drawing."""
    shape = found.network.topology
    return _terms("drawing", shape=shape, kind=type(shape).__name__, node=found.network.node)


def _terms(part: str, **values: object) -> tuple[Term, ...]:
    lines = fill("network/terms", part, **values).splitlines()
    return tuple(Term(*line.split("\t", 1)) for line in lines if line)
