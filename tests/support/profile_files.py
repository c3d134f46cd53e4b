"""Files of processes as the profiler writes them, from a description in seconds and bytes.

    program = [Call("MPI_Send", site=0x100, calls=10, bytes_each=64, seconds=0.5)]
    data = mapped(MadeProcess(rank=0, ranks=2, calls=program, peers=[(1, SENT, 10, 640)]))

`mapped` returns the file of the profiler, `packed` what octant-bind makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from octant.profile import layout
from octant.profile.call_names import CALL_NAMES
from octant.profile.job import SENT

TICKS_PER_S = 2_000_000_000
START_TICKS = 5_000_000_000_000
MODULE_AT = 0x555500000000
"""Address of the program in each process; `Call.site` is an offset in its file."""
_CALL_OF = {name: number for number, name in enumerate(CALL_NAMES)}
_GROUPS = 0x1234567890ABCDEF


@dataclass(frozen=True)
class Call:
    """Calls of one thread with equal call, site, communicator, region and size."""

    name: str
    site: int = 0x100
    calls: int = 1
    bytes_each: int = 0
    seconds: float = 0.0  # of all calls, with the cost of the clock
    waited_s: float = 0.0
    in_flight_s: float = 0.0
    communicator: int = 0  # number in `MadeProcess.communicators`
    region: int = 0
    thread: int = 0


@dataclass(frozen=True)
class MadeCommunicator:
    """A communicator; processes share it if its group, size, sequence and kind are equal."""

    size: int
    kind: str = "communicator"
    group: int = 1
    sequence: int = 0
    name: str = ""


@dataclass(frozen=True)
class MadeModule:
    """A module of the program at an address; the bias is the difference of addresses and offsets."""

    path: str = "/opt/app/solver"
    begin: int = MODULE_AT
    bytes: int = 0x100000
    build_id: str = "00112233445566778899aabbccddeeff00112233"


@dataclass
class MadeProcess:
    """One process of a program."""

    rank: int = 0
    ranks: int = 1
    calls: Sequence[Call] = ()
    peers: Sequence[tuple[int, int, int, int]] = ()  # world rank, kind, messages, bytes
    host: str = "node1"
    pid: int = 1000
    state: str = "finalized"
    abi: str = "standard"
    library: str = "MPICH Version: 5.0.2"
    elapsed_s: float = 10.0  # from the end of MPI_Init to MPI_Finalize
    clock_s: float = 0.0  # of two readings
    cost_s: float = 0.0  # of one timed call
    flags: int = 0
    lost: Sequence[tuple[str, int, float]] = ()  # calls whose entry did not fit: name, calls, seconds
    communicators: Sequence[MadeCommunicator] | None = None  # `None`: MPI_COMM_WORLD and MPI_COMM_SELF
    regions: Sequence[tuple[str, int]] = ()  # name and number of the parent, from 1; 0 is the whole program
    visits: Sequence[tuple[int, int, float, float]] = ()  # region, visits, seconds, seconds in MPI; of thread 0
    modules: Sequence[MadeModule] = (MadeModule(),)
    memory_bytes: int = 100_000_000
    user_s: float = 9.0
    system_s: float = 0.5
    switches: int = 7
    executable: str = "/opt/app/solver"
    threads: int = field(init=False)

    def __post_init__(self) -> None:
        self.threads = 1 + max((one.thread for one in self.calls), default=0)


def ticks(seconds: float) -> int:
    """Return a duration in ticks of the clock."""
    return round(seconds * TICKS_PER_S)


def bucket(bytes_each: int) -> int:
    """Return the class of a message size."""
    return bytes_each.bit_length()


def mapped(process: MadeProcess) -> bytes:
    """Return the file of the profiler."""
    slabs = np.zeros(process.threads, layout.SLAB)
    for thread, slab in enumerate(slabs):
        for name, value in _slab_values(process, thread).items():
            slab[name] = value
        for region, time in _region_times(process, thread):
            slab["region_times"][region] = time
        entries, peers = _entries(process, thread), _peers(process, thread)
        places = _scatter(len(entries), layout.ENTRIES)
        slab["table"][places] = entries
        slab["peer_table"][_scatter(len(peers), layout.PEERS)] = peers
    totals = np.zeros(layout.MAX_CALLS, layout.TOTAL)
    for call, total in _totals(process):
        totals[call] = total
    tables = [
        totals,
        _filled(_communicators(process), layout.MAX_COMMUNICATORS),
        _filled(_regions(process), layout.MAX_REGIONS),
        _filled(_modules(process), layout.MAX_MODULES),
    ]
    head = _header(process)
    data = head.tobytes() + b"".join(one.tobytes() for one in tables)
    return data.ljust(int(head["slabs_at"]), b"\0") + slabs.tobytes()


def packed(process: MadeProcess) -> bytes:
    """Return the packed form."""
    totals = np.zeros(len(_totals(process)), layout.PACKED_TOTAL)
    for one, (call, total) in zip(totals, _totals(process), strict=True):
        one["call"], one["total"] = call, total
    parts: list[np.ndarray] = [totals, _communicators(process), _regions(process), _modules(process)]
    head = np.zeros((), layout.PACKED)
    for name, part in zip(("totals", "communicators", "regions", "modules"), parts, strict=True):
        head[name] = len(part)
    for thread in range(process.threads):
        times = np.zeros(len(_region_times(process, thread)), layout.PACKED_REGION_TIME)
        for one, (region, time) in zip(times, _region_times(process, thread), strict=True):
            one["region"], one["time"] = region, time
        slab = np.zeros((), layout.PACKED_SLAB)
        for name, value in _slab_values(process, thread).items():
            slab[name] = value
        entries, peers = _entries(process, thread), _peers(process, thread)
        slab["number"], slab["region_times"] = thread, len(times)
        slab["entries"], slab["peers"] = len(entries), len(peers)
        parts += [slab, times, entries, peers]
    body = _header(process).tobytes() + b"".join(one.tobytes() for one in parts)
    head["magic"], head["version"] = layout.PACKED_MAGIC, layout.PACKED_VERSION
    head["head_bytes"], head["header_bytes"] = layout.PACKED.itemsize, layout.HEADER.itemsize
    head["slabs"], head["bytes"] = process.threads, layout.PACKED.itemsize + len(body)
    return head.tobytes() + body


def write_files(folder: Path, processes: Sequence[MadeProcess], form: str = "mapped") -> list[Path]:
    """Write one file of each process, as the profiler names it, and return the paths.

    Args:
        form: "mapped", "packed", or "nodes": one file of packed profiles per host.
    """
    if form == "nodes":
        by_host: dict[str, bytes] = {}
        for one in processes:
            by_host[one.host] = by_host.get(one.host, b"") + packed(one)
        files = by_host
    else:
        files = {f"{one.host}.{one.pid}.0": (mapped if form == "mapped" else packed)(one) for one in processes}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def exchange(ranks: int, per_node: int = 2) -> list[MadeProcess]:
    """Return processes that pass messages around a ring and call MPI_Allreduce; the last rank computes longest."""
    found = []
    for rank in range(ranks):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        wait_s = 2.0 * (ranks - 1 - rank) / max(1, ranks - 1)
        calls = [
            Call("MPI_Isend", 0x120, 100, 1000, 0.01, waited_s=0.05, in_flight_s=0.2, region=1),
            Call("MPI_Irecv", 0x140, 100, 1000, 0.01, waited_s=0.1, in_flight_s=0.4, region=1),
            Call("MPI_Waitall", 0x160, 100, 0, 0.15, region=1),
            Call("MPI_Allreduce", 0x180, 50, 8, 0.1 + wait_s),
            Call("MPI_Comm_rank", 0x1A0, 1),
        ]
        peers = [(right, SENT, 100, 100_000), (left, 1, 100, 100_000)]
        process = MadeProcess(rank, ranks, calls, peers, f"node{1 + rank // per_node}", 1000 + rank)
        process.regions, process.visits = [("exchange", 0)], [(1, 100, 1.5, 0.17)]
        found.append(process)
    return found


def _header(process: MadeProcess) -> np.ndarray:
    head = np.zeros((), layout.HEADER)
    begin = START_TICKS + ticks(0.5)
    end = begin + ticks(process.elapsed_s)
    known = process.state != "running"
    values = {
        "magic": layout.MAGIC, "version": layout.VERSION, "header_bytes": layout.HEADER.itemsize,
        "entry_bytes": layout.ENTRY.itemsize, "peer_bytes": layout.PEER.itemsize,
        "slab_bytes": layout.SLAB.itemsize, "page_bytes": 4096,
        "abi": layout.ABIS.index(process.abi), "state": layout.STATES.index(process.state), "flags": process.flags,
        "pid": process.pid, "rank": process.rank, "ranks": process.ranks, "slabs": process.threads,
        "communicators": len(_communicators(process)), "regions": len(_regions(process)),
        "modules": len(_modules(process)), "threads": process.threads,
        "slabs_at": -(-layout.TABLES_END // 4096) * 4096,
        "first_ticks": START_TICKS, "first_ns": 7_000_000_000, "first_epoch_ns": 1_800_000_000_000_000_000,
        "begin_ticks": begin, "clock_ticks": process.clock_s * TICKS_PER_S,
        "timed_ticks": process.cost_s * TICKS_PER_S, "lost_calls": sum(calls for _, calls, _ in process.lost),
        "host": process.host.encode(), "library": process.library.encode(), "executable": process.executable.encode(),
        # of a process that was killed, the last update of the clocks is that after its last timed call
        "last_ticks": end, "last_ns": 7_000_000_000 + round((0.5 + process.elapsed_s) * 1e9),
        "last_epoch_ns": 1_800_000_000_000_000_000 + round((0.5 + process.elapsed_s) * 1e9),
    }  # fmt: skip
    if process.state == "finalized":
        values["end_ticks"] = end
    if known:
        values |= {"peak_memory_bytes": process.memory_bytes, "user_ns": round(process.user_s * 1e9)}
        values |= {"system_ns": round(process.system_s * 1e9), "voluntary_switches": process.switches}
    for name, value in values.items():
        head[name] = value
    return head


def _communicators(process: MadeProcess) -> np.ndarray:
    declared = process.communicators
    if declared is None:
        declared = (
            MadeCommunicator(process.ranks, "MPI_COMM_WORLD", 1, 0, "MPI_COMM_WORLD"),
            MadeCommunicator(1, "MPI_COMM_SELF", 1000 + process.rank, 0, "MPI_COMM_SELF"),
        )
    found = np.zeros(len(declared), layout.COMMUNICATOR)
    for number, one in enumerate(declared):
        found[number]["parent"] = -1
        found[number]["size"], found[number]["kind"] = one.size, layout.KINDS.index(one.kind)
        found[number]["digest"], found[number]["sequence"] = one.group * _GROUPS % 2**64, one.sequence
        found[number]["name"] = one.name.encode()
    return found


def _regions(process: MadeProcess) -> np.ndarray:
    found = np.zeros(1 + len(process.regions), layout.REGION)
    found[0]["parent"] = -1
    for number, (name, parent) in enumerate(process.regions, start=1):
        found[number]["name"], found[number]["parent"] = name.encode(), parent
    return found


def _modules(process: MadeProcess) -> np.ndarray:
    found = np.zeros(len(process.modules), layout.MODULE)
    for number, one in enumerate(process.modules):
        found[number]["begin"], found[number]["end"] = one.begin, one.begin + one.bytes
        found[number]["bias"], found[number]["path"] = one.begin, one.path.encode()
        found[number]["build_id"] = one.build_id.encode()
    return found


def _totals(process: MadeProcess) -> list[tuple[int, tuple[int, int]]]:
    return sorted((_CALL_OF[name], (calls, ticks(seconds))) for name, calls, seconds in process.lost)


def _slab_values(process: MadeProcess, thread: int) -> dict[str, int]:
    calls = [one for one in process.calls if one.thread == thread]
    begin = START_TICKS + ticks(0.5)
    return {
        "used": 1,
        "tid": process.pid + thread,
        "threads": 1,
        "entries": len(calls),
        "peers": len(_peers(process, thread)),
        "mpi_ticks": sum(ticks(one.seconds) for one in calls),
        "mpi_calls": sum(one.calls for one in calls),
        "first_ticks": begin,
        "last_ticks": begin + ticks(process.elapsed_s),
    }


def _region_times(process: MadeProcess, thread: int) -> list[tuple[int, tuple[int, int, int, int]]]:
    if thread:
        return []
    return [(region, (visits, ticks(all_s), ticks(mpi_s), 0)) for region, visits, all_s, mpi_s in process.visits]


def _entries(process: MadeProcess, thread: int) -> np.ndarray:
    calls = [one for one in process.calls if one.thread == thread]
    found = np.zeros(len(calls), layout.ENTRY)
    for entry, one in zip(found, calls, strict=True):
        entry["site"] = process.modules[0].begin + one.site if process.modules else one.site
        entry["key"] = _CALL_OF[one.name] | bucket(one.bytes_each) << 16 | one.communicator << 32 | one.region << 48
        entry["calls"], entry["bytes"], entry["ticks"] = one.calls, one.calls * one.bytes_each, ticks(one.seconds)
        entry["waited"], entry["in_flight"] = ticks(one.waited_s), ticks(one.in_flight_s)
        entry["min_ticks"] = entry["max_ticks"] = ticks(one.seconds) / one.calls
    return found


def _peers(process: MadeProcess, thread: int) -> np.ndarray:
    found = np.zeros(0 if thread else len(process.peers), layout.PEER)
    for one, (rank, kind, messages, amount) in zip(found, process.peers, strict=False):
        one["key"] = (layout.FURTHER_PEERS if rank < 0 else rank + 1) << 8 | kind
        if rank < 0:
            one["key"] = (layout.FURTHER_PEERS + 1) << 8 | kind
        one["messages"], one["bytes"] = messages, amount
    return found


def _filled(used: np.ndarray, length: int) -> np.ndarray:
    table = np.zeros(length, used.dtype)
    table[: len(used)] = used
    return table


def _scatter(count: int, length: int) -> np.ndarray:
    """Return different places in a table, in no order, as hashing chooses them."""
    return (np.arange(count) * 37 + 11) % length
