"""HPC Challenge's tests of all ranks on measured messages: a rank computes its share, and sends what the test needs.

Both are known beforehand: the share from the rate of one rank (or node) alone, the messages from the algorithm
that the workload carries out. Whether messages travel while the rank computes is not: at the low end of a rate
computing, starts of messages and their bytes follow one another, at its high end all three go on at once. Nothing is
fitted.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from octant.network.message_times import MessageTimes
from octant.stats import Interval

Test: TypeAlias = Literal["hpl", "ptrans", "randomaccess", "gfft", "random-ring"]
TESTS: tuple[Test, ...] = get_args(Test)
Limit: TypeAlias = Literal["computing", "start of messages", "bytes of messages"]

NUMBER_BYTES, COMPLEX_BYTES = 8, 16
RING_BYTES = 2_000_000  # of HPC Challenge's rings
PTRANS_MESSAGE_BYTES = 262_144  # `message` of hpcc/ptrans
HPL_BLOCK = 128  # `block` of hpcc/hpl
FFT_CHUNK_BYTES, FFT_MESSAGE_BYTES, FFT_LEAST_CHUNKS = 2**19, 2**16, 9  # what `chunks=0` of hpcc/gfft aims at
FFT_VECTOR = 8  # numbers of its widest vector, in whole ones of which it cuts
HALF_BATCH = 512  # updates of a message round: two are under way, and 1,024 is HPC Challenge's look-ahead


@dataclass(frozen=True)
class Way:
    """What messages take between two ranks: one that has its way for itself, and both directions at once.

    An emulated link that lay idle, as half of the time in a ping-pong, passes short messages on at once. A stream of
    them has no more than its rate, where that is known.
    """

    times: MessageTimes
    duplex: float = 1.0  # of both directions at once over one: 1 to 2
    measured: str = ""  # where, in words
    most_per_s: float = math.inf  # bytes of a stream in one direction, where the link's rate is known

    def seconds(self, sent: "Sent", sharing: int = 1) -> tuple[float, float]:
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
class Sent:
    """What a rank sends in one execution; it receives as much at the same time."""

    messages: float
    bytes: float


@dataclass(frozen=True)
class Rate:
    """The rate of all ranks together (of a ring: of each rank), in base units, and what limits it."""

    per_s: Interval
    limited_by: Limit


def grid(ranks: int) -> tuple[int, int]:
    """The squarest grid of P × Q ranks with P ≤ Q, as HPL and PTRANS take it."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def work(test: Test, size: float) -> float:
    """What HPC Challenge counts: flop, bytes or updates.

    Args:
        test: not a ring.
        size: order of the matrix, length of the vector, or number of updates, of all ranks.
    """
    counted: Mapping[str, Callable[[], float]] = {
        "hpl": lambda: 2 / 3 * size**3 + 3 / 2 * size**2,
        "ptrans": lambda: NUMBER_BYTES * size**2,
        "randomaccess": lambda: size,
        "gfft": lambda: 5 * size * math.log2(size),
    }
    return counted[test]()


def grown(test: Test, size: float, times: float) -> float:
    """The size that takes so many times the memory."""
    return size * (math.sqrt(times) if test in ("hpl", "ptrans") else times)


def _fft_chunks(size: float, ranks: int) -> int:
    """Of each exchange: by bytes, and at most as many as there are whole vectors of lines in a block."""
    each = COMPLEX_BYTES * size / ranks
    longest = max(FFT_CHUNK_BYTES, each / FFT_LEAST_CHUNKS)
    chunk = min(max(FFT_MESSAGE_BYTES * ranks, FFT_CHUNK_BYTES), longest)
    return max(1, min(math.ceil(each / chunk), int(math.sqrt(size) / ranks / FFT_VECTOR)))


def sent(test: Test, size: float, ranks: int) -> tuple[Sent, ...]:
    """What each rank sends, by every algorithm that the workload offers for many ranks; the first is its default.

    hpl: see `hpl_sent`. ptrans: of the blocks of residues modulo the grid, one in lcm(P, Q) stays. gfft: three
    exchanges of all with all. randomaccess: a half-batch is sent in a message to each other rank, or goes through a
    hypercube of ranks, in each of whose dimensions half of what a rank holds is sent.
    """
    if ranks < 2:
        return (Sent(0.0, 0.0),)
    rows, columns = grid(ranks)
    if test == "hpl":
        return (hpl_sent(size, rows, columns),)
    if test == "ptrans":
        leaves = NUMBER_BYTES * size**2 / ranks * (1 - 1 / math.lcm(rows, columns))
        return (Sent(max(1.0, leaves / PTRANS_MESSAGE_BYTES), leaves),)
    if test == "gfft":
        each = COMPLEX_BYTES * size / ranks
        return (Sent(3 * _fft_chunks(size, ranks) * (ranks - 1), 3 * each * (1 - 1 / ranks)),)
    rounds = max(1.0, size / ranks / HALF_BATCH)
    direct = Sent(rounds * (ranks - 1), NUMBER_BYTES * size / ranks * (1 - 1 / ranks))
    dimensions = math.ceil(math.log2(ranks))
    cube = Sent(rounds / 2 * dimensions, NUMBER_BYTES * size / ranks * dimensions / 2)
    return direct, cube


def hpl_sent(size: float, rows: int, columns: int, block: int = HPL_BLOCK) -> Sent:
    """What a rank of hpcc/hpl sends by messages on a grid, the mean over ranks; the starts are those of each panel.

    A panel goes along the row of ranks, with its block on the diagonal and its pivots in each. Along the columns go the
    rows of U and those whose places they take, of which the last panels have fewer; and for each pivot a reduction of
    two rows of the panel and three numbers, which halves the ranks step by step.
    """
    steps, halvings = size / block, math.ceil(math.log2(rows))
    panels = (size * (size + block) / (2 * rows) + size * (block + 1)) * (columns - 1) / columns
    swaps = max(0.0, size * (size - 2 * block)) / columns * (rows - 1) / rows
    pivots = size / columns * halvings
    messages = steps * ((columns > 1) + (rows > 1)) + pivots
    return Sent(messages, NUMBER_BYTES * (panels + swaps + pivots * (2 * block + 3)))


def rate(
    test: Test, size: float, ranks: int, alone_per_s: float, way: Way, sharing: int = 1, default: bool = True
) -> Rate:
    """The rate that messages leave of what the ranks compute.

    Args:
        test: any of `TESTS`; of a ring `size` and `alone_per_s` say nothing.
        size: of all ranks: see `work`.
        ranks: that take part, all alike.
        alone_per_s: the rate at which one rank does its share without messages, in the unit of `work`.
        way: of messages between them.
        sharing: ranks of a node whose messages leave through one link.
        default: by the workload's default algorithm; else by the quickest that it offers.
    """
    if test == "random-ring":
        start, moved = way.seconds(Sent(1, RING_BYTES), sharing)
        value = RING_BYTES / (start + moved)
        return Rate(Interval(value, value, value), "bytes of messages" if moved > start else "start of messages")
    whole = work(test, size)
    computing = whole / ranks / alone_per_s
    ways = [way.seconds(one, sharing) for one in sent(test, size, ranks)]
    start, moved = ways[0] if default else min(ways, key=sum)
    parts: dict[Limit, float] = {"computing": computing, "start of messages": start, "bytes of messages": moved}
    least, most = max(parts.values()), sum(parts.values())
    ends = Interval(whole / most, whole / math.sqrt(least * most), whole / least)
    return Rate(ends, max(parts, key=lambda one: parts[one]))
