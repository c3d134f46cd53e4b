"""Texts of a drawing and what they must not touch: boxes of texts and marks, lines, and the search for free places.

Coordinates are px from the upper left corner; boxes of texts are those of the widest font (`fonts`).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from octant.report.charts.layout.fonts import text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Spot = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
_Spot = tuple[float, Anchor, float, float]  # penalty, and where a label's first line stands

ABOVE, BELOW = 0.78, 0.24
"""Of a text's size: how far ink reaches above the baseline and below."""
CELL = 4.0
"""Lines are remembered as the squares of so many px that they cross."""
MOVED = 5.0
"""A label further away than this from where it would stand has a hairline to its mark, px."""
_AWAY = (0.0, 8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 92.0, 120.0)


class Box(NamedTuple):
    """An upright rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def grown(self, by: float) -> Box:
        """The rectangle with a margin."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def meets(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def holds(self, other: Box) -> bool:
        """Whether the other lies inside."""
        return (
            self.left <= other.left + 1e-6
            and self.top <= other.top + 1e-6
            and self.right >= other.right - 1e-6
            and self.bottom >= other.bottom - 1e-6
        )


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
    title: str = ""  # the whole of a text that was cut

    @cached_property
    def width(self) -> float:
        """In the widest font, px."""
        return text_width(self.text, self.size, self.bold)

    @cached_property
    def corners(self) -> tuple[Spot, ...]:
        """The four corners of its box, turned with it."""
        left = self.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * self.width
        top, bottom = self.y - ABOVE * self.size, self.y + BELOW * self.size
        flat = ((left, top), (left + self.width, top), (left + self.width, bottom), (left, bottom))
        if not self.angle:
            return flat
        cos, sin = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        return tuple(
            (self.x + (x - self.x) * cos - (y - self.y) * sin, self.y + (x - self.x) * sin + (y - self.y) * cos)
            for x, y in flat
        )

    @cached_property
    def box(self) -> Box:
        """The upright rectangle around the corners."""
        xs, ys = [x for x, _ in self.corners], [y for _, y in self.corners]
        return Box(min(xs), min(ys), max(xs), max(ys))

    def at(self, x: float, y: float) -> Text:
        """The same text elsewhere."""
        return replace(self, x=x, y=y)

    def overlaps(self, other: Text) -> bool:
        """Whether the boxes of two texts, each turned as it is, have an area in common."""
        if not self.box.meets(other.box):
            return False
        return not (self.angle or other.angle) or _meet(self.corners, other.corners)


def text_box_corners(box: Box) -> tuple[Spot, ...]:
    """The corners of a rectangle, in order."""
    return ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))


def _meet(one: Sequence[Spot], other: Sequence[Spot]) -> bool:
    """Whether two convex shapes meet: no side of either separates them."""
    for shape in (one, other):
        for i, (x, y) in enumerate(shape):
            nx, ny = shape[i - 1][1] - y, x - shape[i - 1][0]
            first = [nx * px + ny * py for px, py in one]
            second = [nx * px + ny * py for px, py in other]
            if max(first) <= min(second) + 1e-9 or max(second) <= min(first) + 1e-9:
                return False
    return True


@dataclass
class Field:
    """What is drawn so far: labels are placed where nothing of it is covered."""

    room: Box
    texts: list[Text] = field(default_factory=list)
    marks: list[Box] = field(default_factory=list)
    lines: set[tuple[int, int]] = field(default_factory=set)
    hairlines: list[tuple[Spot, Spot]] = field(default_factory=list)

    def add_line(self, points: Sequence[Spot]) -> None:
        """Remembers a line that labels should not cross."""
        for (x, y), (to_x, to_y) in itertools.pairwise(points):
            steps = max(1, math.ceil(math.hypot(to_x - x, to_y - y) / CELL))
            for i in range(steps + 1):
                self.lines.add(_cell(x + (to_x - x) * i / steps, y + (to_y - y) * i / steps))

    def crossed(self, text: Text) -> int:
        """How many squares of lines a text covers."""
        box = text.box
        (left, top), (right, bottom) = _cell(box.left, box.top), _cell(box.right, box.bottom)
        if not text.angle:
            return sum((x, y) in self.lines for x in range(left, right + 1) for y in range(top, bottom + 1))
        found = 0
        for x in range(left, right + 1):
            for y in range(top, bottom + 1):
                cell = Box(x * CELL, y * CELL, (x + 1) * CELL, (y + 1) * CELL)
                found += (x, y) in self.lines and _meet(text.corners, text_box_corners(cell))
        return found

    def is_free(self, text: Text, room: Box | None = None) -> bool:
        """Whether a text lies inside and touches neither a text nor a mark."""
        box = text.box
        if not (room or self.room).holds(box) or any(text.overlaps(other) for other in self.texts):
            return False
        near = [mark for mark in self.marks if mark.meets(box)]
        return not near or (bool(text.angle) and not any(_meet(text.corners, text_box_corners(one)) for one in near))

    def add(self, texts: Iterable[Text]) -> None:
        """Remembers texts that stand."""
        self.texts += texts

    def place(self, near: Spot, lines: Sequence[Text], room: Box, own: Sequence[Spot] = ()) -> bool:
        """Puts a label of one or more lines near a mark, where it is free and crosses fewest lines.

        Args:
            near: the middle of the mark.
            lines: the label, wherever it stands now.
            room: where it may lie.
            own: the other marks that it may stand nearer to; it avoids to stand nearer to any else.

        Returns:
            False: there is no room; nothing was placed.
        """
        others = [_middle(mark) for mark in self.marks]
        strangers = [spot for spot in others if math.dist(spot, near) > 2 and all(math.dist(spot, s) > 2 for s in own)]

        def dear(texts: Sequence[Text]) -> float:
            middle = _middle(_union([text.box for text in texts]))
            nearest = min((math.dist(middle, spot) for spot in strangers), default=math.inf)
            return 25.0 * (nearest < math.dist(middle, near))

        for away in _AWAY:
            found = self.best(_around(near, lines, 6.0 + away), room, dear, 1e9 if away == _AWAY[-1] else 20 + away)
            if found:
                self.add(found)
                if away > MOVED:
                    self.hairlines.append((near, _nearest(_union([text.box for text in found]), near)))
                return True
        return False

    def best(
        self,
        places: Iterable[tuple[float, list[Text]]],
        room: Box,
        dear: Callable[[Sequence[Text]], float] = lambda _: 0.0,
        most: float = 1e9,
    ) -> list[Text]:
        """The place of a label that costs least: its own penalty, `dear`, and 3 for each square of a line it covers.

        Empty where none is free and costs at most `most`.
        """
        chosen: list[Text] = []
        for penalty, texts in places:
            if penalty < most and all(self.is_free(text, room) for text in texts):
                cost = penalty + dear(texts) + 3 * sum(self.crossed(text) for text in texts)
                if cost <= most:
                    most, chosen = cost, texts
        return chosen


