"""The rate of a declared step on measured messages: a rank computes its share, and sends what the step needs.

Both are known beforehand: the share from the rate of one rank (or node) alone, the messages from the declaration of the
workload (`octant.step`). Whether messages travel while the rank computes is not: at the low end of a rate computing,
starts of messages and their bytes follow one another, at its high end all three go on at once. Nothing is fitted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from octant.network.message_times import MessageTimes
from octant.stats import Interval
from octant.step import Step

Limit: TypeAlias = Literal["computing", "start of messages", "bytes of messages"]


@dataclass(frozen=True)
class Sent:
    """What a rank sends in a step; it receives as much at the same time."""

    messages: float  # whose starts follow one another
    bytes: float


@dataclass(frozen=True)
class MessagePath:
    """What messages take between two ranks: one that has its way for itself, and both directions at once.

    An emulated link that lay idle, as half of the time in a ping-pong, passes short messages on at once. A stream of
    them has no more than its rate, where that is known.
    """

    times: MessageTimes
    duplex: float = 1.0  # of both directions at once over one: 1 to 2
    measured: str = ""  # where, in words
    most_per_s: float = math.inf  # bytes of a stream in one direction, where the link's rate is known

    def seconds(self, sent: Sent, sharing: int = 1) -> tuple[float, float]:
        """Seconds of starts and of bytes of these messages, both directions at once.

        Args:
            sharing: ranks whose bytes go through one link.
        """
        if not sent.messages:
            return 0.0, 0.0
        whole = float(self.times.seconds(np.array([sent.bytes / sent.messages]))[0])
        start = min(whole, self.times.startup_s)
        moved = max(sent.messages * (whole - start) * self.duplex, sent.bytes / self.most_per_s)
        return sent.messages * start, moved * sharing


@dataclass(frozen=True)
class StepRate:
    """The rate of all ranks together (of messages alone: of each rank), in base units, and what limits it."""

    per_s: Interval
    limited_by: Limit


def sent_by_rank(step: Step, ranks: int) -> Sent:
    """What each rank sends in a step, the mean over the ranks."""
    return Sent(sum(part.starts(ranks) for part in step.parts), step.bytes_sent / ranks)


def rate(
    steps: Sequence[Step], counts: Sequence[str], ranks: int, alone_per_s: float, way: MessagePath, sharing: int = 1
) -> StepRate:
    """The rate that messages leave of what the ranks compute.

    Args:
        steps: the same work by each algorithm that may be chosen, at least one; the quickest messages count.
        counts: of the step that the rate is of. None: the step only sends, and the rate is of the bytes of each rank,
            whose starts and bytes follow one another.
        ranks: that take part, all alike.
        alone_per_s: the rate at which one rank does its share without messages; it says nothing without counts.
        way: of messages between them.
        sharing: ranks of a node whose messages leave through one link.
    """
    times = {way.seconds(sent_by_rank(step, ranks), sharing): step for step in steps}
    (start, moved), step = min(times.items(), key=lambda one: sum(one[0]))
    if not counts:
        value = step.bytes_sent / ranks / (start + moved)
        return StepRate(Interval(value, value, value), "bytes of messages" if moved > start else "start of messages")
    whole = sum(step.counts[name] for name in counts)
    parts: dict[Limit, float] = {
        "computing": whole / ranks / alone_per_s,
        "start of messages": start,
        "bytes of messages": moved,
    }
    least, most = max(parts.values()), sum(parts.values())
    ends = Interval(whole / most, whole / math.sqrt(least * most), whole / least)
    return StepRate(ends, max(parts, key=lambda one: parts[one]))
