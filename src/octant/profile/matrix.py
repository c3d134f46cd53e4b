"""Messages between the ranks of a job.

A message is taken from the table of its sender (sent, put) or, for MPI_Get, of the rank that receives. If the table of
the sender is missing, it is taken from the receiver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.profile.job import GOT, PUT, RECEIVED, SENT
from octant.profile.results import CommunicationMatrix
from octant.profile.totals import RankAxis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.profile.job import JobProfile

MAX_ROWS = 64
"""Maximum number of rows of a matrix; more ranks are summarised in blocks."""


@dataclass(frozen=True, eq=False)
class RankMessages:
    """Messages from each source to each target, each pair once, ascending."""

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    messages: NDArray[np.int64]
    bytes: NDArray[np.int64]


def messages_between(job: JobProfile) -> RankMessages:
    """Return all messages between known ranks."""
    peers = job.peers[job.peers["peer"] >= 0]
    known = {one.rank for one in job.processes}
    sent = peers[np.isin(peers["kind"], (SENT, PUT))]
    got = peers[peers["kind"] == GOT]
    received = peers[(peers["kind"] == RECEIVED) & ~np.isin(peers["peer"], list(known))]
    sources = np.concatenate([sent["rank"], got["peer"], received["peer"]]).astype(np.int64)
    targets = np.concatenate([sent["peer"], got["rank"], received["rank"]]).astype(np.int64)
    rows = np.concatenate([sent, got, received])
    inside = (sources >= 0) & (targets >= 0)
    size = max(int(sources.max(initial=-1)), int(targets.max(initial=-1)), job.ranks - 1) + 1
    pairs, places = np.unique(sources[inside] * size + targets[inside], return_inverse=True)
    messages, amounts = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    np.add.at(messages, places, rows["messages"][inside])
    np.add.at(amounts, places, rows["bytes"][inside])
    return RankMessages(pairs // max(1, size), pairs % max(1, size), messages, amounts)


def communication_matrix(job: JobProfile) -> CommunicationMatrix | None:
    """Return the matrix of messages, in blocks of ranks if there are many; `None` without messages."""
    if not len(job.peers):
        return None
    found = messages_between(job)
    ranks = max([job.ranks, *(found.sources + 1), *(found.targets + 1)])
    block = max(1, -(-ranks // MAX_ROWS))
    rows = max(1, -(-ranks // block))
    messages, amounts = np.zeros((rows, rows), np.int64), np.zeros((rows, rows), np.int64)
    np.add.at(messages, (found.sources // block, found.targets // block), found.messages)
    np.add.at(amounts, (found.sources // block, found.targets // block), found.bytes)
    further = job.peers[(job.peers["peer"] < 0) & (job.peers["kind"] != RECEIVED)]
    received = job.peers[job.peers["kind"] == RECEIVED]
    axis = RankAxis.of(job)
    own = np.isin(found.sources, axis.ranks) & (found.sources != found.targets)
    partners = axis.sums(found.sources[own], np.ones(int(own.sum()), np.int64))
    return CommunicationMatrix(
        ranks=int(ranks),
        block=int(block),
        messages=messages,
        bytes=amounts,
        unassigned_messages=int(further["messages"].sum()),
        unassigned_bytes=int(further["bytes"].sum()),
        received_bytes=int(received["bytes"].sum()),
        peers_of_rank=axis.spread(partners),
    )
