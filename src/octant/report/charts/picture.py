"""A picture as data, with its numbers as a table.

Producers (`roofline`, `curve`, `histogram`, …) make it, `draw` lays it out as SVG for a width, and `terminal` in
characters. All values are in base units.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

MAX_POINTS, MAX_BARS = 200, 40
"""More points in a line or bars are not distinguishable: they are thinned, see the caption."""
Item = TypeVar("Item")

Role: TypeAlias = Literal["", "series-1", "series-2", "series-3", "series-4", "ink", "grey", "faint", "published"]
"""Meaning of a colour, a dash and a mark together; see `palette`. "": the next free series of the panel."""

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
