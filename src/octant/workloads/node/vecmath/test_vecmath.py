"""vecmath: its table against mpmath, its metrics and limit by hand, and the running program by every library."""

import math
import platform
import re
import subprocess
from ctypes.util import find_library
from dataclasses import replace
from pathlib import Path

import mpmath
import pytest

import vecmath_truth
from fake_run import MIB, lane, machine, point
from kernel_run import KernelRuns
from octant.analysis.figures import MeasuredCell, figures_of
from octant.build import program_name
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Point
from octant.workloads.node.vecmath import WORKLOAD, footprint

ALL = ",".join(function.name for function in vecmath_truth.functions())
BRIEF = ("seconds=0.002", "least=5", "samples=10")
SPECIAL = "special values differ"
CONTROL = "threads with changed rounding or flush-to-zero mode"
FAKES = """
#include <math.h>
#include <xmmintrin.h>
double Sleef_sin_u10(double x) { return sin(x); }
double Sleef_cos_u10(double x) { return (float)cos(x); }
int MKL_Set_Threading_Layer(int layer) { return layer; }
void vmdSin(int n, const double* a, double* y, long mode) { while (n--) y[n] = mode == 0x102 ? sin(a[n]) : 2; }
void vmsPow(int n, const float* a, const float* b, float* y, long mode) {
    while (n--) y[n] = mode == 0x101 ? powf(a[n], b[n]) : -1;
}
"""
FLUSHES = "__attribute__((constructor)) static void load(void) { _mm_setcsr(_mm_getcsr() | 0x8000); }"


def test_the_table_has_the_values_that_mpmath_gives_with_twice_the_bits() -> None:
    text = (vecmath_truth.FOLDER / "truth.bin").read_bytes()
    parts = [(function, spread) for function in vecmath_truth.functions() for spread in vecmath_truth.SPREADS]
    count, size = vecmath_truth.COUNT, vecmath_truth.COUNT * 10
    assert len(text) == len(parts) * size
    with mpmath.workprec(320):
        for number, (function, spread) in enumerate(parts):
            part = text[number * size :][:size]
            for i in range(number % 64, count, 64):
                high, rest = vecmath_truth.split(function.reference(*function.arguments(spread, i)))
                assert vecmath_truth.entry(part, i) == (high, rest), (function.name, spread, i)


def test_arguments_fill_their_ranges_and_all_exponents() -> None:
    for function in vecmath_truth.functions():
        low, high = function.ranges[0]
        drawn = [function.arguments("values", i)[0] for i in range(300)]
        assert low <= min(drawn) < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < max(drawn) <= high
        sizes = sorted(math.frexp(function.arguments("exponents", i)[0])[1] - 1 for i in range(300))
        slack = (function.most - function.least) // 20 + 1
        assert function.least <= sizes[0] <= function.least + slack
        assert function.most - slack <= sizes[-1] <= function.most


def timed(n: int, ns: int = 1000) -> Point:
    counts = {"elements": n, "bytes_read": 8 * n, "bytes_written": 8 * n}
    return point(counts=counts, knobs={"n": str(n)}, lanes=(lane([ns] * 8, clock_hz=(2_000_000_000,)),))


def test_rate_and_elements_a_cycle_by_hand() -> None:
    """1000 elements in 1 µs at 2 GHz are half an element a cycle."""
    found = figures_of(MeasuredCell(WORKLOAD, [timed(1000)], WORKLOAD.metrics))
    values = {name: figure.value.middle for name, figure in found.items() if figure.value is not None}
    assert values["rate"] == pytest.approx(1e9)
    assert values["time"] == pytest.approx(1e-9)
    assert values["elements per cycle"] == pytest.approx(0.5)
    without = replace(timed(1000), heads=tuple(replace(head, clock_hz=()) for head in timed(1000).heads))
    assert figures_of(MeasuredCell(WORKLOAD, [without], WORKLOAD.metrics))["elements per cycle"].value is None


def test_arguments_and_results_limit_it_beyond_the_caches_alone() -> None:
    """A machine with 32 MiB of last-level cache and 16 GB/s: 16 bytes an element are 1e9 elements a second."""
    known = Known(machine().topology, {"memory traffic": {frozenset({("node", 0)}): Best(16e9, "")}})
    large = timed(8 * MIB)
    limit = WORKLOAD.least_seconds(known, machine(), large)
    assert limit is not None
    assert large.count("elements") / limit.seconds == pytest.approx(1e9)
    assert WORKLOAD.least_seconds(known, machine(), timed(1000)) is None
    assert footprint(machine(), timed(1)) == 4096 * 16
    assert footprint(machine(), timed(1003)) == 5 * 1003 * 16


def value(found: Point, name: str) -> float:
    return next(result.value for result in found.results if result.name == name)


def test_every_function_is_as_exact_as_promised(run_kernel: KernelRuns) -> None:
    """The plain loop at values of the working range, the other over all exponents."""
    for library, arguments in (("strict", "values"), ("relaxed", "exponents")):  # whose records follow each other
        words = (f"library={library}", f"arguments={arguments}", "element=double,single", *BRIEF)
        done = run_kernel("node/vecmath", f"function={ALL}", *words)
        assert done.code == 0, done.stderr
    assert len(done.points) == 4 * len(ALL.split(","))
    for found in done.points:
        assert found.passed
        rounded = value(found, "not correctly rounded")
        if found.knobs["library"] == "strict" and found.knobs["function"] in ("sqrt", "div", "recip"):
            assert rounded == 0
            assert 0.49 < value(found, "largest error") <= 0.5
        assert value(found, "99.9th percentile error") <= value(found, "largest error")


