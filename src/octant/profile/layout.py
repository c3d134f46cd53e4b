"""Structures of the files of a process: `native/profiler/profile_format.h` and `packed_format.h`.

A file is either the mapping of the profiler (magic `OCTPROF1`: whole tables, mostly empty) or one or more packed
profiles, one after the other (magic `OCTPACK1`: used entries only), which `octant-bind` writes.
"""

from __future__ import annotations

import sys

import numpy as np

MAGIC, VERSION = b"OCTPROF1", 1
PACKED_MAGIC, PACKED_VERSION = b"OCTPACK1", 1

MAX_CALLS = 1024
MAX_COMMUNICATORS = 1024
MAX_REGIONS = 512
MAX_MODULES = 256
MAX_THREADS = 1024
ENTRIES = 8192
PEERS = 4096

ABIS = ("", "standard", "MPICH", "Open MPI")
STATES = ("loaded", "running", "finalized", "exited")
COUNTS_ONLY, NO_SITES, LOST_ENTRIES, LOST_SLAB, MPI_THREADS, NO_RANK, SPAWNED, WAITS = (1 << bit for bit in range(8))
FLAGS = {
    COUNTS_ONLY: "counts only",
    NO_SITES: "no sites",
    LOST_ENTRIES: "lost entries",
    LOST_SLAB: "lost slab",
    MPI_THREADS: "MPI_THREAD_MULTIPLE",
    NO_RANK: "rank of the launcher",
    SPAWNED: "spawned",
    WAITS: "waits",
}
KINDS = ("communicator", "MPI_COMM_WORLD", "MPI_COMM_SELF", "window", "file", "intercommunicator")
FURTHER_PEERS = 0xFFFFFFFF
"""World rank of the entry that counts further peers of a full table."""
NO_COMMUNICATOR = 0xFFFF
"""Number of the communicator in keys of calls without one, such as MPI_Wait."""
SITES_NOT_RECORDED = 1
"""Value of `ENTRY["site"]` if calls are not separated by call site."""

SUPPORTED_HOST = sys.byteorder == "little"
"""Whether files of this host have the declared byte order."""

