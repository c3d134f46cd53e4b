"""fft: its limit by hand, the running program over shapes, types, ways and widths, and what it refuses."""

from pathlib import Path

import pytest

from fake_run import machine, point
from kernel_run import QUICK, KernelRuns
from octant.failure import Exit
from octant.limit import FMA, Best, Known, Threads
from octant.record import Point
from octant.software.fftw import libraries
from octant.workloads.node.fft import WORKLOAD

ONE: Threads = frozenset({("node", 0)})
ELEMENTS = "element=double-complex,single-complex,double,single"


def transform(n: int, library: str = "octant", element: str = "double-complex") -> Point:
    counts = {"nominal_flops": 110 * n, "flops": 120 * n, "bytes_read": 16 * n, "bytes_written": 16 * n}
    return point(counts=counts, knobs={"n": str(n), "library": library, "element": element})


def known(traffic: float | None, double: float | None, single: float | None = None) -> Known:
    of = {"memory traffic": traffic, FMA["double"]: double, FMA["single"]: single}
    return Known(machine().topology, {name: {ONE: Best(best, "")} if best else {} for name, best in of.items()})


def seconds(limits: Known, found: Point) -> float | None:
    limit = WORKLOAD.least_seconds(limits, machine(), found)
    return limit.seconds if limit else None


def test_the_longer_of_operations_and_memory_limits_our_own_and_memory_others() -> None:
    """2^22 numbers: 32 n bytes at 4 GB/s are 33.6 ms, 120 n operations at 60 Gflop/s 8.4 ms."""
    n = 2**22
    assert seconds(known(4e9, 60e9), transform(n)) == pytest.approx(32 * n / 4e9)
    assert seconds(known(64e9, 60e9), transform(n)) == pytest.approx(120 * n / 60e9)
    assert seconds(known(64e9, 60e9), transform(n, "fftw")) == pytest.approx(32 * n / 64e9)
    assert seconds(known(4e9, None), transform(2**12)) is None, "it fits into the caches"
    assert seconds(known(None, 60e9, 90e9), transform(n, element="single")) == pytest.approx(120 * n / 90e9)


def test_every_type_and_shape_is_right_in_each_way_and_counted(run_kernel: KernelRuns) -> None:
    """Lengths of all radices that fold into all vectors and into none, batches that fill no group, two dimensions."""
    words = ("n=2,4,16,30,96,162,250,768,4096", "rows=0,5", "batch=1,19", ELEMENTS, "effort=estimate")
    done = run_kernel("node/fft", *words, "seconds=0.001", "least=5", "samples=5")
    assert done.code == 0, done.stderr
    assert len(done.points) == 9 * 2 * 2 * 4
    ways = " ".join({found.notes["way"] for found in done.points})
    for way in ("folded into", "groups of", "one lane"):
        assert way in ways
    for found in done.points:
        numbers = int(found.knobs["n"]) * max(1, int(found.knobs["rows"])) * int(found.knobs["batch"])
        size = 8 if found.knobs["element"].startswith("double") else 4
        is_complex = found.knobs["element"].endswith("complex")
        assert found.count("bytes_read") == size * numbers * (2 if is_complex else 1)
        assert found.count("flops") > 0
        assert all(check.value < 0.5 * check.bound for check in found.checks if check.bound), found.checks


@pytest.mark.parametrize("width", ["scalar", "128", "256", "512"])
def test_every_width_is_right_and_lanes_have_arrays_of_their_own(run_kernel: KernelRuns, width: str) -> None:
    words = ("n=64,1000,3072", "batch=1,9", "packing=contiguous,interleaved", "element=double-complex,single-complex")
    done = run_kernel("node/fft", *words, f"width={width}", "threads=2", "seconds=0.001", "least=5", "samples=5")
    if done.code == 3:
        pytest.skip("this processor has no such vectors")
    assert done.code == 0, done.stderr
    assert len(done.points) == 3 * 2 * 2 * 2
    assert {found.notes["width"] for found in done.points} == {width}


def test_two_passes_are_taken_for_long_lines_of_both_precisions(run_kernel: KernelRuns) -> None:
    words = ("n=65536,59049", "element=double-complex,single-complex", "effort=estimate,measure")
    done = run_kernel("node/fft", *words, "seconds=0.001", "least=5", "samples=5")
    assert done.code == 0, done.stderr
    by_rule = {found.notes["way"] for found in done.points if found.knobs["effort"] == "estimate"}
    assert any("two passes" in way for way in by_rule)


def test_each_check_fails_by_itself(run_kernel: KernelRuns) -> None:
    for check in range(4):
        words = ("n=90,1024", "rows=0,4", "batch=3", ELEMENTS, "effort=estimate", "seconds=0.001", "least=5")
        done = run_kernel("node/fft", *words, fault=f"wrong:{check}")
        assert done.code == Exit.WRONG_ANSWER
        failed = {tuple(i for i, one in enumerate(found.checks) if not one.passed) for found in done.points[-16:]}
        assert failed == {(check,)}


def test_the_oracle_transforms_any_length_of_any_shape(run_kernel: KernelRuns) -> None:
    words = ("n=7,24", "rows=0,3", "batch=1,2", "packing=contiguous,interleaved", ELEMENTS, "library=plain")
    done = run_kernel("node/fft", *words, "seconds=0.001", "least=5", "samples=5")
    assert done.code == 0, done.stderr
    assert len(done.points) == 2 * 2 * 2 * 2 * 4


@pytest.mark.parametrize(
    ("words", "advice", "code"),
    [
        (("n=700",), "try n=720", Exit.WRONG_WORD),
        (("n=64", "rows=7"), "try rows=8", Exit.WRONG_WORD),
        (("n=25", "element=double"), "try n=30", Exit.WRONG_WORD),
        (("n=64", "rows=4", "packing=interleaved", "batch=2"), "try packing=contiguous", Exit.NOT_SUPPORTED),
        (("library=other",), "try octant, plain, fftw, ", Exit.WRONG_WORD),
        (
            ("library=/nowhere/libfftw3.so.3",),
            "library=octant, plain, or the path of a library of double precision",
            Exit.NOT_SUPPORTED,
        ),
        (("n=10007", "library=plain"), "try n=10125", Exit.WRONG_WORD),
        (("n=4194304", "rows=2097152", "batch=2097152"), "more than 2^48 elements", Exit.WRONG_WORD),
    ],
)
def test_what_it_cannot_transform_is_refused_with_what_would_do(
    run_kernel: KernelRuns, words: tuple[str, ...], advice: str, code: Exit
) -> None:
    done = run_kernel("node/fft", *words, *QUICK)
    assert done.code == code
    assert advice in "".join(failure.reason for failure in done.failures)


@pytest.mark.skipif("fftw" not in libraries(), reason="the system has no libfftw3")
def test_fftw_gives_what_ours_gives_and_says_which_instructions_its_plan_has(run_kernel: KernelRuns) -> None:
    words = ("n=77,1024", "rows=0,3", "batch=1,2", "packing=contiguous,interleaved", "element=double-complex,double")
    library = f"library={libraries()['fftw']}"
    done = run_kernel("node/fft", *words, library, "effort=estimate", "simd=yes,no", "seconds=0.001", "least=5")
    assert done.code == 0, done.stderr
    for found in done.points:
        assert found.notes["library_version"].startswith("fftw-3")
        assert Path(found.notes["library"]).name.startswith("libfftw3.so")
        assert found.notes["instructions"] == "none" or found.knobs["simd"] == "yes"
