"""Pictures laid out as SVG: nothing leaves its box, no two texts overlap, and a file of its own needs no page."""

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

import sample_pictures
from octant.report.charts import draw
from octant.report.charts.picture import Picture

PICTURES = sample_pictures.every()
LAYOUTS = [(picture, width) for picture in PICTURES for width in draw.widths(picture)]
LEAST = 11.0  # px


def faults(picture: Picture, width: int) -> list[str]:
    """Texts that leave the drawing, overlap or are too small."""
    drawing = draw.lay_out(picture, width)
    found = [f"“{text.text}” is too small" for text in drawing.texts if text.size < LEAST]
    for text in drawing.texts:
        box = text.box
        if box.left < -0.5 or box.right > width + 0.5 or box.top < -0.5 or box.bottom > drawing.height + 0.5:
            found.append(f"“{text.text}” leaves the drawing")
    overlapping = [(a, b) for a, b in combinations(drawing.texts, 2) if a.overlaps(b)]
    return found + [f"“{a.text}” covers “{b.text}”" for a, b in overlapping]


@pytest.mark.parametrize(("picture", "width"), LAYOUTS, ids=lambda one: getattr(one, "id", one))
def test_no_text_leaves_its_box_or_covers_another(picture: Picture, width: int) -> None:
    assert faults(picture, width) == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.id)
def test_an_exported_picture_stands_alone(picture: Picture) -> None:
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
