"""fft: its limit by hand, the running program over lengths, widths and libraries, and what it refuses."""

import subprocess
from ctypes.util import find_library

import pytest

from fake_run import machine, point
from kernel_run import QUICK, KernelRuns
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.limit import FMA, Best, Known
from octant.record import Point
from octant.workloads.hpcc.fft import WORKLOAD

ONE = frozenset({("node", 0)})


def transform(n: int, part: str = "transform", library: str = "octant") -> Point:
    counts = {"nominal_flops": 110 * n, "flops": 120 * n, "bytes_read": 32 * n, "bytes_written": 32 * n}
    return point(counts=counts, knobs={"n": str(n), "part": part, "library": library})


def known(traffic: float | None, fma: float | None) -> Known:
    of = {"memory traffic": traffic, FMA["double"]: fma, FMA["single"]: None}
    return Known(machine().topology, {name: {ONE: Best(best, "")} if best else {} for name, best in of.items()})


def test_the_longer_of_operations_and_passes_over_memory_limits_it() -> None:
    """2^22 numbers: 64 n bytes at 16 GB/s are 16.8 ms, 120 n operations at 60 Gflop/s 8.4 ms."""
    n = 2**22
    for traffic, fma, seconds in (
        (16e9, 60e9, 64 * n / 16e9),
        (16e9, None, 64 * n / 16e9),
        (64e9, 60e9, 120 * n / 60e9),
    ):
        limit = WORKLOAD.least_seconds(known(traffic, fma), machine(), transform(n))
        assert limit is not None
        assert limit.seconds == pytest.approx(seconds)
    assert WORKLOAD.least_seconds(known(16e9, None), machine(), transform(2**16)) is None, "it fits into the caches"
    assert WORKLOAD.least_seconds(known(16e9, 60e9), machine(), transform(n, part="plan")) is None
    assert WORKLOAD.least_seconds(known(16e9, 60e9), machine(), transform(n, library="fftw")) is None


@pytest.mark.parametrize("width", ["128", "256", "512", "auto"])
@pytest.mark.parametrize("stores", ["plain", "streaming"])
def test_every_width_is_right_at_lengths_of_all_radices(run_kernel: KernelRuns, width: str, stores: str) -> None:
    """Groups of columns that fill no vector, a side of one, all radices first and last."""
    done = run_kernel(
        "hpcc/fft", "n=2,3,5,12,75,128,486,3600,4096,10125,65536", f"width={width}", f"stores={stores}", *QUICK
    )
    if done.code == 3:
        pytest.skip("this processor has no such vectors")
    assert done.code == 0, done.stderr
    assert len(done.points) == 11
    assert all(point.passed and len(point.checks) == 3 for point in done.points)


def test_lanes_transform_arrays_of_their_own(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/fft", "n=6000", "threads=2", *QUICK)
    assert done.code == 0, done.stderr
    assert len({head.thread for head in done.points[0].heads}) == 2


def test_the_time_of_the_plan_is_apart(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/fft", "n=4096", "part=plan", *QUICK)
    assert done.code == 0, done.stderr
    value = figure(WORKLOAD, [done.points[0]], "time").value
    assert value is not None
    assert value.middle > 0


def test_passes_are_timed_alone_and_the_one_without_twiddles_has_a_check_of_its_own(run_kernel: KernelRuns) -> None:
    words = ("n=6000", "part=columns,plain-columns", *QUICK)
    done = run_kernel("hpcc/fft", *words)
    assert done.code == 0, done.stderr
    by_part = {point.knobs["part"]: point for point in done.points}
    assert len(by_part["columns"].checks) == 3
    assert len(by_part["plain-columns"].checks) == 4
    spoilt = run_kernel("hpcc/fft", "n=6000", "part=plain-columns", *QUICK, fault="wrong:3")
    assert [one.passed for one in spoilt.points[-1].checks] == [True, True, True, False]
    assert run_kernel("hpcc/fft", "n=6000", "part=columns", "library=fftw", *QUICK).code != 0


def test_a_prime_factor_is_refused_with_a_length_that_would_do(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/fft", "n=700", *QUICK)
    assert done.code != 0
    assert "try n=675" in done.stderr + "".join(failure.reason for failure in done.failures)


@pytest.mark.parametrize("check", [0, 1, 2])
def test_each_check_fails_by_itself(run_kernel: KernelRuns, check: int) -> None:
    """Check 1 is spoilt by leaving the input as it is, which the inverse of check 0 cannot see."""
    done = run_kernel("hpcc/fft", "n=1024", *QUICK, fault=f"wrong:{check}")
    assert done.code == Exit.WRONG_ANSWER
    (found,) = done.points
    assert [index for index, one in enumerate(found.checks) if not one.passed] == [check]


@pytest.mark.skipif(find_library("fftw3") is None, reason="the system has no libfftw3")
def test_fftw_gives_what_ours_gives(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/fft", "n=1000,77", "library=fftw", "effort=estimate", *QUICK)
    assert done.code == 0, done.stderr
    assert all(point.passed for point in done.points)
    assert "fftw-3" in done.points[0].notes["library_version"]


def test_an_unknown_library_is_refused(kernels: str) -> None:
    done = subprocess.run([f"{kernels}/octant-hpcc-fft", "library=other"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "try octant, fftw" in done.stderr
