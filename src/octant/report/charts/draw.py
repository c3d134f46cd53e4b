"""Layout of a picture as SVG for a width: for a page, whose style sheet gives the colours, or as a file of its own.

Texts are placed with the widths of the widest common font, so that none leaves its box and no two overlap.
"""

import pkgutil
import re
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from octant import __version__, output
from octant.failure import Refusal
from octant.report.charts.layout.frame import Look, looks, panel_place
from octant.report.charts.layout.labels import FAMILY
from octant.report.charts.layout.plot import draw_plots
from octant.report.charts.layout.rows import draw_rows
from octant.report.charts.layout.svg import Sheet, px, safe
from octant.report.charts.picture import Panel, Picture

PHONE = 358
"""Width of a drawing on a phone, px."""
WIDTHS = {"two-columns": 780, "one-column": PHONE}
"""Name of a file's width, and the px for which it is laid out: 180 and 88 mm."""
_GUTTER = 24.0  # between adjacent panels
_BETWEEN = 18.0  # between groups of panels
_LEAST_BESIDE = 700  # px from which two panels are next to each other


def widths(picture: Picture) -> tuple[int, ...]:
    """Return the widths for which a page draws a picture: wide, less wide (of a very wide one), and on a phone."""
    return tuple(dict.fromkeys((picture.width, min(picture.width, 780), PHONE)))


def svg(picture: Picture, width: int) -> Markup:
    """Return the picture as part of a page; classes of `chart.css` give its colours in each scheme."""
    return Markup(_element(picture, width))  # noqa: S704 - texts are escaped


def export(picture: Picture, width: int, run: str) -> str:
    """Return the picture as a file of its own, in light colours: 180 mm wide, 88 mm below 480 px.

    Args:
        width: px for which it is laid out: 780 for two columns of a page, 358 for one.
        run: origin of the numbers, for the metadata.
    """
    colours = in_light_colours(style()).replace("font-family: inherit", f"font-family: {FAMILY}").replace("\n", "")
    about = (
        f"<title>{safe(picture.title)}</title>"
        f"<desc>{safe(f'{picture.label or picture.title} {picture.caption}')}</desc>"
        f"<metadata>run {safe(run)}; Octant {safe(__version__)}</metadata><style>{colours}</style>"
    )
    return _element(picture, width, about, 180 if width >= 480 else 88) + "\n"


def write_svgs(pictures: Iterable[Picture], folder: Path, run: str) -> list[Path]:
    """Write each picture as `ID-two-columns.svg` and `ID-one-column.svg` into a folder, created if necessary.

    Args:
        run: origin of the numbers, for the metadata of the files.

    Raises:
        Refusal: the folder or a file cannot be written.
    """
    otherwise = "use --svg with a folder that you can write to"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"cannot write into {folder} ({error.strerror}); {otherwise}") from error
    written = []
    for picture in pictures:
        for name, width in WIDTHS.items():
            written.append(folder / f"{picture.id}-{name}.svg")
            output.save(written[-1], export(picture, width, run), otherwise)
    return written


def lay_out(picture: Picture, width: int) -> Sheet:
    """Lay out the picture for a width in px."""
    sheet, groups = Sheet(), _groups(picture)
    columns = len(groups) if picture.beside and width >= _LEAST_BESIDE else 1
    each = (width - _GUTTER * (columns - 1)) / columns
    bottom = 2.0
    for number, group in enumerate(groups):
        place = panel_place((each + _GUTTER) * (number % columns), each, 2.0 if columns > 1 else bottom)
        panels, styles = zip(*group, strict=True)
        rows = panels[0].y.down
        end = draw_rows(sheet, place, panels[0], styles[0]) if rows else draw_plots(sheet, place, panels, styles)
        bottom = max(bottom, end + 2) + (_BETWEEN if columns == 1 and number < len(groups) - 1 else 0)
    sheet.height = bottom
    return sheet


def _groups(picture: Picture) -> list[list[tuple[Panel, list[Look]]]]:
    """Return panels with their looks, those with one x axis together; rows and adjacent panels are on their own."""
    groups: list[list[tuple[Panel, list[Look]]]] = []
    for panel, styles in zip(picture.panels, looks(picture), strict=True):
        before = groups[-1][-1][0] if groups and not picture.beside else None
        if before and not panel.y.down and not before.y.down and panel.x == before.x:
            groups[-1].append((panel, styles))
        else:
            groups.append([(panel, styles)])
    return groups


def style(name: str = "chart.css") -> str:
    """Return the style of drawings in a page, or `colours.css`, which defines its variables."""
    return (pkgutil.get_data("octant.report.charts", name) or b"").decode()


def in_light_colours(style_sheet: str) -> str:
    """Return a style sheet with the light colours themselves, for a drawing on its own."""
    light = dict(re.findall(r"--([\w-]+): (#\w+);", style("colours.css").partition("@media")[0]))
    return re.sub(r"var\(--([\w-]+)\)", lambda name: light[name[1]], style_sheet)


def _element(picture: Picture, width: int, about: str = "", mm: int = 0) -> str:
    """Return the element of the picture, laid out for `width` px; `mm`: the width of a file of its own."""
    sheet = lay_out(picture, width)
    height = px(sheet.height)
    size = f'class="chart w{width}" width="{width}" height="{height}"'
    if mm:
        size = f'class="chart" width="{mm}mm" height="{mm * sheet.height / width:.2f}mm"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{safe(picture.label or picture.title)}">{about}{sheet.content()}</svg>'
    )
