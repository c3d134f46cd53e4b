"""Merging of process files to the profile of a launch.

The processes of each file (of a node, or one process) are merged first, then the results, `_FAN_IN` at a time. What is
the same in several processes is identified by properties, never by number:

- a call site by the file of its module, its build, and its offset in it;
- a communicator by its group, its size, the number of equal ones before it, and its kind. Communicators of one process
  are the same on all ranks;
- a region by the names on its path.

Times are net of the cost of the clock. The elapsed time of a process that was killed ends with its last update.

One MPI_COMM_WORLD is one profile. Left out, with a problem that states it, are processes of another one (spawned, or of
a second program), processes without a rank, and further processes with the same rank. Of these, the process that
called MPI_Finalize is kept; if more than one did, the one with most calls.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from octant.failure import Refusal
from octant.profile import layout
from octant.profile.call_names import CALL_NAMES
from octant.profile.job import CALLS, PEERS, REGION_TIMES, Communicator, JobProfile, ProcessProfile, Region, Site
from octant.profile.process_file import MAX_RANKS, ProcessTables, read_processes, text_of
from octant.untrusted import read_bytes

MAX_FILE_BYTES = 1 << 30
"""Maximum size of one process file, or of the packed ones of a node."""
_FAN_IN = 64
_SHOWN_RANKS = 8
_OFFSET_BITS = 48  # of a call site in its module; more bits than addresses of processes have


class _CommunicatorKey(NamedTuple):
    kind: int
    size: int
    digest: int
    sequence: int


_FURTHER = _CommunicatorKey(-1, 0, 0, 0)
"""Communicators that the table of a process had no room for."""
_NONE = _CommunicatorKey(-2, 0, 0, 0)
"""Of calls without a communicator, and of those whose entry did not fit into the table of a thread."""


class _Place(NamedTuple):
    """First use of an object, in the order of ranks: the order of the merged tables."""

    rank: int
    pid: int
    number: int


@dataclass(frozen=True)
class _OneProcess:
    process: ProcessProfile
    ranks: int  # of its MPI_COMM_WORLD; 0: not known
    is_spawned: bool
    calls: int
    library: str
    abi: str
    program: str


@dataclass(frozen=True)
class _Part:
    """A merged part of a job. Numbers in the arrays are those of its own tables; `rank` is the number of a process."""

    processes: tuple[_OneProcess, ...]
    modules: tuple[tuple[str, str], ...]  # path and build
    sites: np.ndarray  # number of the module << _OFFSET_BITS | offset
    communicators: dict[_CommunicatorKey, tuple[_Place, str]]
    regions: dict[tuple[str, ...], _Place]
    calls: np.ndarray
    peers: np.ndarray
    region_times: np.ndarray


def merge(paths: Iterable[Path], ranks: int | None = None) -> JobProfile:
    """Return the profile of one launch from its process files; a file that cannot be read is a problem.

    Args:
        ranks: number of ranks that the launcher started, if no process states the size of MPI_COMM_WORLD.
    """
    parts: list[_Part] = []
    problems: list[str] = []
    without_clock: list[ProcessTables] = []
    unsupported: list[ProcessTables] = []
    rates: dict[str, float] = {}
    for path in sorted(paths):
        try:
            data = read_bytes(path, "profile", MAX_FILE_BYTES)
        except Refusal as error:
            problems.append(f"The profile of a process is left out: {str(error).partition('; ')[0]}.")
            continue
        found, damages = read_processes(data, path.name)
        problems += damages
        unsupported += [one for one in found if not one.header["abi"]]
        found = [one for one in found if one.header["abi"]]
        rated = [(one, rate) for one in found if (rate := one.ticks_per_s)]
        rates |= {one.header["host"]: rate for one, rate in rated}
        without_clock += [one for one in found if not one.ticks_per_s]
        if rated:
            parts.append(_part([one for one, _ in rated], [rate for _, rate in rated]))
    if without_clock and rates:
        usual = float(np.median(list(rates.values())))
        parts.append(_part(without_clock, [rates.get(one.header["host"], usual) for one in without_clock]))
    elif without_clock:
        problems.append(_left_out(len(without_clock), "whose clock is not known"))
    if unsupported:
        problems.append(_unsupported([one.header for one in unsupported]))
        ranks = ranks or max(one.header["ranks"] for one in unsupported)
    while len(parts) > 1:
        parts = [_combine(parts[at : at + _FAN_IN]) for at in range(0, len(parts), _FAN_IN)]
    return _job(parts[0] if parts else None, ranks, problems)


def _part(processes: Sequence[ProcessTables], rates: Sequence[float]) -> _Part:
    """Return the processes of one file, merged.

    Args:
        rates: ticks per second of each.
    """
    communicators: dict[_CommunicatorKey, tuple[_Place, str]] = {}
    regions: dict[tuple[str, ...], _Place] = {(): _Place(0, 0, 0)}
    modules: dict[tuple[str, str], int] = {("", ""): 0}
    calls, peers, times, found = [], [], [], []
    for number, (one, rate) in enumerate(zip(processes, rates, strict=True)):
        numbers = _Numbers(
            _add_communicators(one, communicators), _add_regions(one, regions), _add_modules(one, modules)
        )
        mine, sites = _calls(one, rate, numbers)
        of_peers, of_regions = _peers(one), _region_times(one, rate, numbers.regions)
        found.append(_process(one, rate, mine))
        mine["rank"] = of_peers["rank"] = of_regions["rank"] = number
        calls.append((mine, sites))
        peers.append(of_peers)
        times.append(of_regions)
    merged = _join([mine for mine, _ in calls], CALLS)
    keys, merged["site"] = np.unique(np.concatenate([sites for _, sites in calls]), return_inverse=True)
    return _Part(
        tuple(found),
        tuple(modules),
        keys,
        communicators,
        regions,
        merged,
        _join(peers, PEERS),
        _join(times, REGION_TIMES),
    )


def _join(arrays: Sequence[np.ndarray], kind: np.dtype[Any]) -> np.ndarray:
    """Return arrays of structures as one; numpy would copy field by field."""
    if len(arrays) == 1:
        return arrays[0]
    as_bytes = [np.ascontiguousarray(one).view(np.uint8) for one in arrays if len(one)]
    joined: np.ndarray = np.concatenate([np.zeros(0, np.uint8), *as_bytes]).view(kind)
    return joined


class _Numbers(NamedTuple):
    """Numbers in the tables of a part, by the numbers in a process."""

    communicators: np.ndarray
    regions: np.ndarray
    modules: np.ndarray


def _place(one: ProcessTables, number: int) -> _Place:
    return _Place(one.header["rank"], one.header["pid"], number)


def _add_communicators(one: ProcessTables, known: dict[_CommunicatorKey, tuple[_Place, str]]) -> np.ndarray:
    """Add the communicators of a process; an additional last number is that of calls without one."""
    numbers = {key: number for number, key in enumerate(known)}
    found = []
    for number, fields in enumerate(one.communicators.tolist()):
        _, size, _, kind, digest, sequence, _, name = fields
        key = _CommunicatorKey(kind, max(0, size), digest, sequence)
        if number == layout.MAX_COMMUNICATORS - 1:
            key = _FURTHER
        elif size == 1:
            key = key._replace(digest=0)
        place, old_name = known.get(key, (_place(one, number), ""))
        known[key] = min(place, _place(one, number)), old_name or text_of(name)
        found.append(numbers.setdefault(key, len(numbers)))
    known.setdefault(_NONE, (_place(one, layout.MAX_COMMUNICATORS), ""))
    found.append(numbers.setdefault(_NONE, len(numbers)))
    return np.array(found)


def _add_regions(one: ProcessTables, known: dict[tuple[str, ...], _Place]) -> np.ndarray:
    numbers = {path: number for number, path in enumerate(known)}
    paths: list[tuple[str, ...]] = [()]
    for number, (parent, name) in enumerate(
        zip(one.regions["parent"].tolist(), one.regions["name"].tolist(), strict=True)
    ):
        if number == 0:
            continue
        path = (*paths[max(0, parent)], text_of(name))
        paths.append(path)
        known[path] = min(known.get(path, _place(one, number)), _place(one, number))
        numbers.setdefault(path, len(numbers))
    return np.array([numbers[path] for path in paths])


def _add_modules(one: ProcessTables, known: dict[tuple[str, str], int]) -> np.ndarray:
    paths, builds = one.modules["path"].tolist(), one.modules["build_id"].tolist()
    return np.array(
        [
            known.setdefault((text_of(path), text_of(build)), len(known))
            for path, build in zip(paths, builds, strict=True)
        ],
        np.uint64,
    )


def _calls(one: ProcessTables, rate: float, numbers: _Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Return the calls of a process without their sites, and the sites: module << _OFFSET_BITS | offset."""
    entries = _join([thread.entries for thread in one.threads], layout.ENTRY)
    clock = one.header["clock_ticks"]
    key, count = entries["key"], len(entries)
    found = np.zeros(count + len(one.lost), CALLS)
    found["thread"][:count] = np.repeat(np.arange(len(one.threads)), [len(thread.entries) for thread in one.threads])
    found["call"][:count] = key & 0xFFFF
    found["bucket"][:count] = (key >> 16) & 0xFFFF
    found["communicator"][:count] = numbers.communicators[
        np.minimum((key >> 32) & 0xFFFF, len(one.communicators)).astype(np.intp)
    ]
    found["region"][:count] = numbers.regions[(key >> 48).astype(np.intp)]
    found["calls"][:count], found["bytes"][:count] = entries["calls"], entries["bytes"]
    found["time_s"][:count] = _seconds(entries["ticks"] - entries["calls"] * clock, rate)
    found["waited_s"][:count] = _seconds(entries["waited"], rate)
    found["in_flight_s"][:count] = _seconds(entries["in_flight"], rate)
    for name, ticks in (("min_s", entries["min_ticks"]), ("max_s", entries["max_ticks"])):
        valid = (entries["ticks"] > 0) & (ticks >= 0) & (ticks < 1e19)  # not of calls that are only counted
        found[name][:count] = _seconds(np.where(valid, ticks, 0.0) - clock, rate)
    if len(one.lost):
        rest, total = found[count:], one.lost["total"]
        rest["call"], rest["calls"], rest["communicator"] = one.lost["call"], total["calls"], numbers.communicators[-1]
        rest["time_s"] = _seconds(total["ticks"] - total["calls"] * clock, rate)
    return found, np.append(_sites(one, entries["site"], numbers.modules), np.zeros(len(one.lost), np.uint64))


