"""Pages of all views: templates, style, script, content policy, packed data, word-sized drawings, and saving."""

import base64
import functools
import hashlib
import itertools
import json
import pkgutil
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from octant import __version__, output, units
from octant.report.charts import draw
from octant.report.charts.picture import Picture
from octant.report.plain import clean_lines
from octant.report.sentences import environment
from octant.stats.grades import SIGNS
from octant.store import StoredRun, files

Clean = Callable[[str], str]

_TITLE = re.compile("><title>[^<]*</title></(?:circle|path|rect)>")
_SHARE = re.compile(r"(?:[\d.]+\s?%|×\s?[\d.]+)")


def save(page: str, path: Path, run: StoredRun | None = None) -> Path:
    """Write a page and return its path; in the folder of its run, which is in a store, only the owner can read it.

    Raises:
        Refusal: the file cannot be written.
    """
    mode = files.FILE_MODE if run and path.parent == run.folder else output.FILE_MODE
    output.save(path, clean_lines(page), "use -o with a file that you can write to", mode)
    return path


def render(
    template: str, data: Mapping[str, Any], *, style: str = "", script: str = "", clean: Clean = str, **values: Any
) -> str:
    """Fill a template that extends `base.html.jinja`.

    Args:
        data: JSON for the script; `run` names downloads, the button with the id `download` saves `document`.
        style: a further style sheet, after those of pages and of pictures.
        script: a further script, after that of pages.
        clean: applied to every text (`sharing.cleaner`).
        values: variables of the template.
    """
    style = Markup(_compact("".join((draw.style("colours.css"), _asset("style.css"), draw.style(), style))))  # noqa: S704 - ours
    script = Markup(_asset("page.js") + script)  # noqa: S704 - ours
    return templates(clean).get_template(template).render(
        version=__version__,
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data: blob:",
        data=json_markup(dict(data)),
        **values,
    )  # fmt: skip


@functools.lru_cache(maxsize=4)
def templates(clean: Clean = str) -> Environment:
    """Return the templates of pages, with filters for quantities; `clean` is applied to every text."""
    pages = environment("octant.report.page", clean, autoescape=True)
    pages.filters.update(percent=units.percent_text)
    pages.globals.update(
        signs=SIGNS, spanned=spanned, leading_share=leading_share, svg=_picture_svg, widths=draw.widths
    )
    return pages


def leading_share(text: str) -> tuple[str, str]:
    """Divide a text into the share at its beginning and the rest: `90 %`, ` of 144 Gflop/s`."""
    found = _SHARE.match(text)
    return (text[: found.end()], text[found.end() :]) if found else ("", text)


def spanned(rows: Sequence[Sequence[str]], least: int = 12) -> list[list[tuple[str, int]]]:
    """Merge equal texts of `least` or more characters in the first columns; return each cell with the rows it spans."""
    made: list[list[tuple[str, int]]] = [[] for _ in rows]
    leads = True
    for column in zip(*rows, strict=True):
        begin, merged = 0, False
        for text, equal in itertools.groupby(column):
            span = len(list(equal))
            step = span if leads and len(text) >= least else 1
            merged |= step > 1
            for number in range(begin, begin + span, step):
                made[number].append((text, step))
            begin += span
        leads &= merged
    return made


def sections_style() -> str:
    """Return the style sheet of the tables of sections."""
    return _asset("sections.css")


def _asset(name: str) -> str:
    return (pkgutil.get_data("octant.report.page", f"assets/{name}") or b"").decode()


def _compact(style: str) -> str:
    """Return a style sheet without comments and white space."""
    joined = re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"(?:/\*.*?\*/|\s)+", " ", style, flags=re.DOTALL))
    return re.sub(r": (?=\S)", ":", joined).replace(";}", "}").lstrip()


def _hash(content: str) -> str:
    """Return the source of a content policy that allows this element and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def packed(data: object) -> str:
    """Return deflated JSON, which the page unpacks when it is opened."""
    return deflated(json.dumps(data, separators=(",", ":"), allow_nan=False))


def deflated(text: str) -> str:
    """Return a deflated text, which the page unpacks when it is opened."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def json_markup(data: dict[str, Any]) -> Markup:
    """Return JSON in which `<` is escaped, so that no text in it can end it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def exports(pictures: Sequence[Picture], run: str) -> str:
    """Return each picture as SVG files for two columns and for one, packed, by the picture's id."""
    widths = {"wide": 780, "narrow": draw.PHONE}
    return packed({one.id: {name: draw.export(one, width, run) for name, width in widths.items()} for one in pictures})


def _picture_svg(picture: Picture, width: int) -> Markup:
    """Draw a picture for a page; on a phone, where nothing points at marks, they have no titles."""
    drawn = draw.svg(picture, width)
    return Markup(_TITLE.sub("/>", drawn)) if width == draw.PHONE else drawn  # noqa: S704 - texts are escaped
