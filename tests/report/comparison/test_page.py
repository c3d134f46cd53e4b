"""The page of a comparison: the words of the text, edge comparisons, and what a browser makes of it."""

import dataclasses
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from made_comparisons import LOUD, MIXED, QUIET, comparison_of, of_values
from octant.analysis.compare import Comparisons, compare
from octant.report.comparison import page as comparison_page
from octant.report.comparison import statements
from pages import NASTY, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def with_titles(found: Comparisons, a: str, b: str) -> Comparisons:
    """The comparison of runs of these titles, in which a long setting differs."""
    sides = []
    for side, title in ((found.before, a), (found.after, b)):
        machine = dataclasses.replace(side.run.machine, name=title)
        sides.append(dataclasses.replace(side, run=dataclasses.replace(side.run, title=title, machine=machine)))
    differences = (("OMP_PLACES", "{0:1},{1:1}," * 30, "not set"), (a, b, NASTY))
    return dataclasses.replace(found, before=sides[0], after=sides[1], differences=differences)


EMPTY = dataclasses.replace(comparison_of((1.0, QUIET)), figures=())
SAME = compare(comparison_of(*MIXED).before, comparison_of(*MIXED).before)
EDGES = {
    "mixed": comparison_of(*MIXED),
    "one figure": comparison_of((1.2, QUIET)),
    "everything the same": comparison_of(*[(1.0, QUIET)] * 3),
    "insufficient data": comparison_of(*MIXED, rounds=3),
    "nothing compared": EMPTY,
    "one run twice": SAME,
    "two sessions": of_values([[1.0, 1.01, 0.99, 1.0]] * 2, [[1.2, 1.21, 1.19, 1.2], [1.0, 0.99, 1.0, 1.01]], None),
    "500 figures": comparison_of(*[(1 + 0.2 * (n % 7 - 3) / 3, 0.02) for n in range(500)]),
    "names of 200 characters": with_titles(comparison_of(*MIXED), "long-name " * 20, "x" * 200),
    "names that are markup": with_titles(comparison_of(*MIXED), NASTY, f"B again: {NASTY}"),
}


@pytest.mark.parametrize("name", EDGES)
def test_the_page_says_what_the_text_says(name: str) -> None:
    found = EDGES[name]
    page = comparison_page.render(found)
    assert page == comparison_page.render(found), "the same comparison gives the same page"
    plain = page.replace("\u202f", " ")
    assert statements.answer(found) in plain
    for step in statements.steps(found):
        assert step.title in plain
        assert all(line in plain for line in step.lines)
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page)
    assert "<img" not in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert len(data["document"]["figures"]) == len(found.figures)
    assert len(page) < 700_000


def test_runs_of_one_title_are_named_once() -> None:
    page = comparison_page.render(with_titles(comparison_of(*MIXED), "A again: triad", "B again: triad"))
    assert re.search(r'<h1><span class="about">A against B:</span> <bdi>triad</bdi></h1>', page)
    page = comparison_page.render(with_titles(comparison_of(*MIXED), "default", "tuned"))
    assert re.search(r"<bdi>default</bdi> <span[^>]*>against B</span> <bdi>tuned</bdi></h1>", page)


def test_failures_of_b_are_in_the_answer_and_in_a_table() -> None:
    found = comparison_of(*MIXED)
    lost = dataclasses.replace(found.figures[0], after=None, verdict=None, why=("failed in B: killed",), lost=True)
    page = comparison_page.render(dataclasses.replace(found, figures=(lost, *found.figures[1:])))
    assert "B failed in 1 figure that A measured." in page
    assert '<td class="wrong">failed in B: killed</td>' in page


@pytest.mark.browser
def test_a_browser_shows_it_at_each_width_and_in_each_scheme(browser: "Browser", tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    for number, (name, found) in enumerate(EDGES.items()):
        path = comparison_page.write(found, tmp_path / f"{number}.html")
        for width, scheme in ((1400, "light"), (390, "dark"), (320, "light")):
            page, wrong = opened(browser, path, width, scheme)
            page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            assert wrong == [], (name, wrong)
            if name in ("mixed", "names of 200 characters", "two sessions") and width != 320:
                found_by_axe = axe.Axe().run(page)
                assert found_by_axe.violations_count == 0, (name, found_by_axe.generate_report())
            page.context.close()


@pytest.mark.browser
def test_the_line_that_is_copied_is_the_line_shown(browser: "Browser", tmp_path: Path) -> None:
    found = comparison_of((1.0, LOUD))
    page, _ = opened(browser, comparison_page.write(found, tmp_path / "page.html"), 1400)
    shown = page.locator(".copy code").all_inner_texts()
    assert shown == [line for step in statements.steps(found) for line in step.lines]
    assert page.locator("[data-copy]:visible").count() == len(shown)
