"""A profile of one launch: all processes of a program, as arrays. Times are in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

CALLS = np.dtype(
    [
        ("rank", "<i4"),
        ("thread", "<i4"),  # number of the table, from 0 in each rank
        ("call", "<i4"),  # index of `JobProfile.call_names`
        ("site", "<i4"),  # index of `JobProfile.sites`
        ("communicator", "<i4"),  # index of `JobProfile.communicators`
        ("region", "<i4"),  # index of `JobProfile.regions`
        ("bucket", "<i4"),  # 0: no bytes; b: 2^(b-1) <= bytes < 2^b, of one call
        ("calls", "<i8"),
        ("bytes", "<i8"),
        ("time_s", "<f8"),  # inside the call, without the cost of the clock
        # In Wait and Test calls of any site, for requests that these calls started; with the flag "waits", in the
        # barrier before a blocking collective, which is a part of its time.
        ("waited_s", "<f8"),
        ("in_flight_s", "<f8"),  # from the start to the completion of these requests
        ("min_s", "<f8"),  # of one call
        ("max_s", "<f8"),
    ]
)
"""Element of `calls`: calls of one rank and thread with the same call, site, communicator, region and size."""

PEERS = np.dtype([("rank", "<i4"), ("peer", "<i4"), ("kind", "<i4"), ("messages", "<i8"), ("bytes", "<i8")])
"""Element of `peers`: messages between two ranks of MPI_COMM_WORLD. Peer -1: further peers of a full table."""

SENT, RECEIVED, PUT, GOT = range(4)
"""Kinds of `PEERS`."""

REGION_TIMES = np.dtype([("rank", "<i4"), ("region", "<i4"), ("visits", "<i8"), ("time_s", "<f8"), ("mpi_s", "<f8")])
"""Element of `region_times`: time of a rank in a region, nested regions included, and the part inside MPI."""


@dataclass(frozen=True)
class Site:
    """A place in the program that calls MPI."""

    module: str  # path of the executable or library; "": not known
    offset: int  # of the return address in the file of the module
    function: str = ""  # "": not resolved
    file: str = ""
    line: int = 0
    build_id: str = ""  # of the module in the process, hexadecimal; "": it has none

    @property
    def text(self) -> str:
        """Function, file and line if they are known, else module and offset."""
        name = self.file.rpartition("/")[2]
        where = f"{name}:{self.line}" if name and self.line else ""
        module = self.module.rpartition("/")[2] or "unknown module"
        if self.function:
            return f"{self.function} {where}".strip() if where else f"{self.function} ({module})"
        return where or f"{module}+{self.offset:#x}"


@dataclass(frozen=True)
class Communicator:
    """A communicator, window or file; processes with equal groups and order of creation share it."""

    name: str  # MPI_COMM_WORLD, the name given by the program, or "communicator 3 of 8 ranks"
    size: int
    kind: str = "communicator"  # or "window", "file", "intercommunicator"


@dataclass(frozen=True)
class Region:
    """A node of the tree of nested regions; region 0 is the whole program."""

    name: str
    parent: int = -1


@dataclass(frozen=True)
class ProcessProfile:
    """One process that called MPI. A value of `None` is not known."""

    rank: int
    host: str
    pid: int
    state: str  # "running" (killed), "finalized", "exited" (without MPI_Finalize)
    elapsed_s: float  # from the end of MPI_Init to MPI_Finalize, or to the last call of a process that was killed
    threads: int  # that called MPI
    mpi_s: float  # inside MPI, of all threads
    own_cost_s: float  # estimated cost of recording
    clock_s: float  # cost of two clock readings, subtracted from each call
    lost_calls: int = 0  # calls without site and size, because a table was full
    lost_requests: int = 0
    peak_memory_bytes: int | None = None
    user_s: float | None = None
    system_s: float | None = None
    context_switches: int | None = None
    flags: tuple[str, ...] = ()  # "counts only", "no sites", "lost entries", "MPI_THREAD_MULTIPLE", "waits", …


@dataclass(frozen=True)
class JobProfile:
    """The profile of one launch."""

    ranks: int  # of MPI_COMM_WORLD
    processes: tuple[ProcessProfile, ...]  # by rank
    call_names: tuple[str, ...]  # "MPI_Send"
    sites: tuple[Site, ...]
    communicators: tuple[Communicator, ...]
    regions: tuple[Region, ...]
    calls: np.ndarray = field(default_factory=lambda: np.zeros(0, CALLS))
    peers: np.ndarray = field(default_factory=lambda: np.zeros(0, PEERS))
    region_times: np.ndarray = field(default_factory=lambda: np.zeros(0, REGION_TIMES))
    library: str = ""  # MPI_Get_library_version
    abi: str = ""  # "standard", "MPICH", "Open MPI"
    program: str = ""
    missing: tuple[int, ...] = ()  # ranks without a table
    problems: Sequence[str] = ()  # why a table is not complete, one sentence each

    @property
    def is_complete(self) -> bool:
        """Whether the table of every rank exists and no rank ended before MPI_Finalize."""
        return not self.missing and all(one.state == "finalized" for one in self.processes)
