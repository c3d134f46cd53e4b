"""The ratio of a guideline by hand: medians of the slowest ranks, the call over the other way."""

import numpy as np
import pytest

from fake_run import lane, point
from kernel_run import KernelRuns
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.record import Head, Point, Series
from octant.workloads.mpi.guidelines import WAYS, WORKLOAD


def compared(guideline: str = "bcast-tree") -> Point:
    """Return a point with a call of 10 us on rank 0 and 30 us on rank 1; the alternative takes 20 us on both."""
    series: list[Series] = []
    for rank, call_ns in enumerate((10_000, 30_000)):
        ns = {"call": call_ns, "alternative": 20_000}
        series.append(lane([60_000] * 9, rank=rank))
        series += [Series(Head(f"phase/{name}", rank), np.full(9, float(one))) for name, one in ns.items()]
    knobs = {"guideline": guideline, "bytes": "1024"}
    return point("steps", workload="mpi/guidelines", knobs=knobs, counts={"calls": 4}, lanes=tuple(series), ranks=2)


def test_the_ratio_is_that_of_the_slowest_ranks_medians() -> None:
    for name, expected in (("ratio", 1.5), ("call", 30e-6), ("alternative", 20e-6)):
        value = figure(WORKLOAD, [compared()], name).value
        assert value is not None
        assert value.middle == pytest.approx(expected)


def test_every_guideline_says_in_words_what_is_compared() -> None:
    assert WORKLOAD.guideline is not None
    for guideline, ways in WAYS.items():
        assert WORKLOAD.guideline(compared(guideline)) == ways
        assert all(ways)


@pytest.mark.mpi
def test_sides_that_are_wrong_alike_are_seen(run_kernel: KernelRuns) -> None:
    words = (f"guideline={','.join(WAYS)}", "bytes=4KiB", "seconds=0.002", "least=5", "samples=5")
    assert run_kernel("mpi/guidelines", *words).code == 0
    done = run_kernel("mpi/guidelines", *words, fault="wrong:1")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    wrong = [point for point in done.points if not point.passed]
    assert {point.knobs["guideline"] for point in wrong} == set(WAYS)
    assert {(point.checks[0].passed, point.checks[1].passed) for point in wrong} == {(True, False)}
