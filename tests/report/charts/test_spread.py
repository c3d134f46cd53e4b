"""How far ranks differ: the band, its table, and what has none."""

import pytest

from fake_run import lane, point, stored
from octant.analysis.summary import Summary, summarise
from octant.metric import Metric, groups, ranks, seconds, steps
from octant.report.charts import draw, terminal
from octant.report.charts.curves.bands import spread
from octant.request import Launch, Request, Shape, Subject
from octant.workload import Spread, Workload
from reports import cells_of


def over(how: str) -> Metric:
    reduced = {"t_min": ranks("min"), "t_avg": ranks("mean"), "t_max": ranks("max")}[how]
    return Metric(how, "s", "lower", seconds(over=(steps("mean"), reduced, groups("max"))))


SHOWN = Spread("bytes", "t_min", "t_avg", "t_max")
METRICS = (Metric("time", "s", "lower", seconds()), *map(over, ("t_min", "t_avg", "t_max")))
WORKLOAD = Workload(name="mpi/calls", summary="Calls", metrics=METRICS, pictures=(SHOWN,), smoke={})


def summary(*lengths: int) -> Summary:
    """Make the second rank take twice as long as the first, and three times at 1024 bytes."""
    launch = Launch(Request(Subject(WORKLOAD.name), {"bytes": ",".join(map(str, lengths))}, Shape(2)))
    points = []
    for length in lengths:
        lanes = (lane([10_000] * 8), lane([30_000 if length == 1024 else 20_000] * 8, rank=1))
        knobs = {"bytes": str(length)}
        points.append(point("steps", workload=WORKLOAD.name, launch=launch.key, knobs=knobs, ranks=2, lanes=lanes))
    return summarise(stored([launch], points), {WORKLOAD.name: WORKLOAD})


def test_a_band_leads_from_the_quickest_rank_to_the_slowest() -> None:
    found = summary(0, 8, 1024)
    picture = spread(cells_of(found, WORKLOAD), SHOWN)
    assert picture is not None
    (band,) = picture.panels[0].series
    assert band.x == (8, 1024)  # an axis of powers has no 0
    assert band.low == pytest.approx((10e-6, 10e-6))
    assert band.y == pytest.approx((15e-6, 20e-6))
    assert band.high == pytest.approx((20e-6, 30e-6))
    assert [row[-1] for row in picture.rows] == ["×2.000", "×3.000"]
    assert "3.00 times, at 1 KiB" in picture.label
    assert draw.svg(picture, 780)
    assert terminal.picture_lines(picture, 60)


def test_one_length_is_no_band() -> None:
    found = summary(8)
    assert spread(cells_of(found, WORKLOAD), SHOWN) is None
