"""The HTML report: one file that holds everything, escapes everything, and answers to a browser and to axe-core."""

import base64
import dataclasses
import json
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fake_run import STARTED, WORKLOADS, fake_run, lane, machine, pingpong_s, point, retitled
from octant.analysis.summary import Summary, summarise
from octant.failure import Refusal
from octant.machine import NumaNode
from octant.record import Process, Result, Scheduling
from octant.report.charts.pictures import pictures
from octant.report.machine import drawing
from octant.report.run import html
from octant.store import StoredRun
from pages import NASTY, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def summary_of(run: StoredRun) -> Summary:
    return summarise(run, WORKLOADS, all_metrics=True)


def without_plotly(page: str) -> str:
    return page.replace(html.plotly(), "")


def embedded(page: str) -> dict[str, Any]:
    """The data of a page, its samples unpacked."""
    data: dict[str, Any] = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    for figure in data["figures"]:
        figure["samples"] = json.loads(zlib.decompress(base64.b64decode(figure["samples"])))
    return data


def test_the_file_holds_all_figures_and_their_samples(tmp_path: Path) -> None:
    summary = summary_of(fake_run())
    page = html.write(summary, tmp_path / "report.html").read_text(encoding="utf-8")
    figures = embedded(page)["figures"]
    for figure, there in zip(figures, summary.figures, strict=True):
        for samples, launch in zip(figure["samples"], there.launches, strict=True):
            assert samples == pytest.approx(launch.samples.tolist(), rel=1e-4)
    kept = sum(len(samples) for figure in figures for samples in figure["samples"])
    assert f"This page holds {kept} of " in page  # those of the long one were thinned before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]  # no part of it is left over
    for words in ("93.80", "Gflop/s", "no 1 GiB pages are reserved", "stated says 2.00 GHz", "OMP_PROC_BIND"):
        assert words in page


def test_a_figure_without_samples_has_neither_their_picture_nor_quantiles() -> None:
    summary = summary_of(fake_run())
    first = summary.figures[0]
    bare = tuple(dataclasses.replace(launch, samples=np.array([]), count=0) for launch in first.launches)
    figures = (dataclasses.replace(first, launches=bare, equal=()), *summary.figures[1:])
    pages = [html.render(summary), html.render(dataclasses.replace(summary, figures=figures))]
    for words in (f'aria-label="Quantiles of {first.title} (', f'aria-label="Samples of {first.title} ('):
        assert pages[0].count(words) - pages[1].count(words) == 1


def test_samples_beyond_the_budget_are_thinned_evenly_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summary_of(fake_run())
    there = sum(len(launch.samples) for figure in summary.figures for launch in figure.launches)
    monkeypatch.setattr(html, "MOST_SAMPLES", there // 4)
    page = without_plotly(html.render(summary))
    kept = [samples for figure in embedded(page)["figures"] for samples in figure["samples"]]
    assert there / 5 < sum(map(len, kept)) <= there / 4
    first = summary.figures[0].launches[0].samples
    assert (kept[0][0], kept[0][-1]) == pytest.approx((first[0], first[-1]), rel=1e-4)
    assert "samples, evenly chosen" in page


def test_a_page_lists_what_can_be_read_and_says_how_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summary_of(fake_run())
    monkeypatch.setattr(html, "MOST_FIGURES", 20)
    page = without_plotly(html.render(summary))
    assert page.count('<details class="samples"') == 20
    assert f"20 of {len(summary.figures)} figures are listed" in page
    assert {figure.name for figure in summary.figures if figure.show.table} <= {
        figure.name for figure in html.listed_figures(summary)
    }  # points of curves give way


def test_nothing_from_outside_becomes_markup() -> None:
    run = retitled(fake_run(on=machine(name=NASTY, model=NASTY), title=NASTY), NASTY)
    run = dataclasses.replace(
        run,
        failures=tuple(dataclasses.replace(f, reason=NASTY, workload=NASTY) for f in run.failures),
        points=tuple(
            dataclasses.replace(
                p, stopped_by=NASTY, process=Process(NASTY, started=STARTED), results=(Result(NASTY, 1.0, NASTY),)
            )
            for p in run.points
        ),
        environment={NASTY: NASTY},
        damaged=(NASTY,),
    )
    page = without_plotly(html.render(summary_of(run)))
    assert "<script>alert" not in page
    assert "<img src=http" not in page


def test_the_file_names_no_address_that_a_browser_would_fetch() -> None:
    page = without_plotly(html.render(summary_of(fake_run())))
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page)
    assert "default-src 'none'" in page


