"""The page of a profile in Chromium: it fits every width, labels stay apart, and names of a program run nothing."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import boxes
import made_jobs
from octant.advice.findings import RunFinding
from octant.report.page import html
from pages import open_everything, opened
from profile_pages import page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
STEPS = tuple(
    RunFinding("rule", f"{n} % of MPI time is waiting for rank 3 in MPI_Allreduce at solver.f90:212",
               "The other 7 ranks wait 3.9 s on average, in 4000 calls. Give rank 3 less work before this call.",
               ("octant profile --repeats 3 -- mpiexec -n 8 ./solver",), str(n))
    for n in range(4)
)  # fmt: skip


@pytest.mark.parametrize("name", ["made_job", "counts_only", "hostile"])
def test_the_page_fits_and_labels_stay_apart(browser: "Browser", tmp_path: Path, name: str) -> None:
    path = html.save(page_of(getattr(made_jobs, name)(), findings=STEPS), tmp_path / "profile.html")
    tab, wrong = opened(browser, path, 1280, height=900)
    assert tab.locator(".tile").count() == 6
    if name == "made_job":
        assert tab.evaluate("document.querySelector('.first-things').getBoundingClientRect().bottom") <= 900
    for width in (320, 390, 704, 1000, 1280):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
        assert boxes.faults(tab) == [], width
    open_everything(tab)
    tab.set_viewport_size({"width": 390, "height": 900})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.context.close()
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: "Browser", tmp_path: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    path = html.save(page_of(made_jobs.made_job()), tmp_path / "profile.html")
    tab, wrong = opened(browser, path, 1280, scheme, 900)
    open_everything(tab)
    found = axe.Axe().run(tab).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []
    tab.context.close()
    assert wrong == []
