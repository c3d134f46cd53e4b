"""The roofline by hand and by property, and that it shows the limits of the table."""

from dataclasses import replace
from typing import Any

import pytest

from fake_run import KIB, MIB, durations, lane, machine, point, stored
from octant.analysis.roofline import intensity, roofs
from octant.analysis.summary import Summary, summarise
from octant.limit import Best, Known, Threads, level_of
from octant.machine import LAST_CACHE, Disagreement
from octant.record import Point, RankTimes
from octant.report.charts.curves.roofline import roofline
from octant.report.charts.picture import ChartSeries, Panel, Picture
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import StoredRun
from reports import ladders_of


def picture_of(summary: Summary) -> Picture | None:
    """Return the roofline of a run."""
    return roofline(summary.known, summary.figures, ladders_of(summary))


def counting(**counts: int) -> Point:
    return point(counts=counts)


def test_triad_has_one_flop_in_sixteen_bytes_when_lines_are_read_first() -> None:
    assert intensity(counting(bytes_read=16, bytes_written=8, bytes_allocated=8, flops=2)) == pytest.approx(1 / 16)
    assert intensity(counting(bytes_read=16, bytes_written=8, flops=2)) == pytest.approx(1 / 12)
    assert intensity(counting(bytes_read=16, bytes_written=8, bytes_allocated=8, flops=2), "L1") == pytest.approx(
        1 / 12
    )
    assert intensity(counting(flops=2)) is None
    assert intensity(counting(bytes_read=8, bytes_written=8)) is None


def best(values: dict[int, float], cell: str = "") -> dict[Threads, Best]:
    return {frozenset(("n", cpu) for cpu in range(count)): Best(value, cell) for count, value in values.items()}


def known(**by_name: dict[Threads, Best]) -> Known:
    return Known(machine(cores=4).topology, {name.replace("_", " "): limits for name, limits in by_name.items()})


def test_the_ridge_of_100_gflops_over_20_gb_is_5_flop_a_byte_and_both_roofs_are_needed() -> None:
    found = known(
        fma_double=best({1: 1e11, 2: 2e11, 4: 4e11}),
        memory_traffic=best({1: 2e10, 2: 3e10}),
        L1_traffic=best({1: 4e11}),
    )
    one, two = (roofs(found, frozenset(("n", cpu) for cpu in range(count))) for count in (1, 2))
    assert one is not None
    assert two is not None
    assert (one.ridge, two.ridge) == pytest.approx((5, 20 / 3))
    assert [slope.level for slope in one.slopes] == ["L1", "memory"]
    assert [(flat.name, flat.flops_per_s) for flat in one.flats] == [("single", 2e11), ("double", 1e11)]
    assert roofs(found, frozenset(("n", cpu) for cpu in range(4))) is None
    measured_single = roofs(found, frozenset({("n", 0)}), single=False)
    assert measured_single is not None
    assert [flat.name for flat in measured_single.flats] == ["double"]


CORE = frozenset({("node", 0)})
CORES = frozenset({("node", 0), ("node", 1)})


@pytest.mark.parametrize(
    ("threads", "footprint", "level"),
    [
        (CORE, 48 * KIB, "L1"),
        (CORE, 48 * KIB + 1, None),  # L1 still holds most of it
        (CORE, 96 * KIB - 1, None),
        (CORE, 96 * KIB, "L2"),
        (CORE, 2 * MIB, "L2"),
        (CORE, 32 * MIB, "L3"),
        (CORE, 33 * MIB, None),
        (CORE, 64 * MIB, "memory"),
        (CORES, 96 * KIB, "L1"),
        (CORES, 4 * MIB, "L2"),
        (CORES, 32 * MIB, "L3"),  # shared by both cores
        (CORES, 40 * MIB, None),
    ],
)
def test_data_lie_in_the_first_cache_that_holds_the_part_of_each_thread_unless_one_before_it_holds_half_of_it(
    threads: Threads, footprint: int, level: str | None
) -> None:
    assert level_of(machine(), threads, footprint) == level


def test_a_last_cache_of_disputed_size_holds_nothing_for_certain() -> None:
    host = Disagreement(LAST_CACHE, (), "neither: the size is that of the whole host")
    disputed = replace(machine(), disagreements=(host,))
    assert level_of(disputed, CORE, 2 * MIB) == "L2"
    assert level_of(disputed, CORE, 4 * MIB) is None
    assert level_of(disputed, CORE, 64 * MIB) == "memory"


