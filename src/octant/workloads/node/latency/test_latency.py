"""The limit of latency by hand."""

import os

import pytest

from fake_run import KIB, MIB, durations, lane, machine, point, stored
from kernel_run import QUICK, KernelRuns
from octant.analysis.figures import MeasuredCell, figure, figures_of
from octant.analysis.summary import summarise, with_limit
from octant.failure import Exit
from octant.limit import Known
from octant.record import Point
from octant.request import Launch, Presentation, Request, Subject
from octant.workloads.node.latency import WORKLOAD

NOTHING = Known(machine().topology)
AT_4_GHZ = Known(machine().topology, clock_hz=4e9)


def walk(size: int, *clock_hz: int) -> Point:
    return point(counts={"loads": 1000}, knobs={"bytes": str(size)}, lanes=(lane([1600] * 8, clock_hz=clock_hz),))


def test_four_cycles_within_the_first_cache_and_nothing_beyond() -> None:
    limit = WORKLOAD.least_seconds(AT_4_GHZ, machine(), walk(16 * KIB))
    assert limit is not None
    assert limit.seconds == pytest.approx(1000 * 1e-9)  # of a chunk of 1000 loads
    assert WORKLOAD.least_seconds(AT_4_GHZ, machine(), walk(MIB)) is None
    assert WORKLOAD.least_seconds(NOTHING, machine(), walk(16 * KIB)) is None, "no clock, no limit"


def test_the_limit_beyond_the_first_cache_is_the_best_over_page_sizes_of_the_same_footprint() -> None:
    made = []
    for size, pages, ns in ((64, "base", 130_000), (64, "thp", 110_000), (32, "thp", 90_000)):
        knobs = {"bytes": f"{size}MiB", "pages": pages}
        launch = Launch(Request(Subject("node/latency"), knobs, show=Presentation(f"{size} MiB {pages}")))
        lanes = (lane(durations(ns)),)
        loads = {"loads": 1000}
        made.append((launch, point(workload="node/latency", counts=loads, knobs=knobs, launch=launch.key, lanes=lanes)))
    base, best, other = summarise(stored([one for one, _ in made], [one for _, one in made])).figures
    assert base.of_limit == pytest.approx(110 / 130, rel=0.01)
    assert base.limit is not None
    assert base.limit.source == "lowest latency of this footprint in this run (huge pages)"
    assert best.is_limit
    assert other.is_limit, "another footprint has a limit of its own"


def test_a_walk_over_pages_has_no_limit() -> None:
    pages = point(counts={"loads": 1000}, knobs={"bytes": "16384", "pattern": "pages"}, lanes=(lane([1600] * 8),))
    assert WORKLOAD.least_seconds(AT_4_GHZ, machine(), pages) is None


@pytest.mark.mpi
def test_lines_of_many_pages_are_walked_at_every_stride(run_kernel: KernelRuns) -> None:
    """Packed, in pages of their own, and far apart; of two threads, and where lines do not fill a page's places."""
    done = run_kernel("node/latency", "pattern=pages", "stride=64,4KiB,64KiB", "count=2,200", "threads=1,2", *QUICK)
    assert done.code == 0, done.stderr
    assert len(done.points) == 12
    assert all(point.passed for point in done.points)
    assert {result.value for point in done.points for result in point.results if result.unit == "B"} == {
        os.sysconf("SC_PAGE_SIZE")
    }


@pytest.mark.mpi
def test_lines_in_one_set_are_seen(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/latency", "pattern=pages", "count=256", *QUICK, fault="wrong:1")
    assert done.code == Exit.WRONG_ANSWER
    wrong = [result.name for result in done.points[0].checks if not result.passed]
    assert wrong == ["excess lines at the most frequent offset in a page"]


@pytest.mark.mpi
def test_others_draw_while_one_follows_its_chain(run_kernel: KernelRuns) -> None:
    done = run_kernel(
        "node/latency", "pattern=loaded", "bytes=64KiB", "load=64KiB", "threads=1,2", "reads=100,67,50", "pause=0,500",
        *QUICK,
    )  # fmt: skip
    assert done.code == 0, done.stderr
    assert len(done.points) == 12
    for each in done.points:
        assert each.passed
        others = int(each.knobs["threads"]) - 1
        written = {"100": 0, "67": 2048, "50": 4096}[each.knobs["reads"]]
        assert [(part.role, part.lanes) for part in each.work] == [("chase", 1), ("load", 1)][: 1 + others]
        assert dict(each.work[-1].counts) == (
            {"bytes_read": 4096, "bytes_written": written} if others else {"loads": 1024, "bytes_read": 65536}
        )
        found = figures_of(MeasuredCell(WORKLOAD, [each], WORKLOAD.metrics))
        drawn, latency = found["total bandwidth"].value, found["latency"].value
        assert drawn is not None
        assert latency is not None
        assert (drawn.middle > 1.001 * 64 / latency.middle) is bool(others)
        assert each.notes.get("others") == ("1" if others else None)


@pytest.mark.mpi
def test_traffic_that_was_counted_and_not_drawn_is_seen(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/latency", "pattern=loaded", "bytes=16KiB", "threads=2", *QUICK, fault="wrong:1")
    assert done.code == Exit.WRONG_ANSWER
    assert [one.name for one in done.points[0].checks if not one.passed] == ["counted lines that were not transferred"]


@pytest.mark.mpi
@pytest.mark.parametrize("stride", ["100", "12288"])
def test_strides_that_are_no_power_of_two_are_refused(run_kernel: KernelRuns, stride: str) -> None:
    done = run_kernel("node/latency", "pattern=pages", f"stride={stride}", *QUICK)
    assert done.code == 2
    assert f"cannot use stride={stride} (not a power of two of at least 64)" in done.stderr


def test_five_cycles_are_eighty_percent_and_1600_ns_for_1000_loads_are_1_6_ns() -> None:
    found = with_limit(figure(WORKLOAD, [walk(16 * KIB, round(5 / 1.6e-9))]), NOTHING, machine())
    assert found.value is not None
    assert found.value.middle == pytest.approx(1.6e-9)
    assert found.of_limit == pytest.approx(0.8)
