"""Base class of all topologies, and the maximum size of a network."""

from typing import Annotated, ClassVar, Self

import numpy as np
from msgspec import Meta, to_builtins

from octant import _network
from octant.untrusted import TaggedTable, convert

MAX_NODES = _network.MOST_NODES
Count = Annotated[int, Meta(ge=1, le=MAX_NODES)]
Sides = Annotated[tuple[Count, ...], Meta(min_length=1, max_length=_network.MOST_DIMENSIONS)]
Rows = list[tuple[str, float, float, int]]


class TopologyShape(TaggedTable, frozen=True):
    """A topology in a network file; its numbers are checked before it is built."""

    size_word: ClassVar[str] = "nodes"  # unit of sizes

    def changed(self, **change: object) -> Self:
        """Return the topology with other numbers.

        Raises:
            MistakesError: a number is invalid.
        """
        return convert({**to_builtins(self), **change}, type(self))

    def size(self) -> int:
        """Return the present size, in the unit of `at_size`."""
        return self.nodes()

    def nodes_per_part(self) -> int:
        """Return the nodes per supernode or group, the unit of jobs; 1 if the unit is a node."""
        return 1

    def link_classes(self) -> tuple[str, ...]:
        """Return the names of the link classes of the fabric, in the order of the engine."""
        raise NotImplementedError

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Return the nodes with traffic."""
        return np.arange(self.nodes(), dtype=np.int32)

    def nodes(self) -> int:
        """Return the number of endpoints, including idle ones."""
        raise NotImplementedError

    def switches(self) -> int:
        """Return the number of vertices that are not nodes."""
        raise NotImplementedError

    def fabric_links(self) -> int:
        """Return the number of links between vertices in all planes; each direction is one link."""
        raise NotImplementedError

    def notes(self) -> tuple[str, ...]:
        """Return remarks about unused or unevenly used parts."""
        return ()


def require_size(shape: TopologyShape) -> None:
    """Raise `ValueError` if the network exceeds the limits of the engine."""
    for count, most, what in (
        (shape.nodes(), MAX_NODES, "nodes"),
        (shape.nodes() + shape.switches(), _network.MOST_VERTICES, "nodes and switches"),
        (3 * shape.nodes() + shape.fabric_links(), _network.MOST_LINKS, "links"),
    ):
        if count > most:
            raise ValueError(f"{count:,} {what} are too many (maximum: {most:,}); use smaller numbers")
