"""Words above a panel, or in it, that belong to stretches and places of x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.report.charts.layout.fonts import cut, text_width, wrap
from octant.report.charts.layout.labels import Text, fits, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.report.charts.layout.frame import PanelPlace
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.layout.svg import Sheet
    from octant.report.charts.picture import Axis, Mark, Region

PITCH = 1.25
"""Between lines of a label, of its size."""


def half_of_last(axis: Axis, place: PanelPlace) -> float:
    """Room at the right for half of the last tick."""
    half = max((text_width(text, place.small) / 2 for _, text in axis.ticks[-1:]), default=0.0)
    return min(0.1 * place.width, half) + 2


def regions(sheet: Sheet, place: PanelPlace, stretches: Sequence[Region], across: Scale, top: float) -> float:
    """Words over stretches of x from `top` on; gives where they end, px. Where room is short they are fewer."""
    edge, bottom = place.left, top
    for region in sorted(stretches, key=lambda one: one.begin):
        edge = max(edge, across.begin) if region.place == "bottom" else edge
        begin, end = across.held(region.begin), across.held(region.end)
        for texts in _choices(region, place.size, end - begin) if end > begin else ():
            half = max(text_width(text, place.size, bold) for text, bold in texts) / 2
            middle = max(edge + half, min(place.right - half, (begin + end) / 2))
            if middle - half >= begin - 20 and middle + half <= min(place.right, end + 20):
                break
        else:
            continue
        title = "; ".join(region.lines) if len(texts) < len(region.lines) else ""
        for i, (text, bold) in enumerate(texts):
            y = top + place.size * (1 + PITCH * i)
            kind = "" if bold else "soft"
            sheet.text(Text(middle, y, text, place.size, kind, "middle", bold, title=title))
        edge = middle + half + 6
        bottom = max(bottom, top + place.size * PITCH * len(texts) + 4)
    return bottom


def _choices(region: Region, size: float, room: float) -> Iterable[list[tuple[str, bool]]]:
    """The words in fewer and fewer letters: as they are, wrapped, the first line, its first word."""
    lines = [(line, number == 0 and len(region.lines) > 1) for number, line in enumerate(region.lines) if line.strip()]
    if not lines:
        return
    yield lines
    if region.place == "top":
        wrapped = [(part, bold) for line, bold in lines for part in wrap(line, size, room + 8, 2, bold)]
        if not any(part.endswith("…") for part, _ in wrapped):
            yield wrapped
    yield lines[:1]
    yield [(lines[0][0].split()[0].rstrip(":,"), lines[0][1])]


def mark_labels(sheet: Sheet, place: PanelPlace, marks: Sequence[Mark], across: Scale, top: float) -> float:
    """Names of lines across, above them, in as many rows as they need (at most three); gives where they end, px."""
    shown = sorted((mark for mark in marks if mark.label and across.holds(mark.at)), key=lambda mark: mark.at)
    names = [cut(mark.label, place.small, place.width / 2) for mark in shown]
    for rows in (1, 2, 3):
        groups = [range(row, len(shown), rows) for row in range(rows)]
        sizes = [[text_width(names[i], place.small) for i in group] for group in groups]
        if all(fits(mine, place.left, place.right, 8) for mine in sizes if mine):
            break
    else:
        return top
    if not shown:
        return top
    for row, (group, mine) in enumerate(zip(groups, sizes, strict=True)):
        wanted = [across.at(shown[i].at) for i in group]
        for i, x, at in zip(group, spread(wanted, mine, place.left, place.right, 8), wanted, strict=True):
            y = top + place.small * (1 + PITCH * row)
            title = shown[i].label * (names[i] != shown[i].label)
            sheet.text(Text(x, y, names[i], place.small, "soft", "middle", title=title))
            if abs(x - at) > sizes[row][list(group).index(i)] / 2:
                sheet.field.hairlines.append(((x, y + 3), (at, top + place.small * PITCH * rows + 2)))
    return top + place.small * PITCH * rows + 2
