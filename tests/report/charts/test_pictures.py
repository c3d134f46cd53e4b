"""Pictures that workloads declare: each kind holds the numbers that were put in, as data, in tables, in characters."""

import dataclasses
import re

import numpy as np
import pytest

from fake_run import WORKLOADS, fake_run
from halo_run import HALO, KNOWN, SIZES, WRONG, halo_run
from octant.analysis.summary import summarise
from octant.report.charts import draw, terminal
from octant.report.charts.bars.bars import REST, bar_labels, own_times
from octant.report.charts.curves import figure_curves
from octant.report.charts.curves.curve import timeline
from octant.report.charts.picture import Picture, thin
from octant.report.charts.pictures import pictures
from octant.workload import Curve, Stacked, Timeline
from reports import cells_of

RIGHT = [n for n in SIZES if n != WRONG]


def drawn() -> dict[str, Picture]:
    return {picture.id: picture for picture in pictures(summarise(halo_run(), KNOWN))}


def test_each_declared_picture_is_drawn_once_under_a_name_of_its_own() -> None:
    kinds = ["curve", "curve-2", "phases", "timeline", "bars"]
    assert list(drawn()) == [f"apps-halo-{kind}" for kind in kinds]
    for picture in drawn().values():
        assert picture.rows
        assert all(len(cells) == len(picture.header) for cells in picture.rows)


def test_a_metric_along_a_metric_joins_the_points_of_an_ask_in_their_order() -> None:
    (line,) = drawn()["apps-halo-curve-2"].panels[0].series
    assert line.y == pytest.approx([2 * n * 1e-6 for n in RIGHT])  # the slower group
    assert line.x == pytest.approx([0.75e9] * 3)  # between 1 and 0.5 GB/s of the groups
    assert drawn()["apps-halo-curve"].panels[0].series[0].x == tuple(map(float, RIGHT))


def test_phases_are_stacked_without_those_inside_them_and_fill_the_step() -> None:
    picture = drawn()["apps-halo-phases"]
    parts = {series.name: series.x for series in picture.panels[0].series}
    means = [1.5 * n * 1e-6 for n in RIGHT]
    assert list(parts) == ["pack", "solve", "solve/halo", REST]
    assert parts["solve"] == pytest.approx([0.375 * mean for mean in means])
    assert [sum(column) for column in zip(*parts.values(), strict=True)] == pytest.approx(means)
    chosen = dataclasses.replace(HALO, pictures=())
    summary = summarise(halo_run(), {HALO.name: chosen}, all_metrics=True)
    assert list(own_times(summary.figure, summary.figures[0], ["pack"])) == ["pack", REST]


def test_a_timeline_keeps_the_order_of_samples() -> None:
    first, *_ = drawn()["apps-halo-timeline"].panels[0].series
    assert first.y[:3] == pytest.approx((1, 1 / 2, 1 / 3))
    assert first.x[-1] == 100


def test_bars_leave_out_wrong_results() -> None:
    (bars,) = drawn()["apps-halo-bars"].panels[0].series
    assert bars.x == pytest.approx([2 * n * 1e-6 for n in RIGHT])


def test_a_long_timeline_is_a_band_that_keeps_the_extremes() -> None:
    metric = HALO.metric("residual")
    samples = np.arange(1000.0)
    samples[500] = 5000.0
    launch = dataclasses.replace(
        summarise(halo_run(), KNOWN).figures[0].launches[0], metric=metric, samples=samples, count=3000
    )
    one = dataclasses.replace(summarise(halo_run(), KNOWN).figures[0], launches=(launch,), metric=metric)
    summary = dataclasses.replace(summarise(halo_run(), KNOWN), figures=(one,))
    picture = timeline(cells_of(summary, HALO, [one]), Timeline("residual"))
    assert picture is not None
    (band,) = picture.panels[0].series
    assert (band.kind, len(band.x), max(band.high), min(band.low)) == ("band", 200, 5000, 0)
    assert band.x[-1] == pytest.approx(3000 * (1 - 0.5 / 200), rel=1e-3)
    assert picture.rows[0][2:4] == ("3000", "0")


def test_phases_in_which_ranks_wait_are_grey_and_large_parts_have_their_share() -> None:
    waiting = dataclasses.replace(HALO, pictures=(Stacked("n", waiting=("solve/halo",)),))
    (picture,) = pictures(summarise(halo_run(), {HALO.name: waiting}))
    parts = {series.name: series for series in picture.panels[0].series}
    assert {name: one.role for name, one in parts.items()} == {
        "pack": "", "solve": "", "solve/halo": "grey", REST: "faint",
    }  # fmt: skip
    assert parts["solve"].labels[0] == "38 %"
    assert "wait" in picture.caption