def _seconds(ticks: np.ndarray, rate: float) -> np.ndarray:
    """Return times, not below zero, as single-precision values: containers then need four bytes for each."""
    found: np.ndarray = (np.maximum(0.0, ticks) / rate).astype(np.float32)
    return found


def _sites(one: ProcessTables, addresses: np.ndarray, modules: np.ndarray) -> np.ndarray:
    """Return the number of the module and the offset in its file; 0: in no module, or sites are not recorded."""
    if not len(modules):
        return np.zeros(len(addresses), np.uint64)
    order = np.argsort(one.modules["begin"], kind="stable")
    begins = one.modules["begin"][order]
    inside = order[np.maximum(0, np.searchsorted(begins, addresses, "right") - 1)]
    module = one.modules[inside]
    offsets = addresses - module["bias"]
    valid = (module["begin"] <= addresses) & (addresses < module["end"]) & (offsets < 1 << _OFFSET_BITS)
    return np.where(valid, modules[inside] << np.uint64(_OFFSET_BITS) | offsets, np.uint64(0))


def _peers(one: ProcessTables) -> np.ndarray:
    """Return the messages of a process by peer and kind, of all its threads together."""
    peers = _join([thread.peers for thread in one.threads], layout.PEER)
    ranks = (peers["key"] >> 8).astype(np.int64) - 1
    limit = one.header["ranks"] or MAX_RANKS
    ranks = np.where((ranks >= 0) & (ranks < limit), ranks, -1)
    keys, inverse = np.unique(ranks << 8 | (peers["key"] & 0xFF).astype(np.int64), return_inverse=True)
    found = np.zeros(len(keys), PEERS)
    found["peer"], found["kind"] = keys >> 8, keys & 0xFF
    for name in ("messages", "bytes"):
        sums = np.zeros(len(keys), np.int64)
        np.add.at(sums, inverse, peers[name].astype(np.int64))
        found[name] = sums
    return found


