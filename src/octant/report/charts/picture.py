"""A picture as data, with its numbers as a table, and the ticks of its axes: round values with their texts.

Producers (`roofline`, `curve`, `bars`, …) make it, `draw` lays it out as SVG for a width, and `terminal` in
characters. All values are in base units.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from octant import units

MAX_POINTS, MAX_BARS = 200, 40
"""More points in a line or bars are not distinguishable: they are thinned, see the caption."""
ZERO_BYTES = 0.5
"""Place of an empty message on an axis of powers of two."""
WIDE = 20
"""Rates and times that differ by at least this factor are on a logarithmic axis."""
MAX_SIZES = 10
Item = TypeVar("Item")

Role: TypeAlias = Literal["", "series-1", "series-2", "series-3", "series-4", "ink", "grey", "faint", "published"]
"""Meaning of a colour, a dash and a mark together; see `colours.css`. "": the next free series of the panel."""

Tone: TypeAlias = Literal["", "ink", "soft", "good", "limited", "wrong"]
"""Colour of a text, whose meaning does not depend on it."""


@dataclass(frozen=True)
class ChartSeries:
    """Points; `low` and `high` are the ends that the caption explains, or empty.

    curve: points joined by a line (two: not joined). points: marks. line: a model or a limit, without marks. bars: a
    histogram, bar i over the i-th part of x. across: horizontal bars of length `x` at the places `y`. stack: the same,
    each beginning where the series before it ends, with labels or values inside where they fit. rows: marks at `x` in
    the rows `y`, with `low` and `high` in x; series of one row are one below the other. cells: squares around whole x
    and y, as dark as `shades`. band: the area between `low` and `high`, with a line through `y`. A nan breaks a line.
    """

    name: str
    kind: Literal["curve", "points", "line", "bars", "across", "stack", "rows", "band", "cells"]
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()  # of points: in their titles, and with `names="points"` at the marks
    short_labels: tuple[str, ...] = ()  # for little room; none: `labels`
    role: Role = ""
    dash: Literal["", "solid", "dashed", "dotted", "dash-dot"] = ""  # "": the role's
    marker: Literal["", "circle", "square", "triangle", "diamond", "tick"] = ""
    """"": the role's. tick: a vertical stroke in the lane of the series before it."""
    names: Literal["end", "along", "margin", "points", "legend", "none"] = "end"
    """Place of the name: the last point, along the line, the right margin, `labels` at every mark, the legend, none."""
    short: str = ""  # the name for little room; "": the name
    dots: tuple[tuple[float, float], ...] = ()  # single launches, small
    open: tuple[bool, ...] = ()  # marks that are open: not measurable; none: all filled
    shades: tuple[float, ...] = ()  # of cells: 0 the palest, 1 the darkest


@dataclass(frozen=True)
class Mark:
    """A labelled vertical line."""

    at: float
    label: str
    dash: Literal["dotted", "solid"] = "dotted"


@dataclass(frozen=True)
class Span:
    """A part of x: a grey band over the whole height, a plateau at the height `y`, or a text above or below."""

    begin: float
    end: float
    label: str = ""  # of a band: for the legend; of several lines, the first is bold
    y: float = math.nan
    place: Literal["top", "bottom"] = "top"  # of a text


@dataclass(frozen=True)
class Note:
    """A text at a point: `best 12.2 GB/s at 512 KiB`."""

    x: float
    y: float
    text: str
    guides: Literal["", "x", "both"] = ""  # dashed lines from the point to the x axis, or to both
    marker: Literal["", "diamond"] = ""


@dataclass(frozen=True)
class Column:
    """Texts at the right of rows, one per tick of y; `""` leaves a row empty."""

    title: str
    texts: tuple[str, ...]
    roles: tuple[Tone, ...] = ()  # by row; none: all soft


