"""What one step of a workload computes, holds in memory and communicates, known before anything starts.

`step.py` in a workload's folder declares it once, as a function of the knobs, the ranks and the threads. Time limits,
memory checks, estimated durations, performance limits and the predictions of the network model all use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Part:
    """What a phase of a step communicates, all ranks of the group together, as the kernel counts it."""

    phase: str  # of the kernel; "": of none
    messages: int
    bytes: int
    turns: float | None = None
    """Messages whose starts follow one another on each rank; `None`: as many as a rank sends on average. Of a broadcast
    few ranks send, and the others wait for it: its start is one of all."""
    exact: bool = True  # the kernel counts as much whatever its data are; else this is a mean, or the most

    def starts(self, ranks: int) -> float:
        """Starts of messages that follow one another on each rank."""
        return self.messages / ranks if self.turns is None else self.turns


@dataclass(frozen=True)
class Step:
    """One step (or one chunk of each lane) of all ranks of a group together.

    Ranks that may share memory within a node are taken to be on nodes of their own, unless the knobs ask for it.
    """

    counts: Mapping[str, float]  # under the names of the kernel's own counts; without messages and their bytes
    bytes_held: int  # of memory that the group allocates, all ranks together
    parts: Sequence[Part] = ()

    @property
    def messages(self) -> int:
        """Messages of all ranks, as the kernel counts them."""
        return sum(part.messages for part in self.parts)

    @property
    def bytes_sent(self) -> int:
        """Bytes of these messages."""
        return sum(part.bytes for part in self.parts)


Declared: TypeAlias = Callable[[Mapping[str, str], int, int], Step]
"""Of a workload: the step of these knobs (complete: defaults included), ranks of a group, and threads of each rank.

Raises KeyError or ValueError where the knobs do not say it.
"""


def squarest(ranks: int) -> tuple[int, int]:
    """The squarest grid of P × Q ranks with P ≤ Q."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def grid_of(text: str, ranks: int) -> tuple[int, int]:
    """Rows and columns of a grid of ranks: `PxQ`, or `auto`: the squarest.

    Raises:
        ValueError: it is no grid of so many ranks.
    """
    if text == "auto":
        return squarest(ranks)
    rows, columns = map(int, text.split("x"))
    if rows * columns != ranks or rows < 1:
        raise ValueError(f"{ranks} ranks are no grid of {text}")
    return rows, columns
