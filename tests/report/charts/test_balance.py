"""Balance as a picture: dots of launches for few places, the slowest of many, a sorted strip of more than forty."""

import numpy as np
import pytest

from fake_run import lane, machine, point, stored
from octant.analysis import balance as places
from octant.analysis.balance import Balances
from octant.analysis.summary import Summary, summarise
from octant.metric import Metric, rate
from octant.report.charts import draw
from octant.report.charts.bars.bars import balance
from octant.report.charts.picture import Picture
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.workload import Workload

WORKLOAD = Workload("Adds", (Metric("rate", "flop/s", "higher", rate("flops")),), {}, "fake/adds")


def summary(cores: int, slow: dict[int, float] | None = None, launches: int = 6, figures: int = 2) -> Summary:
    """Ranks on every core, each of which takes `slow` times as long."""
    generator, plan, points = np.random.default_rng(cores + 1), list[Launch](), []
    for number in range(figures):
        request = Request(
            Subject("fake/adds"),
            {"n": str(number)},
            Shape(cores),
            show=Presentation(f"adds {number}"),
            repeats=launches,
        )
        for repeat in range(launches):
            plan.append(Launch(request, repeat))
            times = 100_000 * (1 + 0.004 * generator.normal(size=cores))
            for core, factor in (slow or {}).items():
                times[core] *= factor
            lanes = tuple(lane([round(float(ns))] * 9, rank=rank) for rank, ns in enumerate(times))
            started = f"2026-11-21T21:{repeat:02}:00Z"
            points.append(
                point(workload="fake/adds", launch=plan[-1].key, knobs={"n": str(number)}, ranks=cores, lanes=lanes,
                      counts={"flops": 1000}, started=started)
            )  # fmt: skip
    return summarise(stored(plan, points, on=machine(cores=cores)), {"fake/adds": WORKLOAD})


def drawn(of: Summary) -> Picture:
    picture = balance(Balances(places.balance(of)))
    assert picture is not None
    for width in draw.widths(picture):
        assert draw.lay_out(picture, width).field.texts
    assert all(len(row) == len(picture.header) for row in picture.rows)
    return picture


def test_each_of_two_cores_has_a_mark_an_interval_and_its_launches_as_dots() -> None:
    picture = drawn(summary(2))
    (panel,) = picture.panels
    assert [series.name for series in panel.series] == ["core 0", "core 1"]
    assert all(len(series.dots) == 12 and series.low < series.high for series in panel.series)
    assert panel.x.ends == (-5, 5)
    assert panel.x.title == "Speed of each core against the mean of both"
    assert [text for _, text in panel.y.ticks] == ["Adds 0, 2 copies", "Adds 1, 2 copies"]
    assert panel.columns[0].roles == ("", "")
    assert "No difference between cores detected" in picture.label


def test_a_slower_core_is_bold_and_named() -> None:
    picture = drawn(summary(2, {1: 1.2}))
    (panel,) = picture.panels
    assert panel.columns[0].roles == ("ink", "ink")
    assert panel.columns[0].texts[0].startswith("83")
    assert panel.x.ends == (-10, 10)
    assert picture.label.startswith("core 1 is slower than core 0: 83")
    assert picture.facts[0][1].startswith(panel.columns[0].texts[0])


def test_up_to_forty_cores_are_dots_with_the_slowest_marked() -> None:
    picture = drawn(summary(40, {17: 1.1}))
    (panel,) = picture.panels
    (slowest,) = panel.series
    assert slowest.labels == ("core 17", "core 17")
    assert len(slowest.dots) == 80
    assert min(x for x, _ in slowest.dots) == pytest.approx(slowest.x[0], abs=0.5)


def test_of_more_than_forty_cores_a_sorted_strip_names_the_slowest_five() -> None:
    slow = {200: 1.1, 3: 1.09, 77: 1.08, 128: 1.07, 255: 1.06}
    picture = drawn(summary(256, slow, figures=1))
    _, strip = picture.panels
    (cores,) = strip.series
    assert cores.labels[:6] == ("core 200", "core 3", "core 77", "core 128", "core 255", "")
    assert list(cores.y) == sorted(cores.y)
    assert len(picture.rows) == 6


def test_one_core_has_no_picture_and_one_launch_no_interval() -> None:
    assert balance(Balances(places.balance(summary(1)))) is None
    picture = drawn(summary(2, launches=1))
    assert "too few launches" in picture.label
    assert all("no interval" in row[5] for row in picture.rows)
    assert all(series.low == series.x for series in picture.panels[0].series)
