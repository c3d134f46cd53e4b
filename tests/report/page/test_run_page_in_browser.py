"""The page of a run in Chromium: it fits, says what ends are, works from the keyboard, prints, and requests nothing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import boxes
import screens
from edge_runs import RIGHT_TO_LEFT, RUNS
from fake_run import fake_run
from octant.report.page import html, run_page
from octant.report.screen.first_screen import first_screen
from pages import FONTS, NASTY, in_font, inflated, open_everything, opened
from reports import report_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
WIDTHS = (320, 390, 704, 1000, 1400)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("Bericht mit Leerzeichen ä")
    made = run_page.render(report_of(RUNS["six launches"](), screens.SCREEN))
    return html.save(made, folder / "report.html")


@pytest.fixture
def shown(browser: "Browser", report: Path) -> Iterator["Page"]:
    """Return the report on a desktop screen, and check that it had no error."""
    tab, wrong = opened(browser, report, 1400, height=900)
    yield tab
    tab.context.close()
    assert wrong == []


def bottom(tab: "Page", selector: str) -> float:
    return float(tab.evaluate("(it) => document.querySelector(it).getBoundingClientRect().bottom", selector))


@pytest.mark.parametrize("font", FONTS)
def test_the_first_screen_holds_the_answer_and_nothing_scrolls_sideways(shown: "Page", font: str) -> None:
    in_font(shown, font)
    assert shown.locator(".tile").count() == 6
    assert shown.locator(".first-things > .findings > li").count() == 3
    assert bottom(shown, ".findings") <= 880
    shown.set_viewport_size({"width": 1280, "height": 900})
    assert bottom(shown, ".first-things") <= 900
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 844})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width, width
        if width == 390:
            assert bottom(shown, ".tile") <= 844
    open_everything(shown)
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 844})
        assert shown.evaluate("document.documentElement.scrollWidth") <= width, width


@pytest.mark.parametrize("font", FONTS)
def test_no_label_of_a_picture_leaves_it_covers_another_or_is_small(shown: "Page", font: str) -> None:
    in_font(shown, font)
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 844})
        assert (width, boxes.faults(shown)) == (width, [])


NOUNS = r"""
() => {
  const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode, own = text.parentElement;
    if (!/\d\S* (…|and) -?\d/.test(text.data) || own.closest("svg, dd, pre, .findings, .prose")) continue;
    const near = own.closest("tr, li, p"), table = own.closest("table");
    const cell = own.closest("td"), column = (cell?.cellIndex ?? 0) + 1;
    const head = cell && table ? table.querySelector(`thead th:nth-child(${column})`) : null;
    const letter = cell?.querySelector("sup")?.textContent;
    const notes = [...(table?.parentElement.querySelectorAll(":scope > .footnotes li") ?? [])];
    const note = notes.find((one) => letter && one.querySelector("b").textContent === letter)?.textContent;
    const said = [near?.textContent, head?.textContent, table?.caption?.textContent, note].join(" ");
    if (!/(interval|launch|values)/.test(said)) found.push(text.data);
    const launches = letter ? note : said;
    if (cell?.matches(".interval") && !/\d+ launches|(one|two) launch/.test(launches)) found.push(text.data);
  }
  return found;
}
"""


@pytest.mark.parametrize("name", ["one launch", "two launches", "six launches"])
def test_no_ends_stand_without_what_they_are(browser: "Browser", tmp_path: Path, name: str) -> None:
    tab, wrong = opened(browser, run_page.write(report_of(RUNS[name]()), tmp_path / "report.html"), 1400)
    open_everything(tab)
    assert tab.locator("td.interval", has_text=re.compile("…| and ")).count() >= 5
    assert tab.evaluate(NOUNS) == []
    assert wrong == []
    tab.context.close()


def test_a_tile_and_its_row_say_the_same(browser: "Browser", tmp_path: Path) -> None:
    summary = RUNS["six launches"]()
    tab, _ = opened(browser, run_page.write(report_of(summary), tmp_path / "report.html"), 1400)
    tiles = first_screen(summary).tiles
    assert tab.locator(".tile").count() == len(tiles)
    for number, tile in enumerate(tiles):
        place = tab.locator(".tile").nth(number)
        row = tab.locator((place.locator("a.grade").get_attribute("href") or "").replace("#", "tr#"))
        assert row.locator("td.value").inner_text() == tile.number == place.locator(".headline b").inner_text()
        assert row.locator("td.unit").inner_text() == tile.unit
    tab.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 390)])
def test_axe_finds_nothing_to_mend(browser: "Browser", report: Path, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    tab, wrong = opened(browser, report, width, scheme)
    open_everything(tab)
    tab.evaluate(  # rows are alike
        "document.querySelectorAll('.figures').forEach((one) => { while (one.tBodies[6]) one.tBodies[6].remove(); })"
    )
    found = axe.Axe().run(tab)
    assert found.violations_count == 0, found.generate_report()
    assert wrong == []
    tab.context.close()


def test_a_keyboard_reaches_everything_in_the_order_of_reading(shown: "Page") -> None:
    shown.keyboard.press("Tab")
    assert shown.evaluate("document.activeElement.className") == "skip"
    order = shown.evaluate(
        """() => [...document.querySelectorAll("a, button, summary, [tabindex]")]
            .filter((one) => one.checkVisibility() && one.tabIndex === 0 && !one.matches(".skip"))
            .map((one) => one.closest(".tile, .finding, nav, tr, .picture, .more, header") ?? one)
            .map((one) => one.getBoundingClientRect()).map((box) => [Math.round(box.top + scrollY), box.left])"""
    )
    assert len(order) > 40
    assert shown.evaluate("document.querySelectorAll('[tabindex]:not([tabindex=\"0\"])').length") == 0
    by_row = [top for top, _ in order]
    assert by_row == sorted(by_row)


def test_details_copies_and_files_are_had_with_enter(shown: "Page") -> None:
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for place, one in enumerate(screens.FINDINGS[:3]):
        shown.locator("[data-copy]").nth(place).press("Enter")
        shown.get_by_role("button", name="copied").first.wait_for()
        assert shown.evaluate("navigator.clipboard.readText()") == "\n".join(one.lines)
        assert shown.locator(".copy code").nth(place).inner_text() == "\n".join(one.lines)
    for place, width in ((0, 780), (1, 358)):
        with shown.expect_download() as download:
            shown.locator("#roofline [data-svg]").nth(place).press("Enter")
        alone = Path(download.value.path()).read_text(encoding="utf-8")
        assert f'viewBox="0 0 {width} ' in alone
        assert "var(" not in alone
        assert fake_run().id in alone
    row = shown.locator("#figures details.row").first
    row.locator("summary").press("Enter")
    shown.locator("[data-samples] svg").first.wait_for()
    assert shown.locator("tr.inside").first.is_visible()
    row.locator("summary").press("Enter")
    assert not shown.locator("tr.inside").first.is_visible()


def test_a_link_to_a_figure_opens_its_details(shown: "Page") -> None:
    shown.locator(".tile a.grade").nth(1).press("Enter")
    shown.locator("#figure-1 + tr .samples svg").wait_for()
    assert shown.evaluate("document.activeElement.closest('tr').id") == "figure-1"
    shown.evaluate("(number) => { location.hash = `#figure-${number}`; }", point_of_a_curve())
    shown.locator(f"#further #figure-{point_of_a_curve()} + tr .samples svg").wait_for()


def point_of_a_curve() -> int:
    """Return the number of a figure outside the table."""
    return next(place for place, one in enumerate(RUNS["six launches"]().figures) if not one.show.table)


def test_figures_and_samples_can_be_saved(shown: "Page") -> None:
    summary = RUNS["six launches"]()
    with shown.expect_download() as download:
        shown.locator("#download").press("Enter")
    data = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert data["run"] == fake_run().id
    packed = [json.loads(inflated(one)) for one in run_page.pack(summary.figures).figures]
    assert data["samples"] == packed
    assert [len(one["samples"]) for one in packed] == [len(figure.launches) for figure in summary.figures]
    assert data["figures"][0]["median"] == pytest.approx(93.8e9)


def test_without_scripts_the_answer_pictures_and_tables_are_there(browser: "Browser", report: Path) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, java_script_enabled=False)
    tab = context.new_page()
    tab.goto(report.as_uri())
    assert tab.locator(".tile:visible").count() == 6
    pictures = tab.locator(".picture").count()
    assert tab.locator(".chart:visible").count() == pictures >= 5
    assert tab.locator("#figures tr[id]:visible").count() >= 10
    assert tab.locator("button:visible").count() == 0  # none that would do nothing
    tab.locator("#figures summary").first.click()
    assert tab.locator("tr.inside").first.is_visible()
    context.close()


PAPER = {"A4": (180 / 25.4 * 96, 269 / 25.4 * 96), "Letter": (185.9 / 25.4 * 96, 251.4 / 25.4 * 96)}


@pytest.mark.parametrize("paper", PAPER)
def test_it_prints_the_first_screen_on_one_page_and_no_picture_on_two(
    browser: "Browser", report: Path, paper: str
) -> None:
    tab, _ = opened(browser, report, 1400, "dark")
    assert tab.pdf(format=paper).startswith(b"%PDF")
    wide, high = PAPER[paper]
    tab.set_viewport_size({"width": int(wide), "height": int(high)})
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert bottom(tab, ".first-things") <= high
    heights = tab.evaluate(
        "[...document.querySelectorAll('.picture')].map((one) => one.getBoundingClientRect().height)"
    )
    assert len(heights) >= 5
    assert max(heights) <= high
    assert tab.locator("button:visible, nav:visible, summary:visible:not(.row summary)").count() == 0
    smallest = tab.evaluate(
        """Math.min(...[...document.querySelectorAll(".chart")].filter((one) => one.getBoundingClientRect().width)
            .map((one) => one.getBoundingClientRect().width / one.viewBox.baseVal.width * Math.min(
                ...[...one.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize)))))"""
    )
    assert smallest >= 7 / 72 * 96
    tab.context.close()


COLUMNS = r"""
() => {
  const places = (row) => [...row.cells].filter((one) => one.checkVisibility())
    .map((one) => one.getBoundingClientRect()).map((box) => `${Math.round(box.left)}+${Math.round(box.width)}`);
  return [...document.querySelectorAll("#figures > .figures tr[id]")]
    .map((row) => [places(row), places(row.closest("table").tHead.rows[0])]);
}
"""


@pytest.mark.parametrize(("width", "media"), [(704, "screen"), (780, "screen"), (1400, "screen"), (680, "print")])
def test_headings_stand_over_their_columns(shown: "Page", width: int, media: Literal["screen", "print"]) -> None:
    shown.set_viewport_size({"width": width, "height": 900})
    shown.emulate_media(media=media)
    found = shown.evaluate(COLUMNS)
    assert len(found) >= 10
    for cells, heads in found:
        assert cells == heads
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    if media == "print":
        assert shown.locator("#figures > .figures td.interval").first.is_visible()
        assert shown.locator("#figures > .figures td.launches").first.is_visible()


@pytest.mark.parametrize("name", RUNS)
def test_runs_that_are_hard_to_show_fit_and_do_nothing(browser: "Browser", tmp_path: Path, name: str) -> None:
    tab, wrong = opened(browser, run_page.write(report_of(RUNS[name]()), tmp_path / "report.html"), 1400)
    for width in (1400, 704, 390, 320):
        tab.set_viewport_size({"width": width, "height": 844})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
    assert tab.locator("h1").count() == 1
    assert tab.locator("img").count() == 0
    if name == "hostile names":
        assert tab.locator("h1 bdi").inner_text() == RIGHT_TO_LEFT + NASTY
        tab.locator("#figures details.row").first.evaluate("(one) => { one.open = true; }")
        tab.locator("[data-samples] svg").first.wait_for()
    assert wrong == []
    tab.context.close()


def test_ticks_of_samples_are_round_and_their_dots_lie_between(shown: "Page") -> None:
    shown.locator("#figures details.row").first.evaluate("(one) => { one.open = true; }")
    drawn = shown.locator("[data-samples] svg").first
    drawn.wait_for()
    ticks = drawn.locator("text[text-anchor=end]").all_text_contents()
    assert 3 <= len(ticks) <= 8
    assert all(re.fullmatch(r"[\d.]{1,5} [GM]flop/s", tick) for tick in ticks)
    box: dict[str, Any] = drawn.evaluate(
        """(svg) => {
            const box = svg.querySelector(".every").getBBox();
            return { top: box.y, bottom: box.y + box.height };
        }"""
    )
    assert box["top"] >= 5
    assert box["bottom"] <= 200


def test_a_browser_that_cannot_unpack_says_so(browser: "Browser", report: Path) -> None:
    tab = browser.new_page()
    tab.add_init_script("delete window.DecompressionStream")
    tab.goto(report.as_uri())
    tab.get_by_text("too old to unpack").wait_for()
    tab.close()
