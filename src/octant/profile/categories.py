"""Categories of MPI functions that the analysis distinguishes."""

from __future__ import annotations

import re
from typing import Literal

Category = Literal["send", "receive", "exchange", "collective", "one-sided", "file", "wait", "poll", "other"]

SYNCHRONISING = frozenset(
    {
        "MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Allgather",
        "MPI_Allgatherv", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
    }
)  # fmt: skip
"""Collectives that no rank can leave before the last one has entered: each result depends on every rank."""

BLOCKING_COLLECTIVES = SYNCHRONISING | {
    "MPI_Bcast", "MPI_Exscan", "MPI_Gather", "MPI_Gatherv", "MPI_Reduce", "MPI_Scan", "MPI_Scatter", "MPI_Scatterv",
}  # fmt: skip
"""Collectives before which the profiler makes a barrier if waiting is to be measured."""

_CATEGORIES: tuple[tuple[Category, str], ...] = (
    ("poll", r"test(any|all|some)?|im?probe|request_get_status(_any|_all|_some)?|parrived"),
    ("wait", r"wait(any|all|some)?|m?probe"),
    ("exchange", r"i?sendrecv(_replace)?"),
    ("send", r"i?[bsr]?send(_init)?|psend_init"),
    ("receive", r"i?m?recv(_init)?|precv_init"),
    ("one-sided", r"r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap|win_\w+"),
    ("file", r"file_\w+"),
    (
        "collective",
        r"(i|i?neighbor_)?(all(gather|reduce|toall)|barrier|bcast|exscan|gather|reduce(?!_local)|scan|scatter)\w*",
    ),
)
"""Patterns of names in lower case, without the prefix."""
_ORIGINS = frozenset(
    {
        "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Rput", "MPI_Rget", "MPI_Raccumulate",
        "MPI_Rget_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap",
    }
)  # fmt: skip
_NO_DATA = frozenset({"MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init"})
_FILE_DATA = re.compile(r"MPI_File_i?(read|write)\w*")


def category_of(name: str) -> Category:
    """Return the category of an MPI function: `MPI_Isend` is a send."""
    plain = name.removeprefix("MPI_").lower()
    return next((category for category, pattern in _CATEGORIES if re.fullmatch(pattern, plain)), "other")


def transfers_data(name: str) -> bool:
    """Return whether calls of a function have a size: messages, collectives with data, one-sided and file accesses."""
    category = category_of(name)
    if category == "collective":
        return name not in _NO_DATA
    if category == "one-sided":
        return name in _ORIGINS
    if category == "file":
        return _FILE_DATA.fullmatch(name) is not None
    return category in ("send", "receive", "exchange")


def sends_data(name: str) -> bool:
    """Return whether the bytes of a function leave the rank: not those of receives, Get and files."""
    sends = category_of(name) in ("send", "exchange", "collective", "one-sided")
    return sends and transfers_data(name) and name not in ("MPI_Get", "MPI_Rget")
