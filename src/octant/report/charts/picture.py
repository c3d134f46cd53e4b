"""A picture as data, with its numbers as a table beside it: what pages, terminals and tests read alike.

Producers (`roofline`, `curve`, `histogram`, …) say what is seen; `draw` lays it out as SVG for a width, and `terminal`
in characters. All values are in base units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

MOST_LINES, MOST_POINTS, MOST_BARS = 12, 200, 40
"""More lines in a picture, points in a line or bars cannot be told apart: they are thinned, and the caption says so."""
Item = TypeVar("Item")

Role: TypeAlias = Literal["", "series-1", "series-2", "series-3", "series-4", "ink", "grey", "faint", "published"]
"""What a colour, a dash and a mark stand for together; see `palette`. "": the next free series of the panel."""

Tone: TypeAlias = Literal["", "ink", "soft", "good", "limited", "wrong"]
"""The colour of words, which say the same without it."""


@dataclass(frozen=True)
class ChartSeries:
    """Points; `low` and `high` are ends of what the caption says, or empty.

    curve: points joined by a line (two: not joined). points: marks. line: a model or a limit, without marks. bars: a
    histogram, bar i over the i-th stretch of x. across: bars that lie, as long as `x`, at the places `y`. stack: the
    same, each beginning where the series before it ends. rows: marks at `x` in the rows `y`, with `low` and `high` in
    x; series of one row lie one under the other. cells: squares around whole x and y, as dark as `shades` says. A nan
    breaks a line. Pieces of a stack show their labels, or else
    their values, where they fit in. band: the area between `low` and `high`, with a line through `y`.
    """

    name: str
    kind: Literal["curve", "points", "line", "bars", "across", "stack", "rows", "band", "cells"]
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    labels: tuple[
        str, ...
    ] = ()  # what each point is, where x does not say it; shown on pointing, and in `names="points"`
    short_labels: tuple[str, ...] = ()  # the same where there is little room; none: `labels`
    role: Role = ""
    dash: Literal["", "solid", "dashed", "dotted", "dash-dot"] = ""  # "": the role's
    marker: Literal["", "circle", "square", "triangle", "diamond", "tick"] = ""
    """"": the role's. tick: an upright stroke in its row, over the series before it, which it does not move apart."""
    names: Literal["end", "along", "margin", "points", "legend", "none"] = "end"
    """Where the name stands: at the last point; along the line (slanted roofs); in the right margin; `labels` at every
    mark; under the panel; nowhere."""
    short: str = ""  # the name where there is little room; "": the name
    dots: tuple[tuple[float, float], ...] = ()  # single launches, small
    open: tuple[bool, ...] = ()  # marks that are drawn open: not measurable; none: all filled
    shades: tuple[float, ...] = ()  # of cells: 0 the palest, 1 the darkest


@dataclass(frozen=True)
class Mark:
    """A labelled line across the picture at one x."""

    at: float
    label: str
    dash: Literal["dotted", "solid"] = "dotted"


@dataclass(frozen=True)
class Band:
    """A grey stretch of x over the whole height: the edge of a plateau, a margin."""

    begin: float
    end: float
    label: str = ""  # for the legend under the panel


@dataclass(frozen=True)
class LevelLine:
    """A level piece in ink with its name and value: a plateau."""

    begin: float
    end: float
    y: float
    label: str


@dataclass(frozen=True)
class Region:
    """Words over a stretch of x, at the top of the panel or at its bottom; of several lines the first is bold."""

    begin: float
    end: float
    lines: tuple[str, ...]
    place: Literal["top", "bottom"] = "top"


@dataclass(frozen=True)
class Note:
    """Words at a point: `best 12.2 GB/s at 512 KiB`."""

    x: float
    y: float
    text: str
    guides: Literal["", "x", "both"] = ""  # dashed lines from the point to the x axis, or to both
    marker: Literal["", "diamond"] = ""


@dataclass(frozen=True)
class Column:
    """Words at the right of rows, one for each tick of y; `""` leaves a row empty."""

    title: str
    texts: tuple[str, ...]
    roles: tuple[Tone, ...] = ()  # by row; none: all soft


@dataclass(frozen=True)
class Axis:
    """One axis, with the ticks that people read."""

    title: str
    log: bool
    ticks: tuple[tuple[float, str], ...]
    unit: str = ""
    down: bool = False  # rows, the least at the top: each tick is the name of a row
    ends: tuple[float, float] | None = None  # `None`: what the series and ticks need
    short: tuple[str, ...] = ()  # the ticks where there is little room; none: fewer of the same


@dataclass(frozen=True)
class Panel:
    """One pair of axes and what is drawn on it."""

    x: Axis
    y: Axis
    series: tuple[ChartSeries, ...]
    marks: tuple[Mark, ...] = ()
    title: str = ""
    bands: tuple[Band, ...] = ()
    levels: tuple[LevelLine, ...] = ()
    regions: tuple[Region, ...] = ()
    notes: tuple[Note, ...] = ()
    columns: tuple[Column, ...] = ()
    height: float = 1.0  # against the other panels of the picture


@dataclass(frozen=True)
class Picture:
    """A picture with its text alternative: `header` and `rows` say the same as the series."""

    id: str
    title: str
    caption: str  # how to read it
    panels: tuple[Panel, ...]  # one under the other with one x axis, or side by side
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    label: str = ""  # one sentence that says what is seen; "": the title
    facts: tuple[tuple[str, str], ...] = ()  # its numbers in words, beside it: what, value
    beside: bool = False  # panels side by side where there is room
    width: Literal[1152, 780, 564] = 780  # px, where there is room


def thin(items: Sequence[Item], most: int) -> list[Item]:
    """At most so many of the items, evenly chosen, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / max(1, most - 1))] for i in range(most)]


def thinned_text(kept: int, of: int, what: str) -> str:
    """What a caption says of thinned items: ` 12 of 40 lines are drawn; …`; empty where all are there."""
    return f" {kept} of {of} {what} are drawn; `octant export` writes all." if kept < of else ""
