"""Noise as time lost: heights, sums and causes are of all time, and add up to the headline."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_run import lane, machine, point, stored
from octant.analysis.summary import Summary, summarise
from octant.record import Point, RankResources, RankTimes
from octant.report import claims
from octant.report.charts import draw
from octant.report.charts.bars.bars import lost_time
from octant.report.charts.picture import Picture
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.workload import LostTime
from octant.workloads.node.noise import WORKLOAD
from reports import cells_of

NAME = "node/noise"


def summary(*launches: Sequence[Sequence[int]], taken: tuple[RankTimes, ...] = ()) -> Summary:
    """Each launch has the quanta of its ranks."""
    points: list[Point] = []
    plan: list[Launch] = []
    known = {NAME: replace(WORKLOAD, name=NAME)}
    for repeat, ranks in enumerate(launches):
        request = Request(Subject(NAME), {}, Shape(len(ranks)), show=Presentation("time lost"), repeats=len(launches))
        plan.append(Launch(request, repeat))
        lanes = tuple(lane(quanta, rank=rank) for rank, quanta in enumerate(ranks))
        points.append(
            point(workload=NAME, launch=plan[-1].key, lanes=lanes, ranks=len(ranks), counts={"quanta": 1}, taken=taken)
        )
    return summarise(stored(plan, points, on=machine(cores=max(map(len, launches)))), known)


def drawn(of: Summary) -> Picture:
    picture = lost_time(cells_of(of, WORKLOAD), LostTime("Noise"))
    assert picture is not None
    for width in draw.widths(picture):
        assert draw.lay_out(picture, width).field.texts
    return picture


def percents(texts: Sequence[str]) -> float:
    return sum(float(text.partition(claims.NARROW)[0]) for text in texts)


QUANTA = [10_000] * 90 + [12_000] * 5 + [110_000] * 4 + [3_010_000]  # of 100 quanta


def test_the_heights_are_shares_of_all_time_by_the_length_of_one_interruption() -> None:
    total = sum(QUANTA)
    picture = drawn(summary([QUANTA]))
    histogram, stack = picture.panels
    heights = {round(x * 1e9): y for x, y in zip(histogram.series[0].x, histogram.series[0].y, strict=True) if y}
    assert list(heights.values()) == pytest.approx([100 * v / total for v in (5 * 2_000, 4 * 100_000, 3_000_000)])
    places = list(heights)
    assert places[0] < 10_000 < places[1] < 1_000_000 < places[2]
    assert [one.label.split("\n")[1] for one in histogram.regions] == ["under 10 µs", "10 µs to 1 ms", "over 1 ms"]
    assert [series.name.partition(" ")[2] for series in stack.series] == ["unexplained", "work"], "no cause took time"
    assert not histogram.y.log


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(10_000, 10_000_000), min_size=20, max_size=40), min_size=1, max_size=4))
@example([[10_000] * 19 + [10_001]])  # 0.0005 %
@example([[10_000] * 19 + [10_061]])  # 0.03 %
@example([[10_000] * 19 + [10_196]])  # 0.098 %, which rounds to 0.10 %: not below 0.1 %
def test_parts_add_up_to_the_headline_and_all_causes_to_the_whole(launches: list[list[int]]) -> None:
    taken = (RankTimes(0, (10**9,), (9 * 10**8,), (6 * 10**7,), elapsed_ns=10**9, stolen_ns=3 * 10**6),)
    of = summary(*([quanta] for quanta in launches), taken=taken)
    picture = drawn(of)
    number = claims.figure_texts(of.figures[0]).number
    headline = float(number)
    is_silent = f"Under 0.1{claims.NARROW}% of the time" in picture.caption
    # Parts have one decimal where the headline has none, and two where the caption states only "under 0.1 %".
    rounded = 0.005 if is_silent else 1e-9 if "." in number else 0.5
    stack = picture.panels[-1].series
    assert percents([series.name for series in stack]) == pytest.approx(100)
    assert percents([series.name for series in stack[:-1]]) == pytest.approx(headline, abs=rounded)
    assert sum(series.x[0] for series in stack) == pytest.approx(100)
    facts = dict(picture.facts)
    named = [facts[name] for name in ("other processes", "a CPU quota", "the host", "unexplained") if name in facts]
    assert percents(named) == pytest.approx(headline, abs=rounded)
    assert all(percents([text]) for text in named), "no cause is named that took no time"
    if len(picture.panels) > 1:
        assert percents([region.label.split("\n")[0] for region in picture.panels[0].regions]) == pytest.approx(
            headline, abs=rounded
        )
        value = of.figures[0].value
        assert value is not None
        assert sum(picture.panels[0].series[0].y) == pytest.approx(100 * value.middle)
    assert is_silent or f"{number}{claims.NARROW}% of the time" in picture.caption
    assert not is_silent or percents([series.name for series in stack[:-1]]) < 0.1


def test_of_several_figures_each_has_its_own_causes_in_one_order() -> None:
    """One that waits for other processes, and one whose own threads share hardware threads."""
    waits = RankTimes(0, (10**9,), (9 * 10**8,), (10**8,))
    known = {NAME: replace(WORKLOAD, name=NAME)}
    plan, points = [], []
    for additions, crowded in (("40000", False), ("80000", True)):
        request = Request(Subject(NAME), {"additions": additions}, Shape(1), show=Presentation("time lost"))
        plan.append(Launch(request, 0))
        places = (RankResources("n", (0,), ((0,), (0,))),)
        points.append(
            point(
                workload=NAME, launch=plan[-1].key, lanes=(lane(QUANTA),), knobs={"additions": additions},
                counts={"quanta": 1}, taken=(waits,), given=places, share_cores=crowded,
            )
        )  # fmt: skip
    (*_, stack) = drawn(summarise(stored(plan, points, on=machine()), known)).panels
    assert [series.name for series in stack.series] == ["other processes", "oversubscription", "unexplained", "work"]
    others, own = (stack.series[number].x for number in (0, 1))
    assert [bool(share) for share in others] == [True, False]
    assert [bool(share) for share in own] == [False, True]


def test_a_silent_machine_has_one_sentence_and_the_bar() -> None:
    picture = drawn(summary([[10_000] * 1000 + [10_500]]))
    (bar,) = picture.panels
    assert bar.series[0].kind == "stack"
    assert "Under 0.1" in picture.caption
    assert "Height" not in picture.caption
    assert dict(picture.facts)["work"] == f"100.00{claims.NARROW}%"


def test_of_many_ranks_the_one_that_lost_most_is_drawn_and_all_stand_in_a_strip() -> None:
    ranks = [[10_000] * 99 + [10_000 * (2 + (rank * 7) % 40)] for rank in range(40)]
    picture = drawn(summary(ranks))
    histogram, strip, _ = picture.panels
    most = max(range(40), key=lambda rank: (rank * 7) % 40)
    assert histogram.y.title == f"Share of the time of rank {most} that was lost, %"
    (shares,) = strip.series
    assert list(shares.y) == sorted(shares.y)
    assert shares.labels[-1] == f"rank {most}"
    assert sum(bool(label) for label in shares.labels) == 5
    assert sum(histogram.series[0].y) == pytest.approx(shares.y[-1])


def test_without_a_figure_of_lost_time_there_is_no_picture() -> None:
    of = summary([QUANTA])
    assert lost_time(cells_of(of, WORKLOAD, []), LostTime()) is None
    assert lost_time(cells_of(of, WORKLOAD, [replace(of.figures[0], launches=())]), LostTime()) is None
