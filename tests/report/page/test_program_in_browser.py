"""The page of a user's program in Chromium: it fits every width, and labels of its pictures stay apart."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import boxes
from fake_run import GIB, machine
from octant.report.charts.pictures import pictures
from octant.report.page import html, run_page
from octant.report.screen.first_screen import RunReport, first_screen
from pages import opened
from program_run import RankSeen, Seen, launches, program_summary, request_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    "name", ["solve", "Grid Solve.v2 with a name that is longer than a line of a tile of the page"]
)
def test_a_page_of_a_program_fits(browser: "Browser", tmp_path: Path, name: str) -> None:
    command = ("mpiexec", "-n", "8", f"./{name}", "-N", "{n}", *("--option=value",) * 20)
    request = request_of(command, ranks=8, program=name, knobs={"n": "1,2,4", "s": "static,guided"})
    ranks = [
        RankSeen(0.5 + number / 16, 0.01, (number,), ((number,),), {"0": GIB // 4, "1": GIB // 8}, GIB // 99)
        for number in range(8)
    ]
    cells = [launches(Seen(wall=wall, ranks=ranks, pressure=0.2)) for wall in (1.0, 1.1, 2.0, 2.2, 4.0, 4.4)]
    summary = program_summary(tmp_path, request, cells, on=replace(machine(nodes=2, cores=4), name="a machine"))
    made = run_page.render(RunReport(summary, first_screen(summary), pictures(summary)))
    tab, wrong = opened(browser, html.save(made, tmp_path / "report.html"), 1400, height=900)
    assert tab.locator(".tile").count() == 6
    for width in (320, 390, 704, 1000, 1400):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
        assert boxes.faults(tab) == [], width
    tab.context.close()
    assert wrong == []
