"""stencil: its limits by hand, what it counts, and the running program in every way of blocking."""

import pytest

from fake_run import machine, point
from kernel_run import KernelRuns
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Point
from octant.workloads.node.stencil import WORKLOAD, footprint

PROGRAM = "node/stencil"


def grid(steps: int, **knobs: str) -> Point:
    shape = {"element": "single", "n": "512", "planes": "0", "store": "plain"}
    counts = {"points": 512**3 * steps, "flops": 33 * 512**3 * steps}
    counts |= {"bytes_read": 12 * 512**3 * steps, "bytes_written": 4 * 512**3 * steps}
    return point(knobs=shape | knobs, counts=counts, notes={"steps": str(steps)})


def known(traffic: float, flops: float) -> Known:
    place = frozenset({("node", 0)})
    limits = {"memory traffic": traffic, "fma single": flops}
    found = {name: {place: Best(value, "")} for name, value in limits.items()}
    return Known(machine().topology, {"fma double": {}, **found})


def test_the_footprint_has_three_arrays_and_four_with_streaming_stores() -> None:
    assert footprint(machine(), grid(1)) == 3 * 4 * 512**3
    assert footprint(machine(), grid(1, store="streaming", element="double", planes="2")) == 4 * 8 * 2 * 512**2


def test_memory_limits_a_step_and_less_so_several_at_once() -> None:
    """16 bytes a point at 16 GB/s are 1e9 points a second; four steps in a pass move as much as one."""
    limit = WORKLOAD.least_seconds(known(16e9, 1e15), machine(), grid(1))
    assert limit is not None
    assert 512**3 / limit.seconds == pytest.approx(1e9)
    blocked = WORKLOAD.least_seconds(known(16e9, 1e15), machine(), grid(4))
    assert blocked is not None
    assert 4 * 512**3 / blocked.seconds == pytest.approx(4e9)


def test_operations_limit_where_memory_does_not() -> None:
    """33 operations a point at 66 Gflop/s are 2e9 points a second."""
    for steps in (4, 8):
        limit = WORKLOAD.least_seconds(known(16e9, 66e9), machine(), grid(steps))
        assert limit is not None
        assert steps * 512**3 / limit.seconds == pytest.approx(2e9)


@pytest.mark.parametrize(
    "words",
    [
        ("blocking=none,yz", "store=plain,streaming", "n=32", "threads=2"),
        ("blocking=time", "depth=3,8", "tile=9", "n=48", "planes=5", "threads=1,2"),
    ],
)
def test_every_way_gives_the_values_of_the_plain_loop(run_kernel: KernelRuns, words: tuple[str, ...]) -> None:
    done = run_kernel(PROGRAM, *words, "seconds=0")
    assert done.code == 0, done.stderr
    assert done.points
    for one in done.points:
        assert len(one.checks) == 4, one.knobs
        for check in one.checks:
            assert check.bound is not None
            assert check.value <= check.bound, (one.knobs, check)


def test_work_is_counted_by_the_step_that_is_timed(run_kernel: KernelRuns) -> None:
    done = run_kernel(PROGRAM, "blocking=yz,time", "depth=3", "n=16", "planes=5", "element=double", "seconds=0")
    counts = {one.knobs["blocking"]: one for one in done.points}
    for blocking, steps in (("yz", 1), ("time", 3)):
        one = counts[blocking]
        assert one.notes["steps"] == str(steps)
        assert one.count("points") == 16 * 16 * 5 * steps
        assert one.count("bytes_read", "bytes_written") == 32 * one.count("points")
        assert one.count("flops") == 33 * one.count("points")


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("n=100",), "cannot use n=100 (rows must be whole cache lines); try n=112", Exit.WRONG_WORD),
        (("blocking=time", "store=streaming"), "cannot use store=streaming with blocking=time", Exit.NOT_SUPPORTED),
    ],
)
def test_what_has_no_meaning_is_refused(run_kernel: KernelRuns, words: tuple[str, ...], said: str, code: Exit) -> None:
    done = run_kernel(PROGRAM, *words)
    assert done.code == code
    assert said in done.stderr