HEADER = np.dtype(
    [
        ("magic", "S8"), ("version", "<u4"), ("header_bytes", "<u4"),
        ("entry_bytes", "<u4"), ("peer_bytes", "<u4"), ("slab_bytes", "<u4"), ("page_bytes", "<u4"),
        ("abi", "<u4"), ("state", "<u4"), ("flags", "<u4"), ("pid", "<i4"), ("rank", "<i4"), ("ranks", "<i4"),
        ("thread_level", "<u4"), ("slabs", "<u4"),
        ("communicators", "<u4"), ("regions", "<u4"), ("modules", "<u4"), ("threads", "<u4"),
        ("slabs_at", "<u8"),
        ("first_ticks", "<u8"), ("first_ns", "<u8"), ("first_epoch_ns", "<u8"),
        ("last_ticks", "<u8"), ("last_ns", "<u8"), ("last_epoch_ns", "<u8"),
        ("begin_ticks", "<u8"), ("end_ticks", "<u8"),
        ("clock_ticks", "<f8"), ("timed_ticks", "<f8"), ("counted_ticks", "<f8"), ("disabled_ticks", "<f8"),
        ("lost_calls", "<u8"), ("lost_requests", "<u8"),
        ("peak_memory_bytes", "<u8"), ("user_ns", "<u8"), ("system_ns", "<u8"),
        ("voluntary_switches", "<u8"), ("involuntary_switches", "<u8"),
        ("minor_faults", "<u8"), ("major_faults", "<u8"),
        ("unused", "<u8", (24,)),
        ("host", "S64"), ("library", "S256"), ("executable", "S512"),
    ],
    align=True,
)  # fmt: skip
TOTAL = np.dtype([("calls", "<u8"), ("ticks", "<u8")], align=True)
COMMUNICATOR = np.dtype(
    [
        ("parent", "<i4"), ("size", "<i4"), ("rank", "<i4"), ("kind", "<u4"), ("digest", "<u8"), ("sequence", "<u4"),
        ("unused", "<u4"), ("name", "S96"),
    ],
    align=True,
)  # fmt: skip
REGION = np.dtype([("parent", "<i4"), ("unused", "<u4"), ("name", "S120")], align=True)
MODULE = np.dtype(
    [("begin", "<u8"), ("end", "<u8"), ("bias", "<u8"), ("build_id", "S40"), ("path", "S960")], align=True
)
ENTRY = np.dtype(
    [
        ("site", "<u8"), ("key", "<u8"), ("calls", "<u8"), ("bytes", "<u8"), ("ticks", "<u8"), ("waited", "<u8"),
        ("in_flight", "<u8"), ("min_ticks", "<f4"), ("max_ticks", "<f4"),
    ],
    align=True,
)  # fmt: skip
PEER = np.dtype([("key", "<u8"), ("messages", "<u8"), ("bytes", "<u8"), ("unused", "<u8")], align=True)
REGION_TIME = np.dtype([("visits", "<u8"), ("ticks", "<u8"), ("mpi_ticks", "<u8"), ("open_ticks", "<u8")], align=True)
SLAB = np.dtype(
    [
        ("used", "<u4"), ("tid", "<i4"), ("threads", "<u4"), ("entries", "<u4"), ("peers", "<u4"), ("unused", "<u4"),
        ("mpi_ticks", "<u8"), ("mpi_calls", "<u8"), ("first_ticks", "<u8"), ("last_ticks", "<u8"),
        ("region_times", REGION_TIME, (MAX_REGIONS,)), ("table", ENTRY, (ENTRIES,)), ("peer_table", PEER, (PEERS,)),
    ],
    align=True,
)  # fmt: skip

TOTALS_AT = HEADER.itemsize
COMMUNICATORS_AT = TOTALS_AT + MAX_CALLS * TOTAL.itemsize
REGIONS_AT = COMMUNICATORS_AT + MAX_COMMUNICATORS * COMMUNICATOR.itemsize
MODULES_AT = REGIONS_AT + MAX_REGIONS * REGION.itemsize
TABLES_END = MODULES_AT + MAX_MODULES * MODULE.itemsize
"""Tables of the mapping follow its header without gaps; `HEADER["slabs_at"]` is the next page or later."""

PACKED = np.dtype(
    [
        ("magic", "S8"), ("bytes", "<u8"), ("version", "<u4"), ("head_bytes", "<u4"), ("header_bytes", "<u4"),
        ("totals", "<u4"), ("communicators", "<u4"), ("regions", "<u4"), ("modules", "<u4"), ("slabs", "<u4"),
    ],
    align=True,
)  # fmt: skip
"""Head of a packed profile. After it, without gaps: a HEADER, `totals` × PACKED_TOTAL, `communicators` × COMMUNICATOR,
`regions` × REGION, `modules` × MODULE, and for each slab a PACKED_SLAB with its `region_times` × PACKED_REGION_TIME,
`entries` × ENTRY and `peers` × PEER. `bytes` is the length of all."""
PACKED_TOTAL = np.dtype([("call", "<u4"), ("unused", "<u4"), ("total", TOTAL)], align=True)
PACKED_SLAB = np.dtype(
    [
        ("number", "<u4"), ("used", "<u4"), ("tid", "<i4"), ("threads", "<u4"), ("region_times", "<u4"),
        ("entries", "<u4"), ("peers", "<u4"), ("unused", "<u4"), ("mpi_ticks", "<u8"), ("mpi_calls", "<u8"),
        ("first_ticks", "<u8"), ("last_ticks", "<u8"),
    ],
    align=True,
)  # fmt: skip
PACKED_REGION_TIME = np.dtype([("region", "<u4"), ("unused", "<u4"), ("time", REGION_TIME)], align=True)
