"""What every shape of network says of itself, and how large one may be."""

from typing import Annotated, ClassVar, Self

import numpy as np
from msgspec import Meta, to_builtins

from octant import _network
from octant.untrusted import TaggedTable, convert

MOST_NODES = _network.MOST_NODES
Count = Annotated[int, Meta(ge=1, le=MOST_NODES)]
Sides = Annotated[tuple[Count, ...], Meta(min_length=1, max_length=_network.MOST_DIMENSIONS)]
Rows = list[tuple[str, float, float, int]]


class TopologyShape(TaggedTable, frozen=True):
    """A topology as a file describes it; the numbers of every shape are checked before it is built."""

    size_word: ClassVar[str] = "nodes"  # what `at_size` counts

    def changed(self, **change: object) -> Self:
        """The same with other numbers.

        Raises:
            MistakesError: one that the shape does not accept.
        """
        return convert({**to_builtins(self), **change}, type(self))

    def size(self) -> int:
        """Present size, in what `at_size` counts."""
        return self.nodes()

    def nodes_per_part(self) -> int:
        """Nodes of one supernode or group, in which jobs are counted; 1 where they are counted in nodes."""
        return 1

    def link_classes(self) -> tuple[str, ...]:
        """Names of the fabric's link classes, in the engine's order."""
        raise NotImplementedError

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Nodes that take part in traffic."""
        return np.arange(self.nodes(), dtype=np.int32)

    def nodes(self) -> int:
        """Endpoints, idle ones included."""
        raise NotImplementedError

    def switches(self) -> int:
        """Vertices that are no nodes."""
        raise NotImplementedError

    def fabric_links(self) -> int:
        """Links between vertices, of all planes; both directions count."""
        raise NotImplementedError

    def notes(self) -> tuple[str, ...]:
        """What these numbers leave unused or uneven."""
        return ()


def require_size(shape: TopologyShape) -> None:
    """Raises ValueError where the engine would not build so large a network; its limits are the only ones."""
    for count, most, what in (
        (shape.nodes(), MOST_NODES, "nodes"),
        (shape.nodes() + shape.switches(), _network.MOST_VERTICES, "nodes and switches"),
        (3 * shape.nodes() + shape.fabric_links(), _network.MOST_LINKS, "links"),
    ):
        if count > most:
            raise ValueError(f"{count:,} {what} are too many (at most {most:,}); try smaller numbers")
