"""The best value of a knob and the cost of the worst, from launches whose times are written here."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fake_run import lane, machine, point
from octant.analysis.choices import RankedFigures, choices
from octant.analysis.figures import Figure, figure
from octant.metric import Metric, rate, seconds
from octant.report.charts.bars.bars import choice, choice_texts
from octant.report.charts.curves.figure_curves import Ladders, MeasuredCells
from octant.workload import Choice, Workload

WORKLOAD = Workload("ways to send", (Metric("time", "s", "lower", seconds()),), smoke={}, name="fake/thing")
QUICK, SAME, SLOW = [10_000, 12_000, 11_000, 10_500], [11_000, 11_500, 11_800, 10_200], [30_000, 36_000, 33_000, 31_500]


def measured(figures: list[Figure]) -> MeasuredCells:
    """Cells of which only the headline was measured."""
    return MeasuredCells(WORKLOAD, figures, lambda figure, _: figure, Ladders((), machine()))


def cell(way: str, times: Sequence[int], workload: Workload = WORKLOAD, **knobs: str) -> Figure:
    counts = {"bytes_sent": 1000}
    points = [
        point(
            "steps", launch=f"x-{i}", knobs={"way": way, "seconds": "1", **knobs}, lanes=(lane([ns] * 9),),
            counts=counts,
        )
        for i, ns in enumerate(times)
    ]  # fmt: skip
    return figure(workload, points)


def only(figures: Sequence[Figure]) -> RankedFigures:
    (found,) = choices(figures, "way")
    return found


def test_the_worst_costs_its_ratio_to_the_best_launch_by_launch() -> None:
    found = only([cell("slow", SLOW), cell("same", SAME), cell("quick", QUICK)])
    assert [one.knobs["way"] for one in found.ranked] == ["quick", "same", "slow"]
    assert (found.cost.low, found.cost.middle, found.cost.high) == pytest.approx((3, 3, 3)), "3 in every launch"
    assert [one.knobs["way"] for one in found.equivalents] == ["same"]


def test_of_rates_the_highest_is_best() -> None:
    workload = replace(WORKLOAD, metrics=(Metric("bandwidth", "B/s", "higher", rate("bytes_sent")),))
    found = only([cell("slow", SLOW, workload), cell("quick", QUICK, workload)])
    assert found.best.knobs["way"] == "quick"
    assert found.cost.middle == pytest.approx(3)


def test_few_launches_give_a_ratio_without_an_interval_and_nothing_is_as_good() -> None:
    found = only([cell("quick", QUICK[:2]), cell("same", SAME[:2])])
    assert found.cost.low == found.cost.middle == found.cost.high
    assert not found.equivalents


def test_what_else_was_varied_has_a_choice_of_its_own_and_effort_has_none() -> None:
    figures = [cell(way, times, bytes=size) for size in ("8", "1024") for way, times in (("a", QUICK), ("b", SLOW))]
    figures += [cell("alone", QUICK, bytes="4096")]
    found = choices(figures, "way")
    assert [one.others for one in found] == [{"bytes": "8"}, {"bytes": "1024"}]
    assert choice_texts(figures, "way")[1] == "1 KiB: a best (10.7 µs); worst b (32.2 µs), ×3"
    assert not choices([cell("a", QUICK)], "way")
    assert not choices(figures, "nothing")


def test_a_wrong_result_is_not_ranked() -> None:
    wrong = replace(cell("quick", QUICK), wrong=cell("quick", QUICK).points[0].checks)
    assert not choices([wrong, cell("slow", SLOW)], "way")


def test_the_picture_has_a_bar_and_a_row_for_each_case() -> None:
    figures = [cell(way, times, bytes=size) for size in ("8", "1024") for way, times in (("a", QUICK), ("b", SLOW))]
    picture = choice(measured(figures), Choice("way"))
    assert picture is not None
    assert picture.panels[0].series[0].x == pytest.approx((3, 3))
    assert [row[:2] for row in picture.rows] == [("8 B", "a"), ("1 KiB", "a")]
    assert choice(measured(figures[:1]), Choice("way")) is None
