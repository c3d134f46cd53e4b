"""What every shape of network says of itself, and how large one may be."""

from abc import ABC, abstractmethod
from typing import Annotated, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from octant import _network

MOST_NODES = _network.MOST_NODES
Count = Annotated[int, Field(ge=1, le=MOST_NODES)]
Sides = Annotated[tuple[Count, ...], Field(min_length=1, max_length=_network.MOST_DIMENSIONS)]
Rows = list[tuple[str, float, float, int]]


class Shape(BaseModel, ABC):
    """A topology as a file describes it; the numbers of every shape are checked before it is built."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size_word: ClassVar[str] = "nodes"  # what `at_size` counts

    def size(self) -> int:
        """Present size, in what `at_size` counts."""
        return self.nodes()

    def nodes_per_part(self) -> int:
        """Nodes of one supernode or group, in which jobs are counted; 1 where they are counted in nodes."""
        return 1

    @abstractmethod
    def link_classes(self) -> tuple[str, ...]:
        """Names of the fabric's link classes, in the engine's order."""

    def active(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Nodes that take part in traffic."""
        return np.arange(self.nodes(), dtype=np.int32)

    @abstractmethod
    def nodes(self) -> int:
        """Endpoints, idle ones included."""

    @abstractmethod
    def switches(self) -> int:
        """Vertices that are no nodes."""

    @abstractmethod
    def fabric_links(self) -> int:
        """Links between vertices, of all planes; both directions count."""

    def notes(self) -> tuple[str, ...]:
        """What these numbers leave unused or uneven."""
        return ()


def require_size(shape: Shape) -> None:
    """Raises ValueError where the engine would not build so large a network; its limits are the only ones."""
    for count, most, what in (
        (shape.nodes(), MOST_NODES, "nodes"),
        (shape.nodes() + shape.switches(), _network.MOST_VERTICES, "nodes and switches"),
        (3 * shape.nodes() + shape.fabric_links(), _network.MOST_LINKS, "links"),
    ):
        if count > most:
            raise ValueError(f"{count:,} {what} are too many (at most {most:,}); try smaller numbers")
