"""One call of mpi/collective: bytes that must leave a rank, that are read and written (`Layout` of pattern.hpp).

How many messages carry them is the library's choice, or that of an algorithm: none are declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from octant.step import Part, Step
from octant.units import parse_bytes

_ELEMENT_BYTES = {"float": 4, "double": 8, "int": 4, "byte": 1}


@dataclass(frozen=True)
class _Moved:
    """Of all ranks, in blocks (of one rank, or the vector that is reduced)."""

    sent: int
    read: int
    written: int
    into: float  # buffers of one rank that may be the root
    out: float


_PATTERNS: Mapping[str, Callable[[int], _Moved]] = {
    "barrier": lambda _: _Moved(0, 0, 0, 0, 0),
    "bcast": lambda p: _Moved(min(1, p - 1), min(1, p - 1), p - 1, 0, 1),
    "gather": lambda p: _Moved(p - 1, p, p, 1, p),
    "scatter": lambda p: _Moved(p - 1, p, p, p, 1),
    "allgather": lambda p: _Moved(p if p > 1 else 0, p, p * p, 1, p),
    "alltoall": lambda p: _Moved(p * (p - 1), p * p, p * p, p, p),
    "reduce": lambda p: _Moved(p - 1, p, 1, 1, 1),
    "allreduce": lambda p: _Moved(p if p > 1 else 0, p, p, 1, 1),
    "reduce-scatter": lambda p: _Moved(p - 1, p, 1, 1, 1 / p),
    "scan": lambda p: _Moved(p - 1, p, p, 1, 1),
    "exscan": lambda p: _Moved(p - 1, p, p - 1, 1, 1),
    "reduce-local": lambda p: _Moved(0, 2 * p, p, 1, 1),
}
_SAME_AS = {
    "gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather", "alltoallv": "alltoall",
    "alltoallw": "alltoall", "reduce-scatter-block": "reduce-scatter", "bcast-c": "bcast", "allreduce-c": "allreduce",
}  # fmt: skip
"""With equal blocks."""


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one call with equal blocks.

    Raises:
        KeyError: the pattern is one of neighbours in a topology.
        ValueError: blocks differ, or matrices are multiplied.
    """
    name = knobs["pattern"]
    moved = _PATTERNS[_SAME_AS.get(name, name)](ranks)
    if knobs["counts"] != "equal" or knobs["op"] == "matrix":
        raise ValueError("the data volume of blocks of different sizes and of matrix products is not declared")
    element = _ELEMENT_BYTES[knobs["type"]]
    count = parse_bytes(knobs["bytes"]) // element
    if name == "reduce-scatter-block":
        count -= count % ranks
    block = count * element
    held = round((moved.into + moved.out) * block)
    if knobs["buffers"] == "rotating":
        held = max(2 * held, parse_bytes(knobs["rotation"]))
    counts: dict[str, float] = {}
    if knobs["inplace"] == "no" and name != "barrier":
        counts = {"bytes_read": moved.read * block, "bytes_written": moved.written * block}
    return Step(counts, held * ranks, (Part("", 0, moved.sent * block),) if moved.sent else ())
