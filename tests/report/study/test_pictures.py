"""Pictures of studies: what is drawn is what was measured, modelled and published; and what a browser makes of it."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fake_study
from fake_run import machine
from octant.ask import Launch
from octant.report.charts.picture import Picture
from octant.report.study import page as study_page
from octant.report.study import text as report
from octant.report.study.pictures import pictures
from octant.store import Store
from octant.study import file, outcome
from octant.study.outcome import Outcome
from octant.study.published_values import published_values
from pages import NASTY, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MODELS = [name for name in file.names() if file.load(name).source == "model"]
STUDY = """
question = "Do larger pages help?"
picture = "PICTURE"
baseline = { pages = "small" }
[measures.copy]
workload = "stream"
metric = "bandwidth"
axis = { knob = "bytes", values = ["64KiB", "1MiB", "16MiB"] }
[factors.pages]
small = { knobs = { pages = "base" } }
large = { knobs = { pages = "thp" } }
"""


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake_study.programs(tmp_path / "bin", monkeypatch)
    return Store(tmp_path / "store")


def half_of_published(where: Store) -> Outcome:
    """A node on which every combination is half as fast as the POWER7 node; what is not published, 50 GB/s."""
    rows = {str(row.cell): row.value / 2 for row in published_values(file.load("stream-affinity-pages"))}
    node = machine(packages=4, cores=8, smt=4)
    run = fake_study.run(where, "stream-affinity-pages", node, lambda launch, _: rows.get(launch.ask.show.title, 50e9))
    return outcome.outcome_of_run(run)


def along(where: Store, tmp_path: Path, picture: str = "curve", name: str = "mine") -> Outcome:
    """A study of mine: 4 GB/s more a step with small pages, eighty times that with large ones; one launch each."""
    steps = {"64KiB": 1, "1MiB": 2, "16MiB": 3}

    def answer(launch: Launch, point: object) -> float:
        assert isinstance(point, dict)
        return 4e9 * steps[point["bytes"]] * (80 if launch.ask.knobs["pages"] == "thp" else 1)

    mine = tmp_path / f"{name}.toml"
    mine.write_text(STUDY.replace("PICTURE", picture))
    return outcome.outcome_of_run(fake_study.run(where, str(mine), machine(), answer, repeats=1))


def test_bars_lie_beside_the_published_ones(where: Store) -> None:
    found = half_of_published(where)
    (picture,) = pictures(found)
    ours, there = picture.panels[0].series
    assert (ours.name, there.name, {ours.kind, there.kind}) == ("here", "published", {"across"})
    beside = dict(zip(ours.y, ours.x, strict=True))
    assert there.x == (56830e6, 56564e6, 122409e6, 122474e6, 117082e6, 117065e6)
    assert [beside[place] for place in there.y] == pytest.approx([x / 2 for x in there.x], rel=1e-4)
    assert len(ours.x) == 8  # memory alone and threads were not published; pages of the pool are absent here
    assert all(low <= x <= high for low, x, high in zip(ours.low, ours.x, ours.high, strict=True))
    named = {place: label.replace("\n", " ") for place, label in picture.panels[0].y.ticks}
    assert [named[place] for place in there.y[:3]] == ["baseline", "binding yes", "binding yes, memory local"]
    assert "Thin lines, and brackets in the table: here: 95 % interval for the median over" in picture.caption
    assert "× baseline: 95 % interval for the ratio over" in picture.caption
    assert "More is better." in picture.caption
    assert "The baseline is binding no, memory anywhere" in picture.caption
    assert "Hatched bars are published values: STREAM triad" in picture.caption


def test_curves_follow_the_axis_and_keep_their_intervals(where: Store, tmp_path: Path) -> None:
    (picture,) = pictures(along(where, tmp_path))
    small, large = picture.panels[0].series
    assert (small.name, large.name, small.kind) == ("small", "large", "curve")
    assert small.x == (65536, 2**20, 2**24)
    assert small.y == pytest.approx((4e9, 8e9, 12e9), rel=1e-4)
    assert large.y == pytest.approx((320e9, 640e9, 960e9), rel=1e-4)
    assert picture.panels[0].x.log
    assert picture.panels[0].y.log  # 240 from the least to the most
    assert all(low <= y <= high for low, y, high in zip(small.low, small.y, small.high, strict=True))


def test_bars_take_the_values_of_an_axis_one_by_one(where: Store, tmp_path: Path) -> None:
    (picture,) = pictures(along(where, tmp_path, "bars"))
    assert [label for _, label in picture.panels[0].y.ticks][:4] == [
        "small, 64KiB",
        "small, 1MiB",
        "small, 16MiB",
        "large, 64KiB",
    ]
    assert picture.panels[0].series[0].x[0] == pytest.approx(4e9, rel=1e-4)
    assert not picture.panels[0].x.log  # bars begin at nothing


def test_what_was_not_measured_is_not_drawn(where: Store) -> None:
    failed = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: None, repeats=1)
    (picture,) = pictures(outcome.outcome_of_run(failed))
    assert [series.name for series in picture.panels[0].series] == ["published"]


def test_the_model_curve_carries_its_range_and_the_published_points() -> None:
    (picture,) = pictures(outcome.outcome_of_model("gups-scaling"))
    model, there = picture.panels[0].series
    assert (model.kind, there.kind) == ("curve", "points")
    assert there.x == (1.0, 2.0)
    assert there.y == pytest.approx((1.08e9, 0.1e9))
    assert model.y[model.x.index(25)] < model.y[model.x.index(24)]  # the step of the sawtooth
    assert any(low < high for low, high in zip(model.low, model.high, strict=True))
    assert (picture.panels[0].x.title, picture.panels[0].x.log, picture.panels[0].y.log) == ("supernodes", False, False)
    assert "no statistical error" in picture.caption


def same_numbers(picture: Picture, found: Outcome) -> None:
    """The table has as many of our values and of published ones as are drawn."""
    assert all(len(cells) == len(picture.header) for cells in picture.rows)
    ours = [series for series in picture.panels[0].series if series.low]
    told = [series for series in picture.panels[0].series if not series.low]
    for column, drawn in (("here", ours), ("there", told)):
        known = [dict(zip(picture.header, cells, strict=True)).get(column, "") for cells in picture.rows]
        assert sum(len(series.x) for series in drawn) == sum(map(bool, known))
    assert {series.kind for series in ours} == {"curve" if found.study.picture == "curve" else "across"}


@pytest.mark.parametrize("name", MODELS)
def test_every_shipped_model_study_has_its_picture(name: str) -> None:
    found = outcome.outcome_of_model(name)
    drawn = pictures(found)
    assert len(drawn) == len(found.study.measures)
    for picture in drawn:
        same_numbers(picture, found)


def test_the_page_holds_pictures_tables_and_values(where: Store, tmp_path: Path) -> None:
    found = half_of_published(where)
    page = study_page.render(found)
    assert page == study_page.render(found)
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    assert data["document"]["study"] == "stream-affinity-pages"
    assert len(data["document"]["cells"]) == 8
    assert len(data["exports"]) == page.count("<figure>") == page.count("<details>") == 1
    assert "61.2 GB/s" in page


def test_bars_stand_in_the_terminal_table_where_they_fit(where: Store, tmp_path: Path) -> None:
    lines = report.report_text(outcome.outcome_of_model("gups-scaling")).splitlines()
    rows = {line.split()[1]: line for line in lines if line.startswith("power775 ")}
    assert rows["1"].count("█") == 10
    assert rows["16"].count("█") == 6  # 720 of 1080: two thirds of ten
    wide = report.report_text(half_of_published(where)).split("Findings")[0]
    assert "█" not in wide
    assert max(map(len, [*lines[:18], *wide.splitlines()[2:]])) <= 100


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["bars", "curve", "model"])
def test_a_browser_draws_it_and_axe_finds_nothing(
    browser: "Browser", where: Store, tmp_path: Path, scheme: str, kind: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = half_of_published(where) if kind == "bars" else outcome.outcome_of_model("gups-scaling")
    found = along(where, tmp_path, name="<b>ä") if kind == "curve" else found
    width = 375 if scheme == "dark" else 1200
    page, wrong = opened(browser, study_page.write(found, tmp_path / "Studie ä.html"), width, scheme)
    assert page.locator(".chart:visible").count() == 1
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []
    report_of_axe = axe.Axe().run(page)
    assert report_of_axe.violations_count == 0, report_of_axe.generate_report()
    with page.expect_download() as download:
        page.locator("#download").click()
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["study"] == found.name


@pytest.mark.browser
def test_levels_of_people_stay_text(browser: "Browser", where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(STUDY.replace("PICTURE", "bars").replace("large =", f'"{NASTY}" ='))
    run = fake_study.run(where, str(mine), machine(), lambda _launch, _point: 10e9, repeats=1)
    page, wrong = opened(browser, study_page.write(outcome.outcome_of_run(run), tmp_path / "page.html"))
    assert page.locator("img").count() == 0
    assert "alert('x')" in (page.locator(".drawn").first.text_content() or "")
    assert wrong == []
