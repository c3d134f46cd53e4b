"""Reading of process files: used entries only, with every count and offset checked, because programs can write to them.

A damaged file is no error: what is wrong with it is stated in a sentence, and the other processes are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from octant.profile import layout
from octant.profile.call_names import CALL_NAMES

MAX_RANKS = 1 << 20
"""Maximum size of MPI_COMM_WORLD."""
MAX_AMOUNT = 1 << 62
"""Maximum number of ticks of an entry, and of calls and bytes of all threads together."""
MAX_ENTRY_AMOUNT = 1 << 52
"""Maximum number of calls, bytes and messages of one entry."""
MAX_PROBLEMS = 100
"""Maximum number of problems of one file that are listed."""
_MAX_CLOCK_TICKS = 1e9  # cost of a call or of a reading of the clock
_COUNTS = {
    "communicators": layout.MAX_COMMUNICATORS,
    "regions": layout.MAX_REGIONS,
    "modules": layout.MAX_MODULES,
    "slabs": layout.MAX_THREADS,
}


class DamagedProfileError(ValueError):
    """A file of a process that cannot be read; the message states what is wrong with it."""


@dataclass(frozen=True)
class ThreadTables:
    """What one slab contains: calls of one thread, or of threads that ran one after another."""

    first_ticks: int
    last_ticks: int
    region_numbers: np.ndarray
    region_times: np.ndarray  # of `layout.REGION_TIME`
    entries: np.ndarray  # of `layout.ENTRY`, with calls
    peers: np.ndarray  # of `layout.PEER`, with messages


@dataclass(frozen=True)
class ProcessTables:
    """The content of one process file. Numbers of communicators and regions in entries are valid."""

    header: dict[str, Any]
    lost: np.ndarray  # of `layout.PACKED_TOTAL`: calls whose entry did not fit, by call
    communicators: np.ndarray
    regions: np.ndarray
    modules: np.ndarray
    threads: tuple[ThreadTables, ...]

    @property
    def ticks_per_s(self) -> float | None:
        """The rate of the clock; `None` if the two readings are missing or do not agree with any clock."""
        ticks = self.header["last_ticks"] - self.header["first_ticks"]
        nanoseconds = self.header["last_ns"] - self.header["first_ns"]
        if ticks <= 0 or nanoseconds <= 0 or not 1e-4 < ticks / nanoseconds < 1e3:
            return None
        return float(ticks / nanoseconds * 1e9)


def read_processes(data: bytes, name: str) -> tuple[list[ProcessTables], list[str]]:
    """Return the processes in a file, and a sentence for each that is damaged or not complete.

    Args:
        name: of the file, for the sentences.
    """
    found: list[ProcessTables] = []
    problems: list[str] = []
    for one in _each(data):
        if isinstance(one, DamagedProfileError):
            problems.append(f"The profile of a process in {name} is left out, because {one}.")
            continue
        process, damages = _checked(one)
        found.append(process)
        problems += [f"The profile of {_title(process)} in {name} is not complete: {text}." for text in damages]
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"{name} has {len(problems) - MAX_PROBLEMS} further problems."]
    return found, problems


def _each(data: bytes) -> Iterator[ProcessTables | DamagedProfileError]:
    """Yield each process, or why it cannot be read."""
    if data[:8] == layout.MAGIC:
        try:
            yield _mapped(data)
        except DamagedProfileError as error:
            yield error
        return
    if not data:
        yield DamagedProfileError("the file is empty")
    at = 0
    while at < len(data):
        try:
            end = _end_of_packed(data, at)
        except DamagedProfileError as error:
            yield error
            return  # where the next one begins is not known
        try:
            yield _packed(data[at:end])
        except DamagedProfileError as error:
            yield error
        at = end


class _Cursor:
    """Position in a packed profile."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, kind: np.dtype[Any], count: int) -> np.ndarray:
        """Return the next structures."""
        size = count * kind.itemsize
        if size > len(self.data) - self.at:
            raise DamagedProfileError(f"it ends {size - len(self.data) + self.at} bytes too early")
        found: np.ndarray = np.frombuffer(self.data, kind, count, self.at)
        self.at += size
        return found


def _end_of_packed(data: bytes, at: int) -> int:
    head = layout.PACKED.itemsize
    if data[at : at + 8] != layout.PACKED_MAGIC:
        raise DamagedProfileError(f"no profile begins at byte {at}")
    if len(data) - at < head:
        raise DamagedProfileError(f"it ends {head - len(data) + at} bytes too early")
    length = int(np.frombuffer(data, layout.PACKED, 1, at)[0]["bytes"])
    if length < head + layout.HEADER.itemsize:
        raise DamagedProfileError(f"its length of {length} bytes is too small")
    if length > len(data) - at:
        raise DamagedProfileError(f"it ends {length - len(data) + at} bytes too early")
    return at + length


