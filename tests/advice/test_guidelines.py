"""A call that is slower than the same by other calls is a finding, from six launches on and beyond 5 %."""

import pytest

from found_run import Cell, found_run
from octant.advice.findings.guidelines import judge


def cell(values: list[float], guideline: str = "bcast-tree") -> Cell:
    knobs = {"guideline": guideline, "bytes": "262144"}
    return Cell("mpi/guidelines", values, knobs, ranks=2)


def test_a_slower_call_is_named_with_its_size_its_ratio_and_what_is_faster() -> None:
    (found,) = judge(found_run([cell([2.2, 2.3, 2.35, 2.3, 2.25, 2.4]), cell([1.0] * 6, "control")])).found
    assert found.title == "MPI_Bcast 256 KiB, 2 ranks: 2.30 times as long as a binomial tree of sends"
    assert "from 6 interleaved launches" in found.body
    assert any("guideline=bcast-tree" in line for line in found.lines)


@pytest.mark.parametrize("values", [[2.0] * 5, [1.04] * 6, [1.0, 1.2, 0.95, 1.15, 0.98, 1.1]])
def test_few_launches_a_small_ratio_or_a_wide_interval_are_none(values: list[float]) -> None:
    judged = judge(found_run([cell(values)]))
    assert not judged.found
    assert len(judged.passed) == 1
    assert judged.passed[0].startswith("1 guideline compared, none violated")


def test_runs_without_such_workloads_say_nothing() -> None:
    judged = judge(found_run([Cell("node/gemm", [1e9] * 6, {"n": "64"})]))
    assert (judged.found, judged.passed) == ((), ())
