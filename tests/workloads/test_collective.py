"""Collective operations on real ranks: forms, faults, phases, groups; that each row is right is in test_mpi_rows.py."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_run import KernelRuns, read_records
from octant.build import program_name
from octant.failure import Exit
from octant.mpi.faults import faults
from octant.record import Point
from paths import Octant

TINY = ("seconds=0.005", "least=5", "samples=10")
REDUCING = "reduce,allreduce,reduce-scatter,reduce-scatter-block,scan,exscan"
MOVING = "bcast,gather,gatherv,scatter,scatterv,allgather,allgatherv,alltoall,alltoallv,alltoallw"
AROUND = "neighbour-allgather,neighbour-allgatherv,neighbour-alltoall,neighbour-alltoallv,neighbour-alltoallw"
CALLS = "call=blocking,nonblocking,persistent"


def cells(points: list[Point], *names: str) -> list[tuple[str, ...]]:
    return [tuple(point.knobs[name] for name in names) for point in points]


def wrong(points: list[Point]) -> list[tuple[str, str]]:
    return [(point.knobs["pattern"], check.text) for point in points for check in point.failed_checks]


def where(points: list[Point]) -> dict[str, str]:
    return {point.knobs["pattern"]: check.where for point in points for check in point.failed_checks}


@pytest.mark.mpi
def test_every_form_of_call_is_right(run_kernel: KernelRuns) -> None:
    rotating = ("root=rotating", "buffers=rotating", "rotation=64KiB", *TINY)
    run_kernel("mpi/collective", f"pattern={REDUCING}", CALLS, "inplace=no,yes", "op=matrix", *rotating, ranks=2)
    moving = (f"pattern={MOVING},barrier", CALLS, "inplace=no,yes", "counts=linear", "bytes=1000", "type=double")
    run_kernel("mpi/collective", *moving, *rotating, ranks=2)
    around = (f"pattern={AROUND}", CALLS, "neighbours=grid,graph", "counts=one-heavy", "bytes=1000")
    done = run_kernel("mpi/collective", *around, *rotating, ranks=2)
    assert not wrong(done.points)
    expected = 3 * (len(REDUCING.split(",")) * 2 + len(MOVING.split(",")) * 2 - 1 + 1 + 2 * len(AROUND.split(",")))
    assert len(set(cells(done.points, "pattern", "call", "inplace", "neighbours"))) == expected
    refused = {failure.knobs["pattern"] for failure in done.failures}
    assert refused == {"bcast", "barrier"}, "MPI has no such form in place"
    assert all("no such combination" in failure.reason for failure in done.failures)


@pytest.mark.slow
def test_every_form_of_call_is_right_on_five_ranks(run_over_openmpi: KernelRuns) -> None:
    words = ("root=rotating", CALLS, "inplace=yes", *TINY)
    run_over_openmpi("mpi/collective", f"pattern={REDUCING}", "op=max,matrix", *words, ranks=5)
    run_over_openmpi("mpi/collective", f"pattern={MOVING}", "counts=one-heavy", "bytes=1000", *words, ranks=5)
    graph = (f"pattern={AROUND}", "neighbours=graph", "counts=linear", CALLS, *TINY)
    done = run_over_openmpi("mpi/collective", *graph, ranks=5)
    assert not wrong(done.points)
    assert len(done.points) == 3 * (2 * len(REDUCING.split(",")) + len(MOVING.split(",")) - 1 + len(AROUND.split(",")))


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("number", "patterns", "said"),
    [
        (0, f"{REDUCING},{MOVING},{AROUND},reduce-local,barrier", {
            "barrier": r"rank (1 left before rank 0|0 left before rank 1) had entered",
            "allreduce": "rank 0, element 0 of 4, of ranks 0 to 1",
            "allgather": "rank 0, element 0 of 8, element 0 of rank 0",
        }),
        (1, "reduce-scatter,gather,alltoall,neighbour-alltoall", {
            "alltoall": "rank 0, element 0 of 8, element 0 of rank 0",
            "reduce-scatter": "rank 0, element 0 of 2, of ranks 0 to 1",
        }),
        (2, "reduce,allreduce,gather,allgather,alltoall,neighbour-alltoall", {
            "gather": "rank 0, element 4 of 8, element 0 of rank 1",
            "neighbour-alltoall": "rank 0, element 0 of 8, element 4 of rank 1",
        }),
    ],
)  # fmt: skip
def test_a_wrong_library_is_seen_and_the_first_wrong_element_named(
    run_kernel: KernelRuns, number: int, patterns: str, said: dict[str, str]
) -> None:
    """Of a contribution that is missing, blocks that are exchanged, the first rank's data in place of others'."""
    done = run_kernel("mpi/collective", f"pattern={patterns}", "bytes=16", *TINY, ranks=2, fault=f"wrong:{number}")
    assert done.code == Exit.WRONG_ANSWER
    found = where(done.points)
    assert set(found) == set(patterns.split(","))
    assert all(re.fullmatch(text, found[pattern]) for pattern, text in said.items()), found


@pytest.mark.mpi
def test_blocks_of_which_only_pieces_are_looked_at_are_right(run_kernel: KernelRuns) -> None:
    """Of 12 KiB: the buffer is too long to look at (16 KiB), its blocks are not; of 100 KB both are.

    One-heavy counts of 7 KiB make the buffers of one rank alone too long: all ranks verify as many calls nevertheless.
    """
    for words in (
        ("pattern=alltoall,scatter,reduce-scatter-block,neighbour-alltoall,neighbour-allgather", "counts=equal"),
        ("pattern=alltoallv,scatterv,reduce-scatter,allgatherv", "counts=one-heavy", "inplace=yes"),
    ):
        done = run_kernel("mpi/collective", *words, "bytes=7KiB,12KiB,100000", *TINY, ranks=2, fault="wrong:4")
        assert done.code == 0, done.stderr
        assert done.points


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("number", "patterns"),
    [
        (5, "alltoall,scatter,reduce-scatter,neighbour-alltoall,bcast"),
        (6, "alltoall,reduce-scatter,neighbour-alltoall"),
        (7, "alltoall,reduce,neighbour-alltoall"),
    ],
)
def test_a_wrong_library_is_seen_in_pieces(run_kernel: KernelRuns, number: int, patterns: str) -> None:
    done = run_kernel("mpi/collective", f"pattern={patterns}", "bytes=100000", *TINY, ranks=2, fault=f"wrong:{number}")
    assert done.code == Exit.WRONG_ANSWER
    assert set(where(done.points)) == set(patterns.split(","))


@pytest.mark.mpi
def test_a_wrong_order_of_operands_is_seen_by_the_operation_that_does_not_commute(run_kernel: KernelRuns) -> None:
    words = ("pattern=allreduce,reduce,scan,reduce-scatter", "op=sum,matrix", "bytes=64", *TINY)
    done = run_kernel("mpi/collective", *words, ranks=2, fault="wrong:3")
    assert {(point.knobs["op"], point.passed) for point in done.points} == {("sum", True), ("matrix", False)}


@pytest.mark.mpi
def test_a_known_fault_of_open_mpi_is_seen_where_the_table_says(run_over_openmpi: KernelRuns) -> None:
    """It fails once the library is mended: the table is to stay true."""
    (fault,) = [one for one in faults() if one.name == "neighbour-slots-nonblocking"]
    words = ("pattern=neighbour-allgather,neighbour-alltoall", "neighbours=grid,graph", CALLS, "bytes=16", *TINY)
    done = run_over_openmpi("mpi/collective", *words, ranks=2)
    for point in done.points:
        assert point.passed != fault.concerns("mpi/collective", point.knobs, 2), point.knobs


@pytest.mark.mpi
def test_calls_that_count_beyond_ints_are_right_or_absent(run_kernel: KernelRuns) -> None:
    words = ("pattern=bcast-c,allreduce-c", "bytes=0,1000", "type=float,byte", *TINY)
    done = run_kernel("mpi/collective", *words, ranks=2)
    if done.code == 3:
        pytest.skip(done.failures[0].reason)
    assert done.code == 0, done.stderr
    spoilt = run_kernel("mpi/collective", *words, ranks=2, fault="wrong")
    assert {point.passed for point in spoilt.points[len(done.points) :] if point.knobs["bytes"] != "0"} == {False}


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    ["bcast-c", pytest.param("allreduce-c", marks=pytest.mark.skipif("CI" in os.environ, reason="takes 20 s"))],
)
def test_more_than_an_int_counts_is_moved_and_added(kernels: Path, tmp_path: Path, pattern: str) -> None:
    if available_bytes() < 14 << 30:
        pytest.skip("too little memory: both ranks need 4.3 GB")
    words = (f"pattern={pattern}", f"bytes={2**31 + 2**20}", "type=byte", "seconds=0.01", "samples=5", "least=5")
    program, records = kernels / program_name("mpi/collective"), tmp_path / "records.jsonl"
    mpiexec = Path(sys.executable).parent / "mpiexec"
    command = [str(mpiexec), "-n", "2", str(program), *words, "--output", str(records)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    points, failures = read_records(records)
    if done.returncode == 3:
        pytest.skip(failures[0].reason)
    assert [point.passed for point in points] == [True], done.stderr


def available_bytes() -> int:
    """Of memory, as the system says."""
    return int(re.findall(r"MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text())[0]) * 1024


@pytest.mark.mpi
def test_only_nonblocking_calls_have_phases(run_kernel: KernelRuns) -> None:
    words = ("pattern=allreduce", "call=blocking,nonblocking", "test=none,50us", "bytes=64KiB", *TINY)
    done = run_kernel("mpi/collective", *words, ranks=2)
    assert done.code == 0, done.stderr
    for point in done.points:
        phases = {head.name for head in point.heads} - {"step"}
        nonblocking = {
            "phase/pure",
            "phase/compute",
            "phase/overlapped",
            "phase/overlapped/compute",
            "phase/overlapped/wait",
        }
        assert phases == (nonblocking if point.knobs["call"] == "nonblocking" else set())


@pytest.mark.slow
def test_process_counts_of_one_launch_and_groups_at_the_same_time(run_over_openmpi: KernelRuns) -> None:
    words = ("pattern=barrier,allgather,neighbour-alltoall", "groups=first:2,first:4,all,2,4", "bytes=1000", *TINY)
    done = run_over_openmpi("mpi/collective", *words, ranks=8)
    assert done.code == 0, done.stderr
    sizes = {"first:2": [2], "first:4": [4], "all": [8], "2": [2] * 4, "4": [4] * 2}
    assert len(done.points) == 3 * len(sizes)
    for point in done.points:
        assert [len(group) for group in point.groups] == sizes[point.knobs["groups"]]
        if point.knobs["pattern"] == "allgather":
            assert point.count("bytes_sent") == 1000 * sum(sizes[point.knobs["groups"]])


@pytest.mark.mpi
def test_what_has_to_be_sent_is_counted_by_rank(run_kernel: KernelRuns) -> None:
    words = ("pattern=bcast,reduce,scatter,gatherv,alltoallv,reduce-scatter", "bytes=1000", "counts=one-heavy")
    done = run_kernel("mpi/collective", *words, "root=0,rotating", *TINY, ranks=2)
    counted = {
        cell: point.work[0] for cell, point in zip(cells(done.points, "pattern", "root"), done.points, strict=True)
    }
    sent = {
        cell: work.by_rank.get("bytes_sent", (work.counts["bytes_sent"] // 2,) * 2) for cell, work in counted.items()
    }
    assert sent[("bcast", "0")] == (1000, 0)
    assert sent[("bcast", "rotating")] == (500, 500), "the mean over roots"
    assert sent[("reduce", "0")] == (0, 1000)
    assert sent[("scatter", "0")] == (1000, 0)
    assert sum(sent[("alltoallv", "0")]) == 2000
    assert sum(sent[("reduce-scatter", "0")]) == 1000
    assert sent[("gatherv", "0")] in ((0, 500), (0, 1500)), "half of the mean, or the rest"


@pytest.mark.mpi
def test_persistent_requests_have_bounds(run_kernel: KernelRuns) -> None:
    words = ("pattern=allreduce", "call=persistent", "buffers=rotating", "bytes=8,1MiB", *TINY)
    done = run_kernel("mpi/collective", *words, ranks=2)
    assert done.code == 3
    assert "cannot keep 262144 persistent requests (at most 4096); try more bytes" in done.failures[0].reason
    assert [point.knobs["bytes"] for point in done.points] == ["1MiB"]


@pytest.mark.mpi
def test_an_algorithm_of_the_library_is_a_setting(octant: Octant) -> None:
    words = ("pattern=allreduce", "seconds=0.02", "--ranks", "2", "--repeats", "1")
    done = octant("run", "collective", *words, "--mpi", "collective-algorithm=allreduce:ring")
    assert done.returncode == 0, done.stderr
    assert "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=ring" in done.stderr
    assert "REQUEST NOT MET" not in done.stderr