def _packed(data: bytes) -> ProcessTables:
    cursor = _Cursor(data, 0)
    head = dict(zip(layout.PACKED.names or (), cursor.take(layout.PACKED, 1)[0].item(), strict=True))
    if (head["version"], head["head_bytes"]) != (layout.PACKED_VERSION, layout.PACKED.itemsize):
        raise DamagedProfileError(f"version {head['version']} of its packed form is not supported")
    header = _header(cursor.take(layout.HEADER, 1)[0])
    _check_counts({**head, "totals": 0})
    if head["totals"] > layout.MAX_CALLS:
        raise DamagedProfileError(f"it has totals of {head['totals']} calls")
    lost = cursor.take(layout.PACKED_TOTAL, head["totals"])
    communicators = cursor.take(layout.COMMUNICATOR, head["communicators"])
    regions = cursor.take(layout.REGION, head["regions"])
    modules = cursor.take(layout.MODULE, head["modules"])
    threads = []
    for _ in range(head["slabs"]):
        slab = dict(zip(layout.PACKED_SLAB.names or (), cursor.take(layout.PACKED_SLAB, 1)[0].item(), strict=True))
        times = cursor.take(layout.PACKED_REGION_TIME, slab["region_times"])
        entries, peers = cursor.take(layout.ENTRY, slab["entries"]), cursor.take(layout.PEER, slab["peers"])
        threads.append(
            ThreadTables(slab["first_ticks"], slab["last_ticks"], times["region"], times["time"], entries, peers)
        )
    if cursor.at != len(data):
        raise DamagedProfileError(f"its length is {len(data)} bytes, and its parts have {cursor.at}")
    return ProcessTables(header, lost, communicators, regions, modules, tuple(threads))


def _mapped(data: bytes) -> ProcessTables:
    if len(data) < layout.TABLES_END:
        raise DamagedProfileError(f"it ends {layout.TABLES_END - len(data)} bytes too early")
    header = _header(np.frombuffer(data, layout.HEADER, 1)[0])
    _check_counts(header)
    at, stride = header["slabs_at"], header["slab_bytes"]
    if at < layout.TABLES_END or stride < layout.SLAB.itemsize:
        raise DamagedProfileError("its tables overlap")
    totals = np.frombuffer(data, layout.TOTAL, layout.MAX_CALLS, layout.TOTALS_AT)
    calls = np.flatnonzero(totals["calls"])
    lost = np.zeros(len(calls), layout.PACKED_TOTAL)
    lost["call"], lost["total"] = calls, totals[calls]
    threads = []
    for number in range(header["slabs"]):
        if (begin := at + number * stride) + layout.SLAB.itemsize > len(data):
            break
        slab = np.frombuffer(data, layout.SLAB, 1, begin)[0]
        if slab["used"]:
            threads.append(_thread(slab))
    return ProcessTables(
        header,
        lost,
        np.frombuffer(data, layout.COMMUNICATOR, header["communicators"], layout.COMMUNICATORS_AT).copy(),
        np.frombuffer(data, layout.REGION, header["regions"], layout.REGIONS_AT).copy(),
        np.frombuffer(data, layout.MODULE, header["modules"], layout.MODULES_AT).copy(),
        tuple(threads),
    )


def _thread(slab: np.void) -> ThreadTables:
    times, table, peers = slab["region_times"], slab["table"], slab["peer_table"]
    regions = np.flatnonzero((times["visits"] != 0) | (times["open_ticks"] != 0))
    return ThreadTables(
        int(slab["first_ticks"]),
        int(slab["last_ticks"]),
        regions,
        times[regions],
        table[table["calls"] != 0],
        peers[peers["key"] != 0],
    )


def _header(header: np.void) -> dict[str, Any]:
    """Return the fields of a header.

    Raises:
        DamagedProfileError: it has another version, or a field has no meaning.
    """
    found: dict[str, Any] = dict(zip(layout.HEADER.names or (), header.item(), strict=True))
    if found["magic"] != layout.MAGIC:
        raise DamagedProfileError("it has no header")
    sizes = tuple(found[name] for name in ("version", "header_bytes", "entry_bytes", "peer_bytes"))
    if sizes != (layout.VERSION, layout.HEADER.itemsize, layout.ENTRY.itemsize, layout.PEER.itemsize):
        raise DamagedProfileError(f"version {found['version']} of its structures is not supported")
    if found["abi"] >= len(layout.ABIS) or found["state"] >= len(layout.STATES):
        raise DamagedProfileError("its ABI or its state is not valid")
    rank, ranks = found["rank"], found["ranks"]
    if not (0 <= ranks <= MAX_RANKS and -1 <= rank < (ranks or MAX_RANKS)):
        raise DamagedProfileError(f"it states rank {rank} of {ranks}")
    costs = [found[name] for name in ("clock_ticks", "timed_ticks", "counted_ticks", "disabled_ticks")]
    if not all(math.isfinite(one) and 0 <= one <= _MAX_CLOCK_TICKS for one in costs):
        raise DamagedProfileError("the costs of its clock are not valid")
    times = [value for name, value in found.items() if name.endswith(("_ticks", "_ns")) and isinstance(value, int)]
    amounts = [*times, found["lost_calls"], found["lost_requests"], found["peak_memory_bytes"]]
    amounts += [found["voluntary_switches"], found["involuntary_switches"]]
    if max(amounts) > MAX_AMOUNT:
        raise DamagedProfileError("a time or a count is too large")
    for name in ("host", "library", "executable"):
        found[name] = text_of(found[name])
    return found


