"""Drift from bounded offsets, what one launch says of the clocks, and a host whose clock is a day ahead."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_run import QUICK, KernelRuns, read_records
from namespaces import unshare
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.workloads.mpi.clock import WORKLOAD
from octant.workloads.mpi.clock.drift import Offsets, drift_of

DAY_S = 86_400


@given(
    st.floats(-1e-3, 1e-3),
    st.floats(-1e6, 1e6),
    st.lists(st.tuples(st.floats(-1, 1), st.floats(1e-9, 1e-3)), min_size=2, max_size=30),
)
def test_the_true_drift_is_within_what_the_bounds_allow(
    drift: float, start_s: float, errors: list[tuple[float, float]]
) -> None:
    moment_s = np.arange(len(errors), dtype=float)
    bound_s = np.array([bound for _, bound in errors])
    offset_s = start_s + drift * moment_s + np.array([part * bound for part, bound in errors])
    low, high = drift_of(Offsets(moment_s, offset_s, bound_s))
    digits = 1e-9  # of offsets of up to 1e6 s
    assert low - digits <= drift <= high + digits
    tightest = min(bound_s[i] + bound_s[j] for i in range(len(errors)) for j in range(i))
    assert high - low <= 2 * tightest + 2 * digits  # one second apart or more


def test_exact_offsets_give_an_exact_drift_and_a_change_of_it_gives_none() -> None:
    moment_s, bound_s = np.array([0.0, 10.0, 20.0]), np.zeros(3)
    assert drift_of(Offsets(moment_s, 2e-6 * moment_s, bound_s)) == pytest.approx((2e-6, 2e-6))
    low, high = drift_of(Offsets(moment_s, np.array([0.0, 1e-5, 9e-5]), bound_s + 1e-6))
    assert low > high


def test_one_moment_says_nothing_of_a_drift() -> None:
    low, high = drift_of(Offsets(np.ones(1), np.ones(1), np.ones(1)))
    assert np.isnan(low)
    assert np.isnan(high)


@pytest.mark.mpi
def test_the_second_check_of_every_pattern_fails_too(run_kernel: KernelRuns) -> None:
    words = ("pattern=offset,drift,cost", "duration=0.01", "moments=2", *QUICK)
    done = run_kernel("mpi/clock", *words, fault="wrong:1")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert [[check.passed for check in point.checks] for point in done.points] == [[True, False]] * 3
    assert done.points[0].failed_checks[0].where == "rank 1"
    assert done.points[0].failed_checks[0].value == pytest.approx(1, rel=0.01)


@pytest.mark.mpi
def test_no_synchronisation_lets_a_rank_leave_early_and_its_skew_is_recorded(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/clock", "pattern=skew", "method=none,barrier,dissemination,clock", *QUICK)
    assert done.code == 0, done.stderr
    assert all(point.passed for point in done.points)
    skews = {point.knobs["method"]: figure(WORKLOAD, [point], "exit skew").value for point in done.points}
    assert len(skews) == 4
    assert all(skew is not None and skew.middle >= 0 for skew in skews.values())


@pytest.mark.mpi
def test_the_clock_of_a_host_that_was_started_a_day_earlier_is_a_day_ahead(kernels: Path, tmp_path: Path) -> None:
    away = unshare("--time", "--monotonic", str(DAY_S))
    if subprocess.run([*away, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no time namespaces here")
    words = ("pattern=offset,drift", "clock=monotonic", "duration=0.2", "moments=3", "seconds=0.05")
    program = [str(kernels / "octant-mpi-clock"), *words, "--output", str(tmp_path / "r")]
    mpiexec = str(Path(sys.executable).parent / "mpiexec")
    command = [mpiexec, "-genv", "MPIR_CVAR_NOLOCAL", "1", "-n", "1", *program, ":", "-n", "1", *away, *program]
    subprocess.run(command, check=True, timeout=60)
    offset, drift = read_records(tmp_path / "r")[0]
    found, bound = (figure(WORKLOAD, [offset], name).value for name in ("offset", "bound"))
    assert found is not None
    assert bound is not None
    assert abs(found.middle - DAY_S) <= max(bound.high, 1e-6)
    slope, slack = (figure(WORKLOAD, [drift], name).value for name in ("drift", "drift bound"))
    assert slope is not None
    assert slack is not None
    assert slope.middle <= slack.middle  # it is the same clock, moved: none is possible