def test_a_wrong_answer_has_no_speed() -> None:
    run = fake_run()
    wrong = (Result("sum of the array", 3.0, "1", 1e-9),)
    run = dataclasses.replace(run, points=tuple(dataclasses.replace(p, results=wrong) for p in run.points))
    page = without_plotly(html.render(summary_of(run)))
    assert "wrong answer: sum of the array: 3 &gt; 1e-09" in page
    assert "93.80" not in page


def test_the_same_failure_is_shown_once() -> None:
    run = fake_run()
    page = without_plotly(html.render(summary_of(dataclasses.replace(run, failures=run.failures * 3))))
    assert page.split('id="data"')[0].count("no 1 GiB pages are reserved") == 1


def test_an_empty_run_and_an_unwritable_place_are_said_so(tmp_path: Path) -> None:
    page = html.render(summary_of(dataclasses.replace(fake_run(), points=())))
    assert "Nothing was measured." in page
    with pytest.raises(Refusal, match="cannot write"):
        html.write(summary_of(fake_run()), tmp_path / "missing" / "report.html")


def test_curves_hold_the_numbers_that_were_put_in() -> None:
    found = {picture.id: picture for picture in pictures(summarise(fake_run(), WORKLOADS))}
    assert set(found) == {
        "roofline", "node-stream-curve", "node-latency-curve", "mpi-pingpong-curve", "node-noise-histogram",
    }  # fmt: skip
    line = found["mpi-pingpong-curve"].panels[0].series[0]
    assert line.y == pytest.approx([pingpong_s(0 if x < 1 else int(x)) for x in line.x], rel=1e-4)  # whole ns
    assert len(line.x) == 24
    fitted = found["mpi-pingpong-curve"].panels[0].series[-1]
    assert fitted.name == "LogGP fit"
    assert fitted.y == pytest.approx([pingpong_s(x if x >= 1 else 0) for x in fitted.x], rel=0.02)
    assert "Fitted to “hot buffers (all)”: " in found["mpi-pingpong-curve"].caption
    assert [mark.label for mark in found["node-latency-curve"].panels[0].marks] == [
        "L1 48 KiB",
        "L2 2 MiB",
        "L3 32 MiB",
    ]
    assert [series.name for series in found["node-latency-curve"].panels[0].series] == [
        "load, base pages (one)",
        "load, thp pages (one)",
        "limit",
    ]
    roofs = [series for series in found["roofline"].panels[0].series if series.kind == "line"]
    dots = [series for series in found["roofline"].panels[0].series if series.kind == "points"]
    assert roofs[0].y[-1] == pytest.approx(93.8e9)
    assert dots[2].x[0] == pytest.approx(200_000 / 3_200_000)
    assert dots[2].y[0] == pytest.approx(200_000 / 83_333e-9, rel=1e-3)
    assert [series.name for series in dots] == [
        "node/gemm, double, 1 thread",
        "node/gemm, double, 2 threads",
        "node/stream, double, 1 thread",
        "node/stream, double, 2 threads",
    ]
    limit = found["node-latency-curve"].panels[0].series[-1]
    assert (limit.name, set(limit.y)) == ("limit", {1.67e-9})
    assert found["node-latency-curve"].rows[0][-2:] == ("100 %", "1.670 ns: 5 cycles at 2.99 GHz (measured)")
    for picture in found.values():
        assert all(len(cells) == len(picture.header) for cells in picture.rows)
        assert picture.rows


@pytest.mark.parametrize("shape", [(1, 1, 2, 1), (2, 2, 8, 2), (1, 1, 4, 8), (2, 4, 32, 2)])
def test_the_drawing_shows_every_core_once(shape: tuple[int, int, int, int]) -> None:
    host = machine(*shape)
    picture = drawing.svg(host)
    assert picture.count('class="core"') == len(host.topology.groups("core"))
    assert picture.count('class="package"') == shape[0]
    assert picture.count('class="domain"') == shape[0] * shape[1]
    if shape[2] <= drawing.DETAILED:
        assert picture.count('class="thread"') == len(host.topology.cpus)


def test_memory_without_cores_and_the_system_s_own_numbers_of_packages_are_drawn() -> None:
    host = machine(2, 1, 2, 1)
    cpus = tuple(dataclasses.replace(cpu, package=3 * cpu.package) for cpu in host.topology.cpus)
    nodes = (*host.topology.numa, NumaNode(8, frozenset(), 64 * 2**30))
    picture = drawing.svg(dataclasses.replace(host, topology=dataclasses.replace(host.topology, cpus=cpus, numa=nodes)))
    assert re.findall(r"package (\d)<", picture) == ["0", "3"]
    assert "NUMA 8 · 64 GiB without cores" in picture


