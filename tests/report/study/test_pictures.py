"""Pictures of studies: what is drawn is what was measured, modelled and published; and what a browser makes of it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fake_study
from fake_run import machine
from found_run import taken
from octant import catalogue
from octant.report.charts.picture import Picture
from octant.report.page import html
from octant.report.study import page as study_page
from octant.report.study import text as report
from octant.report.study.pictures import pictures
from octant.report.study.rows import published_tables
from octant.request import Launch
from octant.store import Store
from octant.study import file, outcome
from octant.study.outcome import Outcome
from octant.study.published_values import published_values
from pages import NASTY, inflated, opened

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
    run = fake_study.run(
        where, "stream-affinity-pages", node, lambda launch, _: rows.get(launch.request.show.title, 50e9)
    )
    return fake_study.outcome_of(run)


def along(where: Store, tmp_path: Path, picture: str = "curve", name: str = "mine") -> Outcome:
    """A study of mine: 4 GB/s more a step with small pages, eighty times that with large ones; one launch each."""
    steps = {"64KiB": 1, "1MiB": 2, "16MiB": 3}

    def answer(launch: Launch, point: object) -> float:
        assert isinstance(point, dict)
        return 4e9 * steps[point["bytes"]] * (80 if launch.request.knobs["pages"] == "thp" else 1)

    mine = tmp_path / f"{name}.toml"
    mine.write_text(STUDY.replace("PICTURE", picture))
    return fake_study.outcome_of(fake_study.run(where, str(mine), machine(), answer, repeats=1))


def test_each_machine_is_shown_relative_to_its_own_baseline(where: Store) -> None:
    found = half_of_published(where)
    (picture,) = pictures(found)
    (panel,) = picture.panels
    ours, there = panel.series
    assert (ours.name, there.name, {ours.kind, there.kind}) == ("here, 95 % interval", "published", {"rows"})
    assert there.role == "published"
    published = [56830, 56564, 122409, 122474, 117082, 117065]
    assert there.x == pytest.approx([value / published[0] for value in published])
    by_row = dict(zip(ours.y, ours.x, strict=True))
    assert [by_row[row] for row in there.y] == pytest.approx(there.x, rel=1e-3), "half as fast, and the same ratios"
    assert len(ours.x) == 8  # memory alone and threads were not published; pages of the pool are absent here
    assert all(low <= x <= high for low, x, high in zip(ours.low, ours.x, ours.high, strict=True))
    named = dict(panel.y.ticks)
    assert named[there.y[0]].startswith("binding no, memory anywhere")
    assert [named[place] for place in there.y[1:3]] == ["binding yes", "binding yes, memory local"]
    here, elsewhere = panel.columns
    assert (here.title, elsewhere.title) == ("here", "Power 755, published")
    assert [here.texts[int(row)] for row in there.y[:3]] == ["28.4 GB/s", "28.3 GB/s", "61.2 GB/s"]
    assert [elsewhere.texts[int(row)] for row in there.y[:3]] == ["56.8 GB/s", "56.6 GB/s", "122 GB/s"]
    (note,) = panel.notes
    assert note.text == "not measured: needs 2 MiB pages; 0 of 0 reserved pages are free"
    assert named[note.y] == "binding yes, memory local, pages pool"
    assert "Lines in the picture and brackets in the table: here: 95 % interval for the median over" in picture.caption
    assert "× baseline: 95 % interval for the geometric mean ratio over" in picture.caption
    assert "More is better." in picture.caption
    assert "The baseline is binding no, memory anywhere" in picture.caption
    assert "Published: STREAM triad" in picture.caption


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


def test_a_curve_without_a_value_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a study with published ratios alone, and of which nothing was measured."""
    fake_study.programs(tmp_path / "bin", monkeypatch, ("node/gemm", "bind"))
    where = Store(tmp_path / "store")
    failed = fake_study.run(where, "gemm-libraries", machine(), lambda _launch, _point: None, repeats=1)
    found = fake_study.outcome_of(failed)
    assert found.published_gains
    assert pictures(found) == []
    assert "<svg" not in study_page.render(found)


