"""Ratios of two sides, one a row: point and interval over the band of no interest, with what could have been found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import units
from octant.report.charts.picture import MOST_BARS, Axis, Band, ChartSeries, Column, Mark, Panel, Picture, Region, thin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.picture import Tone

WIDEST = 8.0
"""A ratio, or its reciprocal, beyond which an axis is not stretched: what lies there leaves the picture by an arrow."""
LEAST_REACH = 1.06
"""The least that an axis shows on either side."""
ON_ONE_SIDE = 1.03
"""Points within this of 1 lie on both sides."""
_FIRST, _LAST = 20, 10
"""Rows of many that are drawn for sure: the worst news, and the best."""
_STEPS = (1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True)
class RatioRow:
    """One ratio, above 1 is better. Without an interval `low` and `high` equal `middle`."""

    name: str
    low: float
    middle: float
    high: float
    min_detectable_effect: float  # least relative difference that is detected in 80 % of cases; inf: not known
    texts: tuple[str, ...]  # of the columns
    role: Tone = "soft"  # of the last column


def ratios(
    rows: Sequence[RatioRow],
    margin: float,
    columns: tuple[str, ...],
    title: str = "Ratios, worst news first",
    axis: str = "Speed of B over A, 95 % interval of paired rounds",
    worse: str = "← B slower",
    better: str = "B faster →",
) -> Picture:
    """A picture of ratios in the order in which they come; of more than 40 the first, the last and some between.

    Args:
        margin: what counts as equal, a relative difference.
        columns: titles of the columns.
    """
    drawn = _most_telling(rows)
    near = [1 + row.min_detectable_effect for row in drawn]
    axis_x = ratio_axis([(row.low, row.middle, row.high) for row in drawn], near=near)
    places = tuple(float(n) for n in range(len(drawn)))
    ends = axis_x.ends or (1.0, 1.0)
    points = ChartSeries(
        axis, "rows", tuple(row.middle for row in drawn), places, tuple(row.low for row in drawn),
        tuple(row.high for row in drawn), tuple(f"{row.name}: {_times(row)}" for row in drawn), names="none",
    )  # fmt: skip
    known = [(n, row) for n, row in zip(places, drawn, strict=True) if math.isfinite(row.min_detectable_effect)]
    could = ChartSeries(
        "smallest detectable difference (power 80 %)", "rows", tuple(x for _, row in known for x in _ticks_of(row)),
        tuple(n for n, _ in known for _ in range(2)), role="grey", marker="tick", names="legend",
    )  # fmt: skip
    panel = Panel(
        axis_x,
        Axis("", False, tuple((n, row.name) for n, row in zip(places, drawn, strict=True)), down=True),
        (points, *([could] if known else [])),
        (Mark(1.0, "", "solid"),),
        axis,
        (Band(1 / (1 + margin), 1 + margin, f"counts as equal: {100 * margin:g} %"),),
        regions=(Region(ends[0], 1.0, (worse,)), Region(1.0, ends[1], (better,))),
        columns=tuple(_column(name, n, len(columns), drawn) for n, name in enumerate(columns)),
    )
    caption = (
        "Right of 1 is better. The line is the interval; differences beyond the ticks are detected in 80 % of cases."
    )
    if len(rows) > len(drawn):
        caption += (
            f" {len(drawn)} of {len(rows)} rows are drawn: the first {_FIRST}, the last {_LAST}, and some between."
        )
    table = tuple(
        (
            row.name,
            units.fixed_text(row.middle, 3),
            _ends_text(row.low, row.high),
            *row.texts[1:],
        )
        for row in rows
    )
    header = ("figure", columns[0], "95 % interval", *columns[1:])
    return Picture("ratios", title, caption, (panel,), header, table, _label(rows), width=1152)


def _most_telling(rows: Sequence[RatioRow]) -> list[RatioRow]:
    """All rows, or of many the first, the last, and some between."""
    if len(rows) <= MOST_BARS:
        return list(rows)
    return [*rows[:_FIRST], *thin(rows[_FIRST:-_LAST], MOST_BARS - _FIRST - _LAST), *rows[-_LAST:]]


def _column(name: str, place: int, of: int, rows: Sequence[RatioRow]) -> Column:
    """The first in ink, the last in the tone of its row."""
    tones: tuple[Tone, ...] = tuple(row.role if place == of - 1 else "" if place else "ink" for row in rows)
    return Column(name, tuple(row.texts[place] for row in rows), tones)


def ratio_axis(spans: Sequence[tuple[float, float, float]], widest: float = WIDEST, near: Sequence[float] = ()) -> Axis:
    """An axis of ratios: symmetric in logarithms about 1, or further to one side where all middles lie on it.

    Args:
        spans: low end, middle and high end of each.
        widest: a ratio, or its reciprocal, beyond which the axis is not stretched.
        near: ratios above 1 that are shown on both sides if they stretch the axis by no more than a half; else an arrow
            stands for them.
    """
    low = min((low for low, _, _ in spans if low > 0), default=1.0)  # nothing has no place; it gets an arrow
    high = max((high for _, _, high in spans), default=1.0)
    reach = max(high, 1 / low, LEAST_REACH)
    reach = min(max([reach, *(ratio for ratio in near if ratio <= reach**1.5)]) ** 1.06, widest)
    ends = 1 / reach, reach
    if all(middle >= 1 / ON_ONE_SIDE for _, middle, _ in spans):
        ends = 1 / min(reach, max(reach**0.35, 1.06 / low)), reach
    elif all(middle <= ON_ONE_SIDE for _, middle, _ in spans):
        ends = 1 / reach, min(reach, max(reach**0.35, 1.06 * high))
    return Axis("", True, ratio_ticks(ends), ends=ends)


def ratio_ticks(ends: tuple[float, float]) -> tuple[tuple[float, str], ...]:
    """At most nine ratios that people read, 1 among them: `× 0.8`, `× 1`, `× 1.25`."""
    low, high = ends
    upward = [step for step in _STEPS if step <= high]
    downward = [1 / step for step in _STEPS if 1 / step >= low]
    far = max(high, 1 / low)
    least = far**0.14  # closer ticks would touch
    kept: list[float] = [1.0]
    for side in (upward, downward):
        last = 1.0
        for value in side:
            if abs(math.log(value / last)) >= math.log(least):
                kept.append(value)
                last = value
    return tuple((value, f"× {value:.{2 + (value > 1)}g}") for value in sorted(kept))


def _ticks_of(row: RatioRow) -> tuple[float, float]:
    return 1 / (1 + row.min_detectable_effect), 1 + row.min_detectable_effect


def _label(rows: Sequence[RatioRow]) -> str:
    if not rows:
        return "No ratio"
    words = ", ".join(f"{row.name} {_times(row)}" for row in rows[:3])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    return f"{len(rows)} ratios, the worst news first: {words}{more}"


def _times(row: RatioRow) -> str:
    return f"× {units.fixed_text(row.middle, 2)}"


def _ends_text(low: float, high: float) -> str:
    return f"{units.fixed_text(low, 3)} … {units.fixed_text(high, 3)}" if low < high else ""
