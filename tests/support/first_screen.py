"""Draws README's picture: the first screen of a run's report in Chromium, light and dark. `make picture` runs it."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from octant.analysis.summary import summarise
from octant.cli._stored import find_run
from octant.report.export import sharing
from octant.report.page import run_page as report
from pages import CHROMIUM, opened
from paths import ROOT
from reports import report_of

PICTURES = {
    "light": ROOT / "docs/pictures/report-first-screen.png",
    "dark": ROOT / "docs/pictures/report-first-screen-dark.png",
}
WIDTH = 1400
"""Of the window, px."""


def draw(run: str) -> None:
    """Writes both pictures.

    Raises:
        Refusal: no such run in the store of OCTANT_STORE or ./octant-store.
    """
    stored = find_run(None, run)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        said = report_of(summarise(stored, all_metrics=True))
        path = report.write(said, Path(folder, "report.html"), sharing.cleaner(stored))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme, picture in PICTURES.items():
            page, _ = opened(browser, path, WIDTH, scheme)
            height = page.locator(".first-things").evaluate("(e) => e.getBoundingClientRect().bottom + scrollY + 16")
            page.screenshot(
                path=picture, full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": round(height)}
            )
            print(picture)


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else "last")
