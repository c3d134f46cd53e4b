"""One step of mpi/threads: messages, or calls of a collective operation, of all threads of all ranks at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from octant.step import Part, Step
from octant.units import parse_bytes

_LINE, _FLOAT_BYTES = 64, 4


@dataclass(frozen=True)
class _Sent:
    """Number of messages per operation of the threads with one number."""

    messages: int  # of all ranks
    turns: int
    passed: int
    places: int = 1  # of messages that each has at once


_Pattern = Callable[[int, int], _Sent]
"""From the ranks and the window."""

_PATTERNS: Mapping[str, _Pattern] = {
    "pingpong": lambda ranks, _: _Sent(ranks // 2 * 2, 2, 2),
    "pingping": lambda ranks, _: _Sent(ranks // 2 * 2, 1, 1),
    "sendrecv": lambda ranks, _: _Sent(ranks, 1, 2),
    "exchange": lambda ranks, _: _Sent(2 * ranks, 1, 4, 2),
    "uniband": lambda ranks, window: _Sent(ranks // 2 * window, window, window, window),
    "biband": lambda ranks, window: _Sent(ranks // 2 * 2 * window, window, 2 * window, window),
}
_CALLS: Mapping[str, Callable[[int, int], int]] = {
    "allreduce": lambda ranks, length: 2 * length * (ranks - 1) // ranks * ranks,
    "reduce": lambda ranks, length: (ranks - 1) * length,
    "bcast": lambda _, length: length,
    "barrier": lambda _ranks, _length: 0,
}
"""Bytes that leave ranks in a call."""


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """`repeats` operations of each thread."""
    length, window, pattern = parse_bytes(knobs["bytes"]), int(knobs["window"]), knobs["pattern"]
    repeats = int(knobs["repeats"])
    every = repeats * threads
    if pattern in _CALLS:
        whole = length if pattern == "bcast" else length // _FLOAT_BYTES * _FLOAT_BYTES
        sent = _CALLS[pattern](ranks, whole) * every
        counts = {"calls": every * ranks, "turns": repeats}
        return Step(counts, _held(length, 1, ranks * threads), (Part("", 0, sent),) if sent else ())
    of = _PATTERNS[pattern](ranks, window)
    counts = {"turns": repeats * of.turns, "bytes_passed": every * of.passed * length}
    part = Part("", every * of.messages, every * of.messages * length)
    return Step(counts, _held(length, of.places, ranks * threads), (part,))


def _held(length: int, places: int, lanes: int) -> int:
    """Return the bytes of messages both ways, each on lines of its own."""
    return 2 * places * (-(-length // _LINE) * _LINE + _LINE) * lanes
