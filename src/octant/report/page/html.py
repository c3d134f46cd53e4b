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
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from octant import __version__, output, units
from octant.report.charts import draw, palette
from octant.report.charts.picture import Picture
from octant.report.plain import clean_lines
from octant.report.screen.answer import ShareBar, Strip
from octant.report.sentences import environment
from octant.stats.grades import SIGNS

Clean = Callable[[str], str]

_TITLE = re.compile("><title>[^<]*</title></(?:circle|path|rect)>")
_SHARE = re.compile(r"(?:[\d.]+\s?%|×\s?[\d.]+)")
_EDGE = 4.0  # px at both ends of a strip, for the dots there
_LONGEST = 1.1  # share of a limit that a bar can show
_CLASSES = {"limit": "of-limit", "comparison": "compared"}
_PARTS = {"other processes": 2, "oversubscription": 2, "quota": 3, "host": 3, "unexplained": 1}
"""Colours of the parts of a bar in `style.css`, by a word in the name of the cause of lost time."""


def save(page: str, path: Path, mode: int = output.FILE_MODE) -> Path:
    """Write a page and return its path; `mode` is its permissions, less the umask.

    Raises:
        Refusal: the file cannot be written.
    """
    output.save(path, clean_lines(page), "try -o with a file of yours", mode)
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
    style = Markup(_compact("".join((_colours(), _asset("style.css"), draw.style(), style))))  # noqa: S704 - ours
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
        signs=SIGNS, spanned=spanned, leading_share=leading_share, svg=_picture_svg, widths=draw.widths,
        strip_svg=strip_svg, bar_svg=bar_svg,
    )  # fmt: skip
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


def _asset(name: str) -> str:
    return (pkgutil.get_data("octant.report.page", f"assets/{name}") or b"").decode()


def _colours() -> str:
    """Return the palette as variables: light, and dark for screens with a dark colour scheme."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {palette.variables('dark')} }} }}"
    return f":root {{ {palette.variables('light')} }}\n{dark}\n"


def _compact(style: str) -> str:
    """Return a style sheet without white space."""
    joined = re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", style))
    return re.sub(r": (?=\S)", ":", joined).replace(";}", "}")


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


def strip_svg(strip: Strip, width: int = 110, has_ends: bool = True) -> Markup:
    """Draw launches over their interval, `width` px: excluded ones are open dots, the tick is the median.

    The texts at its ends are the minimum and maximum of what it draws.
    """
    least, greatest = strip.span
    scale = (width - 2 * _EDGE) / ((greatest - least) or 1.0)
    same = width / 2 if greatest == least else None

    def at(value: float) -> str:
        return f"{same or _EDGE + (value - least) * scale:.1f}"

    band = f'<rect class="band" x="{at(strip.low)}" y="2" width="{(strip.high - strip.low) * scale:.1f}" height="12"/>'
    parts = [
        *[band] * (strip.low < strip.high),
        *(f'<circle class="dot out" cx="{at(value)}" cy="8" r="2.5"/>' for value in strip.left_out),
        *(f'<circle class="dot" cx="{at(value)}" cy="8" r="2.5"/>' for value in strip.counted),
        f'<path class="middle" d="M{at(strip.middle)} 1v14"/>',
    ]
    if has_ends and any(strip.ends):
        first, last = map(escape, strip.ends)
        places = ((0, "start", first), (width, "end", last)) if first != last else ((width / 2, "middle", first),)
        parts += [f'<text x="{x:g}" y="26" text-anchor="{anchor}">{text}</text>' for x, anchor, text in places]
    return _hidden("strip", f'width="{width}" height="{29 if has_ends else 16}"', "".join(parts))


def bar_svg(bar: ShareBar) -> Markup:
    """Draw a bar as wide as its place: a share with a tick at 100 %, or parts of the whole width."""
    if bar.kind == "parts":
        drawn, done = ['<rect class="track" width="100" height="8"/>'], 0.0
        for name, share in bar.shares:
            wide = min(100 * max(share, 0.0), 100 - done)
            number = next((number for word, number in _PARTS.items() if word in name), 3)
            drawn.append(f'<rect class="part-{number}" x="{done:.2f}" width="{wide:.2f}" height="8"/>')
            done += wide
    else:
        full = 100 / _LONGEST
        share = min(max(bar.shares[0][1], 0.0), _LONGEST) if bar.shares else 0.0
        drawn = [
            f'<rect class="track" y="1" width="{full:.2f}" height="6"/>',
            f'<rect class="{_CLASSES[bar.kind]}" y="1" width="{full * share:.2f}" height="6"/>',
            f'<path class="tick" d="M{full:.2f} 0v8"/>',
        ]
    return _hidden("bar", 'viewBox="0 0 100 8" preserveAspectRatio="none" height="8"', "".join(drawn))


def _hidden(kind: str, size: str, inside: str) -> Markup:
    return Markup(f'<svg class="{kind}" {size} aria-hidden="true">{inside}</svg>')  # noqa: S704 - texts are escaped
