"""The exchanges of mpi/ring that are timed at once: every rank sends to both neighbours, and gets as much."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Part, Step
from octant.units import parse_bytes

_LINE = 64  # bytes between places, so that none shares a cache line


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return a step of `loops` exchanges; a single rank sends to itself."""
    length, messages = parse_bytes(knobs["bytes"]), 2 * int(knobs["loops"]) * ranks
    stride = -(-2 * length // _LINE) * _LINE + _LINE
    places = max(2, parse_bytes(knobs["rotation"]) // stride) if knobs["buffers"] == "rotating" else 1
    return Step({}, 2 * places * stride * ranks, (Part("", messages, messages * length),))
