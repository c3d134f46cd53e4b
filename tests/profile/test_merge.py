"""Merging of process files: sums, identities, times, and what is left out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from octant.profile import layout
from octant.profile.job import PUT, RECEIVED, SENT, JobProfile, Region, Site
from octant.profile.merge import merge
from profile_files import (
    MODULE_AT,
    Call,
    MadeCommunicator,
    MadeModule,
    MadeProcess,
    exchange,
    mapped,
    packed,
    write_files,
)


def table(job: JobProfile) -> list[tuple[object, ...]]:
    """Return the calls of a job by names instead of numbers."""
    return sorted(
        (
            row["rank"], row["thread"], job.call_names[row["call"]], job.sites[row["site"]].text,
            job.communicators[row["communicator"]].name, job.regions[row["region"]].name, row["bucket"], row["calls"],
            row["bytes"], row["time_s"], row["waited_s"], row["in_flight_s"], row["min_s"], row["max_s"],
        )
        for row in job.calls
    )  # fmt: skip


@pytest.mark.parametrize("form", ["mapped", "packed", "nodes"])
def test_every_form_of_files_gives_the_same_profile(tmp_path: Path, form: str) -> None:
    job = merge(write_files(tmp_path, exchange(6), form))
    assert job.ranks == 6
    assert job.missing == ()
    assert job.problems == ()
    assert job.is_complete
    assert [one.rank for one in job.processes] == list(range(6))
    assert {one.host for one in job.processes} == {"node1", "node2", "node3"}
    assert (job.library, job.abi, job.program) == ("MPICH Version: 5.0.2", "standard", "/opt/app/solver")
    names = [job.call_names[call] for call in job.calls["call"]]
    sends = job.calls[[name == "MPI_Isend" for name in names]]
    assert len(job.calls) == 30
    assert len(sends) == 6
    assert set(sends["bytes"]) == {100_000}
    assert set(sends["bucket"]) == {10}
    assert sends["waited_s"] == pytest.approx(0.05)
    assert sends["in_flight_s"] == pytest.approx(0.2)
    assert [job.regions[number] for number in set(sends["region"])] == [Region("exchange", 0)]
    assert [job.communicators[number].name for number in set(sends["communicator"])] == ["MPI_COMM_WORLD"]
    assert [one.text for one in job.sites] == [f"solver+{0x120 + 0x20 * n:#x}" for n in range(5)]
    slow = job.calls[[name == "MPI_Allreduce" for name in names]]
    assert slow["time_s"] == pytest.approx([2.1, 1.7, 1.3, 0.9, 0.5, 0.1])
    assert job.processes[0].mpi_s == pytest.approx(2.27)
    assert job.processes[0].elapsed_s == pytest.approx(10.0)
    assert job.processes[0].peak_memory_bytes == 100_000_000
    assert job.processes[0].context_switches == 7


def test_the_number_of_files_does_not_matter(tmp_path: Path) -> None:
    processes = exchange(200, per_node=1)
    (tmp_path / "files").mkdir()
    (tmp_path / "node").mkdir()
    many = merge(write_files(tmp_path / "files", processes, "packed"))  # more than are merged at a time, twice
    (tmp_path / "node" / "all").write_bytes(b"".join(map(packed, processes)))
    one = merge([tmp_path / "node" / "all"])
    assert table(many) == table(one)
    assert (many.sites, many.communicators, many.regions) == (one.sites, one.communicators, one.regions)
    assert many.peers.tolist() == one.peers.tolist()
    assert many.region_times.tolist() == one.region_times.tolist()


def test_objects_are_identified_by_properties_and_not_by_numbers(tmp_path: Path) -> None:
    row = MadeCommunicator(2, group=7, sequence=1, name="row")
    world = MadeCommunicator(2, "MPI_COMM_WORLD", 1, 0)
    itself = [MadeCommunicator(1, "MPI_COMM_SELF", 100 + rank) for rank in range(2)]
    first = MadeProcess(0, 2, [Call("MPI_Barrier", communicator=1, region=2), Call("MPI_Bcast", communicator=2)])
    first.communicators, first.regions = [world, row, itself[0]], [("solve", 0), ("halo", 1), ("halo", 0)]
    second = MadeProcess(1, 2, [Call("MPI_Barrier", communicator=2, region=3), Call("MPI_Bcast", communicator=1)])
    second.communicators, second.regions = (
        [world, itself[1], replace(row, name="")],
        [("x", 0), ("solve", 0), ("halo", 2)],
    )
    second.pid = 1001
    second.modules = [MadeModule(begin=MODULE_AT + 0x7000), MadeModule("/lib/libc.so", MODULE_AT - 0x10000, 0x1000)]
    job = merge(write_files(tmp_path, [first, second]))
    assert [(one.name, one.size) for one in job.communicators] == [
        ("MPI_COMM_WORLD", 2), ("row", 2), ("MPI_COMM_SELF", 1)
    ]  # fmt: skip
    assert job.regions == (Region(""), Region("solve", 0), Region("halo", 1), Region("halo", 0), Region("x", 0))
    assert job.sites == (Site("/opt/app/solver", 0x100, build_id=MadeModule().build_id),)
    barriers = job.calls[[job.call_names[call] == "MPI_Barrier" for call in job.calls["call"]]]
    assert set(barriers["communicator"]) == {1}
    assert set(barriers["region"]) == {2}
    assert set(barriers["site"]) == {0}


def test_communicators_differ_by_group_size_sequence_and_kind(tmp_path: Path) -> None:
    base = MadeCommunicator(4, "communicator", 1, 0)
    kinds = [
        base,
        replace(base, group=2),
        replace(base, size=5),
        replace(base, sequence=1),
        replace(base, kind="window"),
    ]
    one = MadeProcess(0, 8, [Call("MPI_Barrier", communicator=number) for number in range(5)], communicators=kinds)
    job = merge(write_files(tmp_path, [one, replace(one, rank=1, pid=2)]))
    assert [(each.name, each.size, each.kind) for each in job.communicators] == [
        ("communicator 0 of 4 ranks", 4, "communicator"),
        ("communicator 1 of 4 ranks", 4, "communicator"),
        ("communicator 2 of 5 ranks", 5, "communicator"),
        ("communicator 3 of 4 ranks", 4, "communicator"),
        ("window 4 of 4 ranks", 4, "window"),
    ]
    assert sorted(job.calls["communicator"]) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_times_are_net_of_the_clock(tmp_path: Path) -> None:
    one = MadeProcess(calls=[Call("MPI_Iprobe", 1, 1000, seconds=0.002), Call("MPI_Test", 2, 1000, seconds=0.0005)])
    one.clock_s, one.cost_s = 1e-6, 3e-6
    one.calls = [*one.calls, Call("MPI_Comm_rank", 3, 500)]
    job = merge(write_files(tmp_path, [one]))
    times = {job.call_names[row["call"]]: row for row in job.calls}
    assert times["MPI_Iprobe"]["time_s"] == pytest.approx(0.001)
    assert times["MPI_Iprobe"]["min_s"] == pytest.approx(1e-6) == times["MPI_Iprobe"]["max_s"]
    assert times["MPI_Test"]["time_s"] == 0, "not below zero"
    assert times["MPI_Comm_rank"]["time_s"] == times["MPI_Comm_rank"]["min_s"] == 0
    (process,) = job.processes
    assert process.clock_s == pytest.approx(1e-6)
    assert process.mpi_s == pytest.approx(0.001)
    assert process.own_cost_s == pytest.approx(2000 * 3e-6)


def test_a_killed_process_ends_with_its_last_update(tmp_path: Path) -> None:
    one = MadeProcess(0, 2, [Call("MPI_Barrier", seconds=0.5)], state="running", elapsed_s=4.0)
    one.regions, one.visits = [("step", 0)], [(1, 3, 2.0, 0.5)]
    job = merge(write_files(tmp_path, [one]))
    assert job.processes[0].state == "running"
    assert job.processes[0].elapsed_s == pytest.approx(4.0)
    assert job.processes[0].user_s is None
    assert job.processes[0].peak_memory_bytes is None
    assert job.missing == (1,)
    assert not job.is_complete
    assert job.region_times.tolist() == [pytest.approx((0, 0, 1, 4.0, 0.5)), pytest.approx((0, 1, 3, 2.0, 0.5))]


def test_an_open_visit_of_a_region_ends_with_the_process(tmp_path: Path) -> None:
    data = bytearray(mapped(MadeProcess(regions=[("step", 0)], visits=[(1, 3, 2.0, 0.5)], state="running")))
    head = np.frombuffer(data, layout.HEADER, 1)[0]
    slab = np.frombuffer(data, layout.SLAB, 1, int(head["slabs_at"]))
    slab["region_times"]["open_ticks"][0, 1] = head["last_ticks"] - 2_000_000_000
    (tmp_path / "a").write_bytes(data)
    (_, times) = merge([tmp_path / "a"]).region_times.tolist()
    assert times == pytest.approx((0, 1, 4, 3.0, 0.5))


def test_threads_keep_their_calls_and_share_their_peers(tmp_path: Path) -> None:
    calls = [Call("MPI_Send", bytes_each=8), Call("MPI_Send", bytes_each=8, calls=2, thread=1)]
    one = MadeProcess(0, 2, calls, [(1, SENT, 3, 24), (1, PUT, 1, 8), (-1, SENT, 2, 16)])
    job = merge(write_files(tmp_path, [one]))
    assert [(row["thread"], row["calls"], row["bytes"]) for row in job.calls] == [(0, 1, 8), (1, 2, 16)]
    assert job.processes[0].threads == 2
    assert sorted(job.peers.tolist()) == [(0, -1, SENT, 2, 16), (0, 1, SENT, 3, 24), (0, 1, PUT, 1, 8)]


def test_calls_that_did_not_fit_are_counted(tmp_path: Path) -> None:
    one = MadeProcess(
        calls=[Call("MPI_Send", calls=5, seconds=0.25)], lost=[("MPI_Send", 7, 0.5), ("MPI_Recv", 1, 0.0)]
    )
    one.flags = layout.LOST_ENTRIES
    job = merge(write_files(tmp_path, [one]))
    counts = [(job.call_names[row["call"]], job.sites[row["site"]].module, row["calls"]) for row in job.calls]
    assert counts == [("MPI_Send", "/opt/app/solver", 5), ("MPI_Recv", "", 1), ("MPI_Send", "", 7)]
    assert job.processes[0].mpi_s == pytest.approx(0.75)
    assert job.processes[0].lost_calls == 8
    assert job.processes[0].flags == ("lost entries",)
    assert job.communicators[job.calls[1]["communicator"]].name == "no communicator"


def test_calls_without_communicator_have_none(tmp_path: Path) -> None:
    calls = [Call("MPI_Wait", communicator=layout.NO_COMMUNICATOR), Call("MPI_Barrier")]
    job = merge(write_files(tmp_path, [MadeProcess(calls=calls)]))
    names = [(job.call_names[row["call"]], job.communicators[row["communicator"]].name) for row in job.calls]
    assert sorted(names) == [("MPI_Barrier", "MPI_COMM_WORLD"), ("MPI_Wait", "no communicator")]
    assert job.problems == ()


def test_sites_outside_of_modules_are_unknown(tmp_path: Path) -> None:
    one = MadeProcess(calls=[Call("MPI_Send", 0x200000), Call("MPI_Send", 0x10)])
    job = merge(write_files(tmp_path, [one]))
    assert [site.text for site in job.sites] == ["unknown module+0x0", "solver+0x10"]
    assert sorted(job.calls["site"]) == [0, 1]
    one.modules = []
    assert [site.text for site in merge(write_files(tmp_path, [one])).sites] == ["unknown module+0x0"]


def test_one_world_is_one_profile(tmp_path: Path) -> None:
    barrier = [Call("MPI_Barrier", calls=3)]
    processes = [MadeProcess(rank, 3, barrier, pid=rank) for rank in range(3)]
    processes += [MadeProcess(rank, 2, [Call("MPI_Bcast")], pid=10 + rank, flags=layout.SPAWNED) for rank in range(2)]
    processes += [MadeProcess(0, 1, [Call("MPI_Bcast")], pid=20)]
    processes += [MadeProcess(1, 3, [Call("MPI_Bcast", calls=9)], pid=30, state="running")]  # before exec
    processes += [MadeProcess(-1, 0, [Call("MPI_Bcast")], pid=40)]
    job = merge(write_files(tmp_path, processes, "packed"))
    assert job.ranks == 3
    assert job.is_complete
    assert [one.pid for one in job.processes] == [0, 1, 2]
    assert {job.call_names[call] for call in job.calls["call"]} == {"MPI_Barrier"}
    assert job.problems == (
        "2 processes started by MPI_Comm_spawn are left out.",
        "1 process of another MPI_COMM_WORLD is left out.",
        "1 process without a rank in MPI_COMM_WORLD is left out.",
        "1 process with the same rank as another process (1) is left out.",
    )


def test_a_launcher_of_another_library_is_named(tmp_path: Path) -> None:
    job = merge(write_files(tmp_path, [MadeProcess(0, 1, pid=pid) for pid in range(1, 5)]), ranks=4)
    assert job.ranks == 1
    assert "the launcher probably belongs to another MPI library" in job.problems[-1]


def test_missing_ranks_and_files_are_named(tmp_path: Path) -> None:
    paths = write_files(tmp_path, [replace(one, ranks=5) for one in exchange(5) if one.rank not in (1, 3)])
    paths[0].write_bytes(paths[0].read_bytes()[:100])
    job = merge([*paths, tmp_path / "none"])
    assert job.missing == (0, 1, 3)
    assert job.problems[0].startswith(f"The profile of a process in {paths[0].name} is left out, because it ends")
    assert "No such file" in job.problems[1]
    nothing = merge([], ranks=3)
    assert nothing.missing == (0, 1, 2)
    assert nothing.ranks == 3
    assert nothing.regions == (Region(""),)
    assert nothing.problems == ("There is no profile of any process.",)


def test_the_clock_of_another_process_serves_if_one_has_none(tmp_path: Path) -> None:
    one, two = exchange(2)
    data = bytearray(packed(two))
    head = np.frombuffer(data, layout.HEADER, 1, layout.PACKED.itemsize)
    head["last_ns"] = head["first_ns"]
    (tmp_path / "a").write_bytes(packed(one))
    (tmp_path / "b").write_bytes(data)
    job = merge([tmp_path / "a", tmp_path / "b"])
    assert [each.elapsed_s for each in job.processes] == pytest.approx([10.0, 10.0])
    alone = merge([tmp_path / "b"])
    assert alone.processes == ()
    assert alone.problems == (
        "1 process whose clock is not known is left out.",
        "There is no profile of any process.",
    )


def test_messages_to_invalid_ranks_are_further_ones(tmp_path: Path) -> None:
    one = MadeProcess(0, 2, peers=[(5, RECEIVED, 1, 8), (1, RECEIVED, 1, 8)])
    assert sorted(merge(write_files(tmp_path, [one])).peers["peer"]) == [-1, 1]