def measured(mode: tuple[int, int] = (1, 1)) -> StoredRun:
    """peakflops at two widths and in both precisions, triad from memory, gemm in both, on ranks x threads."""
    ranks, threads = mode
    launches: list[Launch] = []
    points: list[Point] = []

    def add(workload: str, knobs: dict[str, str], ns: float, counts: dict[str, int], **changes: Any) -> None:
        for repeat, speed in enumerate((0.98, 1.0, 1.04)):
            launch = Launch(Request(Subject(workload), knobs, Shape(ranks), show=Presentation(), repeats=3), repeat)
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


def drawn(run: StoredRun) -> Picture:
    picture = picture_of(summarise(run))
    assert picture is not None
    return picture


def named(panel: Panel, kind: str) -> dict[str, ChartSeries]:
    """Series by the first word of their names."""
    return {series.name.split()[0]: series for series in panel.series if series.kind == kind}


@pytest.mark.parametrize("mode", [(1, 1), (2, 1), (1, 2)])
def test_the_roof_is_the_limit_of_the_table_and_the_peak_of_the_shares(mode: tuple[int, int]) -> None:
    summary = summarise(measured(mode))
    figures = {(f.workload.name, f.knobs.get("element"), f.knobs.get("width"), f.knobs.get("kernel")): f
               for f in summary.figures}  # fmt: skip
    (panel,) = drawn(measured(mode)).panels
    assert panel.title == f"{mode[0] * mode[1]} core{'s' * (mode != (1, 1))}"
    lines, dots = named(panel, "line"), named(panel, "points")
    assert list(lines) == ["memory", "single", "double"]
    for number, element in enumerate(("double", "single")):
        roof, dot = lines[element], dots["node/gemm"]
        peak, product = figures["node/peakflops", element, "512", None], figures["node/gemm", element, None, None]
        assert peak.value is not None
        assert (roof.y[-1], product.at_limit) == pytest.approx((peak.value.middle, peak.value.middle), rel=1e-12)
        assert product.of_limit == pytest.approx(dot.y[number] / roof.y[-1])
        assert product.of_limit is not None
        assert dot.labels[number].endswith(f" {100 * product.of_limit:.0f} %")
        assert product.limit is not None
        assert product.limit.source == f"{element} multiply-adds measured in this run"
    triad, copy = (figures["node/stream", None, None, kernel] for kernel in ("triad", "copy"))
    slope = lines["memory"].y[0] / lines["memory"].x[0]
    assert triad.is_limit
    assert triad.of_limit is None
    assert copy.at_limit is not None
    assert copy.at_limit * 3.2 / 2.4 == pytest.approx(slope), "of 3.2 bytes that move, 2.4 are read and written"
    assert copy.of_limit == pytest.approx(1 / 1.1, rel=1e-3)
    first, second = dots["node/stream"].labels
    assert first.endswith(", the limit")
    assert second.endswith(" 91 %")


def test_the_panels_of_the_fewest_and_the_most_threads_have_equal_scales() -> None:
    runs = [measured(mode) for mode in ((1, 1), (2, 1))]
    picture = drawn(stored([*_launches(runs[0]), *_launches(runs[1])], (*runs[0].points, *runs[1].points)))
    assert "A roof may therefore be above the plateau" in picture.caption
    one, two = picture.panels
    assert (one.title, two.title) == ("1 core", "2 cores")
    assert (one.x, one.y) == (two.x, two.y)
    assert (picture.beside, picture.width) == (True, 1152)
    assert one.x.ends == (2.0**-5, 2.0**7)
    assert [text for _, text in one.x.ticks][:6] == ["1/32", "1/16", "1/8", "1/4", "1/2", "1"]
    assert "ridge at" in picture.label
    assert [note.text for note in one.notes] == [f"ridge {one.notes[0].x:.2g}"]


def _launches(run: StoredRun) -> list[Launch]:
    return [Launch(run.requests[request], repeat) for request, repeat in run.order]


