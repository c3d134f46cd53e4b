"""The roofline by hand and by property, and that it shows the limits of the table."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import durations, lane, machine, point, stored
from octant.analysis.roofline import Roofline, intensity, rooflines
from octant.analysis.summary import summarise
from octant.ask import Ask, Launch, Presentation, Shape, Subject
from octant.limit import Best, Known
from octant.record import Point
from octant.report.charts.roofline import roofline
from octant.store import StoredRun

POSITIVE = st.floats(1e6, 1e15)


def test_the_ridge_of_100_gflops_over_20_gb_is_5_flop_a_byte() -> None:
    roof = Roofline(1, "double", 100e9, 20e9)
    assert roof.ridge == pytest.approx(5)
    assert roof.curve([0, 1 / 16, 5, 50]) == pytest.approx((0, 1.25e9, 100e9, 100e9))
    assert (roof.bound(1), roof.bound(5)) == ("memory", "compute")
    with pytest.raises(ValueError, match="not negative"):
        roof.attainable(-1)


def counting(**counts: int) -> Point:
    return point(counts=counts)


def test_triad_has_one_flop_in_sixteen_bytes_when_lines_are_read_first() -> None:
    assert intensity(counting(bytes_read=16, bytes_written=8, bytes_allocated=8, flops=2)) == pytest.approx(1 / 16)
    assert intensity(counting(bytes_read=16, bytes_written=8, flops=2)) == pytest.approx(1 / 12)
    assert intensity(counting(flops=2)) is None
    assert intensity(counting(bytes_read=8, bytes_written=8)) is None


def test_a_roofline_needs_both_ceilings() -> None:
    def of(values: dict[int, float]) -> dict[frozenset[tuple[str, int]], Best]:
        return {frozenset(("n", cpu) for cpu in range(count)): Best(value, "") for count, value in values.items()}

    flops, traffic = of({1: 1e11, 2: 2e11, 4: 4e11}), of({2: 3e10, 1: 2e10})
    known = Known(machine(cores=4).topology, {"fma double": flops, "memory traffic": traffic})
    found = rooflines(known, [(threads, "double") for threads in [*flops, *traffic]])
    assert [roof.threads for roof in found] == [1, 2]
    assert [roof.ridge for roof in found] == pytest.approx([5, 20 / 3])


@given(POSITIVE, POSITIVE, st.floats(0, 1e6), st.floats(1, 10))
def test_more_intensity_and_higher_ceilings_never_hurt(flops: float, memory: float, at: float, more: float) -> None:
    roof = Roofline(1, "double", flops, memory)
    assert roof.attainable(at) <= roof.attainable(at * more)
    assert roof.attainable(at) <= Roofline(1, "double", flops * more, memory).attainable(at)
    assert roof.attainable(at) <= Roofline(1, "double", flops, memory * more).attainable(at)
    assert roof.attainable(roof.ridge) == pytest.approx(flops)


def measured(mode: tuple[int, int] = (1, 1)) -> StoredRun:
    """peakflops at two widths and in both precisions, triad from memory, gemm in both, on ranks x threads."""
    ranks, threads = mode
    launches: list[Launch] = []
    points: list[Point] = []

    def add(workload: str, knobs: dict[str, str], ns: float, counts: dict[str, int], **changes: Any) -> None:
        for repeat, speed in enumerate((0.98, 1.0, 1.04)):
            launch = Launch(Ask(Subject(workload), knobs, Shape(ranks), show=Presentation(), repeats=3), repeat)
            launches.append(launch)
            pairs = [(r, t) for r in range(ranks) for t in range(threads)]
            lanes = tuple(lane(durations(round(ns / speed)), t, r, clock_hz=(3_000_000_000,)) for r, t in pairs)
            given = {**knobs, "threads": str(threads)}
            shape: dict[str, Any] = {"ranks": ranks, "threads": threads, "counts": counts}
            points.append(point(workload=workload, launch=launch.key, knobs=given, lanes=lanes, **shape, **changes))

    for width, element, flops in (("512", "double", 9.0e6), ("512", "single", 17e6), ("256", "double", 9.6e6)):
        notes = {"width": width, "lanes": "8", "chains": "24", "fused": "yes"}
        add("node/peakflops", {"width": width, "element": element}, 100_000, {"flops": round(flops)}, notes=notes)
    moved = {"bytes_read": 1_600_000, "bytes_written": 800_000, "bytes_allocated": 800_000, "flops": 200_000}
    for kernel, slower in (("triad", 1.0), ("copy", 1.1)):
        add("node/stream", {"kernel": kernel, "bytes": "1073741824"}, 200_000 * slower, moved)
    for element, ns in (("double", 2.2e6), ("single", 1.1e6)):
        size = 8 if element == "double" else 4
        product = {"flops": 2 * 448**3, "bytes_read": 2 * size * 448**2, "bytes_written": size * 448**2}
        add("node/gemm", {"element": element, "n": "448", "library": "openblas"}, ns, product)
    return stored(launches, points)


@pytest.mark.parametrize("mode", [(1, 1), (2, 1), (1, 2)])
def test_the_roof_is_the_limit_of_the_table_and_the_peak_of_the_shares(mode: tuple[int, int]) -> None:
    summary = summarise(measured(mode))
    figures = {(f.workload.name, f.knobs.get("element"), f.knobs.get("width"), f.knobs.get("kernel")): f
               for f in summary.figures}  # fmt: skip
    picture = roofline(summary)
    assert picture is not None
    threads = f"{mode[0] * mode[1]} thread{'s' * (mode != (1, 1))}"
    roofs = {series.name: series for series in picture.panels[0].series if series.kind == "line"}
    assert list(roofs) == [f"roof, double, {threads}", f"roof, single, {threads}"]
    dots = {series.name: series for series in picture.panels[0].series if series.kind == "points"}
    for element in ("double", "single"):
        roof, dot = roofs[f"roof, {element}, {threads}"], dots[f"node/gemm, {element}, {threads}"]
        peak, product = figures["node/peakflops", element, "512", None], figures["node/gemm", element, None, None]
        assert peak.value is not None
        assert (roof.y[-1], product.at_limit) == pytest.approx((peak.value.middle, peak.value.middle), rel=1e-12)
        assert product.of_limit == pytest.approx(dot.y[0] / roof.y[-1])
        assert product.limit is not None
        assert product.limit.source == f"{element} multiply-adds that this run measured"
    triad, copy = (figures["node/stream", None, None, kernel] for kernel in ("triad", "copy"))
    slope = roofs[f"roof, double, {threads}"].y[0] / roofs[f"roof, double, {threads}"].x[0]
    assert triad.is_limit
    assert triad.of_limit is None
    assert copy.at_limit is not None
    assert copy.at_limit * 3.2 / 2.4 == pytest.approx(slope), "of 3.2 bytes that move, 2.4 are read and written"
    assert copy.of_limit == pytest.approx(1 / 1.1, rel=1e-3)


def test_stream_alone_is_its_own_limit_and_says_so() -> None:
    run = measured()
    alone = replace(run, points=tuple(p for p in run.points if p.knobs.get("kernel") == "triad"))
    (triad,) = summarise(alone).figures
    assert (triad.is_limit, triad.of_limit) == (True, None)


def test_single_precision_without_a_roof_of_its_own_has_twice_that_of_double() -> None:
    run = measured()
    double = replace(run, points=tuple(p for p in run.points if p.knobs.get("element") != "single"))
    single = tuple(p for p in run.points if p.workload == "node/gemm")
    summary = summarise(replace(double, points=(*double.points, *single)))
    picture = roofline(summary)
    assert picture is not None
    flat = {series.name: series.y[-1] for series in picture.panels[0].series if series.kind == "line"}
    assert flat["roof, single, 1 thread"] == pytest.approx(2 * flat["roof, double, 1 thread"])


def test_more_threads_than_hardware_threads_are_under_the_roof_of_the_hardware_threads() -> None:
    run = measured((2, 1))
    crowded = tuple(
        replace(p, given=tuple(replace(g, cpus=(0,), thread_masks=((0,),)) for g in p.given)) for p in run.points
    )
    picture = roofline(summarise(replace(run, points=crowded)))
    assert picture is not None
    assert {series.name.rpartition(", ")[2] for series in picture.panels[0].series} == {"1 thread"}
