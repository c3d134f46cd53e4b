"""Pictures laid out as SVG: nothing leaves its box, no two texts overlap, and a file of its own needs no page."""

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import Phase, given, settings

import random_pictures
import sample_pictures
from octant.report.charts import draw
from octant.report.charts.layout.frame import looks
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture

PICTURES = sample_pictures.every()
LAYOUTS = [(picture, width) for picture in PICTURES for width in draw.widths(picture)]
LEAST = 11.0  # px


def faults(picture: Picture, width: int) -> list[str]:
    """Texts that leave the drawing, overlap or are too small."""
    drawing = draw.lay_out(picture, width)
    found = [f"“{text.text}” is too small" for text in drawing.field.texts if text.size < LEAST]
    for text in drawing.field.texts:
        box = text.box
        if box.left < -0.5 or box.right > width + 0.5 or box.top < -0.5 or box.bottom > drawing.height + 0.5:
            found.append(f"“{text.text}” leaves the drawing")
    overlapping = [(a, b) for a, b in combinations(drawing.field.texts, 2) if a.overlaps(b)]
    return found + [f"“{a.text}” covers “{b.text}”" for a, b in overlapping]


@pytest.mark.parametrize(("picture", "width"), LAYOUTS, ids=lambda one: getattr(one, "id", one))
def test_no_text_leaves_its_box_or_covers_another(picture: Picture, width: int) -> None:
    assert faults(picture, width) == []


@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # shrinking takes minutes
@given(random_pictures.pictures())
def test_any_picture_is_laid_out_without_a_fault(picture: Picture) -> None:
    for width in draw.widths(picture):
        assert faults(picture, width) == []
        ET.fromstring(draw.export(picture, width, "run"))  # noqa: S314 - our own text


@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.id)
def test_an_exported_picture_needs_no_other_file(picture: Picture) -> None:
    text = draw.export(picture, 780, "20261122-1")
    root = ET.fromstring(text)  # noqa: S314 - our own text
    assert "var(" not in text
    assert "currentColor" in text
    assert root.attrib["width"] == "180mm"
    tags = {child.tag.partition("}")[2]: child.text or "" for child in root}
    assert tags["title"] == picture.title
    assert picture.caption in tags["desc"]
    assert "20261122-1" in tags["metadata"]


def test_a_page_gives_the_colours() -> None:
    text = draw.svg(PICTURES[0], 358)
    assert "#" not in text
    assert 'role="img"' in text
    assert "<title>triad, L1 94 %, 1/16: 15.9 Gflop/s" in text


def picture_of(*series: ChartSeries, **more: Any) -> Picture:
    """Return a picture with one panel over 1 … 100 and 0 … 10."""
    x, y = Axis("x", True, ((1.0, "1"), (10.0, "10"), (100.0, "100"))), Axis("y", False, ((0.0, "0"), (10.0, "10")))
    return Picture("p", "P", "", (Panel(x, y, series, **more),), (), ())


def rows_of(*series: ChartSeries, ends: tuple[float, float] | None = (0.5, 2.0)) -> Picture:
    """Return a picture with two rows."""
    x, y = Axis("x", False, ((1.0, "1"),), ends=ends), Axis("", False, ((0.0, "one"), (1.0, "two")), down=True)
    return Picture("p", "P", "", (Panel(x, y, series),), (), ())


def test_two_points_have_no_line_and_one_has_its_value() -> None:
    two = draw.svg(picture_of(ChartSeries("two", "curve", (1.0, 10.0), (1.0, 2.0))), 780)
    assert 'class="l"' not in two
    assert two.count("<circle") == 2
    three = draw.svg(picture_of(ChartSeries("three", "curve", (1.0, 10.0, 100.0), (1.0, 2.0, 3.0))), 780)
    assert 'class="l"' in three
    words = " ".join(
        text.text for text in draw.lay_out(picture_of(ChartSeries("a", "curve", (10.0,), (5.0,))), 780).field.texts
    )
    assert "a 5: one point, no curve" in words


def test_a_nan_breaks_a_line() -> None:
    series = ChartSeries("a", "curve", (1.0, 2.0, float("nan"), 10.0, 100.0), (1.0, 1.0, 1.0, 2.0, 3.0))
    line = re.search(r'class="l" d="([^"]*)"', draw.svg(picture_of(series), 780))
    assert line
    assert line[1].count("M") == 2


def test_ten_thousand_points_are_a_band_and_a_line() -> None:
    xs = tuple(10 ** (2 * i / 9999) for i in range(10_000))
    ys = tuple(5 + 4 * math.sin(i) for i in range(10_000))
    text = draw.svg(picture_of(ChartSeries("many", "curve", xs, ys)), 780)
    assert 'class="area"' in text
    assert "<circle" not in text
    assert len(text) < 16_000


