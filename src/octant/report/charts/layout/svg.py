"""A drawing under construction: SVG elements with classes instead of colours, and the texts placed so far."""

import contextlib
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from octant.report.charts.layout.labels import Box, Field, Spot, Text
from octant.report.plain import clean

SHAPES = {
    "square": ((-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)),
    "triangle": ((0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)),
    "diamond": ((0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)),
    "tick": ((-1.2, -7.0), (1.2, -7.0), (1.2, 7.0), (-1.2, 7.0)),
}
RADIUS = 3.4
"""Radius of a mark, px."""


class Sheet:
    """A drawing, and its height, px."""

    def __init__(self) -> None:
        self.height, self.field = 0.0, Field()
        self._parts: list[str] = []

    @contextlib.contextmanager
    def group(self, kind: str) -> Iterator[None]:
        """Give the elements drawn inside these classes."""
        begin = f'<g class="{kind}">'
        self._parts.append(begin)
        yield
        if self._parts[-1] == begin:
            self._parts.pop()
        else:
            self._parts.append("</g>")

    def path(self, kind: str, data: str, title: str = "") -> None:
        """Draw a path; without data, draw nothing."""
        if data:
            self._shape("path", kind, f'd="{data}"', title)

    def lines(self, kind: str, *lines: Sequence[Spot]) -> None:
        """Draw lines that labels avoid, as one path."""
        self.path(kind, "".join(map(open_line, lines)))
        for points in lines:
            self.field.add_line(points)

    def rect(self, kind: str, box: Box, title: str = "", opacity: float = 1.0) -> None:
        """Draw a rectangle, at least half a px wide and high."""
        width, height = max(0.5, box.right - box.left), max(0.5, box.bottom - box.top)
        place = f'x="{px(box.left)}" y="{px(box.top)}" width="{px(width)}" height="{px(height)}"'
        self._shape("rect", kind, place + f' fill-opacity="{opacity:.2f}"' * (opacity < 1), title)

    def mark(self, kind: str, shape: str, at: Spot, title: str = "", radius: float = RADIUS) -> None:
        """Draw a mark that labels avoid. Strokes have no rim, which would be wider than the stroke."""
        x, y = at
        kind = "b" if shape == "tick" else kind
        if shape == "circle":
            self._shape("circle", kind, f'cx="{px(x)}" cy="{px(y)}" r="{px(radius)}"', title)
        else:
            scale = radius / RADIUS
            self.path(kind, closed([(x + dx * scale, y + dy * scale) for dx, dy in SHAPES[shape]]), title)
        around = radius + 1
        self.field.marks.append(Box(x - around, y - around, x + around, y + around))

    def text(self, *texts: Text) -> None:
        """Write texts at their places, above everything else."""
        self.field.texts += [text for text in texts if text.text]

    def content(self) -> str:
        """Return the elements, hairlines and texts last."""
        hairs = "".join(f"M{px(x)} {px(y)}L{px(to_x)} {px(to_y)}" for (x, y), (to_x, to_y) in self.field.hairlines)
        groups: dict[tuple[str, float, str], list[Text]] = {}
        for text in self.field.texts:
            kind = " ".join(filter(None, (text.kind, "bold" * text.bold)))
            groups.setdefault((kind, text.size, text.anchor), []).append(text)
        parts = [*self._parts, f'<path class="hair" d="{hairs}"/>' if hairs else ""]
        for (kind, size, anchor), texts in groups.items():
            style = f' class="{kind}"' * bool(kind) + f' text-anchor="{anchor}"' * (anchor != "start")
            parts.append(f'<g font-size="{px(size)}"{style}>{"".join(map(_text, texts))}</g>')
        return "".join(parts)

    def _shape(self, name: str, kind: str, place: str, title: str) -> None:
        style = f'class="{kind}" ' * bool(kind)
        end = f"><title>{safe(title)}</title></{name}>" if title else "/>"
        self._parts.append(f"<{name} {style}{place}{end}")


def px(value: float) -> str:
    """Write a coordinate to a tenth of a px."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text not in ("-0.0", "0.0") else "0"


def open_line(points: Sequence[Spot]) -> str:
    """Return path data of a line through points, as relative steps; empty for fewer than two points."""
    if len(points) < 2:
        return ""
    tenths = [(round(10 * x), round(10 * y)) for x, y in points]
    steps = [px((b - a) / 10) for one, other in pairwise(tenths) for a, b in zip(one, other, strict=True)]
    joined = "".join(step if step[0] == "-" else f" {step}" for step in steps)
    return f"M{px(tenths[0][0] / 10)} {px(tenths[0][1] / 10)}l{joined.lstrip()}"


def closed(points: Sequence[Spot]) -> str:
    """Return path data of a shape with these corners."""
    return open_line(points) + "z"


def dots(points: Sequence[Spot]) -> str:
    """Return path data of single dots, for a line with round ends."""
    return "".join(f"M{px(x)} {px(y)}h0" for x, y in points)


def safe(text: str) -> str:
    """Escape a text for an element or attribute, without characters that XML cannot hold."""
    return escape(clean(text).replace("\ufffe", "�").replace("\uffff", "�"))


def _text(text: Text) -> str:
    turn = f' transform="rotate({px(text.angle)} {px(text.x)} {px(text.y)})"' if text.angle else ""
    title = f"<title>{safe(text.title)}</title>" if text.title else ""
    return f'<text x="{px(text.x)}" y="{px(text.y)}"{turn}>{safe(text.text)}{title}</text>'