@pytest.mark.skipif(not find_library("mvec"), reason="glibc's libmvec is not here")
def test_every_length_and_width_of_libmvec_is_right(run_kernel: KernelRuns) -> None:
    words = ("library=libmvec", "arguments=mixed", "width=128,256,512", *BRIEF)
    done = run_kernel("node/vecmath", "function=log,pow", "n=1,1003", "element=double,single", *words)
    assert done.points
    assert all(found.passed for found in done.points)
    assert all("width=" in failure.reason for failure in done.failures), "vectors that this processor has not"


@pytest.mark.parametrize(
    ("check", "name"),
    list(enumerate(("largest error", "difference from libm", SPECIAL, CONTROL))),
)
def test_each_check_fails_alone(run_kernel: KernelRuns, check: int, name: str) -> None:
    """Half the precision, or large arguments reduced wrongly; the last elements left out; −0 lost; zeros flushed."""
    if check == 3 and platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("the control register of this processor is not known")
    words = ("function=sin,exp", "library=strict", "n=1003", "element=double,single", "arguments=values,exponents")
    done = run_kernel("node/vecmath", *words, *BRIEF, fault=f"wrong:{check}")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert len(done.points) == 8
    for found in done.points:
        assert [one.name for one in found.checks if not one.passed] == [name]


@pytest.mark.skipif(platform.machine() != "x86_64" or not find_library("mvec"), reason="no libmvec here")
def test_relaxed_loops_call_vector_functions(kernels: Path) -> None:
    program = kernels / program_name("node/vecmath")
    needed = subprocess.run(["nm", "-D", "-u", program], capture_output=True, text=True, check=True).stdout
    dump = ["readelf", "-p", ".comment", str(program)]
    makers = set(re.findall(r"\]\s+(\w+)", subprocess.run(dump, capture_output=True, text=True, check=True).stdout))
    if "_ZGV" not in needed and makers != {"GCC"}:
        pytest.skip(f"no symbol _ZGV in {program.name}: its compiler ({', '.join(makers)}) does not use libmvec")
    for name in ("exp", "expf", "log", "sin", "cosf", "pow"):
        assert re.search(rf"_ZGV[bcde]N\d+vv?_{name}\b", needed), name


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Build libraries: fake functions of SLEEF and VML, and one that flushes denormals to zero when loaded."""
    if platform.machine() != "x86_64":
        pytest.skip("written for x86")
    folder = tmp_path_factory.mktemp("fakes")
    for name, text in (
        ("plain", FAKES),
        ("flushes", FAKES.replace("double Sleef_sin", f"{FLUSHES}\ndouble Sleef_sin")),
    ):
        (folder / f"{name}.c").write_text(text, encoding="utf-8")
        command = ["cc", "-O1", "-shared", "-fPIC", f"{name}.c", "-o", f"{name}.so", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
    return str(folder / "plain.so"), str(folder / "flushes.so")


def test_a_library_is_held_to_what_it_promises(run_kernel: KernelRuns, fakes: tuple[str, str]) -> None:
    """Right; results of half the precision; absent."""
    plain = f"path={fakes[0]}"
    sleef = ("library=sleef", "width=scalar", plain, *BRIEF)
    done = run_kernel("node/vecmath", "function=sin,cos,exp", *sleef)
    assert done.code == Exit.WRONG_ANSWER
    assert [found.passed for found in done.points] == [True, False]
    assert done.points[0].notes["symbol"] == "Sleef_sin_u10"
    assert "cannot find Sleef_exp_u10" in done.failures[0].reason


def test_modes_and_names_of_vml(run_kernel: KernelRuns, fakes: tuple[str, str]) -> None:
    """Of these one knows the mode of high accuracy alone, the other that of low; the rest is absent."""
    words = ("function=sin,pow", "element=double,single", "accuracy=ha,la", f"path={fakes[0]}", *BRIEF)
    done = run_kernel("node/vecmath", "library=vml", *words)
    symbols = [(found.notes["symbol"], found.knobs["accuracy"], found.passed) for found in done.points]
    assert symbols == [
        ("vmdSin", "ha", True),
        ("vmdSin", "la", False),
        ("vmsPow", "ha", False),
        ("vmsPow", "la", True),
    ]
    assert len(done.failures) == 4


def test_a_library_that_makes_small_numbers_zero_is_a_wrong_result(
    run_kernel: KernelRuns, fakes: tuple[str, str]
) -> None:
    done = run_kernel("node/vecmath", "library=sleef", "width=scalar", "function=sin", f"path={fakes[1]}", *BRIEF)
    assert done.code == Exit.WRONG_ANSWER
    assert CONTROL in [one.name for one in done.points[0].checks if not one.passed]


def test_what_a_library_does_not_have_is_refused(run_kernel: KernelRuns) -> None:
    words = ("function=sqrt", "library=libm,libmvec,vml,estimate", "accuracy=u35", "path=/nowhere.so", *BRIEF)
    done = run_kernel("node/vecmath", *words)
    assert done.code == 3
    assert not done.points
    assert len(done.failures) == 4
