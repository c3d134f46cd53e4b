"""What tells series apart: a hue, a dash and a mark together."""

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
    """Classes of a series: its colour, the dash of its line, and the shape of its marks."""

    colour: str
    dash: str
    shape: str
    open: bool = False  # published values


def looks(picture: Picture) -> list[list[Look]]:
    """The look of each series of each panel; what has the same name looks the same in all panels."""
    known: dict[str, Look] = {}
    found = []
    for panel in picture.panels:
        mine = _panel(panel, known)
        known.update({one.name: look for one, look in zip(panel.series, mine, strict=True) if one.name})
        found.append(mine)
    return found


def _panel(panel: Panel, known: dict[str, Look]) -> list[Look]:
    taken = {one.role for one in panel.series}
    free = [i for i in range(16) if f"series-{i + 1}" not in taken] * 8
    plain = 0
    found = []
    for one in panel.series:
        if not one.role and one.name in known:
            found.append(known[one.name])
        elif not one.role and one.kind == "line":
            found.append(_look(one, "ink", plain))
            plain += 1
        elif not one.role:
            number = free.pop(0)
            found.append(_look(one, _HUES[number % 4], number))
        elif one.role.startswith("series-"):
            number = int(one.role[-1]) - 1
            found.append(_look(one, _HUES[number], number))
        else:
            found.append(_look(one, _CLASSES[one.role], 3 if one.role == "published" else 0))
    return found


def _look(one: ChartSeries, colour: str, number: int) -> Look:
    """The `number`-th look; from the fifth on hues return with another mark and dash."""
    turn = (number + number // 4) % 4
    dash = _DASH_OF[one.dash] if one.dash else "" if one.role == "published" else _DASHES[turn]
    return Look(colour, dash, one.marker or _SHAPES[turn], one.role == "published")
