"""Pages in a browser, for the tests that look at them."""

import base64
import json
import re
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NASTY = "<script>alert('x')</script><img src=http://example.org/x onerror=alert(1)>"
FONTS = ("DejaVu Sans", "Liberation Sans")
"""The widest of the common fonts, and a narrow one."""


def inflated(text: str) -> str:
    """Return a text that a page unpacks."""
    return zlib.decompress(base64.b64decode(text)).decode()


def row_details(made: str) -> dict[str, str]:
    """Return what the rows of a page unpack when they are opened, by the number of the figure."""
    data = json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])  # type: ignore[index]
    found: dict[str, str] = json.loads(inflated(data["details"]))
    return found


def opened(
    browser: "Browser", path: Path, width: int = 1200, scheme: str = "light", height: int = 800
) -> tuple["Page", list[str]]:
    """Return the page after it was drawn, and its errors: requests, exceptions, refusals of its policy."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
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


def in_font(page: "Page", font: str) -> None:
    """Set all texts except code in a font, as on a system that has no other."""
    page.evaluate("(font) => document.documentElement.style.setProperty('--text', `'${font}'`)", font)


def open_everything(page: "Page") -> None:
    """Open all details, including packed ones, and wait until the samples of all rows are drawn."""
    opens = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    page.evaluate(opens)
    if page.locator("#further").count():
        page.locator("#further > table").wait_for()
        page.evaluate(opens)
    page.wait_for_selector("[data-samples]:empty", state="detached")