def test_lines_beyond_what_can_be_read_are_thinned_and_the_caption_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_curves, "MAX_LINES", 1)
    monkeypatch.setattr("octant.report.charts.picture.MAX_POINTS", 5)
    picture = latency_curve()
    lines = [series for series in picture.panels[0].series if series.kind == "curve"]
    assert [len(line.x) for line in lines] == [17]
    assert len(picture.rows) == 5
    assert (picture.rows[0][1], picture.rows[-1][1]) == ("4 KiB", "256 MiB")
    assert "1 of 2 lines are drawn" in picture.caption
    assert thin(range(5), 2) == [0, 4]


def latency_curve(*each: str) -> Picture:
    """Return the fake run's loads as a curve instead of a ladder."""
    latency = WORKLOADS["node/latency"]
    known = {**WORKLOADS, latency.name: dataclasses.replace(latency, pictures=(Curve("bytes", each=each),))}
    return next(p for p in pictures(summarise(fake_run(), known)) if p.id == "node-latency-curve")


def test_more_lines_than_can_be_distinguished_are_in_several_panels_over_one_axis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figure_curves, "MAX_SERIES", 1)
    first, second = latency_curve().panels
    assert (first.x, first.y) == (second.x, second.y)
    assert [[one.name for one in panel.series if one.kind == "curve"] for panel in (first, second)] == [
        ["base pages"],
        ["huge pages"],
    ]


def test_knobs_that_a_picture_names_tell_its_lines_apart() -> None:
    for each, lines in (("pages", 2), ("seconds", 1)):
        assert sum(series.kind == "curve" for series in latency_curve(each).panels[0].series) == lines


@pytest.mark.parametrize("width", [60, 100, 160])
def test_pictures_in_characters_fit_and_show_every_series(width: int) -> None:
    for picture in (*drawn().values(), *pictures(summarise(fake_run(), WORKLOADS))):
        page = [line.plain for line in terminal.picture_lines(picture, width)]
        assert max(map(len, page)) <= width
        text = "\n".join(page)
        assert picture.title[:width] in text
        assert all(
            series.name[: width - 10] in text
            for series in picture.panels[0].series
            if len(picture.panels[0].series) > 1
        )


def test_bars_in_characters_are_as_long_as_their_values() -> None:
    lines = [line.plain for line in terminal.picture_lines(drawn()["apps-halo-bars"], 100)]
    lengths = [line.count("█") for line in lines if " a " in line and "µs" in line]
    assert lengths == [round(lengths[-1] / 4), round(lengths[-1] / 2), lengths[-1]]
    stacks = [line.plain for line in terminal.picture_lines(drawn()["apps-halo-phases"], 100)]
    assert [stacks[4].count(sign) for sign in "█▓▒░"] == pytest.approx([21, 32, 10, 21], abs=1)


def test_bars_of_rates_are_grey_open_where_not_measurable_and_say_their_values() -> None:
    bars = drawn()["apps-halo-bars"]
    (panel,) = bars.panels
    (series,) = panel.series
    assert series.role == "grey"
    assert len(series.open) == len(series.x) == len(panel.notes)
    assert [note.text for note in panel.notes] == [row[1] for row in bars.rows]
    assert "Thin lines" not in bars.caption or any(map(float.__lt__, series.low, series.high))
    some = dataclasses.replace(series, open=(True, *series.open[1:]))
    one_open = dataclasses.replace(bars, panels=(dataclasses.replace(panel, series=(some,)),))
    assert draw.svg(one_open, 780).count('class="o"') == draw.svg(bars, 780).count('class="o"') + 1


def test_titles_of_pictures_name_no_workload() -> None:
    for picture in (*drawn().values(), *pictures(summarise(fake_run(), WORKLOADS))):
        assert "/" not in picture.title, picture.title


def test_bars_name_what_differs_in_words_and_on_how_many_cores() -> None:
    summary = summarise(fake_run(), WORKLOADS)
    adds = [one for one in summary.figures if one.workload.name == "node/peakflops"]
    assert bar_labels(adds, "width") == ["512, 1 core", "512, 2 copies", "512, 2 threads"]
    assert bar_labels(adds[:1], "width") == ["512"]
    loads = [one for one in summary.figures if one.workload.name == "node/latency" and one.show.table]
    assert bar_labels(loads, "bytes") == ["268435456, base pages", "268435456, huge pages"]


def test_sentences_of_a_caption_are_separate_and_each_has_its_condition() -> None:
    every = [*drawn().values(), *pictures(summarise(fake_run(), WORKLOADS))]
    assert {"ladder", "roofline", "mpi-p2p-messages"} <= {picture.id for picture in every}
    for picture in every:
        assert not re.search(r"[.:;][A-Z]", picture.caption), picture.caption
    ladders = [picture.caption for picture in every if picture.id == "ladder"]
    shared = [level.label for one in every if one.id == "ladder" for panel in one.panels for level in panel.levels]
    assert ladders
    assert ("A name such as" in ladders[0]) == any(re.match(r"L\d–", label) for label in shared)
