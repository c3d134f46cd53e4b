"""Rate of a declared step with measured message times: each rank computes its share and sends its messages.

The computation follows from the rate of one rank (or node) alone, the messages from the declaration of the workload
(`octant.step`). Their overlap is not known. At the low end of a rate, computation, message start-up and transfer do not
overlap; at its high end they overlap completely. No parameter is fitted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from octant.message_times import MessageTimes
from octant.stats import Interval
from octant.step import Step

Limit: TypeAlias = Literal["computing", "start of messages", "bytes of messages"]


@dataclass(frozen=True)
class Sent:
    """Messages that a rank sends in a step; it receives the same amount simultaneously."""

    messages: float  # with successive start-ups
    bytes: float


@dataclass(frozen=True)
class MessagePath:
    """Message times between two ranks: of a single message, and of both directions at once.

    An emulated link forwards short messages immediately if it was idle before, as in a ping-pong. A stream of messages
    is limited to the rate of the link, if that is known.
    """

    times: MessageTimes
    duplex: float = 1.0  # time of both directions at once over that of one: 1 to 2
    measured: str = ""  # where it was measured, for the user
    most_per_s: float = math.inf  # bytes of a stream in one direction; infinite: not known

    def seconds(self, sent: Sent, sharing: int = 1) -> tuple[float, float]:
        """Return the start-up time and the transfer time of these messages in seconds, in both directions at once.

        Args:
            sharing: number of ranks that share one link.
        """
        if not sent.messages:
            return 0.0, 0.0
        whole = float(self.times.seconds(np.array([sent.bytes / sent.messages]))[0])
        start = min(whole, self.times.startup_s)
        moved = max(sent.messages * (whole - start) * self.duplex, sent.bytes / self.most_per_s)
        return sent.messages * start, moved * sharing


@dataclass(frozen=True)
class StepRate:
    """Rate of all ranks together (of each rank, for messages alone), in base units, and its limit."""

    per_s: Interval
    limited_by: Limit


def sent_by_rank(step: Step, ranks: int) -> Sent:
    """Return the messages that each rank sends in a step, averaged over the ranks."""
    return Sent(sum(part.starts(ranks) for part in step.parts), step.bytes_sent / ranks)


def rate(
    steps: Sequence[Step], counts: Sequence[str], ranks: int, alone_per_s: float, way: MessagePath, sharing: int = 1
) -> StepRate:
    """Return the rate of computation and messages together.

    Args:
        steps: the same work with each available algorithm, at least one; the one with the fastest messages is used.
        counts: counts of the step whose rate is computed. Empty: the step only sends, and the result is the rate of
            bytes of each rank, without overlap of start-up and transfer.
        ranks: number of identical ranks.
        alone_per_s: rate of one rank without messages; unused without counts.
        way: message times between the ranks.
        sharing: number of ranks of a node that share one link.
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
