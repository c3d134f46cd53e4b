"""One step of mpi/p2p: how many messages of `bytes` each of its patterns sends (the `work()` of its rows)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from octant.step import Part, Step
from octant.units import parse_bytes

_LINE = 64  # bytes that messages begin on
_MAX_CHECKED = 8 << 20  # bytes of a window that are compared


@dataclass(frozen=True)
class _Sent:
    """Number of messages of a pattern per step."""

    messages: int  # of all ranks
    turns: int  # one after the other
    passed: int  # that the first rank sends or receives; of most patterns without partners both ways


_Pattern = Callable[[int, int], _Sent]
"""From the ranks and the window."""


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one step of a pattern.

    Memory is that of two messages of a rank, of all that rotate, or of a window as far as it is compared.
    """
    length, window, pattern = parse_bytes(knobs["bytes"]), int(knobs["window"]), knobs["pattern"]
    sent = _PATTERNS[pattern](ranks, window)
    stride = -(-length // _LINE) * _LINE + _LINE
    places = min(window, max(2, _MAX_CHECKED // (length + _LINE))) if pattern in _WINDOWS else 2
    if knobs["buffers"] == "rotating":
        places = max(places, parse_bytes(knobs["rotation"]) // stride)
    counts = {"turns": sent.turns, "bytes_passed": sent.passed * length}
    part = Part("", sent.messages, sent.messages * length)
    return Step(counts, 2 * max(2, places) * stride * ranks, (part,) if sent.messages else ())


def _alike(sent: _Sent) -> _Pattern:
    return lambda _ranks, _window: sent


def _ring(messages: int, passed: int) -> _Pattern:
    return lambda ranks, _window: _Sent(messages * ranks, 1, passed)


def _halo(dimensions: int) -> _Pattern:
    def of(ranks: int, _window: int) -> _Sent:
        """Return two faces of each rank in every dimension with several ranks (as MPI_Dims_create)."""
        faces = 2 * min(dimensions, _prime_factors(ranks))
        return _Sent(faces * ranks, 1, 2 * faces)

    return of


def _prime_factors(number: int) -> int:
    found, factor = 0, 2
    while number > 1:
        while number % factor == 0:
            number //= factor
            found += 1
        factor += 1
    return found


def _fan(ranks: int, window: int) -> _Sent:
    messages = window * (ranks - 1)
    return _Sent(messages, messages, messages)


_WINDOWS: Mapping[str, _Pattern] = {
    "uniband": lambda ranks, window: _Sent(ranks // 2 * window, window, ranks // 2 * window),
    "biband": lambda ranks, window: _Sent(ranks // 2 * 2 * window, window, ranks // 2 * 2 * window),
    "duplex": lambda _ranks, window: _Sent(3 * window, 2 * window, 3 * window),
    "fan-in": _fan,
    "fan-out": _fan,
}
_PING_PONGS = ("pingpong", "persistent-pingpong", "derived", "packed", "posted", "unexpected")
_PATTERNS: Mapping[str, _Pattern] = {
    **dict.fromkeys(_PING_PONGS, _alike(_Sent(2, 2, 2))),
    "pingping": _alike(_Sent(2, 1, 1)),
    "large-count": _alike(_Sent(1, 1, 1)),
    **dict.fromkeys(("sendrecv", "sendrecv-replace", "isendrecv"), _ring(1, 2)),
    "partitioned": _ring(1, 1),
    **dict.fromkeys(("exchange", "persistent"), _ring(2, 4)),
    "halo-2d": _halo(2),
    "halo-3d": _halo(3),
    **_WINDOWS,
}
