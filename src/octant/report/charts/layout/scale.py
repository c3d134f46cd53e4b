"""Scales of axes: places of values, what an axis spans, and the ticks for which there is room."""

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from octant import units
from octant.report.charts.layout.labels import Spot
from octant.report.charts.picture import Axis, Panel

_LEAST, _MOST = math.log(sys.float_info.min), math.log(sys.float_info.max) - 1e-9  # of an axis, as logarithms


@dataclass(frozen=True)
class Scale:
    """Places of values along one axis: `low` is at `begin` px, `high` at `end` px."""

    low: float
    high: float
    log: bool
    begin: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value, px; beyond the axis it may be infinite."""
        if math.isinf(value) or (self.log and value <= 0):
            return math.inf if (value > 0) == (self.end > self.begin) else -math.inf
        low, high, mine = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.begin + (self.end - self.begin) * (mine - low) / (high - low)

    def held(self, value: float) -> float:
        """Return the place of a value; of one beyond the axis, the end of the axis."""
        return max(min(self.begin, self.end), min(max(self.begin, self.end), self.at(value)))

    def holds(self, value: float) -> bool:
        """Return whether a value is on the axis."""
        low, high = sorted((self.begin, self.end))
        return not math.isnan(value) and low - 0.05 <= self.at(value) <= high + 0.05


def scale(axis: Axis, values: Iterable[float], begin: float, end: float, pad: float = 0.0) -> Scale:
    """Return the scale of an axis for these values and its ticks; without set ends, `pad` px at both ends are free."""
    if axis.ends:
        return Scale(*axis.ends, axis.log, begin, end)
    known = [v for v in (*values, *(at for at, _ in axis.ticks)) if has_place(v, axis)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    if low == high:
        low, high = (low / 2, high * 2) if axis.log else (low - 1, high + 1)
    if axis.log:
        low, high = math.log(low), math.log(high)
    more = (high - low) * pad / max(1.0, abs(end - begin) - 2 * pad)
    low, high = low - more, high + more
    if axis.log:
        low, high = (math.exp(max(_LEAST, min(_MOST, one))) for one in (low, high))
    return Scale(low, high, axis.log, begin, end)


def has_place(value: float, axis: Axis) -> bool:
    """Return whether an axis has a place for a value."""
    return math.isfinite(value) and (value > 0 or not axis.log)


def x_values(panel: Panel) -> list[float]:
    """Return the values that the x axis must show."""
    values = [note.x for note in panel.notes]
    stacks: dict[float, float] = {}
    for one in panel.series:
        values += [*one.x, *(x for x, _ in one.dots)]
        values += [*one.low, *one.high] if one.kind in ("rows", "across", "stack") else []
        values += [0.0] if one.kind in ("across", "stack") else []
        for x, y in zip(one.x, one.y, strict=True) if one.kind == "stack" else ():
            stacks[y] = stacks.get(y, 0.0) + x
    return [*values, *stacks.values()]


def y_values(panel: Panel) -> list[float]:
    """Return the values that the y axis must show, with 0 where lengths are read."""
    values = [*(note.y for note in panel.notes), *(level.y for level in panel.levels)]
    for one in panel.series:
        values += [*one.y, *(y for _, y in one.dots)]
        values += [*one.low, *one.high] if one.kind in ("points", "band") else []
    has_zero = not panel.y.log and not panel.y.ends and min(values, default=0.0) >= 0
    return [*values, 0.0] if has_zero else values


def clipped(points: Sequence[Spot], x: Scale, y: Scale) -> list[list[Spot]]:
    """Return a line in values as pieces in px, each inside both axes."""
    pieces: list[list[Spot]] = []
    for one, other in itertools.pairwise([(x.at(a), y.at(b)) for a, b in points]):
        part = _clip(one, other, x, y)
        if part and pieces and pieces[-1][-1] == part[0]:
            pieces[-1].append(part[1])
        elif part:
            pieces.append(list(part))
    return pieces


def _clip(one: Spot, other: Spot, x: Scale, y: Scale) -> tuple[Spot, Spot] | None:
    if not all(map(math.isfinite, (*one, *other))):
        return None
    begin, end = 0.0, 1.0
    for k, axis in enumerate((x, y)):
        low, high = sorted((axis.begin, axis.end))
        step = other[k] - one[k]
        if step:
            first, last = sorted(((low - one[k]) / step, (high - one[k]) / step))
            begin, end = max(begin, first), min(end, last)
        elif not low - 0.05 <= one[k] <= high + 0.05:
            return None
    if begin >= end:
        return None

    def at(t: float) -> Spot:
        return one[0] + t * (other[0] - one[0]), one[1] + t * (other[1] - one[1])

    return (one if begin == 0 else at(begin)), (other if end == 1 else at(end))


def fitting_ticks(
    axis: Axis, place: Scale, half: Callable[[str], float], gap: float = 0.0, low: float = -math.inf,
    high: float = math.inf,
) -> list[tuple[float, str]]:  # fmt: skip
    """Return all ticks, or those at powers of ten, or every second, third, …: the first choice that has room.

    Args:
        half: returns half of the room of a text along the axis, px; all must be between `low` and `high` px.
        gap: least distance between two texts, px.
    """

    def is_free(ticks: Sequence[tuple[float, str]]) -> bool:
        edges = sorted((at - half(text), at + half(text)) for at, text in ticks)
        apart = all(right + gap <= left for (_, right), (left, _) in itertools.pairwise(edges))
        return apart and all(left >= low and right <= high for left, right in edges)

    ticks = sorted((place.at(v), text, v) for v, text in axis.ticks if place.holds(v))
    every = [(at, text) for at, text, _ in ticks]
    tens = [(at, text) for at, text, value in ticks if value > 0 and abs(math.log10(value) % 1) < 1e-9]
    best = tens if 1 < len(tens) < len(every) else every
    choices = [every, every[:-1], every[1:], every[1:-1], best]
    choices += [best[first::step] for step in range(2, len(best) + 1) for first in range(step)]
    return next(filter(is_free, choices), [])


def value_text(value: float, axis: Axis) -> str:
    """Return a value with its unit; on an axis of words or bytes, the text of a tick at that value."""
    for tick, text in axis.ticks if axis.unit in ("", "B") else ():
        if math.isclose(tick, value, rel_tol=1e-9):
            return text
    if axis.unit == "B":
        return units.bytes_text(value)
    if axis.unit == "%":
        return f"{value:.3g} %"
    return units.si_text(value, axis.unit) if axis.unit else f"{value:.4g}"
