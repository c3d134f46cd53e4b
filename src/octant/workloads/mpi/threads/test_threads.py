"""Times and rates of threads by hand, what is refused, and patterns with more threads than one."""

import os
from pathlib import Path

import pytest

from fake_run import lane, point
from kernel_run import KernelRuns
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.record import Point
from octant.workloads.mpi.threads import WORKLOAD
from preload import preloaded

ALL = "pattern=" + WORKLOAD.smoke["pattern"]
SHORT = ("seconds=0.01", "least=5", "samples=20", "window=4", "repeats=2", "oversubscribe=yes")


def step(ns: int, **counts: int) -> Point:
    return point("steps", counts=counts, lanes=(lane([ns] * 8),), ranks=2)


def value(found: Point, metric: str) -> float:
    estimate = figure(WORKLOAD, [found], metric).value
    assert estimate is not None
    return estimate.middle


def test_time_is_of_one_turn_and_bandwidth_that_of_all_threads() -> None:
    """Two threads, eight round trips of 1000 B each in 80 µs: 5 µs one way, and 400 MB/s for both threads."""
    counts = {"messages": 32, "bytes_sent": 32_000, "turns": 16, "bytes_passed": 8 * 2 * 2 * 1000}
    found = step(80_000, **counts)
    assert value(found, "time") == pytest.approx(5e-6)
    assert value(found, "bandwidth") == pytest.approx(400e6)
    assert value(found, "message rate") == pytest.approx(400e3)
    assert value(found, "t_max") == pytest.approx(5e-6)


def test_a_collective_call_has_no_bandwidth() -> None:
    found = figure(WORKLOAD, [step(80_000, calls=64, bytes_sent=0, turns=32)], "bandwidth")
    assert found.value is None
    assert found.missing == "there is no count bytes_passed"


@pytest.mark.mpi
def test_more_threads_than_hardware_threads_are_refused_unless_asked_for(run_kernel: KernelRuns) -> None:
    threads = f"threads={len(os.sched_getaffinity(0))}"
    done = run_kernel("mpi/threads", "pattern=barrier", threads, "seconds=0.01", ranks=2)
    assert done.code == 3
    assert "try fewer ranks or threads, or oversubscribe=yes" in done.failures[0].reason
    shared = run_kernel("mpi/threads", "pattern=allreduce", "threads=2", "comms=one", "oversubscribe=yes", ranks=2)
    assert shared.code == 3
    assert "try comms=each" in shared.failures[-1].reason


SINGLE = """
#define _GNU_SOURCE
#include <dlfcn.h>
int MPI_Init_thread(int* argc, char*** argv, int level, int* provided) {
    int (*real)(int*, char***, int, int*) = (int (*)(int*, char***, int, int*))dlsym(RTLD_NEXT, "MPI_Init_thread");
    int const code = real(argc, argv, level, provided);
    *provided = 0; /* MPI_THREAD_SINGLE in every library */
    return code;
}
"""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_library_without_threads_is_refused_with_the_reason(
    run_kernel: KernelRuns, tmp_path: Path, ranks: int
) -> None:
    done = run_kernel("mpi/threads", *SHORT, ranks=ranks, environment=preloaded(SINGLE, tmp_path))
    assert done.code == Exit.NOT_SUPPORTED, done.stderr
    assert "cannot call MPI from several threads" in done.stderr
    assert "terminate called" not in done.stderr


@pytest.mark.mpi
def test_messages_of_two_threads_do_not_meet(run_kernel: KernelRuns) -> None:
    few = ("seconds=0.001", "samples=5")  # four threads spin on the cores of two ranks
    words = ("pattern=exchange,uniband,allreduce", "threads=2", "bytes=100", *SHORT[1:2], *SHORT[3:], *few)
    done = run_kernel("mpi/threads", *words, ranks=2)
    assert done.code == 0, done.stderr
    assert [point.threads for point in done.points] == [2, 2, 2]
    spoilt = run_kernel("mpi/threads", *words, ranks=2, fault="wrong")
    assert [point.passed for point in spoilt.points[3:]] == [False] * 3
    assert all("thread 0" in point.failed_checks[0].where for point in spoilt.points[3:])


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("ranks", "words"),
    [(3, ("pattern=pingpong,exchange,allreduce", "threads=2")), (5, (ALL,)), (8, (ALL,))],
)
def test_patterns_are_right_over_open_mpi(run_over_openmpi: KernelRuns, ranks: int, words: tuple[str, ...]) -> None:
    yields = {"OMPI_MCA_mpi_yield_when_idle": "1"}  # as the launcher sets it
    done = run_over_openmpi("mpi/threads", *words, *SHORT, ranks=ranks, environment=yields)
    assert done.code == 0, done.stderr
    assert len(done.points) == words[0].count(",") + 1
