"""Texts of a drawing: their widths, their boxes, what they must not cover, and the search for free places.

Coordinates are px from the upper left corner. Widths are those of DejaVu Sans, the widest of the common sans-serif
fonts, so texts also fit in narrower ones. An accented letter is as wide as its letter; other characters count as a full
em, as in Chinese and Japanese fonts.
"""

from __future__ import annotations

import itertools
import math
import pkgutil
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from statistics import fmean
from typing import Literal, NamedTuple

Spot = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

ABOVE, BELOW = 0.78, 0.24
"""How far ink reaches above the baseline and below, relative to the size of the text."""
CELL = 4.0
"""Lines are stored as the squares of this size that they cross, px."""
MOVED = 5.0
"""A label at a greater distance from its preferred place has a hairline to its mark, px."""
_DISTANCES = (0.0, 8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 92.0, 120.0)
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
FAMILY = "'Liberation Sans', Arial, Helvetica, 'DejaVu Sans', sans-serif"
"""The fonts of drawings; the first one that is installed is used."""


class Box(NamedTuple):
    """An upright rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> Spot:
        """The centre."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    @property
    def corners(self) -> tuple[Spot, ...]:
        """The corners in order."""
        return ((self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom))

    def meets(self, other: Box) -> bool:
        """Return whether the two have an area in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: Box) -> bool:
        """Return whether the other one is inside."""
        begins = self.left <= other.left + 1e-6 and self.top <= other.top + 1e-6
        return begins and self.right >= other.right - 1e-6 and self.bottom >= other.bottom - 1e-6


@dataclass(frozen=True)
class Text:
    """A line of text at its place."""

    x: float
    y: float  # of the baseline
    text: str
    size: float = 12.0
    kind: str = ""  # classes of style
    anchor: Anchor = "start"
    bold: bool = False
    angle: float = 0.0  # degrees, clockwise around (x, y)
    title: str = ""  # the complete text if it was shortened

    @cached_property
    def width(self) -> float:
        """The width in the widest font, px."""
        return text_width(self.text, self.size, self.bold)

    @cached_property
    def corners(self) -> tuple[Spot, ...]:
        """The corners of its box, rotated with it."""
        left = self.x - _ANCHORS[self.anchor] * self.width
        flat = Box(left, self.y - ABOVE * self.size, left + self.width, self.y + BELOW * self.size).corners
        if not self.angle:
            return flat
        cos, sin = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        offsets = [(x - self.x, y - self.y) for x, y in flat]
        return tuple((self.x + x * cos - y * sin, self.y + x * sin + y * cos) for x, y in offsets)

    @cached_property
    def box(self) -> Box:
        """The upright rectangle around the corners."""
        xs, ys = zip(*self.corners, strict=True)
        return Box(min(xs), min(ys), max(xs), max(ys))

    def overlaps(self, other: Text) -> bool:
        """Return whether the boxes of two texts, each rotated with its text, have an area in common."""
        flat = not (self.angle or other.angle)
        return self.box.meets(other.box) and (flat or _overlap(self.corners, other.corners))


def _overlap(one: Sequence[Spot], other: Sequence[Spot]) -> bool:
    """Return whether two convex shapes overlap: no side of either separates them."""
    for shape in (one, other):
        for i, (x, y) in enumerate(shape):
            nx, ny = shape[i - 1][1] - y, x - shape[i - 1][0]
            first, second = ([nx * px + ny * py for px, py in corners] for corners in (one, other))
            if max(first) <= min(second) + 1e-9 or max(second) <= min(first) + 1e-9:
                return False
    return True


@dataclass
class Field:
    """The elements drawn so far; labels are placed where they cover none of them."""

    texts: list[Text] = field(default_factory=list)
    marks: list[Box] = field(default_factory=list)
    lines: set[tuple[int, int]] = field(default_factory=set)
    hairlines: list[tuple[Spot, Spot]] = field(default_factory=list)

    def add_line(self, points: Sequence[Spot]) -> None:
        """Store a line that labels should not cross."""
        for (x, y), (to_x, to_y) in itertools.pairwise(points):
            steps = max(1, math.ceil(math.hypot(to_x - x, to_y - y) / CELL))
            self.lines |= {_cell(x + (to_x - x) * i / steps, y + (to_y - y) * i / steps) for i in range(steps + 1)}

    def crossed(self, text: Text) -> int:
        """Count the squares of lines that a text covers."""
        (left, top), (right, bottom) = _cell(*text.box[:2]), _cell(*text.box[2:])
        cells = itertools.product(range(left, right + 1), range(top, bottom + 1))
        hit = [cell for cell in cells if cell in self.lines]
        if not text.angle:
            return len(hit)
        squares = (Box(x * CELL, y * CELL, (x + 1) * CELL, (y + 1) * CELL) for x, y in hit)
        return sum(_overlap(text.corners, square.corners) for square in squares)

    def is_free(self, text: Text, room: Box) -> bool:
        """Return whether a text is inside `room` and covers neither a text nor a mark."""
        if not room.holds(text.box) or any(text.overlaps(other) for other in self.texts):
            return False
        near = [mark for mark in self.marks if mark.meets(text.box)]
        return not near or (bool(text.angle) and not any(_overlap(text.corners, one.corners) for one in near))

    def place(self, near: Spot, lines: Sequence[Text], room: Box, related: Sequence[Spot] = ()) -> bool:
        """Place a label of one or more lines near a mark, where it is free and crosses the fewest lines.

        Args:
            near: the centre of the mark.
            lines: the label; its present place is ignored.
            room: where it may be.
            related: marks to which it may be closer than to its own; it avoids being closer to any other.

        Returns:
            False if there is no room; nothing was placed.
        """
        others = [mark.middle for mark in self.marks]
        foreign = [at for at in others if math.dist(at, near) > 2 and all(math.dist(at, s) > 2 for s in related)]

        def ambiguity(texts: Sequence[Text]) -> float:
            middle = _union([text.box for text in texts]).middle
            return 25.0 * (min((math.dist(middle, at) for at in foreign), default=math.inf) < math.dist(middle, near))

        for away in _DISTANCES:
            most = 1e9 if away == _DISTANCES[-1] else 20 + away
            if texts := self.best(_candidates(near, lines, 6.0 + away), room, ambiguity, most):
                self.texts += texts
                if away > MOVED:
                    box = _union([text.box for text in texts])
                    end = max(box.left, min(box.right, near[0])), max(box.top, min(box.bottom, near[1]))
                    self.hairlines.append((near, end))
                return True
        return False

    def best(
        self, candidates: Iterable[tuple[float, list[Text]]], room: Box,
        extra_cost: Callable[[Sequence[Text]], float] = lambda _: 0.0, most: float = 1e9,
    ) -> list[Text]:  # fmt: skip
        """Return the cheapest free place of a label: its penalty, `extra_cost`, and 3 per square of a line it covers.

        Empty if none is free and costs at most `most`.
        """
        chosen: list[Text] = []
        for penalty, texts in candidates:
            if penalty < most and all(self.is_free(text, room) for text in texts):
                cost = penalty + extra_cost(texts) + 3 * sum(map(self.crossed, texts))
                if cost <= most:
                    most, chosen = cost, texts
        return chosen


def spread(wanted: Sequence[float], sizes: Sequence[float], low: float, high: float, gap: float = 2.0) -> list[float]:
    """Return centres of things in a row, moved as little as keeps them in order, apart and within `low` and `high`.

    If they do not fit, they extend beyond `high`. This is isotonic regression of the places less those without spaces.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    ends = list(itertools.accumulate(sizes[i] + gap for i in order))
    dense = [end - gap - sizes[i] / 2 for end, i in zip(ends, order, strict=True)]  # centres without spaces, from 0
    groups: list[list[float]] = []  # of adjacent things: how far each should be from its dense place
    for i, place in zip(order, dense, strict=True):
        groups.append([wanted[i] - place])
        while len(groups) > 1 and fmean(groups[-2]) >= fmean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    shifts = [max(low, min(high - ends[-1] + gap, fmean(group))) for group in groups for _ in group]
    places = [0.0] * len(wanted)
    for i, place, shift in zip(order, dense, shifts, strict=True):
        places[i] = place + shift
    return places


