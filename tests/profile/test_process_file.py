"""ProcessProfile files that are truncated, torn or written by an attacker."""

import random
from pathlib import Path

import numpy as np
import pytest

from octant.profile import layout
from octant.profile.call_names import CALL_NAMES
from octant.profile.container import read_container, write_container
from octant.profile.merge import merge
from octant.profile.process_file import MAX_RANKS, read_processes
from profile_files import Call, MadeCommunicator, MadeProcess, exchange, mapped, packed


def changed(data: bytes, at: int, kind: np.dtype, **values: object) -> bytes:
    """Return a file with changed fields of the structure at an offset."""
    copy = bytearray(data)
    place = np.frombuffer(copy, kind, 1, at)
    for name, value in values.items():
        place[name] = value
    return bytes(copy)


MAPPED, PACKED = mapped(exchange(2)[0]), packed(exchange(2)[0])


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"version": 9}, "version 9 of its structures is not supported"),
        ({"entry_bytes": 32}, "version 1 of its structures is not supported"),
        ({"communicators": 1025}, "it states 1025 communicators, of at most 1024"),
        ({"slabs": 2**32 - 1}, "it states 4294967295 slabs, of at most 1024"),
        ({"rank": 2}, "it states rank 2 of 2"),
        ({"rank": -7}, "it states rank -7 of 2"),
        ({"ranks": MAX_RANKS + 1}, f"it states rank 0 of {MAX_RANKS + 1}"),
        ({"clock_ticks": float("nan")}, "the costs of its clock are not valid"),
        ({"timed_ticks": -1.0}, "the costs of its clock are not valid"),
        ({"abi": 17}, "its ABI or its state is not valid"),
        ({"slabs_at": 0}, "its tables overlap"),
        ({"slab_bytes": 0}, "its tables overlap"),
        ({"lost_calls": 2**63}, "a time or a count is too large"),
    ],
)
def test_invalid_headers_are_refused(values: dict[str, object], reason: str) -> None:
    found, problems = read_processes(changed(MAPPED, 0, layout.HEADER, **values), "n1.7.0")
    assert found == []
    assert problems == [f"The profile of a process in n1.7.0 is left out, because {reason}."]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"bytes": 2**63}, "bytes too early"),
        ({"bytes": 0}, "its length of 0 bytes is too small"),
        ({"entries": 0}, ""),
        ({"version": 2}, "version 2 of its packed form"),
        ({"slabs": 1024}, "bytes too early"),
        ({"regions": 1}, ""),
        ({"totals": 2000}, "it has totals of 2000 calls"),
    ],
)
def test_invalid_packed_heads_are_refused(values: dict[str, object], reason: str) -> None:
    values = {name: value for name, value in values.items() if name in (layout.PACKED.names or ())}
    found, problems = read_processes(changed(PACKED, 0, layout.PACKED, **values), "node")
    if values and reason:
        assert found == []
        assert reason in problems[0]


def test_a_damaged_packed_profile_does_not_hide_the_next() -> None:
    good = packed(exchange(2)[1])
    found, problems = read_processes(changed(PACKED, 0, layout.PACKED, slabs=1000) + good, "node")
    assert [one.header["rank"] for one in found] == [1]
    assert len(problems) == 1
    found, problems = read_processes(good + b"rubbish", "node")
    assert [one.header["rank"] for one in found] == [1]
    assert problems == [f"The profile of a process in node is left out, because no profile begins at byte {len(good)}."]


def test_every_truncated_file_is_refused_or_incomplete() -> None:
    for data in (MAPPED, PACKED):
        whole = len(read_processes(data, "x")[0][0].threads[0].entries)
        for length in sorted({0, 1, 7, 8, 100, 1300, len(PACKED) - 1, len(data) // 2, len(data) - 1}):
            found, problems = read_processes(data[:length], "x")
            assert problems, length
            assert sum(len(thread.entries) for one in found for thread in one.threads) < whole


def test_damaged_entries_are_left_out() -> None:
    process = MadeProcess(0, 1, [Call("MPI_Send", site) for site in range(0x100, 0x110)])
    data = bytearray(mapped(process))
    at = int(np.frombuffer(data, layout.HEADER, 1)[0]["slabs_at"])
    slab = np.frombuffer(data, layout.SLAB, 1, at)[0]
    rows = np.flatnonzero(slab["table"]["site"])
    slab["table"]["key"][rows[0]] |= np.uint64(77 << 48)  # a region that does not exist
    slab["table"]["key"][rows[1]] |= np.uint64(500 << 32)  # a communicator
    slab["table"]["ticks"][rows[2]] = 2**63
    slab["table"]["calls"][rows[3]] = 0  # not yet complete when the process was killed
    ((one,), problems) = read_processes(bytes(data), "x")
    assert len(one.threads[0].entries) == 12
    assert problems == ["The profile of rank 0 in x is not complete: 3 damaged entries are left out."]


def test_a_cyclic_tree_of_regions_is_flattened() -> None:
    data = changed(mapped(MadeProcess(regions=[("a", 0), ("b", 1)])), layout.REGIONS_AT + 128, layout.REGION, parent=2)
    ((one,), problems) = read_processes(data, "x")
    assert one.regions["parent"].tolist() == [-1, 0, 0]
    assert problems == ["The profile of rank 0 in x is not complete: the tree of its regions is damaged."]


def test_what_is_left_of_damaged_files_can_be_stored(tmp_path: Path) -> None:
    """Calls without a name, and sizes and sums that no process has."""
    one = MadeProcess(0, 1, [Call("MPI_Send"), Call("MPI_Recv", 0x110)], lost=[("MPI_Send", 1, 0.0)])
    one.communicators = [MadeCommunicator(-5), MadeCommunicator(1)]
    data = packed(one).replace(np.uint64(CALL_NAMES.index("MPI_Recv")).tobytes(), np.uint64(len(CALL_NAMES)).tobytes())
    (tmp_path / "a").write_bytes(data)
    job = merge([tmp_path / "a"])
    assert [job.call_names[call] for call in job.calls["call"]] == ["MPI_Send", "MPI_Send"]
    assert job.problems == ("The profile of rank 0 in a is not complete: 1 damaged entries are left out.",)
    assert read_container(write_container(job)).communicators == job.communicators
    assert job.communicators[0].size == 0


def test_random_changes_raise_no_error(tmp_path: Path) -> None:
    rng = random.Random(5)
    for _ in range(200):
        data = bytearray(PACKED)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        (tmp_path / "x").write_bytes(data)
        job = merge([tmp_path / "x"])
        assert job.processes or job.problems
        assert read_container(write_container(job)).processes == job.processes
