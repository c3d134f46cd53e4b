"""From values to places in a drawing: scales of axes, what they span, and the ticks for which there is room."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import units
from octant.report.charts.layout.fonts import text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from octant.report.charts.layout.labels import Spot
    from octant.report.charts.picture import Axis, Panel


_LEAST, _MOST = math.log(sys.float_info.min), math.log(sys.float_info.max) - 1e-9  # of an axis, as logarithms


@dataclass(frozen=True)
class Scale:
    """Places of values along one axis: `low` lies at `begin` px, `high` at `end` px."""

    low: float
    high: float
    log: bool
    begin: float
    end: float

    def at(self, value: float) -> float:
        """Where a value lies, px; beyond the axis it may be infinite."""
        if math.isinf(value) or (self.log and value <= 0):
            return math.inf if (value > 0) == (self.end > self.begin) else -math.inf
        low, high, mine = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.begin + (self.end - self.begin) * (mine - low) / (high - low)

    def held(self, value: float) -> float:
        """The same, at the axis's end for a value beyond it."""
        return max(min(self.begin, self.end), min(max(self.begin, self.end), self.at(value)))

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        if math.isnan(value):
            return False
        return min(self.begin, self.end) - 0.05 <= self.at(value) <= max(self.begin, self.end) + 0.05


def scale(axis: Axis, values: Iterable[float], begin: float, end: float, pad: float = 0.0) -> Scale:
    """The scale of an axis that shows these values and its ticks; `pad` px stay free at both ends without set ends."""
    if axis.ends:
        return Scale(*axis.ends, axis.log, begin, end)
    known = [v for v in (*values, *(at for at, _ in axis.ticks)) if has_place(v, axis)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    if low == high:
        low, high = (low / 2, high * 2) if axis.log else (low - 1, high + 1)
    if axis.log:
        low, high = math.log(low), math.log(high)
    room = abs(end - begin)
    more = (high - low) * pad / max(1.0, room - 2 * pad)
    low, high = low - more, high + more
    if axis.log:
        low, high = (math.exp(max(_LEAST, min(_MOST, one))) for one in (low, high))
    return Scale(low, high, axis.log, begin, end)


def has_place(value: float, axis: Axis) -> bool:
    """Whether an axis has a place for a value."""
    return math.isfinite(value) and (value > 0 or not axis.log)


def x_values(panel: Panel) -> list[float]:
    """What the x axis must show."""
    found = [note.x for note in panel.notes]
    for one in panel.series:
        found += [*one.x, *(x for x, _ in one.dots)]
        if one.kind in ("rows", "across", "stack"):
            found += [*one.low, *one.high, 0.0] if one.kind != "rows" else [*one.low, *one.high]
    stacks: dict[float, float] = {}
    for one in panel.series:
        if one.kind == "stack":
            for x, y in zip(one.x, one.y, strict=True):
                stacks[y] = stacks.get(y, 0.0) + x
    return [*found, *stacks.values()]


def y_values(panel: Panel) -> list[float]:
    """What the y axis must show; 0 too where lengths are read."""
    found = [*(note.y for note in panel.notes), *(level.y for level in panel.levels)]
    for one in panel.series:
        found += [*one.y, *(y for _, y in one.dots)]
        if one.kind in ("points", "band"):
            found += [*one.low, *one.high]
    if not panel.y.log and not panel.y.ends and min(found, default=0.0) >= 0:
        found.append(0.0)
    return found


def clipped(points: Sequence[Spot], x: Scale, y: Scale) -> list[list[Spot]]:
    """A line in values as pieces in px, each inside both axes."""
    places = [(x.at(a), y.at(b)) for a, b in points]
    pieces: list[list[Spot]] = []
    for one, other in itertools.pairwise(places):
        part = _clip(one, other, x, y)
        if part is None:
            continue
        if pieces and pieces[-1][-1] == part[0]:
            pieces[-1].append(part[1])
        else:
            pieces.append(list(part))
    return pieces


def _clip(one: Spot, other: Spot, x: Scale, y: Scale) -> tuple[Spot, Spot] | None:
    if not all(map(math.isfinite, (*one, *other))):
        return None
    begin, end = 0.0, 1.0
    for k, (a, b) in enumerate(((x.begin, x.end), (y.begin, y.end))):
        low, high, step = min(a, b), max(a, b), other[k] - one[k]
        if step == 0:
            if not low - 0.05 <= one[k] <= high + 0.05:
                return None
            continue
        first, last = sorted(((low - one[k]) / step, (high - one[k]) / step))
        begin, end = max(begin, first), min(end, last)
    if begin >= end:
        return None

    def at(t: float) -> Spot:
        return one[0] + t * (other[0] - one[0]), one[1] + t * (other[1] - one[1])

    return (one if begin == 0 else at(begin)), (other if end == 1 else at(end))


def ticks_along(axis: Axis, place: Scale, size: float, low: float, high: float) -> list[tuple[float, str]]:
    """The ticks of a lying axis for which there is room: all, then with short texts, then fewer.

    Args:
        low, high: px between which texts may lie.
    """

    def free(ticks: Sequence[tuple[float, str]]) -> bool:
        edges = [(x - text_width(text, size) / 2, x + text_width(text, size) / 2) for x, text in ticks]
        apart = all(right + 6 <= left for (_, right), (left, _) in itertools.pairwise(edges))
        return apart and all(left >= low and right <= high for left, right in edges)

    shown = sorted((place.at(v), text, v) for v, text in axis.ticks if place.holds(v))
    short = dict(zip((text for _, text in axis.ticks), axis.short, strict=False))
    for texts in ({}, short):
        every = [(x, texts.get(text, text), v) for x, text, v in shown]
        kept = _fewer(every, free)
        if len(kept) == len(every) or (texts and len(kept) > 1) or not short:
            return kept
    return kept


def ticks_up(axis: Axis, place: Scale, pitch: float) -> list[tuple[float, str]]:
    """The ticks of an upright axis, at least `pitch` px apart: `(px, text)`."""

    def free(ticks: Sequence[tuple[float, str]]) -> bool:
        ys = sorted(y for y, _ in ticks)
        return all(b - a >= pitch for a, b in itertools.pairwise(ys))

    return _fewer(sorted((place.at(v), text, v) for v, text in axis.ticks if place.holds(v)), free)


def _fewer(
    ticks: Sequence[tuple[float, str, float]], free: Callable[[Sequence[tuple[float, str]]], bool]
) -> list[tuple[float, str]]:
    """All ticks, or those at powers of ten, or every second, third, …: the first choice for which there is room."""
    every = [(at, text) for at, text, _ in ticks]
    tens = [(at, text) for at, text, value in ticks if value > 0 and abs(math.log10(value) % 1) < 1e-9]
    choices = [every, every[:-1], every[1:], every[1:-1]]
    if len(tens) > 1 and len(tens) < len(every):
        choices.append(tens)
    best = choices[-1] if len(choices) > 4 else every
    for step in range(2, len(best) + 1):
        choices += [best[first::step] for first in range(step)]
    return next((choice for choice in choices if free(choice)), [])


def value_text(value: float, axis: Axis) -> str:
    """A value with its unit; the words of a tick where it lies on one that stands for words or bytes."""
    for tick, text in axis.ticks if axis.unit in ("", "B") else ():
        if math.isclose(tick, value, rel_tol=1e-9):
            return text
    if axis.unit == "B":
        return units.bytes_text(value)
    if axis.unit == "%":
        return f"{value:.3g} %"
    return units.si_text(value, axis.unit) if axis.unit else f"{value:.4g}"
