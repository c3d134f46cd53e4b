"""Summaries of runs: common points of several requests are pooled, with a caveat if they disagree."""

import dataclasses
import io
import json
import math
from typing import Any

import pytest

from fake_run import WORKLOADS, durations, fake_run, lane, point, stored
from octant.analysis.figures import Figure
from octant.analysis.summary import Summary, summarise
from octant.metric import Metric, result
from octant.record import Failure, Point, Result, Samples
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.tables import text
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.runs.rounds import drawn_order
from octant.stats import Grade
from octant.workload import Workload
from reports import report_of

STREAM = Subject("node/stream")
ROW = Request(STREAM, {"bytes": "1MiB"}, show=Presentation("row"), repeats=3)
CURVE = Request(STREAM, {"bytes": "64KiB,1MiB"}, show=Presentation("curve", table=False), repeats=3)


def launched(request: Request, size: str, ns: int, **changes: Any) -> list[Point]:
    """Return a point of each launch of the request, one minute and 0.2 % apart."""
    return [
        point(
            workload="node/stream", launch=launch.key, knobs={"bytes": size}, counts={"bytes_read": 1000},
            lanes=(lane(durations(round(ns * (1 + 0.002 * launch.repeat)))),),
            started=f"2026-11-21T21:{45 + launch.repeat}:00Z", **changes,
        )
        for launch in request.launches()
    ]  # fmt: skip


def summary(row_ns: int, curve_ns: int, row: Request = ROW, **changes: Any) -> Summary:
    points = [*launched(row, "1MiB", row_ns), *launched(CURVE, "64KiB", 500_000)]
    points += launched(CURVE, "1024KiB", curve_ns, **changes)
    launches = [Launch(request, repeat) for repeat in range(3) for request in (row, CURVE)]
    return summarise(stored(launches, points), WORKLOADS, all_metrics=True)


def at(found: Summary, title: str) -> Figure:
    return next(figure for figure in found.figures if figure.title.startswith(title))


def test_equal_points_of_a_run_are_launches_of_each() -> None:
    """The row at 1 MiB and the point of the curve there, which writes its size otherwise."""
    found = summary(1_000_000, 1_010_000)
    row, on_curve, elsewhere = (at(found, title) for title in ("row", "curve, bytes 1", "curve, bytes 64"))
    assert row.value is not None
    assert row.value == on_curve.value
    assert (row.value.kind, row.value.number) == ("order statistics", 6)
    assert [len(figure.launches) for figure in (row, on_curve)] == [3, 3]
    assert elsewhere.value is not None
    assert elsewhere.value.number == 3
    traffic = found.figure(row, "traffic")
    assert traffic is not None
    assert traffic.value is not None
    assert traffic.value.number == 6
    assert not any(caveat.kind == "inconsistent repeated measurements" for caveat in row.caveats)


def test_equal_points_that_disagree_are_named_with_both_values() -> None:
    found = summary(1_000_000, 1_200_000)
    for title in ("row", "curve, bytes 1"):
        (caveat,) = [one for one in at(found, title).caveats if one.kind == "inconsistent repeated measurements"]
        assert caveat.grade == Grade.LIMITED
        assert caveat.text == "repeated measurements of this run differ by 20 % (831.7 kB/s and 998.0 kB/s)"


@pytest.mark.parametrize("change", [{"shape": Shape(place="1x1,cpus=1")}, {"mpi": {"MPIR_CVAR_X": "1"}}])
def test_points_that_were_asked_in_another_place_are_not_equal(change: dict[str, object]) -> None:
    found = summary(1_000_000, 1_200_000, dataclasses.replace(ROW, **change))  # type: ignore[arg-type]
    value = at(found, "row").value
    assert value is not None
    assert value.number == 3


def test_a_wrong_result_is_compared_with_no_other() -> None:
    wrong = (dataclasses.replace(point().results[0], value=1.0),)
    found = summary(1_000_000, 1_000_000, results=wrong)
    value = at(found, "row").value
    assert value is not None
    assert value.number == 3
    assert at(found, "curve, bytes 1").value is None