def _region_times(one: ProcessTables, rate: float, numbers: np.ndarray) -> np.ndarray:
    """Return the times in regions, of all threads together; a visit that has not ended ends with the process."""
    visits, times, in_mpi = Counter[int](), Counter[int](), Counter[int]()
    end = _end_ticks(one)
    for thread in one.threads:
        for region, (count, ticks, mpi_ticks, opened) in zip(
            thread.region_numbers.tolist(), thread.region_times.tolist(), strict=True
        ):
            number = int(numbers[region])
            visits[number] += count + bool(opened)
            times[number] += ticks + (max(0, end - opened) if opened else 0)
            in_mpi[number] += mpi_ticks
    rows = [(0, number, visits[number], times[number] / rate, in_mpi[number] / rate) for number in visits if number]
    return np.array(rows, REGION_TIMES)


def _end_ticks(one: ProcessTables) -> int:
    if one.header["end_ticks"]:
        return int(one.header["end_ticks"])
    return int(max(one.header["last_ticks"], *(thread.last_ticks for thread in one.threads), 0))


def _begin_ticks(one: ProcessTables) -> int:
    first = min((thread.first_ticks for thread in one.threads if thread.first_ticks), default=0)
    return int(one.header["begin_ticks"] or first or one.header["first_ticks"])


