"""Drawings in a real browser, with the widest and a narrow font: boxes of texts in windows of five widths."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sample_pictures
from boxes import faults
from octant.report.charts import draw
from octant.report.charts.layout.labels import FAMILY, text_width
from octant.report.charts.picture import Picture
from pages import FONTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VIEWPORTS = (320, 390, 704, 1000, 1400)
LAYOUT = """
body { margin: 0 16px; } svg { display: none; max-width: 100%; height: auto; }
svg.w358 { display: block; width: 100%; max-width: 432px; }
@media (max-width: 389px) { svg.w358 { margin: 0 -16px; width: 100vw; max-width: none; } }
@media (min-width: 812px) {
  .to1152 .w780, .to780 .w780 { display: block; } .to1152 .w358, .to780 .w358 { display: none; }
}
@media (min-width: 596px) { .to564 .w564 { display: block; } .to564 .w358 { display: none; } }
@media (min-width: 1184px) { .to1152 .w1152 { display: block; } .to1152 .w780 { display: none; } }
"""


def has_font(name: str) -> bool:
    """Whether fontconfig has a font of that name."""
    if not shutil.which("fc-list"):
        return False
    return bool(subprocess.run(["fc-list", name], capture_output=True, check=False).stdout)


@pytest.fixture(scope="module")
def page_of_pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    body = "".join(
        f'<div class="to{picture.width}">{"".join(draw.svg(picture, width) for width in draw.widths(picture))}</div>'
        for picture in sample_pictures.every()
    )
    style = f"{draw.style('colours.css')} {draw.style()} {LAYOUT}"
    path = tmp_path_factory.mktemp("drawn") / "page.html"
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{style}</style><body>{body}</body></html>'
    )
    return path


@pytest.mark.browser
@pytest.mark.parametrize("font", FONTS)
def test_no_text_leaves_its_box_covers_another_or_is_small(
    browser: "Browser", page_of_pictures: Path, font: str
) -> None:
    if not has_font(font):
        pytest.skip(f"no {font}; make browser installs it")
    page = browser.new_page()
    page.goto(page_of_pictures.as_uri())
    page.add_style_tag(content=f"body {{ font-family: '{font}'; }}")
    for width in VIEWPORTS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert (width, faults(page)) == (width, [])
    page.close()


@pytest.mark.browser
def test_the_table_of_widths_is_that_of_the_font(browser: "Browser") -> None:
    if not has_font("DejaVu Sans"):
        pytest.skip("no DejaVu Sans; make browser installs it")
    page = browser.new_page()
    texts = sorted({text.text for one in sample_pictures.every() for text in draw.lay_out(one, 780).field.texts})
    page.set_content("<canvas></canvas>")
    for bold in (False, True):
        measure = f"""texts => {{ const c = document.querySelector("canvas").getContext("2d");
          c.font = "{"bold " * bold}100px 'DejaVu Sans'"; c.fontKerning = "none";
          return texts.map((text) => c.measureText(text).width); }}"""
        found = page.evaluate(measure, texts)
        for text, width in zip(texts, found, strict=True):  # a font may join letters, as in `fl`
            assert 0.97 * text_width(text, 100, bold) < width < 1.001 * text_width(text, 100, bold), text
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("picture", sample_pictures.every(), ids=lambda one: one.id)
def test_a_file_of_its_own_is_drawn_as_in_a_page(browser: "Browser", tmp_path: Path, picture: Picture) -> None:
    alone = tmp_path / "alone.svg"
    alone.write_text(draw.export(picture, 358, "run"))
    inside = tmp_path / "page.html"
    body = f"body {{ margin: 0; font-family: {FAMILY}; }}"
    style = f"{draw.style('colours.css')} {draw.style()} {body}"
    inside.write_text(f"<!doctype html><meta charset='utf-8'><style>{style}</style>{draw.svg(picture, 358)}")
    colours = []
    for path in (alone, inside):
        page = browser.new_page()
        page.goto(path.as_uri())
        colours.append(page.evaluate(
            """() => [...document.querySelectorAll("svg.chart :is(path, circle, rect, text)")].map((one) => {
              const s = getComputedStyle(one);
              return [one.tagName, s.fill, s.stroke, s.strokeDasharray, s.font].join("; ");
            })"""
        ))  # fmt: skip
        page.close()
    assert colours[0]
    assert json.dumps(colours[0]) == json.dumps(colours[1])
