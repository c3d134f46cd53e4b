"""Lays out a picture as SVG for a width: for a page, whose style gives the colours, or as a file of its own.

Texts are placed with the widths of the widest common font, so that none leaves its box and no two overlap.
"""

from __future__ import annotations

import pkgutil
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from octant import __version__
from octant.report.charts.layout.fonts import FAMILY
from octant.report.charts.layout.frame import PanelPlace
from octant.report.charts.layout.looks import looks
from octant.report.charts.layout.plot import draw_plots
from octant.report.charts.layout.rows import draw_rows
from octant.report.charts.layout.svg import Sheet, px, safe
from octant.report.charts.palette import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.layout.labels import Text
    from octant.report.charts.layout.looks import Look
    from octant.report.charts.picture import Panel, Picture

PHONE = 358
"""Width of a drawing on a phone, px."""
_GUTTER = 24.0  # between panels side by side
_BETWEEN = 18.0  # between groups of panels
_LEAST_BESIDE = 700  # px from which two panels stand side by side
_SPACE = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Drawing:
    """A picture laid out: its size in px, its elements, and its texts where they stand."""

    width: int
    height: float
    content: str
    texts: tuple[Text, ...]


def widths(picture: Picture) -> tuple[int, ...]:
    """The widths for which a page draws a picture: with room, with less (of a very wide one), and on a phone."""
    return tuple(dict.fromkeys((picture.width, min(picture.width, 780), PHONE)))


def svg(picture: Picture, width: int) -> Markup:
    """The picture as part of a page: classes of `chart.css` give its colours in each scheme."""
    drawing = lay_out(picture, width)
    return Markup(_element(picture, drawing, f'class="chart w{width}" width="{width}" height="{px(drawing.height)}"'))  # noqa: S704 - texts are escaped


def export(picture: Picture, width: int, run: str) -> str:
    """The picture as a file of its own, in light colours: 180 mm wide, 88 mm below 480 px.

    Args:
        picture: what is drawn.
        width: px for which it is laid out: 780 for two columns of a page, 358 for one.
        run: where the numbers are from, for the metadata.
    """
    drawing = lay_out(picture, width)
    wide = 180 if width >= 480 else 88
    size = f'width="{wide}mm" height="{wide * drawing.height / width:.2f}mm"'
    about = (
        f"<title>{safe(picture.title)}</title>"
        f"<desc>{safe(f'{picture.label or picture.title} {picture.caption}')}</desc>"
        f"<metadata>run {safe(run)}; Octant {safe(__version__)}</metadata><style>{light_style()}</style>"
    )
    return _element(picture, drawing, f'class="chart" {size}', about) + "\n"


def lay_out(picture: Picture, width: int) -> Drawing:
    """The picture for a width in px."""
    sheet, found = Sheet(width), looks(picture)
    groups = _groups(picture)
    panels = list(zip(picture.panels, found, strict=True))
    columns = len(groups) if picture.beside and width >= _LEAST_BESIDE else 1
    each = (width - _GUTTER * (columns - 1)) / columns
    top, bottom = 2.0, 2.0
    for number, group in enumerate(groups):
        place = PanelPlace((each + _GUTTER) * (number % columns), each, top if columns > 1 else bottom)
        end = _draw(sheet, place, [panels[i] for i in group]) + 2
        bottom = max(bottom, end) + (_BETWEEN if columns == 1 and number < len(groups) - 1 else 0)
    return Drawing(width, bottom, sheet.content(), tuple(sheet.field.texts))


def style() -> str:
    """The style of drawings in a page, whose variables are those of `palette`."""
    return (pkgutil.get_data("octant.report.charts", "chart.css") or b"").decode()


def light_style() -> str:
    """The same with the light colours themselves, for a drawing that stands alone."""
    coloured = re.sub(r"var\(--([\w-]+)\)", lambda found: COLOURS[found[1]].light, style())
    return coloured.replace("font-family: inherit", f"font-family: {FAMILY}").replace("\n", "")


def _groups(picture: Picture) -> list[list[int]]:
    """Panels that share an x axis, by their numbers; rows and panels side by side stand for themselves."""
    groups: list[list[int]] = []
    for number, panel in enumerate(picture.panels):
        before = picture.panels[number - 1] if number and not picture.beside else None
        if before and not panel.y.down and not before.y.down and _axis(panel) == _axis(before):
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _axis(panel: Panel) -> tuple[object, ...]:
    return panel.x.title, panel.x.log, panel.x.unit, panel.x.ticks, panel.x.ends


def _draw(sheet: Sheet, place: PanelPlace, panels: Sequence[tuple[Panel, Sequence[Look]]]) -> float:
    if panels[0][0].y.down:
        return draw_rows(sheet, place, *panels[0])
    return draw_plots(sheet, place, [panel for panel, _ in panels], [mine for _, mine in panels])


def _element(picture: Picture, drawing: Drawing, attributes: str, about: str = "") -> str:
    label = safe(picture.label or picture.title)
    return (
        f'<svg xmlns="{_SPACE}" {attributes} viewBox="0 0 {drawing.width} {px(drawing.height)}" role="img" '
        f'aria-label="{label}">{about}{drawing.content}</svg>'
    )