def _process(one: ProcessTables, rate: float, calls: np.ndarray) -> _OneProcess:
    header = one.header
    all_calls, timed = int(calls["calls"].sum(dtype=np.float64)), _timed_calls(one)  # integers could overflow
    cost = timed * header["timed_ticks"] + max(0, all_calls - timed) * header["counted_ticks"]
    known = header["peak_memory_bytes"] > 0
    state = layout.STATES[header["state"]]
    process = ProcessProfile(
        header["rank"],
        header["host"],
        header["pid"],
        "running" if state == "loaded" else state,
        max(0, _end_ticks(one) - _begin_ticks(one)) / rate,
        header["threads"],
        float(calls["time_s"].sum()),
        cost / rate,
        header["clock_ticks"] / rate,
        header["lost_calls"],
        header["lost_requests"],
        header["peak_memory_bytes"] if known else None,
        header["user_ns"] / 1e9 if known else None,
        header["system_ns"] / 1e9 if known else None,
        header["voluntary_switches"] + header["involuntary_switches"] if known else None,
        tuple(text for bit, text in layout.FLAGS.items() if header["flags"] & bit),
    )
    return _OneProcess(
        process,
        header["ranks"],
        bool(header["flags"] & layout.SPAWNED),
        all_calls,
        " ".join(header["library"].split()),
        layout.ABIS[header["abi"]],
        header["executable"],
    )


def _timed_calls(one: ProcessTables) -> int:
    tables = [one.lost["total"], *(thread.entries for thread in one.threads)]
    return sum(int(table["calls"][table["ticks"] > 0].sum(dtype=np.float64)) for table in tables)


def _combine(parts: Sequence[_Part]) -> _Part:
    """Return several parts of a job as one."""
    if len(parts) == 1:
        return parts[0]
    communicators: dict[_CommunicatorKey, tuple[_Place, str]] = {}
    regions: dict[tuple[str, ...], _Place] = {}
    modules: dict[tuple[str, str], int] = {}
    keys, first = [], 0
    calls = _join([part.calls for part in parts], CALLS)
    peers = _join([part.peers for part in parts], PEERS)
    times = _join([part.region_times for part in parts], REGION_TIMES)
    row = peer_row = time_row = 0
    sites_before = 0
    for part in parts:
        of_modules = np.array([modules.setdefault(one, len(modules)) for one in part.modules], np.uint64)
        offsets = part.sites & np.uint64((1 << _OFFSET_BITS) - 1)
        keys.append(
            of_modules[(part.sites >> np.uint64(_OFFSET_BITS)).astype(np.intp)] << np.uint64(_OFFSET_BITS) | offsets
        )
        mine = calls[row : (row := row + len(part.calls))]
        mine["communicator"] = _join_communicators(part, communicators)[mine["communicator"]]
        in_regions = _join_regions(part, regions)
        mine["region"] = in_regions[mine["region"]]
        mine["site"] += sites_before
        mine["rank"] += first
        peers["rank"][peer_row : (peer_row := peer_row + len(part.peers))] += first
        of_times = times[time_row : (time_row := time_row + len(part.region_times))]
        of_times["region"] = in_regions[of_times["region"]]
        of_times["rank"] += first
        first += len(part.processes)
        sites_before += len(part.sites)
    sites, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    calls["site"] = inverse[calls["site"]]
    processes = tuple(one for part in parts for one in part.processes)
    return _Part(processes, tuple(modules), sites, communicators, regions, calls, peers, times)


