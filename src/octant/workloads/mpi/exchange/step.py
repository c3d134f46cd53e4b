"""Exchanges of mpi/exchange: the first and the last rank of a group each send a message; the others are idle."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Part, Step
from octant.units import parse_bytes

_PARTNERS = 2
_COPIES = 3 + 5  # of a message: buffers, and at most so many in windows and attached buffers


def step(knobs: Mapping[str, str], _ranks: int, _threads: int) -> Step:
    """Return one step: an exchange, or ten; protocol=unordered looks for a length instead, and counts nothing.

    Memory that mode=cold walks through is not declared: it follows the caches.
    """
    length = parse_bytes(knobs["bytes"])
    held = _PARTNERS * _COPIES * (length + 1)
    if knobs["protocol"] == "unordered":
        return Step({}, held)
    repeats = 10 if knobs["mode"] == "ten" else 1
    messages = _PARTNERS * repeats
    return Step({"exchanges": repeats}, held, (Part("", messages, messages * length),))
