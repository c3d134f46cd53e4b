"""One repetition of hpcc/randomaccess: its updates, what it holds and sends (halves.cpp, hypercube.cpp, routed.cpp).

Where an update goes depends on a random number. Numbers are taken to fall evenly on the words of the table, so that
their bytes are means; the kernel's differ from these by far less than a percent for a table of HPC Challenge's size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octant.step import Part, Step, squarest
from octant.units import parse_bytes

WORD_BYTES = 8
MAX_AHEAD = 1024  # updates that HPC Challenge lets a process store
_STREAMS = 128  # parts of the sequence; a batch is a multiple of it


@dataclass(frozen=True)
class UpdateRounds:
    """The distribution of words, and the number of rounds of updates."""

    shares: NDArray[np.float64]  # of the table, by rank
    updates: int  # of all ranks
    batch: int
    rounds: int

    @property
    def ranks(self) -> int:
        """Return the ranks of the group."""
        return len(self.shares)


def rounds_of(knobs: Mapping[str, str], ranks: int) -> UpdateRounds:
    """Return the counts that all algorithms between ranks have in common."""
    words, per_word = words_of(knobs), int(knobs["updates"])
    sizes = words // ranks + (np.arange(ranks) < words % ranks)
    asked = -(-int(knobs["batch"]) // _STREAMS) * _STREAMS
    batch = asked or MAX_AHEAD // (2 if knobs["algorithm"] == "halves" else 1)
    return UpdateRounds(sizes / words, per_word * words, batch, -(-per_word * int(sizes.max()) // batch))


def words_of(knobs: Mapping[str, str]) -> int:
    """Return the words of the table: the largest power of two that fits the bytes, or a matrix of HPL's."""
    order = int(knobs["hpl"])
    asked = order**2 if order else parse_bytes(knobs["bytes"]) // WORD_BYTES
    return 1 << (max(asked, 2).bit_length() - 1)


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return all updates of the table, of which HPC Challenge makes four for each word."""
    words = words_of(knobs)
    counts = {"updates": int(knobs["updates"]) * words}
    if ranks == 1 or knobs["transport"] == "shared":
        return Step(counts, WORD_BYTES * words)
    rounds = rounds_of(knobs, ranks)
    buffers = 2 * rounds.batch * (1 + 2 * ranks) * ranks  # of two half-batches; the other algorithms have fewer
    return Step(counts, WORD_BYTES * (words + buffers), (_ALGORITHMS[knobs["algorithm"]](rounds),))


def _part(messages: int, words: float) -> Part:
    return Part("", messages, round(WORD_BYTES * words), exact=False)


def _halves(of: UpdateRounds) -> Part:
    """Return the step with one message, possibly empty, to each other rank per round."""
    return _part(of.rounds * of.ranks * (of.ranks - 1), of.updates * float(1 - (of.shares**2).sum()))


def _hypercube(of: UpdateRounds) -> Part:
    """Return the step of `hypercube`: halves of the ranks exchange updates of the other half, recursively."""
    messages, words = 0, 0.0
    groups = [(0, of.ranks)]
    while groups:
        first, last = groups.pop()
        if last - first < 2:
            continue
        middle = last - (last - first) // 2
        messages += (last - first) * of.rounds
        below, above = float(of.shares[first:middle].sum()), float(of.shares[middle:last].sum())
        held_below = (middle - first) / (last - first)
        words += of.updates * (held_below * above + (1 - held_below) * below)
        groups += [(first, middle), (middle, last)]
    return _part(messages, words + messages)


def _routed(of: UpdateRounds) -> Part:
    """Return the step of `routed`: along the row of a grid of ranks, then along the column."""
    rows, columns = squarest(of.ranks)
    shares = of.shares.reshape(rows, columns)
    leaves = 2 - float((shares.sum(axis=0) ** 2).sum()) - float((shares.sum(axis=1) ** 2).sum())
    return _part(of.rounds * of.ranks * (columns + rows - 2), of.updates * leaves)


def _buckets(of: UpdateRounds) -> Part:
    """Return the step of `buckets`, which sends the fullest bucket; the order depends on the arrival of messages.

    Buckets are refilled one after the other, so that on average the fullest has twice its equal share.
    """
    leaves = of.updates * float(1 - (of.shares**2).sum())
    sent = of.batch * min(1.0, 2 / of.ranks)
    return _part(round(leaves / sent) + of.ranks * (of.ranks - 1), leaves)


_ALGORITHMS: Mapping[str, Callable[[UpdateRounds], Part]] = {
    "halves": _halves,
    "hypercube": _hypercube,
    "opt2": _hypercube,
    "routed": _routed,
    "buckets": _buckets,
}