def _join_communicators(part: _Part, known: dict[_CommunicatorKey, tuple[_Place, str]]) -> np.ndarray:
    """Add the communicators of a part, and return their numbers."""
    for key, (place, name) in part.communicators.items():
        old_place, old_name = known.get(key, (place, name))
        known[key] = min(place, old_place), (old_name or name) if old_place <= place else (name or old_name)
    numbers = {key: number for number, key in enumerate(known)}
    return np.array([numbers[key] for key in part.communicators])


def _join_regions(part: _Part, known: dict[tuple[str, ...], _Place]) -> np.ndarray:
    for path, place in part.regions.items():
        known[path] = min(place, known.get(path, place))
    numbers = {path: number for number, path in enumerate(known)}
    return np.array([numbers[path] for path in part.regions])


def _job(part: _Part | None, ranks: int | None, problems: list[str]) -> JobProfile:
    """Return the job of the merged processes."""
    if part is None:
        return JobProfile(
            ranks or 0, (), CALL_NAMES, (), (), (Region(""),), missing=tuple(range(ranks or 0)),
            problems=(*problems, "There is no profile of any process."),
        )  # fmt: skip
    kept, size, left_out = _choose(part.processes, ranks)
    problems += left_out
    order = sorted(kept, key=lambda number: kept[number])
    rank_of = np.full(len(part.processes), -1, np.int32)
    rank_of[order] = [kept[number] for number in order]
    sites, site_of = _ordered_sites(part)
    communicators, communicator_of = _ordered_communicators(part)
    regions, region_of = _ordered_regions(part)
    calls = _of_ranks(part.calls, rank_of)
    calls["site"], calls["communicator"] = site_of[calls["site"]], communicator_of[calls["communicator"]]
    calls["region"] = region_of[calls["region"]]
    times = _of_ranks(part.region_times, rank_of)
    times["region"] = region_of[times["region"]]
    processes = tuple(replace(part.processes[number].process, rank=kept[number]) for number in order)
    whole = np.array([(one.rank, 0, 1, one.elapsed_s, one.mpi_s) for one in processes], REGION_TIMES)
    times = _join([whole, times], REGION_TIMES)
    first = part.processes[order[0]] if order else None
    present = {one.rank for one in processes}
    return JobProfile(
        size, processes, CALL_NAMES, sites, communicators, regions, calls, _of_ranks(part.peers, rank_of),
        times[np.argsort(times["rank"], kind="stable")],
        first.library if first else "", first.abi if first else "", first.program if first else "",
        tuple(rank for rank in range(size) if rank not in present), tuple(problems),
    )  # fmt: skip


def _of_ranks(rows: np.ndarray, rank_of: np.ndarray) -> np.ndarray:
    """Return the rows of the kept processes, by rank."""
    rows["rank"] = rank_of[rows["rank"]]
    if len(rows) and rows["rank"].min() < 0:
        rows = rows[rows["rank"] >= 0]
    if len(rows) and (np.diff(rows["rank"]) < 0).any():
        rows = rows[np.argsort(rows["rank"], kind="stable")]
    return rows


def _unsupported(headers: Sequence[Mapping[str, Any]]) -> str:
    """Return the problem of processes whose MPI library has a binary interface that is not known."""
    ranks = sorted({one["rank"] for one in headers if one["rank"] >= 0})
    shown = ", ".join(map(str, ranks[:_SHOWN_RANKS])) + (", …" if len(ranks) > _SHOWN_RANKS else "")
    of = f"of rank{'s' * (len(ranks) > 1)} {shown}" if ranks else "of the program"
    name = headers[0]["library"].strip()
    return f"The MPI library {of} is not supported{f' ({name})' if name else ''}."