def text_of(value: bytes) -> str:
    """Return the text of a field, which ends at the first zero byte."""
    return value.partition(b"\0")[0].decode("utf-8", "replace")


def _check_counts(counts: dict[str, Any]) -> None:
    for name, limit in _COUNTS.items():
        if counts[name] > limit:
            raise DamagedProfileError(f"it states {counts[name]} {name}, of at most {limit}")


def _title(process: ProcessTables) -> str:
    rank, host = process.header["rank"], process.header["host"]
    return f"rank {rank}" if rank >= 0 else f"process {process.header['pid']} of {host}"


def _checked(process: ProcessTables) -> tuple[ProcessTables, list[str]]:
    """Return a process without invalid entries, and how many were left out."""
    damages: list[str] = []
    if (lacking := process.header["slabs"] - len(process.threads)) > 0 and process.header["slabs_at"]:
        damages += _missing_threads(process, lacking)
    parents = process.regions["parent"]
    if len(parents) and ((parents < -1) | (parents >= np.arange(len(parents)))).any():
        damages.append("the tree of its regions is damaged")
        regions = process.regions.copy()
        regions["parent"] = np.minimum(0, np.arange(len(parents)) - 1)
    else:
        regions = process.regions
    counts = (len(process.communicators), max(1, len(regions)))
    left_out = 0
    threads = []
    for one in process.threads:
        entries, peers = one.entries, one.peers
        good = _good_entries(entries, *counts)
        good_peers = (peers["key"] & 0xFF <= 3) & (peers["messages"] <= MAX_ENTRY_AMOUNT)
        good_peers &= peers["bytes"] <= MAX_ENTRY_AMOUNT
        times = one.region_times
        good_times = (one.region_numbers < counts[1]) & (times["visits"] <= MAX_ENTRY_AMOUNT)
        good_times &= (times["ticks"] <= MAX_AMOUNT) & (times["mpi_ticks"] <= MAX_AMOUNT)
        good_times &= times["open_ticks"] <= MAX_AMOUNT
        left_out += sum(len(mask) - int(np.count_nonzero(mask)) for mask in (good, good_peers, good_times))
        if not (good.all() and good_peers.all() and good_times.all()):
            entries, peers = entries[good], peers[good_peers]
            one = ThreadTables(  # noqa: PLW2901
                one.first_ticks, one.last_ticks, one.region_numbers[good_times], times[good_times], entries, peers
            )
        threads.append(one)
    if left_out:
        damages.append(f"{left_out} damaged entries are left out")
    totals = process.lost["total"]
    named = process.lost["call"] < len(CALL_NAMES)
    lost = process.lost[named & (totals["calls"] <= MAX_ENTRY_AMOUNT) & (totals["ticks"] <= MAX_AMOUNT)]
    changed = ProcessTables(process.header, lost, process.communicators, regions, process.modules, tuple(threads))
    return changed, damages


def _missing_threads(process: ProcessTables, lacking: int) -> Sequence[str]:
    """Return a problem if threads that called MPI have no table."""
    if process.header["threads"] <= len(process.threads) or process.header["flags"] & layout.LOST_SLAB:
        return ()
    return (f"the tables of {lacking} threads are missing",)


def _good_entries(entries: np.ndarray, communicators: int, regions: int) -> np.ndarray:
    key = entries["key"]
    good: np.ndarray = (key & 0xFFFF) < len(CALL_NAMES)
    communicator = (key >> 32) & 0xFFFF
    good &= (communicator < communicators) | (communicator == layout.NO_COMMUNICATOR)
    good &= ((key >> 16) & 0xFFFF <= 64) & (key >> 48 < regions)
    for name, limit in (
        ("calls", MAX_ENTRY_AMOUNT),
        ("bytes", MAX_ENTRY_AMOUNT),
        ("ticks", MAX_AMOUNT),
        ("waited", MAX_AMOUNT),
        ("in_flight", MAX_AMOUNT),
    ):
        good &= entries[name] <= limit
    return good
