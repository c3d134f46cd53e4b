"""First messages: once for each pair, once in a process, right, and remembered with what MPI_Init took."""

import pytest

from kernel_run import MORE_RANKS, QUICK, KernelRuns
from octant.analysis.figures import figure
from octant.record import Point
from octant.workloads.mpi.startup import WORKLOAD


def readings(point: Point, name: str) -> list[int]:
    return [len(series.values) for series in point.read().series if series.head.name == f"reading/{name}"]


@pytest.mark.mpi
def test_first_messages_are_sent_once_and_other_values_are_refused(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/startup", "pattern=first", "bytes=8,64", *QUICK)
    assert done.code == 3, done.stderr
    assert [point.knobs["bytes"] for point in done.points] == ["8"]
    assert "cannot measure the first message twice" in done.failures[0].reason
    (point,) = done.points
    assert sum(readings(point, "first")) == sum(readings(point, "steady")) == 2  # however many repetitions there were
    init = figure(WORKLOAD, [point], "init").value
    assert init is not None
    assert init.middle == pytest.approx(point.process.init_s)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", MORE_RANKS)
def test_every_pair_meets_once_over_open_mpi(run_over_openmpi: KernelRuns, ranks: int) -> None:
    done = run_over_openmpi("mpi/startup", "pattern=first,sessions", *QUICK, ranks=ranks)
    assert done.code == 0, done.stderr
    assert [point.knobs["pattern"] for point in done.points] == ["first", "sessions"]
    assert sum(readings(done.points[0], "first")) == ranks * (ranks - 1)  # both ranks of a pair have it