def test_figures_are_in_the_order_of_the_asks_whatever_launch_was_drawn_first() -> None:
    run = fake_run(repeats=3)
    asked = [figure.title for figure in summarise(run, WORKLOADS).figures]
    for seed in (1, 2):
        drawn = dataclasses.replace(run, order=drawn_order([request.repeats for request in run.requests], seed))
        assert [figure.title for figure in summarise(drawn, WORKLOADS).figures] == asked


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_no_number_is_no_value_in_any_view(value: float) -> None:
    workload = Workload("Solver", (Metric("error", "1", "lower", result("error")),), {}, "app/solver")
    request = Request(Subject("app/solver"), repeats=2)
    points = [
        point(workload="app/solver", launch=Launch(request, n).key, results=(Result("error", x, "1"),))
        for n, x in enumerate((value, 0.5))
    ]
    for number in (1, 2):
        run = stored([Launch(request, n) for n in range(number)], points[:number])
        summary = summarise(run, {workload.name: workload}, all_metrics=True)
        (one,) = summary.figures
        assert (one.value.number if one.value else None) == (None if number == 1 else 1)
        assert one.missing == f"the value of a launch is {value:g}"
        report = report_of(summary)
        text.show(report, io.StringIO())
        assert json.loads(tidy.as_json(report))["figures"][0]["launches"] == number - 1
        assert "no value" in run_page.render(report) or number == 2


def test_launches_that_failed_or_gave_no_value_are_tried_and_left_out_with_a_doubt() -> None:
    request = Request(Subject("node/stream"), {"bytes": "1MiB,2MiB"}, repeats=5)
    launches = [Launch(request, repeat) for repeat in range(5)]
    lanes = (lane(durations(100_000)),)
    points = [
        point(workload="node/stream", launch=one.key, knobs={"bytes": size}, lanes=lanes, counts={"bytes_read": 1})
        for one in launches[:3]
        for size in ("1048576", "2097152")
    ]
    points[0] = dataclasses.replace(points[0], read=Samples, heads=())
    failures = [
        Failure("node/stream", launches[3].key, request.knobs, 1, "no memory", 3),
        Failure("node/stream", launches[4].key, {"bytes": "2097152"}, 1, "no memory", 3),
        Failure("node/stream", launches[2].key, request.knobs, 1, "stopped, and resumed later", 3),
    ]
    both = {
        one.title: (
            one.value.number if one.value else 0,
            one.tried,
            {caveat.kind: caveat.text for caveat in one.caveats},
        )
        for one in summarise(stored(launches, points, failures), WORKLOADS).figures
    }
    smaller, larger = both["stream, bytes 1 MiB"], both["stream, bytes 2 MiB"]
    assert (smaller[:2], larger[:2]) == ((2, 4), (3, 5))
    without = "1 of 4 launches gave no value (there is no series 'step')"
    assert smaller[2]["launches excluded"] == f"1 of 4 launches failed (no memory); {without}"
    assert larger[2]["launches excluded"] == "2 of 5 launches failed (no memory)"
    shown = io.StringIO()
    text.show(report_of(summarise(stored(launches, points, failures), WORKLOADS)), shown)
    assert "no value:" not in shown.getvalue(), "there is one"


def test_points_without_a_request_come_last_under_the_name_of_their_workload() -> None:
    stray = [
        point(workload="node/stream", launch=f"stray-{number}", knobs={"bytes": size}, counts={"bytes_read": 1000},
              lanes=(lane(durations(1_000_000)),))
        for number, size in enumerate(("2MiB", "4MiB"))
    ]  # fmt: skip
    launches = [Launch(request, 0) for request in (ROW, CURVE)]
    points = [*stray, *launched(CURVE, "64KiB", 500_000)[:1], *launched(ROW, "1MiB", 1_000_000)[:1]]
    found = summarise(stored(launches, points), WORKLOADS)
    assert [figure.title for figure in found.figures] == ["row", "curve, bytes 64KiB", "stream", "stream"]
    assert [figure.knobs["bytes"] for figure in found.figures[2:]] == ["2MiB", "4MiB"]


def test_a_headline_is_found_by_no_name_and_by_its_own() -> None:
    found = summary(1_000_000, 1_010_000)
    row = at(found, "row")
    assert found.figure(row, "") is row
    assert found.figure(row, row.metric.name) is row
    assert found.figure(row, "no such metric") is None


def test_sizes_in_titles_are_written_as_people_read_them_only_where_that_says_the_same() -> None:
    curve = Request(STREAM, {"bytes": "65536,1000000"}, show=Presentation("curve"))
    points = [one for size in ("65536", "1000000") for one in launched(curve, size, 500_000)]
    found = summarise(stored([Launch(curve, 0)], points), WORKLOADS)
    assert [figure.title for figure in found.figures] == ["curve, bytes 64 KiB", "curve, bytes 1000000"]
