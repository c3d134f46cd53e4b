"""Drawings of the size of a word: the strip of a figure's launches, and the bar of a share."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from octant.report.strips import ShareBar, Strip

_EDGE = 4.0  # px at both ends of a strip, for the dots there
_LONGEST = 1.1  # share of a limit that a bar can show
_CLASSES = {"limit": "of-limit", "comparison": "compared"}
_PARTS = {"other processes": 2, "oversubscription": 2, "quota": 3, "host": 3, "unexplained": 1}
"""Colours of the parts of a bar in `style.css`, by a word in the name of the cause of lost time."""


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
