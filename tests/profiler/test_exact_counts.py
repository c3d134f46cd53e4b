"""Calls, bytes, peers and sites in profiles are exactly those that the programs know, with every MPI library."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from mpi_libraries import MpiLibrary
from octant.profile.job import JobProfile
from truth_programs import (
    BINDINGS,
    PROGRAMS,
    Truth,
    TruthPrograms,
    differences,
    read_truth,
    recorded,
    recorded_peers,
    run_program,
)

pytestmark = pytest.mark.mpi

CASES = re.findall(r'\{"(\w+)", \w+\}', (PROGRAMS / "calls.c").read_text(encoding="utf-8"))
SITE = ("function", "file", "line")
KNOWN_BEFORE = frozenset(
    f"MPI_{name}" for name in ("Send", "Ssend", "Isend", "Bcast", "Allreduce", "Alltoall", "Allgather", "Put")
)
"""Calls whose bytes are known when they are entered, and whose sizes are therefore separated."""


class Profiles:
    """One run of each program with each MPI library."""

    def __init__(self, programs: TruthPrograms, profiler: Path, folder: Path) -> None:
        """Keep what runs need."""
        self._programs, self._profiler, self._folder = programs, profiler, folder
        self._read: dict[tuple[str, ...], tuple[JobProfile, Truth]] = {}

    def __call__(self, library: MpiLibrary, source: str, binding: str = "") -> tuple[JobProfile, Truth]:
        """Run the program if it has not run, and return its profile and what it knows."""
        key = (library.name, source, binding)
        if key not in self._read:
            self._read[key] = self._run(library, source, binding)
        return self._read[key]

    def _run(self, library: MpiLibrary, source: str, binding: str) -> tuple[JobProfile, Truth]:
        if source.endswith(".py"):
            words: list[str | Path] = [sys.executable, PROGRAMS / source]
        else:
            words = [self._programs.find(library, source, binding)]
        if source == "calls.c":
            words += [case for case in CASES if case not in library.left_out]
        folder = self._folder / re.sub(r"\W", "", f"{library.name}-{source}-{binding}")
        ranks = library.most_ranks if source == "calls.c" else 2
        variables = library.of_mpi4py if source.endswith(".py") else None
        run = run_program(library, folder, words, profiler=self._profiler, ranks=ranks, environment=variables)
        assert run.code == (3 if source.endswith(".py") else 0), run.stderr
        assert run.stdout in (b"done\n", b"")
        job = run.job()
        return job, read_truth(run, job)


@pytest.fixture(scope="module")
def profile(programs: TruthPrograms, profiler: Path, tmp_path_factory: pytest.TempPathFactory) -> Profiles:
    """Profiles of programs, each of which runs once."""
    return Profiles(programs, profiler, tmp_path_factory.mktemp("profiles"))


def compare(job: JobProfile, truth: Truth, *fields: str) -> list[str]:
    """Describe differences in calls and bytes."""
    expected, found = truth.calls(*fields), recorded(job, *fields)
    return [
        *(f"calls of {line}" for line in differences(expected[0], found[0])),
        *(f"bytes of {line}" for line in differences(expected[1], found[1])),
    ]


def compare_whole(job: JobProfile, library: MpiLibrary, ranks: int = 2) -> None:
    """Nothing was lost, and every rank is complete."""
    assert job.ranks == ranks
    assert [process.rank for process in job.processes] == list(range(ranks))
    assert {process.state for process in job.processes} == {"finalized"}
    assert [(process.lost_calls, process.lost_requests) for process in job.processes] == [(0, 0)] * ranks
    assert job.is_complete
    assert job.abi == library.abi
    assert not job.problems


@pytest.mark.parametrize("case", CASES)
def test_case(profile: Profiles, library: MpiLibrary, case: str) -> None:
    if case in library.left_out:
        pytest.skip(f"{library.name}: {library.left_out[case]}")
    job, truth = profile(library, "calls.c")
    expected = Truth(tuple((rank, row) for rank, row in truth.rows if row.get("case") == case))
    functions = {row["function"] for _, row in expected.rows}
    for kind, name in ((0, "calls"), (1, "bytes")):
        found = recorded(job, *SITE)[kind]
        here = Counter({key: n for key, n in found.items() if key[2] in functions})
        assert not differences(expected.calls(*SITE)[kind], here), name


def test_nothing_else_is_recorded(profile: Profiles, library: MpiLibrary) -> None:
    job, truth = profile(library, "calls.c")
    assert not compare(job, truth)
    assert not compare(job, truth, *SITE)
    compare_whole(job, library, library.most_ranks)


def test_peers_are_ranks_of_the_whole_program(profile: Profiles, library: MpiLibrary) -> None:
    job, truth = profile(library, "calls.c")
    for kind in (0, 1):
        assert not differences(truth.peers()[kind], recorded_peers(job)[kind])


def test_communicators_are_the_same_in_all_ranks(profile: Profiles, library: MpiLibrary) -> None:
    job, truth = profile(library, "calls.c")
    expected, found = (
        truth.with_field("communicator").calls("communicator", *SITE)[0],
        recorded(job, "communicator", *SITE)[0],
    )
    names = {key[2] for key in expected}
    halves = {"even", "odd"} if job.ranks > 3 else set()
    assert names == {"copy", "again", "delayed", "MPI_COMM_WORLD", "MPI_COMM_SELF", *halves}
    assert {key: found[key] for key in expected} == dict(expected)
    shared = Counter(one.name for one in job.communicators if one.name in names)
    assert set(shared.values()) == {1}
    sizes = {one.name: one.size for one in job.communicators}
    assert (sizes["copy"], sizes["MPI_COMM_SELF"]) == (job.ranks, 1)
    assert {sizes[name] for name in halves} <= {job.ranks // 2}
    assert {"intercommunicator", "window", "file"} <= {one.kind for one in job.communicators}


def test_regions_are_those_of_the_program(profile: Profiles, library: MpiLibrary) -> None:
    job, truth = profile(library, "calls.c")
    expected, found = truth.with_field("region").calls("region", *SITE)[0], recorded(job, "region", *SITE)[0]
    assert not differences(expected, Counter({key: n for key, n in found.items() if key[2] in {"outer", "inner"}}))


def test_sizes_are_separated(profile: Profiles, library: MpiLibrary) -> None:
    job, truth = profile(library, "calls.c")
    rows = tuple((rank, {**row, "bucket": row["bytes"].bit_length()}) for rank, row in truth.rows if "call" in row)
    expected, found = Truth(rows).calls("bucket")[0], recorded(job, "bucket")[0]
    for counts in (expected, found):
        for key in [key for key in counts if key[1] not in KNOWN_BEFORE]:
            del counts[key]
    assert expected
    assert not differences(expected, found)


def test_times_of_requests_belong_to_the_calls_that_started_them(profile: Profiles, library: MpiLibrary) -> None:
    job, _ = profile(library, "calls.c")
    names = [job.call_names[row["call"]] for row in job.calls]
    started = {name for name, row in zip(names, job.calls, strict=True) if row["in_flight_s"] > 0}
    assert {"MPI_Isend", "MPI_Irecv", "MPI_Iallreduce", "MPI_Rput"} <= started
    assert not started & {"MPI_Send", "MPI_Recv", "MPI_Wait", "MPI_Waitall", "MPI_Test", "MPI_Allreduce", "MPI_Bcast"}
    assert (job.calls["waited_s"] >= 0).all()
    assert (job.calls["waited_s"] <= job.calls["in_flight_s"] + 1e-9).all()
    assert (job.calls["min_s"] <= job.calls["max_s"]).all()


def test_times_of_regions_add_up(profile: Profiles, library: MpiLibrary) -> None:
    job, _ = profile(library, "calls.c")
    names = [region.name for region in job.regions]
    outer, inner = names.index("outer"), names.index("inner")
    assert job.regions[inner].parent == outer
    assert job.regions[outer].parent == 0
    for rank in range(job.ranks):
        times = {row["region"]: row for row in job.region_times if row["rank"] == rank}
        assert (times[outer]["visits"], times[inner]["visits"]) == (1, 3)
        assert times[0]["time_s"] >= times[outer]["time_s"] >= times[inner]["time_s"] > 0
        for region in (0, outer, inner):
            assert times[region]["mpi_s"] <= times[region]["time_s"]
        mine = job.calls[(job.calls["rank"] == rank) & (job.calls["region"] == inner)]
        assert times[inner]["mpi_s"] == pytest.approx(mine["time_s"].sum(), rel=0.02, abs=2e-6)


def test_threads_record_without_loss(profile: Profiles, library: MpiLibrary) -> None:
    job, truth = profile(library, "threads.c")
    assert not compare(job, truth, *SITE)
    for kind in (0, 1):
        assert not differences(truth.peers()[kind], recorded_peers(job)[kind])
    compare_whole(job, library)
    for process in job.processes:
        assert process.threads == 1 + 4 + 20
        assert "MPI_THREAD_MULTIPLE" in process.flags
    tables = {(row["rank"], row["thread"]) for row in job.calls}
    assert len(tables) == 2 * 5, "tables of threads that have ended are used again"


def test_sessions(profile: Profiles, library: MpiLibrary) -> None:
    if not library.large_counts:
        pytest.skip(f"{library.name} implements MPI 3.1, which has no sessions")
    job, truth = profile(library, "sessions.c")
    assert not compare(job, truth, *SITE)
    for kind in (0, 1):
        assert not differences(truth.peers()[kind], recorded_peers(job)[kind])
    compare_whole(job, library)


@pytest.mark.parametrize("binding", BINDINGS)
def test_fortran(profile: Profiles, library: MpiLibrary, binding: str) -> None:
    if not library.fortran:
        pytest.skip(f"{library.name} has no Fortran bindings here")
    job, truth = profile(library, "fortran.F90", binding)
    assert not compare(job, truth)
    # gfortran gives some calls with arguments of derived types the line of another statement.
    expected, found = truth.calls("file", "line")[0], recorded(job, "file", "line")[0]
    right = [key for key in expected if found[key] == expected[key]]
    assert len(right) > 0.6 * len(expected)
    assert binding != "MPIF" or found == expected
    for kind in (0, 1):
        assert not differences(truth.peers()[kind], recorded_peers(job)[kind])
    compare_whole(job, library)
    assert "copy of all" in {communicator.name for communicator in job.communicators}


def test_mpi4py(profile: Profiles, library: MpiLibrary) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed here")
    if library.of_mpi4py is None:
        pytest.skip("Debian's MPICH 4 has another file name than the one that mpi4py of PyPI is linked to")
    job, truth = profile(library, "with_mpi4py.py")
    names = {row["call"] for _, row in truth.rows if "call" in row}
    for kind in (0, 1):
        found = recorded(job)[kind]
        here = Counter({key: value for key, value in found.items() if key[1] in names})
        assert not differences(truth.calls()[kind], here)
        assert not differences(truth.peers()[kind], recorded_peers(job)[kind])
    calls = recorded(job)[0]
    assert [calls[rank, "MPI_Finalize"] for rank in (0, 1)] == [1, 1]
    assert {process.state for process in job.processes} == {"finalized"}
