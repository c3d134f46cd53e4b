"""A repetition of mpi/startup: each rank sends one message to each other rank."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Part, Step
from octant.units import parse_bytes


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one repetition of pattern=first; memory is that of one message each way in every rank.

    Raises:
        ValueError: pattern=sessions opens and closes sessions, and counts no messages.
    """
    if knobs["pattern"] != "first":
        raise ValueError("the step of MPI sessions is not declared")
    length, messages = parse_bytes(knobs["bytes"]), ranks * (ranks - 1)
    return Step({}, 2 * length * ranks, (Part("", messages, messages * length),))