def test_threads_that_are_not_allowed_are_named() -> None:
    host = machine(1, 1, 4, 1)
    host = dataclasses.replace(host, topology=dataclasses.replace(host.topology, allowed=frozenset({0, 1, 2})))
    assert drawing.svg(host).count("barred") == 1
    assert "1 hardware thread not allowed" in drawing.description(host)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("Bericht mit Leerzeichen ä")
    return html.write(summary_of(fake_run(repeats=2)), folder / "report.html")


@pytest.mark.browser
@pytest.mark.parametrize("width", [375, 768, 1200])
def test_it_draws_everything_asks_nothing_and_fits(browser: "Browser", report: Path, width: int) -> None:
    page, wrong = opened(browser, report, width)
    assert page.locator(".plot[data-picture] .main-svg").count() >= 5
    page.locator("details").evaluate_all("all => all.slice(0, 30).forEach(one => { one.open = true; })")
    page.wait_for_selector("details.samples[open] .plot:not([data-drawn])", state="detached")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_mend(browser: "Browser", report: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page, _ = opened(browser, report, 375 if scheme == "dark" else 1200, scheme)
    page.locator("details").evaluate_all("all => all.slice(0, 12).forEach(one => { one.open = true; })")
    page.wait_for_selector("details.samples[open] .plot:not([data-drawn])", state="detached")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.browser
def test_a_keyboard_opens_the_samples_of_a_figure(browser: "Browser", report: Path) -> None:
    page, _ = opened(browser, report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    link = page.locator(".figures a").nth(1)
    link.focus()
    page.keyboard.press("Enter")
    target = page.locator(link.get_attribute("href") or "")
    target.locator(".plot[data-drawn]").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.browser
def test_it_prints_in_light_colours(browser: "Browser", report: Path) -> None:
    page, _ = opened(browser, report, scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.browser
def test_a_hostile_name_does_nothing(browser: "Browser", tmp_path: Path) -> None:
    run = retitled(fake_run(on=machine(name=NASTY)), NASTY)
    page, wrong = opened(browser, html.write(summary_of(run), tmp_path / "report.html"))
    page.locator("details.samples").first.evaluate("one => { one.open = true; }")
    page.locator(".plot[data-drawn]").last.wait_for()
    assert page.locator("h1").inner_text() == NASTY
    assert page.locator("img").count() == 0
    assert wrong == []


@pytest.mark.browser
def test_figures_and_samples_can_be_saved(browser: "Browser", report: Path) -> None:
    page, _ = opened(browser, report)
    with page.expect_download() as download:
        page.locator("#download").click()
    data = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert data["run"] == fake_run().id
    figures = summary_of(fake_run(repeats=2)).figures
    assert [len(samples) for one in data["samples"] for samples in one["samples"]] == [
        len(launch.samples) for figure in figures for launch in figure.launches
    ]
    assert data["figures"][0]["median"] == pytest.approx(93.8e9)


def test_what_a_point_was_given_says_how_it_was_scheduled() -> None:
    one = point()
    given = dataclasses.replace(one.given[0], scheduling=Scheduling("other", nice=5, group="/job"))
    text = html.given_text(dataclasses.replace(one, given=(given,)))
    assert text.endswith("; scheduling other, nice 5, group /job")
    assert "scheduling" not in html.given_text(one)


@pytest.mark.browser
def test_ticks_of_samples_are_whole_units(browser: "Browser", tmp_path: Path) -> None:
    run = fake_run()
    lanes = (lane([10_000, 12_000] * 20), lane([400_000] * 40, thread=1))
    slow = point(workload="node/noise", launch=run.points[-1].launch, lanes=lanes, counts={"quanta": 1}, threads=2)
    page, _ = opened(
        browser, html.write(summary_of(dataclasses.replace(run, points=(slow,))), tmp_path / "report.html")
    )
    page.locator("#figure-0").evaluate("one => { one.open = true; }")
    page.locator("#figure-0 .plot[data-drawn]").wait_for()
    ticks = page.locator("#figure-0 .ytick text").all_text_contents()
    assert {"10 µs", "100 µs", "200 µs"} <= set(ticks)
    assert all(re.fullmatch(r"[125]0* [nµm]s", tick) for tick in ticks)


@pytest.mark.browser
def test_a_browser_that_cannot_unpack_says_so(browser: "Browser", report: Path) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(report.as_uri())
    page.get_by_text("too old to unpack").wait_for()
