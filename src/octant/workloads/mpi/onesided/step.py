"""One step of mpi/onesided: the operations of all origins, and the windows and buffers (`Transfers`, `Creation`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from octant.step import Step
from octant.units import parse_bytes

_LINE = 64


@dataclass(frozen=True)
class _Rank:
    """Operations of a participating rank in one round."""

    operations: int
    regions: int = 1  # of its window


_Shape = Callable[[int], Sequence[_Rank]]
"""Participating ranks of a group, the first rank first (`links_of` of links.cpp)."""


def _pair(_ranks: int) -> Sequence[_Rank]:
    return (_Rank(1), _Rank(0))


def _both(_ranks: int) -> Sequence[_Rank]:
    return (_Rank(1),) * 2


def _one_to_all(ranks: int) -> Sequence[_Rank]:
    return (_Rank(ranks - 1), *(_Rank(0),) * (ranks - 1))


def _all_to_all(ranks: int) -> Sequence[_Rank]:
    return (_Rank(ranks - 1, ranks - 1),) * ranks


def _neighbours(ranks: int) -> Sequence[_Rank]:
    return (_Rank(2, 2),) * ranks


def _all_to_one(ranks: int) -> Sequence[_Rank]:
    return (_Rank(1),) * ranks


_FETCHING = ("get-accumulate", "fetch-and-op", "compare-and-swap", "counter")
_OF_ONE_VALUE = _FETCHING[1:]
_PATTERNS: Mapping[str, _Shape] = {
    **dict.fromkeys(("put", "get", "put-local", "get-local", "accumulate", *_FETCHING[:-1]), _pair),
    **dict.fromkeys(("passive-put", "passive-get", "passive-accumulate"), _pair),
    **dict.fromkeys(("bidirectional-put", "bidirectional-get"), _both),
    **dict.fromkeys(("put-all-local", "get-all-local", "one-put-all", "one-get-all"), _one_to_all),
    **dict.fromkeys(("all-put-all", "all-get-all"), _all_to_all),
    **dict.fromkeys(("exchange-put", "exchange-get"), _neighbours),
    **dict.fromkeys(("all-accumulate", "counter"), _all_to_one),
}


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one step: `window` rounds and their completion.

    How many messages carry the operations is the library's choice: none are declared.

    Raises:
        KeyError: there is no such pattern.
    """
    pattern, length = knobs["pattern"], parse_bytes(knobs["bytes"])
    if pattern == "window":
        least = 0 if knobs["win"] in ("allocate", "shared") else 1
        return Step({"rounds": 1, "operations": 1}, max(least, length) * ranks)
    rounds, taking_part = int(knobs["window"]), _PATTERNS[pattern](ranks)
    held = sum(_held(knobs, length, rank) for rank in taking_part)
    if pattern.startswith("passive-"):
        return Step({"rounds": 1}, held)
    operations = rounds * sum(rank.operations for rank in taking_part)
    counts = {"rounds": rounds, "operations": operations}
    if pattern not in _OF_ONE_VALUE and not pattern.endswith("-local"):
        counts["bytes_moved"] = operations * length
        counts["bytes_of_one_origin"] = rounds * taking_part[0].operations * length
    return Step(counts, held)


def _held(knobs: Mapping[str, str], length: int, rank: _Rank) -> int:
    """Return the bytes of a rank: its window, what it moves, and what it fetches."""
    stride, places = -(-length // _LINE) * _LINE + _LINE, int(knobs["window"])
    if knobs["buffers"] == "rotating":
        walked = stride * max(rank.regions, rank.operations) * places
        places *= max(2, parse_bytes(knobs["rotation"]) // walked)
    moved = (2 if knobs["pattern"] in _FETCHING else 1) * max(1, rank.operations)
    return (rank.regions + moved) * places * stride
