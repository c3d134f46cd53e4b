"""Pages in a browser, for the tests that look at them."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NASTY = "<script>alert('x')</script><img src=http://example.org/x onerror=alert(1)>"


def opened(browser: "Browser", path: Path, width: int = 1200, scheme: str = "light") -> tuple["Page", list[str]]:
    """The page drawn to the end, and what went wrong in it: requests that left, errors, refusals of its policy."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    wrong: list[str] = []
    page.on("request", lambda request: wrong.extend({request.url} - {path.as_uri()}))
    page.route(re.compile(r"^(?!file:|data:|blob:)"), lambda route: route.abort())
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.extend([message.text] * (message.type in ("error", "warning"))))
    page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page, wrong