def test_series_differ_by_hue_dash_and_mark() -> None:
    series = [ChartSeries(f"s{i}", "curve", (1.0, 10.0, 100.0), (i, i, i)) for i in range(8)]
    found = [(one.colour, one.dash, one.shape) for one in looks(picture_of(*series))[0]]
    assert len(set(found)) == 8
    assert all(len({part[k] for part in found[:4]}) == 4 for k in range(3))


def test_published_values_are_open_grey_diamonds_in_their_own_lane() -> None:
    text = draw.svg(
        rows_of(
            ChartSeries("here", "rows", (1.0,), (0.0,)), ChartSeries("there", "rows", (1.0,), (0.0,), role="published")
        ),
        780,
    )
    grey = re.search(r'<g class="grey"><path class="o" d="M[\d.]+ ([\d.]+)', text)
    here = re.search(r'<circle class="m" cx="[\d.]+" cy="([\d.]+)"', text)
    assert grey
    assert here
    assert float(grey[1]) > float(here[1])


def test_what_leaves_the_axis_has_an_arrow() -> None:
    inside = ChartSeries("a", "rows", (1.0,), (0.0,), (0.8,), (1.5,))
    outside = ChartSeries("a", "rows", (1.0,), (0.0,), (0.8,), (9.0,))
    assert draw.svg(rows_of(outside), 780).count('class="b"') == draw.svg(rows_of(inside), 780).count('class="b"') + 1


def test_bars_begin_at_zero() -> None:
    drawn = draw.svg(rows_of(ChartSeries("a", "across", (1.0, 2.0), (0.0, 1.0)), ends=None), 780)
    one, two = (float(w) for w in re.findall(r'class="b" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', drawn))
    assert two == pytest.approx(2 * one, abs=0.2)


def test_a_label_is_nearer_to_its_own_mark_than_to_another() -> None:
    spots = ((1.0, 9.0), (30.0, 9.0), (1.0, 1.0), (30.0, 1.0), (2.0, 5.0))
    names = ("first", "second", "third", "fourth", "fifth")
    series = ChartSeries(
        "s", "points", tuple(x for x, _ in spots), tuple(y for _, y in spots), labels=names, names="points"
    )
    drawing = draw.lay_out(picture_of(series), 564)
    marks = [
        tuple(map(float, at)) for at in re.findall(r'<circle class="m" cx="([\d.]+)" cy="([\d.]+)"', drawing.content())
    ]
    for name, mine in zip(names, marks, strict=True):
        box = next(text.box for text in drawing.field.texts if text.text == name)
        middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        assert min(marks, key=lambda mark: math.dist(mark, middle)) == mine


def test_a_label_that_had_to_move_has_a_hairline() -> None:
    apart = [
        ChartSeries("up", "curve", (1.0, 10.0, 100.0), (1.0, 2.0, 9.0)),
        ChartSeries("down", "curve", (1.0, 10.0, 100.0), (1.0, 2.0, 3.0)),
    ]
    assert 'class="hair"' not in draw.svg(picture_of(*apart), 780)
    together = [apart[0], *(replace(apart[0], name=name) for name in ("one", "two", "three"))]
    assert 'class="hair"' in draw.svg(picture_of(*together), 780)


def test_little_room_has_shorter_names_and_fewer_ticks() -> None:
    series = ChartSeries("a name of some length", "curve", (1.0, 10.0, 100.0), (1.0, 2.0, 3.0), short="name")
    ticks = tuple((float(10 ** (i / 4)), f"{i} units") for i in range(9))
    picture = replace(picture_of(series), panels=(replace(picture_of(series).panels[0], x=Axis("x", True, ticks)),))
    wide, narrow = (draw.lay_out(picture, width) for width in (780, 358))
    assert "name" in {text.text for text in narrow.field.texts}
    assert "name" not in {text.text for text in wide.field.texts}
    count = [sum("units" in text.text for text in drawing.field.texts) for drawing in (wide, narrow)]
    assert count[0] > count[1] > 1
    assert min(text.size for text in narrow.field.texts) >= min(text.size for text in wide.field.texts)


def test_hostile_texts_are_only_texts() -> None:
    picture = picture_of(
        ChartSeries("<script>\x00\ud800]]>", "points", (1.0,), (1.0,), labels=("</svg>",), names="points")
    )
    root = ET.fromstring(draw.export(replace(picture, title="<b>&\x07"), 358, "<run>"))  # noqa: S314 - our own text
    assert not [one for one in root.iter() if one.tag.endswith(("script", "}b", "run"))]
