"""What one step of a workload computes, holds in memory and communicates, known before anything starts.

`step.py` in a workload's folder declares it once, as a function of the knobs, the ranks and the threads. Time limits,
memory checks, estimated durations, performance limits and the predictions of the network model all use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Sent:
    """What a rank sends: the mean over the ranks of the group. It receives as much."""

    messages: float
    bytes: float


@dataclass(frozen=True)
class PointToPoint:
    """Messages between pairs of ranks: halos, pipelines, blocks of a transposition."""

    messages: float  # that each rank sends, the mean
    bytes: float  # of all these messages together

    def sent(self, _ranks: int) -> Sent:
        """What each rank sends."""
        return Sent(self.messages, self.bytes)


@dataclass(frozen=True)
class AllToAll:
    """Each rank sends a block to each other rank, in so many messages."""

    block_bytes: float  # for one other rank
    messages: int = 1  # in which a block is sent

    def sent(self, ranks: int) -> Sent:
        """What each rank sends."""
        return Sent(float(self.messages * (ranks - 1)), self.block_bytes * (ranks - 1))


@dataclass(frozen=True)
class Reduction:
    """A reduction or broadcast of so many bytes over a binary tree of all ranks; `both_ways`: an allreduce."""

    bytes: float
    both_ways: bool = False

    def sent(self, ranks: int) -> Sent:
        """What each rank sends by recursive doubling (both ways), or the mean over a tree."""
        messages = math.ceil(math.log2(ranks)) if self.both_ways and ranks > 1 else (ranks - 1) / ranks
        return Sent(messages, messages * self.bytes)


Exchange: TypeAlias = PointToPoint | AllToAll | Reduction


@dataclass(frozen=True)
class Part:
    """A part of a step: what it communicates, and how many times in a step."""

    phase: str  # of the kernel; "": of none
    exchange: Exchange
    times: float = 1.0


@dataclass(frozen=True)
class Step:
    """One step (or one chunk of each lane) of all ranks of a group together."""

    counts: Mapping[str, float]  # under the names of the kernel's own counts
    bytes_held: int  # of memory that the group allocates, all ranks together
    parts: Sequence[Part] = ()
    others: Mapping[str, Sequence[Part]] = field(default_factory=dict)  # of further algorithms that the workload offers

    def sent(self, ranks: int) -> Sent:
        """What each rank sends in a step, the mean over the ranks."""
        each = [(part.times, part.exchange.sent(ranks)) for part in self.parts]
        return Sent(sum(times * one.messages for times, one in each), sum(times * one.bytes for times, one in each))


Declared: TypeAlias = Callable[[Mapping[str, str], int, int], Step]
"""Of a workload: the step of these knobs (complete: defaults included), ranks of a group, and threads of each rank.

Raises KeyError or ValueError where the knobs do not say it.
"""
