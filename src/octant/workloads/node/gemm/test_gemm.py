"""The limit of gemm by hand and by property."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from kernel_run import QUICK, KernelRuns
from octant.analysis.figures import figure
from octant.analysis.summary import with_limit
from octant.limit import Best, Known, Threads
from octant.record import Point
from octant.workloads.node.gemm import WORKLOAD

FLOPS = 2 * 1000**3
ONE: Threads = frozenset({("node", 0)})
TWO: Threads = frozenset({("node", 0), ("node", 1)})


def product(element: str = "double", ranks: int = 1, threads: int = 1) -> Point:
    lanes = tuple(lane([20_000_000] * 6, rank=rank) for rank in range(ranks))
    return point(counts={"flops": FLOPS}, knobs={"element": element}, lanes=lanes, ranks=ranks, threads=threads)


def known(**best: dict[Threads, float]) -> Known:
    by_name = {f"fma {name}": {on: Best(value, "") for on, value in of.items()} for name, of in best.items()}
    return Known(machine().topology, {"fma double": {}, "fma single": {}, **by_name})


def limit_of(found: Point, limits: Known) -> float | None:
    limit = WORKLOAD.least_seconds(limits, machine(), found)
    return found.count("flops") / limit.seconds if limit else None


def test_the_limit_is_what_peakflops_reached_and_twice_that_in_single_unless_that_was_measured() -> None:
    double = known(double={ONE: 110e9})
    assert limit_of(product(), double) == pytest.approx(110e9)
    assert limit_of(product("single"), double) == pytest.approx(220e9)
    assert limit_of(product("single"), known(double={ONE: 110e9}, single={ONE: 200e9})) == pytest.approx(200e9)
    assert with_limit(figure(WORKLOAD, [product()]), double, machine()).of_limit == pytest.approx(100 / 110)
    assert limit_of(product(), known()) is None
    assert limit_of(product(threads=2), double) is None, "one hardware thread says nothing of two"


def test_the_limit_names_the_core_whose_kernels_the_library_uses() -> None:
    noted = replace(product(), notes={"library_core": "SkylakeX"})
    limit = WORKLOAD.least_seconds(known(double={ONE: 110e9}), machine(), noted)
    assert limit is not None
    assert limit.source.endswith("measured; the library uses its kernels for SkylakeX")


@given(st.floats(1e9, 1e13))
def test_two_ranks_and_two_threads_share_one_limit(best: float) -> None:
    limits = known(double={TWO: best})
    star, threads = (limit_of(found, limits) for found in (product(ranks=2), product(threads=2)))
    assert star == pytest.approx(best)
    assert threads == pytest.approx(best)


@pytest.mark.parametrize("element", ["double", "single"])
def test_each_check_fails_alone(run_kernel: KernelRuns, element: str) -> None:
    words = ("n=33", f"element={element}", "library=plain", *QUICK)
    right = run_kernel("node/gemm", *words)
    assert right.code == 0, right.stderr
    for check in range(2):
        done = run_kernel("node/gemm", *words, fault=f"wrong:{check}")
        assert done.code == 2, done.stderr
        assert [one.passed for one in done.points[-1].checks] == [check != 0, check != 1]