def _candidates(near: Spot, lines: Sequence[Text], away: float) -> Iterable[tuple[float, list[Text]]]:
    """Return places of a label around a spot, with a small penalty for those that are less easy to read."""
    x, y = near
    size = lines[0].size
    pitch = 1.2 * size
    height = pitch * (len(lines) - 1)
    level = y + (ABOVE - BELOW) * size / 2 - height / 2
    side = 0.71 * away
    places: list[tuple[float, Anchor, float, float]] = [
        (0.0, "start", x + away + 2, level), (0.5, "end", x - away - 2, level),
    ]  # fmt: skip
    around: list[tuple[float, Anchor, float, float]] = [
        (0.6, "middle", x, away), (0.8, "start", x + side, side), (1.0, "end", x - side, side),
        (1.2, "start", x - 12, away), (1.2, "end", x + 12, away),
    ]  # fmt: skip
    if away > 20:  # more directions
        for dx, dy in ((0.92 * away, 0.38 * away), (0.38 * away, 0.92 * away)):
            around += [(1.4, "start", x + dx, dy), (1.4, "end", x - dx, dy)]
    for penalty, anchor, at_x, distance in around:
        places.append((penalty, anchor, at_x, y - distance - BELOW * size - height))
        places.append((penalty + 0.1, anchor, at_x, y + distance + ABOVE * size))
    for penalty, anchor, at_x, at_y in places:
        yield penalty, [replace(line, x=at_x, y=at_y + pitch * i, anchor=anchor) for i, line in enumerate(lines)]


