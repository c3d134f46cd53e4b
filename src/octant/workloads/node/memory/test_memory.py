"""What each way of releasing memory leaves, each fault in each, and large pages as they are granted."""

import pytest

from kernel_run import KernelRuns
from octant.analysis.figures import figure
from octant.record import Point
from octant.workloads.node.memory import SEGMENTS, WORKLOAD

WAYS = ("free-below-held", "free", "trim", "unmap", "madv-free", "madv-dontneed")
SHORT = ("seconds=0.01", "least=5", "samples=5")


def value(found: Point, metric: str) -> float:
    estimate = figure(WORKLOAD, [found], metric).value
    assert estimate is not None
    return estimate.middle


def test_what_stays_by_way(run_kernel: KernelRuns) -> None:
    """Laws of the allocator and the kernel, not of this machine."""
    done = run_kernel("node/memory", f"pattern={','.join(WAYS)}", "bytes=16MiB", *SHORT)
    assert done.code == 0, done.stderr
    kept = {found.knobs["pattern"]: value(found, "kept") for found in done.points}
    resident = {found.knobs["pattern"]: value(found, "resident") for found in done.points}
    assert kept["free-below-held"] > 0.9, "a block above holds what is below it"
    assert all(kept[way] < 0.1 for way in WAYS[1:]), kept
    assert resident["madv-free"] > 0.9, "and looks as if it were held"
    assert resident["madv-dontneed"] < 0.1


@pytest.mark.parametrize("fault", [0, 1])
def test_each_fault_is_found(run_kernel: KernelRuns, fault: int) -> None:
    """A word, and a share that nobody looked at."""
    done = run_kernel("node/memory", f"pattern={','.join(WAYS)},segments", "bytes=4MiB", *SHORT, fault=f"wrong:{fault}")
    assert done.code == 2, done.stderr
    assert len(done.points) == len(WAYS) + 1
    assert [found.knobs["pattern"] for found in done.points if found.checks[fault].passed] == []


def test_large_pages_are_read_back_and_a_refusal_has_its_reason(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/memory", "pattern=segments", "ask=nothing,madvise,collapse", "bytes=8MiB", *SHORT)
    assert done.code == 0, done.stderr
    for found in done.points:
        shares = {name: value(found, name) for name in SEGMENTS}
        assert all(0 <= share <= 1 for share in shares.values())
        if found.knobs["ask"] == "collapse":  # each segment was moved, or the reason why not is in the record
            stayed = {name for name, share in shares.items() if share == 0}
            assert stayed <= {name.removeprefix("refused, ") for name in found.notes} | {"stack", "own stack"}
