"""Profiles made by hand for the tests of reports: every number follows from the loops below."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from octant.profile.job import (
    CALLS,
    GOT,
    PEERS,
    PUT,
    RECEIVED,
    REGION_TIMES,
    SENT,
    Communicator,
    JobProfile,
    ProcessProfile,
    Region,
    Site,
)

NAMES = (
    "MPI_Allreduce", "MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Bcast", "MPI_Put", "MPI_Win_fence",
    "MPI_File_write_at_all", "MPI_Comm_rank", "MPI_Iprobe",
)  # fmt: skip
SITES = (
    Site("/home/user/solver", 0x1234, "solve", "/home/user/src/solver.f90", 212),
    Site("/home/user/solver", 0x1300, "exchange_halo", "/home/user/src/halo.f90", 88),
    Site("/home/user/solver", 0x1340, "exchange_halo", "/home/user/src/halo.f90", 91),
    Site("/home/user/solver", 0x1380, "exchange_halo", "/home/user/src/halo.f90", 95),
    Site("/home/user/solver", 0x2000, "read_input", "/home/user/src/main.f90", 31),
    Site("/home/user/solver", 0x2200, "accumulate", "/home/user/src/window.f90", 12),
    Site("/home/user/solver", 0x2210, "accumulate", "/home/user/src/window.f90", 15),
    Site("/home/user/solver", 0x2400, "write_checkpoint", "/home/user/src/output.f90", 77),
    Site("/usr/lib/libother.so", 0x9F0),
)
COMMUNICATORS = (
    Communicator("MPI_COMM_WORLD", 8),
    Communicator("row communicator", 4),
    Communicator("window 1", 8, "window"),
    Communicator("checkpoint.dat", 8, "file"),
)
REGIONS = (Region(""), Region("time step", 0), Region("halo", 1), Region("checkpoint", 0))
MIB = 2**20


def bucket_of(size: int) -> int:
    """Return the bucket of a call of this size."""
    return size.bit_length()


def made_job(ranks: int = 8, slow: int = 3, scale: float = 1.0) -> JobProfile:
    """Return a program of halo exchanges whose rank `slow` arrives last in the Allreduce of every step."""
    calls, peers, times, processes = [], [], [], []
    for rank in range(ranks):
        late = rank == slow
        mine = [
            _row(rank, 0, 0, 0, 1, 8, 4000, (0.31 if late else 4.2 + 0.05 * rank) * scale, low=2e-6, high=9e-3),
            _row(rank, 1, 1, 1, 2, 64 * 1024, 8000, 0.11 * scale, waited=0.35 * scale, flight=1.3 * scale),
            _row(rank, 2, 2, 1, 2, 64 * 1024, 8000, 0.04 * scale, waited=0.45 * scale, flight=1.6 * scale),
            _row(rank, 3, 3, 1, 2, 0, 4000, 0.8 * scale, high=3e-3),
            _row(rank, 4, 4, 0, 0, 2 * MIB if rank == 0 else 0, 20, 0.02 * scale),
            _row(rank, 5, 5, 2, 0, 512, 1000, 0.004 * scale),
            _row(rank, 6, 6, 2, 0, 0, 1000, 0.06 * scale),
            _row(rank, 7, 7, 3, 3, 32 * MIB, 10, 0.4 * scale),
            _row(rank, 9, 8, 0, 0, 0, 50_000 + 7 * rank, 0.03 * scale),
            _row(rank, 8, 8, 0, 0, 0, 12, 0.0),
        ]
        calls += mine
        for step in (-1, 1):
            peer = (rank + step) % ranks
            peers += [(rank, peer, SENT, 4000, 4000 * 65536), (rank, peer, RECEIVED, 4000, 4000 * 65536)]
        peers += [(rank, (rank + 2) % ranks, PUT, 1000, 512_000), (rank, (rank + 3) % ranks, GOT, 10, 80)]
        inside = sum(one[9] for one in mine)
        elapsed = 10.0 * scale
        times += [
            (rank, 0, 1, elapsed, inside),
            (rank, 1, 500, 9.1 * scale, mine[0][9] + mine[1][9] + mine[2][9] + mine[3][9]),
            (rank, 2, 500, 1.4 * scale, mine[1][9] + mine[2][9] + mine[3][9]),
            (rank, 3, 10, 0.45 * scale, mine[7][9]),
        ]
        processes.append(
            ProcessProfile(
                rank,
                f"node{rank // 4:02d}",
                4000 + rank,
                "finalized",
                elapsed,
                1,
                inside,
                0.004,
                3e-8,
                peak_memory_bytes=(310 + 4 * rank) * MIB,
                user_s=9.4 * scale,
                system_s=0.2,
                context_switches=120 + rank,
            )
        )
    return JobProfile(
        ranks, tuple(processes), NAMES, SITES, COMMUNICATORS, REGIONS, np.array(calls, CALLS), np.array(peers, PEERS),
        np.array(times, REGION_TIMES), "Open MPI v4.1.4", "Open MPI", "./solver",
    )  # fmt: skip


def _row(
    rank: int, call: int, site: int, communicator: int, region: int, size: int, calls: int, time: float,
    waited: float = 0.0, flight: float = 0.0, low: float = 1e-7, high: float = 1e-3,
) -> tuple[float, ...]:  # fmt: skip
    return (
        rank, 0, call, site, communicator, region, bucket_of(size), calls, calls * size, time, waited, flight, low, high
    )  # fmt: skip


def single_rank() -> JobProfile:
    """Return a program of one rank that sends no message."""
    job = made_job(1, slow=0)
    return replace(
        job, calls=job.calls[[0, 8]], peers=np.zeros(0, PEERS), region_times=job.region_times[:1],
        processes=(replace(job.processes[0], mpi_s=0.34),),
    )  # fmt: skip


def no_calls() -> JobProfile:
    """Return a program that started MPI and called nothing else."""
    job = made_job(2)
    return replace(
        job, calls=np.zeros(0, CALLS), peers=np.zeros(0, PEERS), region_times=np.zeros(0, REGION_TIMES),
        processes=tuple(replace(one, mpi_s=0.0) for one in job.processes),
    )  # fmt: skip


def empty() -> JobProfile:
    """Return a launch without the table of any rank."""
    return JobProfile(
        4, (), (), (), (), (Region(""),), missing=(0, 1, 2, 3), problems=("no file of a process was found",)
    )


def counts_only() -> JobProfile:
    """Return the same program, of which calls were only counted."""
    job = made_job()
    calls = job.calls.copy()
    for name in ("time_s", "waited_s", "in_flight_s", "min_s", "max_s", "bytes", "bucket"):
        calls[name] = 0
    times = job.region_times.copy()
    times["mpi_s"] = 0.0
    processes = tuple(replace(one, mpi_s=0.0, flags=("counts only",)) for one in job.processes)
    return replace(job, calls=calls, peers=job.peers[:0], region_times=times, processes=processes)


def killed(missing: Sequence[int] = (5, 6)) -> JobProfile:
    """Return a program that was killed; the tables of some ranks are missing, others lost entries."""
    job = made_job()
    kept = tuple(
        replace(one, state="running", user_s=None, system_s=None, context_switches=None, peak_memory_bytes=None,
                lost_calls=17 if one.rank == 2 else 0, flags=("lost entries",) if one.rank == 2 else ())
        for one in job.processes
        if one.rank not in missing
    )  # fmt: skip
    return replace(
        job, processes=kept, calls=job.calls[~np.isin(job.calls["rank"], missing)],
        peers=job.peers[~np.isin(job.peers["rank"], missing)],
        region_times=job.region_times[~np.isin(job.region_times["rank"], missing)], missing=tuple(missing),
        problems=("the file of rank 5 is damaged after byte 4096",),
    )  # fmt: skip


HOSTILE = "\x1b[31mred\x07</td><script>alert('x')</script>\n\u202egnp.exe & | \t{{ 7 * 7 }}"


def hostile() -> JobProfile:
    """Return a program whose names are attacks on terminals and pages."""
    job = made_job()
    sites = tuple(replace(one, function=HOSTILE, file=f"/src/{HOSTILE}.c", module=HOSTILE) for one in SITES)
    communicators = tuple(replace(one, name=HOSTILE) for one in COMMUNICATORS)
    regions = (Region(HOSTILE), Region(HOSTILE, 0), Region(HOSTILE, 1), Region(HOSTILE, 0))
    processes = tuple(replace(one, host=HOSTILE) for one in job.processes)
    return replace(
        job, sites=sites, communicators=communicators, regions=regions, processes=processes, program=HOSTILE,
        library=HOSTILE, problems=(HOSTILE,),
    )  # fmt: skip