@dataclass(frozen=True)
class Axis:
    """One axis with its ticks."""

    title: str
    log: bool
    ticks: tuple[tuple[float, str], ...]
    unit: str = ""
    down: bool = False  # rows, the least at the top: each tick is the name of a row
    ends: tuple[float, float] | None = None  # `None`: what the series and ticks need


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its contents."""

    x: Axis
    y: Axis
    series: tuple[ChartSeries, ...]
    marks: tuple[Mark, ...] = ()
    title: str = ""
    bands: tuple[Span, ...] = ()
    levels: tuple[Span, ...] = ()  # plateaus
    regions: tuple[Span, ...] = ()  # texts
    notes: tuple[Note, ...] = ()
    columns: tuple[Column, ...] = ()
    height: float = 1.0  # against the other panels of the picture


@dataclass(frozen=True)
class Picture:
    """A picture with its text alternative: `header` and `rows` contain the numbers of the series."""

    id: str
    title: str
    caption: str  # explains how to read it
    panels: tuple[Panel, ...]  # one below the other with one x axis, or adjacent
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str = ""  # one sentence with the main result; "": the title
    facts: tuple[tuple[str, str], ...] = ()  # its main numbers: what, value
    beside: bool = False  # panels are adjacent where there is room
    width: Literal[1152, 780, 564] = 780  # px, where there is room


def thin(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most `most` evenly spaced items, with the first and the last."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / max(1, most - 1))] for i in range(most)]


def si_ticks(unit: str) -> Callable[[float], str]:
    """Return a function that writes round values of a unit: `20 GB/s`."""

    def text(value: float) -> str:
        if unit == "1":
            return f"{value:g}"
        scale, prefix = units.si_scale(value, unit=unit)
        return f"{value / scale:g} {prefix}{unit}"

    return text


def with_unit(title: str, log: bool, ticks: Sequence[tuple[float, str]], unit: str) -> Axis:
    """Return an axis with its unit in the title, or at the ticks if these need several prefixes."""
    at = [tick for tick, _ in ticks]
    some = [tick for tick in at if tick > 0] or [1.0]
    scale, prefix = (1.0, "") if unit == "1" else units.si_scale(some[len(some) // 2], unit=unit)
    if unit == "1" or (min(some) >= 0.1 * scale and max(some) < 1e4 * scale):
        named = title if unit == "1" else f"{title}, {prefix}{unit}"
        return Axis(named, log, tuple((tick, f"{tick / scale:g}") for tick in at), unit)
    return Axis(title, log, tuple((tick, si_ticks(unit)(tick) if tick else "0") for tick in at), unit)


def even_ticks(most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Return ticks from 0 to `most` in five to nine round steps."""
    if most <= 0:
        return ((0.0, "0"),)
    decade = 10.0 ** math.floor(math.log10(most / 5))
    step = next(factor * decade for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * decade * 8 >= most)
    return tuple((step * i, text(step * i) if i else "0") for i in range(math.floor(most / step + 1e-9) + 1))


def decades(least: float, most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Return ticks at 1, 2 and 5 of each decade; of many decades only at 1, within one at more places."""
    exponents = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps: Iterable[float] = (1, 2, 5) if len(exponents) <= 4 else (1,)
    steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if most / least < 8 else steps
    ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
    return tuple((tick, text(tick)) for tick in ticks if least / 2.5 <= tick <= most * 2.5)


def places(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return ticks at the values themselves if these are few."""
    return tuple((x, count_text(x)) for x in xs) if len(xs) <= 8 else decades(xs[0], xs[-1], count_text)


def count_text(value: float) -> str:
    """Return a count as `65536`, `2^20` or `10^6`; other values are written as numbers."""
    for base, first in ((2, 17), (10, 6)):
        power = round(math.log(value, base)) if value >= 1 else 0
        if power >= first and value == base**power:
            return f"{base}^{power}"
    return f"{value:.0f}" if value == round(value) and value < 1e7 else f"{value:g}"


def size_ticks(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return at most ten evenly spaced ticks at powers of two, in KiB, MiB and GiB."""
    zero = ((ZERO_BYTES, "0"),) if xs[0] == ZERO_BYTES else ()
    positive = [x for x in xs if x >= 1]
    if not positive:
        return zero
    first, last = math.floor(math.log2(positive[0])), math.ceil(math.log2(positive[-1]))
    step = next(step for step in (1, 2, 3, 4, 5, 10) if (last - first) / step < MAX_SIZES or step == 10)
    ticks = [2.0**power for power in range(math.ceil(math.log2(positive[0])), last + 1, step)]
    return (*zero, *((tick, units.bytes_text(tick)) for tick in ticks))