def with_ladder(run: StoredRun) -> StoredRun:
    """Return a triad within each cache that moves 10 and 4 times as much a second, outside the table."""
    triads = [p for p in run.points if p.knobs.get("kernel") == "triad"]
    launches, points = _launches(run), list(run.points)
    for size, faster in (("32768", 10), ("1048576", 4)):
        for repeat, triad in enumerate(triads):
            knobs = {"kernel": "triad", "bytes": size}
            launches.append(
                Launch(
                    Request(Subject("node/stream"), knobs, Shape(1), show=Presentation("", False), repeats=3), repeat
                )
            )
            lanes = tuple(lane(durations(200_000 // faster)) for _ in range(1))
            moved = {"bytes_read": 1_600_000, "bytes_written": 800_000, "bytes_allocated": 800_000, "flops": 200_000}
            points.append(
                point(workload="node/stream", launch=launches[-1].key, knobs={**triad.knobs, **knobs}, lanes=lanes,
                      counts=moved, started=triad.process.started)
            )  # fmt: skip
    return stored(launches, points)


def test_roofs_of_caches_come_from_loops_that_are_not_in_the_table() -> None:
    (panel,) = drawn(with_ladder(measured())).panels
    slopes = {name: one for name, one in named(panel, "line").items() if one.names == "along"}
    assert list(slopes) == ["L1", "L2", "memory"]
    assert [slopes[name].dash for name in slopes] == ["dotted", "dashed", "solid"]
    rates = {name: one.y[0] / one.x[0] for name, one in slopes.items()}
    assert rates["L2"] / rates["memory"] == pytest.approx(4, rel=0.05)
    assert rates["L1"] / rates["memory"] == pytest.approx(10 * 24 / 32, rel=0.05), "L1 reads no line before a store"
    assert all(len(one.labels) == 2 for one in panel.series if one.kind == "points"), "the table's kernels alone"


def test_a_kernel_within_a_cache_has_a_share_of_that_roof() -> None:
    run = with_ladder(measured())
    listed = tuple(replace(request, show=Presentation("in a cache")) for request in run.requests)
    (panel,) = drawn(replace(run, requests=listed)).panels
    labels = next(one.labels for one in panel.series if one.name == "node/stream")
    assert [label.rpartition(",")[2].strip() for label in labels].count("the limit") == 3


def test_above_its_roof_is_a_doubt_and_what_is_not_measurable_has_no_share() -> None:
    run = measured()
    fast = tuple(
        replace(p, work=tuple(replace(w, counts={n: 2 * c for n, c in w.counts.items()}) for w in p.work))
        if p.workload == "node/gemm" else p
        for p in run.points
    )  # fmt: skip
    picture = drawn(replace(run, points=fast))
    assert "above the roof: check units, counts and clock frequency" in picture.caption
    assert any("above the roof" in row[4] for row in picture.rows)
    lost = tuple(
        replace(p, taken=(RankTimes(0, (10**9,), (10**8,), (9 * 10**8,)),)) if p.workload == "node/gemm" else p
        for p in run.points
    )
    picture = drawn(replace(run, points=lost))
    gemm = next(one for one in picture.panels[0].series if one.name == "node/gemm")
    assert gemm.open == (True, True)
    assert sorted(label.split()[1] for label in gemm.short_labels) == ["dp", "sp"]
    flats = [one for one in picture.panels[0].series if one.names == "margin"]
    assert flats
    assert all("\n" in one.short for one in flats), "a roof keeps its value where there is little room"
    assert not any("%" in label for label in gemm.labels)
    assert [row[4] for row in picture.rows if row[1].startswith("Gemm")] == ["not measurable"] * 2


def test_stream_alone_is_its_own_limit_and_says_so() -> None:
    run = measured()
    alone = replace(run, points=tuple(p for p in run.points if p.knobs.get("kernel") == "triad"))
    summary = summarise(alone)
    (triad,) = summary.figures
    assert (triad.is_limit, triad.of_limit) == (True, None)
    assert picture_of(summary) is None, "there is no peak"


def test_single_precision_without_a_roof_of_its_own_has_twice_that_of_double() -> None:
    run = measured()
    double = replace(run, points=tuple(p for p in run.points if p.knobs.get("element") != "single"))
    single = tuple(p for p in run.points if p.workload == "node/gemm")
    flat = named(drawn(replace(double, points=(*double.points, *single))).panels[0], "line")
    assert flat["single"].y[-1] == pytest.approx(2 * flat["double"].y[-1])
    assert "single" not in named(drawn(double).panels[0], "line")


def test_more_threads_than_hardware_threads_are_under_the_roof_of_the_hardware_threads() -> None:
    run = measured((2, 1))
    crowded = tuple(
        replace(p, given=tuple(replace(g, cpus=(0,), thread_masks=((0,),)) for g in p.given)) for p in run.points
    )
    (panel,) = drawn(replace(run, points=crowded)).panels
    assert panel.title == "1 core"
