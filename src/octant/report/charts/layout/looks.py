"""How series differ: by colour, dash and mark together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octant.report.charts.picture import ChartSeries, Panel, Picture

_HUES = ("s1", "s2", "s3", "s4")
_DASHES = ("", "d2", "d3", "d4")
_SHAPES = ("circle", "square", "triangle", "diamond")
_CLASSES = {"ink": "ink", "grey": "grey", "faint": "faint", "published": "grey"}
_DASH_OF = {"solid": "", "dashed": "d2", "dotted": "d3", "dash-dot": "d4"}


@dataclass(frozen=True)
class Look:
    """The classes of a series: colour, dash of its line, shape of its marks."""

    colour: str
    dash: str
    shape: str
    open: bool = False  # published values


def looks(picture: Picture) -> list[list[Look]]:
    """Return the look of each series of each panel; series of the same name look the same in all panels."""
    known: dict[str, Look] = {}
    every = []
    for panel in picture.panels:
        every.append(_panel_looks(panel, known))
        known.update({one.name: look for one, look in zip(panel.series, every[-1], strict=True) if one.name})
    return every


def _panel_looks(panel: Panel, known: dict[str, Look]) -> list[Look]:
    taken = {one.role for one in panel.series}
    free = [i for i in range(16) if f"series-{i + 1}" not in taken] * 8
    plain = 0
    chosen = []
    for one in panel.series:
        if not one.role and one.name in known:
            chosen.append(known[one.name])
        elif not one.role and one.kind == "line":
            chosen.append(_look(one, "ink", plain))
            plain += 1
        elif not one.role or one.role.startswith("series-"):
            number = int(one.role[-1]) - 1 if one.role else free.pop(0)
            chosen.append(_look(one, _HUES[number % 4], number))
        else:
            chosen.append(_look(one, _CLASSES[one.role], 3 if one.role == "published" else 0))
    return chosen


def _look(one: ChartSeries, colour: str, number: int) -> Look:
    """Return the `number`-th look; from the fifth on, hues return with another mark and dash."""
    turn = (number + number // 4) % 4
    dash = _DASH_OF[one.dash] if one.dash else "" if one.role == "published" else _DASHES[turn]
    return Look(colour, dash, one.marker or _SHAPES[turn], one.role == "published")