def _cell(x: float, y: float) -> tuple[int, int]:
    return math.floor(x / CELL), math.floor(y / CELL)


def _union(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line, px, in a font of `size` px."""
    return _ems(text, bold) * size


def cut(text: str, size: float, most: float, bold: bool = False) -> str:
    """Return the text, or as much of it as fits in `most` px, ending in `…`."""
    if text_width(text, size, bold) <= most:
        return text
    kept = text
    while kept and text_width(kept + "…", size, bold) > most:
        kept = kept[:-1]
    return kept.rstrip(" ,;:·") + "…"


def wrap(text: str, size: float, most: float, lines: int, bold: bool = False) -> list[str]:
    """Return the text's words in at most `lines` lines of `most` px; a text that does not fit ends in `…`."""
    wrapped = [""]
    words = text.split()
    for number, word in enumerate(words):
        longer = f"{wrapped[-1]} {word}".lstrip()
        if not wrapped[-1] or text_width(longer, size, bold) <= most:
            wrapped[-1] = longer
        elif len(wrapped) < lines:
            wrapped.append(word)
        else:
            wrapped[-1] = " ".join([wrapped[-1], *words[number:]])
            break
    return [cut(line, size, most, bold) for line in wrapped]


@lru_cache(maxsize=4096)
def _ems(text: str, bold: bool) -> float:
    table = _widths()["bold" if bold else "regular"]
    return sum(table.get(sign) or _other_width(sign, table) for sign in text) / 1000


@cache
def _widths() -> dict[str, dict[str, int]]:
    """Return the width of each character of DejaVuSans.ttf and DejaVuSans-Bold.ttf (2.37), thousandths of an em."""
    lines = (pkgutil.get_data("octant.report.charts.layout", "widths.txt") or b"").decode().rstrip("\n").split("\n")
    tables: dict[str, dict[str, int]] = {"regular": {}, "bold": {}}
    for name, width, signs in (line.split(" ", 2) for line in lines):
        tables[name] |= dict.fromkeys(signs, int(width))
    return tables


def _other_width(sign: str, table: dict[str, int]) -> int:
    return 0 if unicodedata.combining(sign) else table.get(unicodedata.normalize("NFD", sign)[0], 1000)