def spread(wanted: Sequence[float], sizes: Sequence[float], low: float, high: float, gap: float = 2.0) -> list[float]:
    """Middles of things in a row, moved as little as keeps them apart and between `low` and `high`, in their order.

    If they do not fit they stand evenly, overlapping: `fits` tells before.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: list[tuple[list[int], float]] = []  # members, middle of all
    for i in order:
        members, middle = [i], _held(wanted[i], sizes[i], low, high)
        while (
            groups
            and groups[-1][1] + (_length(groups[-1][0], sizes, gap) + _length(members, sizes, gap)) / 2 + gap > middle
        ):
            members = groups.pop()[0] + members
            length, offset, target = _length(members, sizes, gap), 0.0, 0.0
            for member in members:
                target += wanted[member] - (offset + sizes[member] / 2)
                offset += sizes[member] + gap
            middle = _held(target / len(members) + length / 2, length, low, high)
        groups.append((members, middle))
    places = [0.0] * len(wanted)
    for members, middle in groups:
        begin = middle - _length(members, sizes, gap) / 2
        for member in members:
            places[member] = begin + sizes[member] / 2
            begin += sizes[member] + gap
    return places


def fits(sizes: Sequence[float], low: float, high: float, gap: float = 2.0) -> bool:
    """Whether things of these sizes fit side by side."""
    return sum(sizes) + gap * (len(sizes) - 1) <= high - low


def _length(members: Sequence[int], sizes: Sequence[float], gap: float) -> float:
    return sum(sizes[i] for i in members) + gap * (len(members) - 1)


def _held(middle: float, length: float, low: float, high: float) -> float:
    return max(low + length / 2, min(high - length / 2, middle))


def _around(near: Spot, lines: Sequence[Text], away: float) -> Iterable[tuple[float, list[Text]]]:
    """Places of a label around a spot, with a small penalty for those that are read less easily."""
    x, y = near
    size = lines[0].size
    pitch, ink = 1.2 * size, (ABOVE - BELOW) * size
    height = pitch * (len(lines) - 1)
    side = 0.71 * away
    places: list[_Spot] = [
        (0.0, "start", x + away + 2, y + ink / 2 - height / 2),
        (0.5, "end", x - away - 2, y + ink / 2 - height / 2),
        (0.6, "middle", x, y - away - BELOW * size - height),
        (0.7, "middle", x, y + away + ABOVE * size),
        (0.8, "start", x + side, y - side - BELOW * size - height),
        (0.9, "start", x + side, y + side + ABOVE * size),
        (1.0, "end", x - side, y - side - BELOW * size - height),
        (1.1, "end", x - side, y + side + ABOVE * size),
        (1.2, "start", x - 12, y - away - BELOW * size - height),
        (1.2, "end", x + 12, y - away - BELOW * size - height),
        (1.3, "start", x - 12, y + away + ABOVE * size),
        (1.3, "end", x + 12, y + away + ABOVE * size),
    ]
    if away > 20:
        places += _between(near, size, height, away)
    for penalty, anchor, at_x, at_y in places:
        yield penalty, [replace(line, x=at_x, y=at_y + pitch * i, anchor=anchor) for i, line in enumerate(lines)]


def _between(near: Spot, size: float, height: float, away: float) -> list[_Spot]:
    """More directions, for labels further away."""
    found: list[_Spot] = []
    for dx, dy in ((0.92, 0.38), (0.38, 0.92)):
        for right in (True, False):
            at = near[0] + (dx * away if right else -dx * away)
            anchor: Anchor = "start" if right else "end"
            found.append((1.4, anchor, at, near[1] - dy * away - BELOW * size - height))
            found.append((1.5, anchor, at, near[1] + dy * away + ABOVE * size))
    return found


def _cell(x: float, y: float) -> tuple[int, int]:
    return math.floor(x / CELL), math.floor(y / CELL)


def _middle(box: Box) -> Spot:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


def _union(boxes: Sequence[Box]) -> Box:
    return Box(
        min(one.left for one in boxes),
        min(one.top for one in boxes),
        max(one.right for one in boxes),
        max(one.bottom for one in boxes),
    )


def _nearest(box: Box, spot: Spot) -> Spot:
    return max(box.left, min(box.right, spot[0])), max(box.top, min(box.bottom, spot[1]))