def _choose(processes: Sequence[_OneProcess], ranks: int | None) -> tuple[dict[int, int], int, list[str]]:
    """Return the rank of each kept process by its number, the size of MPI_COMM_WORLD, and what was left out."""
    problems = []
    candidates = [number for number, one in enumerate(processes) if not one.is_spawned]
    if (spawned := len(processes) - len(candidates)) and candidates:
        problems.append(_left_out(spawned, "started by MPI_Comm_spawn"))
    candidates = candidates or list(range(len(processes)))
    sizes = Counter(processes[number].ranks for number in candidates if processes[number].ranks)
    size = max(sizes, key=lambda one: (one == ranks, min(one, sizes[one]), one)) if sizes else ranks or 1
    strangers = [number for number in candidates if processes[number].ranks not in (0, size)]
    if strangers:
        problems.append(_left_out(len(strangers), "of another MPI_COMM_WORLD"))
    by_rank: dict[int, list[int]] = defaultdict(list)
    for number in candidates:
        if processes[number].ranks in (0, size):
            rank = processes[number].process.rank
            by_rank[0 if rank < 0 and len(candidates) == size == 1 else rank].append(number)
    if unknown := [
        *by_rank.pop(-1, ()),
        *(number for rank in set(by_rank) if rank >= size for number in by_rank.pop(rank)),
    ]:
        problems.append(_left_out(len(unknown), "without a rank in MPI_COMM_WORLD"))
    kept = {max(numbers, key=lambda number: _precedence(processes[number])): rank for rank, numbers in by_rank.items()}
    if several := sorted(rank for rank, numbers in by_rank.items() if len(numbers) > 1):
        count = sum(len(by_rank[rank]) - 1 for rank in several)
        shown = ", ".join(map(str, several[:_SHOWN_RANKS])) + (", …" if len(several) > _SHOWN_RANKS else "")
        problems.append(_left_out(count, f"with the same rank as another process ({shown})"))
        if size == 1 and count > 1:
            problems.append(
                "Each process is rank 0 of 1: the launcher probably belongs to another MPI library than the program."
            )
    return kept, size, problems


def _left_out(count: int, which: str) -> str:
    return f"1 process {which} is left out." if count == 1 else f"{count} processes {which} are left out."


def _precedence(one: _OneProcess) -> tuple[bool, int, int]:
    return one.process.state == "finalized", one.calls, -one.process.pid


def _ordered_sites(part: _Part) -> tuple[tuple[Site, ...], np.ndarray]:
    """Return the sites by module and offset, and their numbers by those of the part."""
    modules = (part.sites >> np.uint64(_OFFSET_BITS)).tolist()
    offsets = (part.sites & np.uint64((1 << _OFFSET_BITS) - 1)).tolist()
    named = [(*part.modules[module], offset) for module, offset in zip(modules, offsets, strict=True)]
    order = sorted(range(len(named)), key=named.__getitem__)
    sites = tuple(Site(path, offset, build_id=build) for path, build, offset in map(named.__getitem__, order))
    return sites, _inverse(order)


def _inverse(order: Sequence[int], count: int | None = None) -> np.ndarray:
    """Return the position of each number in an order.

    Args:
        count: of numbers, if some are not in the order.
    """
    found = np.zeros(len(order) if count is None else count, np.int32)
    found[list(order)] = np.arange(len(order))
    return found


def _ordered_communicators(part: _Part) -> tuple[tuple[Communicator, ...], np.ndarray]:
    keys = list(part.communicators)
    used = set(np.unique(part.calls["communicator"]).tolist())
    known = [number for number, key in enumerate(keys) if key != _NONE or number in used]
    order = sorted(known, key=lambda number: (keys[number].kind < 0, part.communicators[keys[number]][0]))
    found = [_communicator(keys[number], part.communicators[keys[number]][1], at) for at, number in enumerate(order)]
    return tuple(found), _inverse(order, len(keys))


def _communicator(key: _CommunicatorKey, name: str, number: int) -> Communicator:
    if key == _FURTHER:
        return Communicator("further communicators", 0)
    if key == _NONE:
        return Communicator("no communicator", 0)
    kind = layout.KINDS[key.kind] if key.kind < len(layout.KINDS) else "communicator"
    if kind.startswith("MPI_"):
        return Communicator(kind, key.size)
    ranks = "1 rank" if key.size == 1 else f"{key.size} ranks"
    return Communicator(name or f"{kind} {number} of {ranks}", key.size, kind)


def _ordered_regions(part: _Part) -> tuple[tuple[Region, ...], np.ndarray]:
    paths = list(part.regions)
    order = sorted(range(len(paths)), key=lambda number: (bool(paths[number]), part.regions[paths[number]]))
    position = {paths[number]: at for at, number in enumerate(order)}
    found = [Region(path[-1], position[path[:-1]]) if path else Region("") for path in map(paths.__getitem__, order)]
    return tuple(found), _inverse(order)
