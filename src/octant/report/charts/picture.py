"""A picture as data, with its numbers as a table beside it: what pages, terminals and tests read alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

MOST_LINES, MOST_POINTS, MOST_BARS = 12, 200, 40
"""More lines in a picture, points in a line or bars cannot be told apart: they are thinned, and the caption says so."""
Item = TypeVar("Item")


@dataclass(frozen=True)
class Series:
    """Points in base units; `low` and `high` are ends of what the caption says, or empty.

    curve: points joined by a line. points: dots. line: a model or a limit. bars: an outline over x. across: bars that
    lie, as long as `x`, at the places `y`. stack: the same, each beginning where the series before it ends.
    """

    name: str
    kind: Literal["curve", "points", "line", "bars", "across", "stack"]
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()  # what each point is, where x does not say it


@dataclass(frozen=True)
class Mark:
    """A labelled line across the picture at one x."""

    at: float
    label: str


@dataclass(frozen=True)
class Axis:
    """One axis, with the ticks that people read."""

    title: str
    log: bool
    ticks: tuple[tuple[float, str], ...]
    unit: str = ""
    down: bool = False  # the least at the top: places of bars, one under the other


@dataclass(frozen=True)
class Picture:
    """A picture with its text alternative: `header` and `rows` say the same as the series."""

    id: str
    title: str
    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def thin(items: Sequence[Item], most: int) -> list[Item]:
    """At most so many of the items, evenly chosen, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / max(1, most - 1))] for i in range(most)]


def thinned_text(kept: int, of: int, what: str) -> str:
    """What a caption says of thinned items: ` 12 of 40 lines are drawn; …`; empty where all are there."""
    return f" {kept} of {of} {what} are drawn; `octant export` writes all." if kept < of else ""
