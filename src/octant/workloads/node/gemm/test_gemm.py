"""The limit of gemm by hand and by property."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from kernel_run import QUICK, KernelRuns
from octant.analysis.figures import MeasuredCell, figure, figures_of
from octant.analysis.summary import with_limit
from octant.failure import Exit
from octant.limit import Best, Known, Threads
from octant.record import Point
from octant.software.blas import libraries
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
    assert limit.source.endswith("measured in this run; the library uses its SkylakeX kernels")


@given(st.floats(1e9, 1e13))
def test_two_ranks_and_two_threads_share_one_limit(best: float) -> None:
    limits = known(double={TWO: best})
    star, threads = (limit_of(found, limits) for found in (product(ranks=2), product(threads=2)))
    assert star == pytest.approx(best)
    assert threads == pytest.approx(best)


def test_complex_numbers_have_the_limit_of_their_precision() -> None:
    known_here = known(double={ONE: 110e9}, single={ONE: 200e9})
    assert limit_of(product("double-complex"), known_here) == pytest.approx(110e9)
    assert limit_of(product("single-complex"), known_here) == pytest.approx(200e9)


def test_copies_have_a_rate_together_and_one_each() -> None:
    of_metric = figures_of(MeasuredCell(WORKLOAD, [product(ranks=3)], WORKLOAD.metrics))
    rates = {name: figure.value.middle for name, figure in of_metric.items() if figure.value}
    assert rates == pytest.approx({"rate": 300e9, "rate per rank": 100e9})


ELEMENTS = {"double": (8, 2), "single": (4, 2), "double-complex": (16, 8), "single-complex": (8, 8)}
"""Bytes of an element, and operations of a product and a sum."""


def test_every_type_and_form_is_right_and_counted_and_each_check_fails_alone(run_kernel: KernelRuns) -> None:
    every = (f"element={','.join(ELEMENTS)}", "library=plain", "op=nn,tn,nc", "beta=0,0.5", "padding=0,7")
    right = run_kernel("node/gemm", "n=33", *every, "seconds=0.001", "least=5", "samples=5")
    assert right.code == 0, right.stderr
    assert len(right.points) == 4 * 3 * 2 * 2
    for found in right.points:
        size, flops = ELEMENTS[found.knobs["element"]]
        assert found.count("flops") == flops * 33**3
        assert found.count("bytes_read") == (2 if found.knobs["beta"] == "0" else 3) * size * 33**2
        assert WORKLOAD.footprint(machine(), found) == 3 * size * 33 * (33 + int(found.knobs["padding"]))
        assert all(check.value < 0.25 * check.bound for check in found.checks if check.bound), found.checks
    for check in range(2):
        done = run_kernel(
            "node/gemm", "n=33", f"element={','.join(ELEMENTS)}", "library=plain", *QUICK, fault=f"wrong:{check}"
        )
        assert done.code == Exit.WRONG_ANSWER, done.stderr
        spoilt = done.points[-len(ELEMENTS) :]
        assert {tuple(one.passed for one in found.checks) for found in spoilt} == {(check != 0, check != 1)}


def test_libraries_that_are_here_say_what_they_are(run_kernel: KernelRuns) -> None:
    """Those of wheels, one with integers of 64 bits among them."""
    found = libraries()
    for name in sorted({"openblas", "numpy"} & set(found)):
        words = ("n=65", "element=double,double-complex", "op=nn,cn", "padding=3", f"library={found[name]}", *QUICK)
        done = run_kernel("node/gemm", *words)
        assert done.code == 0, done.stderr
        notes = done.points[-1].notes
        wanted = "64 bits" if "64_" in found[name].name else "32 bits"
        assert (notes["library"], notes["library_integers"]) == (str(found[name]), wanted)
        assert notes["library_core"]
        assert notes["library_version"].startswith("OpenBLAS")


def test_instructions_are_asked_for_and_read_back(run_kernel: KernelRuns) -> None:
    if os.uname().machine != "x86_64" or "openblas" not in libraries():
        pytest.skip("needs the OpenBLAS of a wheel on x86-64")
    if "avx2" not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        pytest.skip("this processor has no AVX2, whose kernels are asked for")
    done = run_kernel("node/gemm", "n=65", "isa=avx2,sse", *QUICK)
    assert done.code == 3, "a process has loaded the library once"
    assert done.points[-1].notes["library_core"] == "Haswell"
    assert ["the library uses its kernels for Haswell" in failure.reason for failure in done.failures] == [True]