def test_launches_are_dots_on_curves(where: Store, tmp_path: Path) -> None:
    (picture,) = pictures(along(where, tmp_path))
    assert [len(series.dots) for series in picture.panels[0].series] == [3, 3]
    assert "Small dots are single launches." in picture.caption


@pytest.mark.parametrize("picture", ["curve", "bars"])
def test_what_is_not_measurable_is_open_and_its_ratios_are_signed(where: Store, tmp_path: Path, picture: str) -> None:
    run = along(where, tmp_path, picture).run
    assert run is not None
    spoiled = ("thp", "16MiB"), ("base", "1MiB")
    points = (
        replace(one, taken=(taken(lost=0.6 if (one.knobs["pages"], one.knobs["bytes"]) in spoiled else 0.0),))
        for one in run.points
    )
    found = fake_study.outcome_of(replace(run, points=tuple(points)))
    (drawn,) = pictures(found)
    opened = [flag for series in drawn.panels[0].series for flag in series.open]
    ratio_too = picture == "bars"  # a ratio to a baseline that is not measurable is none either
    assert opened == [False, True, False, False, ratio_too, True]
    assert "Open marks: the request was not met, or the value is not measurable" in drawn.caption
    ratios = [dict(zip(drawn.header, row, strict=True))["× baseline"] for row in drawn.rows]
    assert [text.endswith(" ×") for text in ratios] == [False, False, False, False, True, True]
    assert "× after a ratio" in drawn.caption
    assert "× after a ratio" in report.report_text(found)
    assert "Open marks" not in pictures(along(where, tmp_path, picture))[0].caption


def test_an_axis_of_values_ends_where_what_is_drawn_ends(where: Store, tmp_path: Path) -> None:
    """Intervals of curves are not drawn: of launches that differ they reach further than these."""
    mine = tmp_path / "mine.toml"
    mine.write_text(STUDY.replace("PICTURE", "curve"))
    run = fake_study.run(where, str(mine), machine(), lambda launch, _: 4e9 * (1 + 0.1 * launch.repeat), repeats=3)
    (drawn,) = pictures(fake_study.outcome_of(run))
    axis, (series, *_) = drawn.panels[0].y, drawn.panels[0].series
    assert max(series.high) > 5e9
    assert max(at for at, _ in axis.ticks) <= 5e9


def test_rows_take_the_values_of_an_axis_one_by_one(where: Store, tmp_path: Path) -> None:
    (picture,) = pictures(along(where, tmp_path, "bars"))
    labels = [label for _, label in picture.panels[0].y.ticks]
    assert labels[:4] == ["small, 64KiB", "small, 1MiB", "small, 16MiB", "large, 64KiB"]
    assert picture.panels[0].series[0].x == pytest.approx([1, 1, 1, 80, 80, 80], rel=1e-3), "each at its own size"
    assert picture.panels[0].x.ends[1] < 80, "an arrow represents values beyond"  # type: ignore[index]


def test_what_was_not_measured_is_said_in_its_row(where: Store) -> None:
    failed = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: None, repeats=1)
    (picture,) = pictures(fake_study.outcome_of(failed))
    assert [series.name for series in picture.panels[0].series] == ["published"]
    assert len(picture.panels[0].notes) == len(picture.panels[0].y.ticks)
    assert all(note.text.startswith("not measured: ") for note in picture.panels[0].notes)


def test_without_a_baseline_here_values_stand_and_no_ratio(where: Store) -> None:
    def only_bound(launch: Launch, _point: object) -> float | None:
        return None if "pin" in launch.request.knobs and "interleave" in launch.request.knobs["memory"] else 10e9

    run = fake_study.run(where, "stream-affinity-pages", machine(), only_bound, repeats=1)
    (picture,) = pictures(fake_study.outcome_of(run))
    assert [series.name for series in picture.panels[0].series] == ["published"]
    assert "no value of the baseline" in {note.text for note in picture.panels[0].notes}
    assert "10.0 GB/s" in picture.panels[0].columns[0].texts


