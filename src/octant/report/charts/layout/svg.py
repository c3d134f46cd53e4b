"""A drawing in the making: SVG's elements with classes instead of colours, and the texts placed so far."""

from __future__ import annotations

import contextlib
import math
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from octant.report.charts.layout.labels import Box, Field, Spot, Text
from octant.report.plain import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHAPES = {
    "square": ((-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)),
    "triangle": ((0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)),
    "diamond": ((0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)),
    "tick": ((-1.2, -7.0), (1.2, -7.0), (1.2, 7.0), (-1.2, 7.0)),
}
RADIUS = 3.4
"""Of a mark, px."""


class Sheet:
    """A drawing of a width; its height follows from what is drawn."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.field = Field(Box(0, 0, width, math.inf))
        self._parts: list[str] = []

    @contextlib.contextmanager
    def group(self, kind: str) -> Iterator[None]:
        """What is drawn inside has these classes in common."""
        self._parts.append(f'<g class="{kind}">')
        yield
        if self._parts[-1] == f'<g class="{kind}">':
            self._parts.pop()
        else:
            self._parts.append("</g>")

    def path(self, kind: str, data: str, title: str = "") -> None:
        """A path; nothing without data."""
        if data:
            self._shape("path", kind, f'd="{data}"', title)

    def rect(self, kind: str, box: Box, title: str = "", opacity: float = 1.0) -> None:
        """A rectangle, at least half a px wide and high."""
        width, height = max(0.5, box.right - box.left), max(0.5, box.bottom - box.top)
        place = f'x="{px(box.left)}" y="{px(box.top)}" width="{px(width)}" height="{px(height)}"'
        place += f' fill-opacity="{opacity:.2f}"' * (opacity < 1)
        self._shape("rect", kind, place, title)

    def mark(self, kind: str, shape: str, at: Spot, title: str = "", radius: float = RADIUS) -> None:
        """A mark of a shape; labels keep off it. Strokes have no rim: it would be wider than they are."""
        x, y = at
        kind = "b" if shape == "tick" else kind
        if shape == "circle":
            self._shape("circle", kind, f'cx="{px(x)}" cy="{px(y)}" r="{px(radius)}"', title)
        else:
            scale = radius / RADIUS
            self.path(kind, closed([(x + dx * scale, y + dy * scale) for dx, dy in SHAPES[shape]]), title)
        self.field.marks.append(Box(x, y, x, y).grown(radius + 1))

    def text(self, *texts: Text) -> None:
        """Texts at their places, drawn above everything else."""
        self.field.add(text for text in texts if text.text)

    def texts(self) -> tuple[Text, ...]:
        """All texts placed so far."""
        return tuple(self.field.texts)

    def content(self) -> str:
        """The elements, hairlines and texts last."""
        hairs = "".join(f"M{px(x)} {px(y)}L{px(to_x)} {px(to_y)}" for (x, y), (to_x, to_y) in self.field.hairlines)
        lines = f'<path class="hair" d="{hairs}"/>' if hairs else ""
        return "".join(self._parts) + lines + self._written()

    def _written(self) -> str:
        groups: dict[tuple[str, float, str], list[Text]] = {}
        for text in self.field.texts:
            kind = " ".join(filter(None, (text.kind, "bold" * text.bold)))
            groups.setdefault((kind, text.size, text.anchor), []).append(text)
        parts = []
        for (kind, size, anchor), texts in groups.items():
            style = f' class="{kind}"' * bool(kind) + f' text-anchor="{anchor}"' * (anchor != "start")
            parts.append(f'<g font-size="{px(size)}"{style}>{"".join(map(_text, texts))}</g>')
        return "".join(parts)

    def _shape(self, name: str, kind: str, place: str, title: str) -> None:
        style = f'class="{kind}" ' * bool(kind)
        end = f"><title>{safe(title)}</title></{name}>" if title else "/>"
        self._parts.append(f"<{name} {style}{place}{end}")


def px(value: float) -> str:
    """A coordinate to a tenth of a px."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text not in ("-0.0", "0.0") else "0"


def open_line(points: Sequence[Spot]) -> str:
    """Path data of a line through points, each as steps from the one before; empty for fewer than two."""
    if len(points) < 2:
        return ""
    tenths = [(round(10 * x), round(10 * y)) for x, y in points]
    steps = [px((b - a) / 10) for one, other in pairwise(tenths) for a, b in zip(one, other, strict=True)]
    joined = "".join(step if step[0] == "-" else f" {step}" for step in steps)
    return f"M{px(tenths[0][0] / 10)} {px(tenths[0][1] / 10)}l{joined.lstrip()}"


def closed(points: Sequence[Spot]) -> str:
    """Path data of a shape with these corners."""
    return open_line(points) + "z"


def dots(points: Sequence[Spot]) -> str:
    """Path data of single dots, for a line with round ends."""
    return "".join(f"M{px(x)} {px(y)}h0" for x, y in points)


def safe(text: str) -> str:
    """Text for an element or attribute: escaped, without what XML cannot hold."""
    return escape(clean(text).replace("\ufffe", "�").replace("\uffff", "�"))


def _text(text: Text) -> str:
    turn = f' transform="rotate({px(text.angle)} {px(text.x)} {px(text.y)})"' if text.angle else ""
    title = f"<title>{safe(text.title)}</title>" if text.title else ""
    return f'<text x="{px(text.x)}" y="{px(text.y)}"{turn}>{safe(text.text)}{title}</text>'