def test_published_ratios_are_shown_with_the_model_if_no_value_was_published() -> None:
    """Of a pair under contention the document states ratios of one scenario to the next only."""
    (picture,) = pictures(outcome.outcome_of_model("mpi-bidirectional-contention"))
    labels = {place: label.partition(":")[0] for place, label in picture.panels[0].y.ticks}
    there = picture.panels[0].series[1]
    stated = {labels[row]: ratio for row, ratio in zip(there.y, there.x, strict=True)}
    assert stated == pytest.approx({"d": 1 / 2, "e": 1 / 4, "f": 1 / 8, "g": 1 / 8, "h": 1 / 16})
    (picture,) = pictures(outcome.outcome_of_model("alltoall-schedule"))
    assert picture.panels[0].series[1].x == pytest.approx((1 / 0.88,))


def test_every_study_with_a_table_of_the_catalogue_shows_it() -> None:
    """Next to ours, as values or as ratios, or as a table of its own."""
    for name in file.names():
        study = file.load(name)
        if study.is_published:  # its results are the values themselves
            continue
        evidence = {table for asked in study.findings for table in asked.finding.evidence}
        tables = evidence | {table.id for table in catalogue.results().values() if table.study == name}
        shown = {one.table for one in study.published} | {one.id for one in published_tables(study)}
        shown |= {asked.there.table for asked in study.findings if asked.there and asked.test.compared(study)}
        assert not tables or tables & shown, name
        assert not any(table.study == name and table.id not in shown for table in catalogue.results().values()), name


def test_the_model_curve_carries_its_range_and_the_published_points() -> None:
    (picture,) = pictures(outcome.outcome_of_model("gups-scaling"))
    model, there = picture.panels[0].series
    assert (model.kind, there.kind) == ("band", "points")
    assert there.x == (1.0, 2.0)
    assert there.y == pytest.approx((1.08e9, 0.1e9))
    assert model.y[model.x.index(25)] < model.y[model.x.index(24)]  # the step of the sawtooth
    assert any(low < high for low, high in zip(model.low, model.high, strict=True))
    assert (picture.panels[0].x.title, picture.panels[0].x.log, picture.panels[0].y.log) == ("supernodes", False, False)
    assert "not a statistical error" in picture.caption


def same_numbers(picture: Picture, found: Outcome) -> None:
    """The table has as many of our values and of published ones as are drawn."""
    assert all(len(cells) == len(picture.header) for cells in picture.rows)
    if found.study.picture == "years":  # published values are the study's own
        drawn = sum(len(series.x) for series in picture.panels[0].series)
        assert drawn == sum(bool(cells[picture.header.index("here")]) for cells in picture.rows)
        return
    ours = [series for series in picture.panels[0].series if series.role != "published"]
    rows = [dict(zip(picture.header, cells, strict=True)) for cells in picture.rows]
    assert sum(len(series.x) for series in ours) == sum(bool(cells["here"]) for cells in rows)
    assert {series.kind for series in ours} <= ({"curve", "band"} if found.study.picture == "curve" else {"rows"})


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
    assert len(json.loads(inflated(data["exports"]))) == page.count("<figure ") == 1
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
    width = 390 if scheme == "dark" else 1400
    page, wrong = opened(
        browser, html.save(study_page.render(found), tmp_path / "Studie ä.html", found.run), width, scheme
    )
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
    long = "a level of two hundred characters " * 6
    levels = f'"{NASTY}" = {{ knobs = {{ pages = "thp" }} }}\n"{long}" ='
    mine.write_text(
        STUDY.replace("PICTURE", "bars").replace("large =", levels).replace('"thp" } }\n"', '"base" } }\n"')
    )
    run = fake_study.run(where, str(mine), machine(), lambda _launch, _point: 10e9, repeats=1)
    path = html.save(study_page.render(fake_study.outcome_of(run)), tmp_path / "page.html", run)
    page, wrong = opened(browser, path, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("img").count() == 0
    assert "alert('x')" in (page.locator(".drawn").first.text_content() or "")
    assert wrong == []
