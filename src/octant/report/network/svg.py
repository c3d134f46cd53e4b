"""Drawings of the network model as inline SVG: load of the classes against scale, and a part of the topology.

Half a line belongs to the direction that starts there: the half at A is the link from A to B.
"""

from __future__ import annotations

import math
import pkgutil
from html import escape
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np

from octant.failure import Refusal
from octant.network.topologies import Torus, TwoLevelDirect
from octant.report.charts.draw import in_light_colours
from octant.report.charts.layout.labels import FAMILY, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.network.loads import LoadMap

SATURATED = 0.9995
SIZE = 11.0
"""Of the texts, px."""
WIDE, NARROW = 780, 288
"""Rooms for which a page has a drawing, px."""
LEGEND = 280.0
_BOX, _GAP = 152.0, 36.0
"""Of the drawers of a supernode, px: two next to each other fit a phone."""
Spot = tuple[float, float]


def standalone(svg: str) -> str:
    """Return a drawing as an SVG file with light colours."""
    style = in_light_colours(asset("network.css"))
    return svg.replace(">", f"><style>{style}.network {{ background: #fff; font-family: {FAMILY}; }}</style>", 1) + "\n"


def asset(name: str) -> str:
    """Return the style (`network.css`) or the script (`network.js`) of the drawings; variables are in `colours.css`."""
    return (pkgutil.get_data("octant.report.network", name) or b"").decode()


def drawing(maps: Mapping[int, LoadMap], size_word: str) -> str:
    """Return a heat map of the sizes; if there is only one, a part of the topology, or else the links by load.

    Raises:
        Refusal: an application, which is no single pattern, or a network too large to enumerate.
    """
    if not maps:
        raise Refusal(
            "cannot draw loads (an application is several patterns, or there are too many nodes); try uniform"
        )
    only = next(iter(maps.values()))
    return standalone(heat(maps, size_word) if len(maps) > 1 else topology(only) or strips(only))


def busy_text(busy: float) -> str:
    """Return the load of a link in percent."""
    return f"{100 * busy:.0f} %" if busy >= 0.0995 or busy == 0 else f"{100 * busy:.1f} %"


def heat(maps: Mapping[int, LoadMap], size_word: str, room: int = WIDE) -> str:
    """Return the load of the busiest link, a row for each class and a column for each size; `room` px wide."""
    sizes = list(maps)
    names = list(dict.fromkeys(one.link_class for found in maps.values() for one in found.classes))
    left, top, row = _label_width(names), 8.0, 26.0
    width = min(26.0, (room - left - 12) / len(sizes))
    parts = []
    for r, name in enumerate(names):
        y = top + r * (row + 4)
        parts.append(_text(left - 8, y + row / 2 + 4, name, "end"))
        for c, size in enumerate(sizes):
            for found in (one for one in maps[size].classes if one.link_class == name):
                title = f"{size} {size_word}: {name} {busy_text(found.busiest)} of its capacity"
                parts.append(_cell(left + c * width, y, width, row, found.busiest, title))
    bottom = top + len(names) * (row + 4)
    parts += [_text(left + (i + 0.5) * width, bottom + 12, str(sizes[i]), "middle") for i in _labelled(sizes, width)]
    parts.append(_text(left, bottom + 29, size_word, "start", "soft"))
    title = f"Load of the busiest link of {', '.join(names)} against {size_word}"
    return _svg(left + len(sizes) * width + 12, bottom + 40, parts, title, room, left)


def strips(found: LoadMap, room: int = WIDE) -> str:
    """Return all links of each class from the idlest to the busiest, in 32 steps; `room` px wide."""
    names = [c.link_class for c in found.classes]
    texts = [
        f"{busy_text(c.busiest)} at most, {c.links:,} links" if c.limited else f"no limit, {c.links:,} links"
        for c in found.classes
    ]
    left, top, row, is_wide = _label_width(names), 8.0, 22.0, room >= WIDE
    aside = max(text_width(text, SIZE) for text in texts) + 12 if is_wide else 0
    width, pitch = min(14.0, (room - left - aside) / 32), row + (5 if is_wide else 20)
    parts = []
    for r, one in enumerate(found.classes):
        y = top + r * pitch
        parts.append(_text(left - 8, y + row / 2 + 4, one.link_class, "end"))
        begin = 0
        for _, group in groupby(one.quantiles, busy_text):  # a cell for steps with the same text
            same = list(group)
            busy = max(same)
            parts.append(_cell(left + begin * width, y, len(same) * width, row, busy, busy_text(busy), 1.0))
            begin += len(same)
        spot = (left + 32 * width + 10, y + row / 2 + 4) if is_wide else (left, y + row + 12)
        parts.append(_text(*spot, texts[r], "start"))
    bottom = top + len(found.classes) * pitch
    title = f"Links of {', '.join(names)} from the idlest to the busiest"
    return _svg(left + 32 * width + aside, bottom + 4, parts, title, room, left)


def _label_width(names: Sequence[str]) -> float:
    return max(text_width(name, SIZE) for name in names) + 10


def _labelled(sizes: Sequence[int], width: float) -> list[int]:
    """Return the columns with a label: the first, the last, and those between that leave room for both."""
    last = len(sizes) - 1
    wanted = [i for i, size in enumerate(sizes) if i in (0, last) or last < 12 or size % 8 == 0]
    least = max(text_width(str(size), SIZE) for size in sizes) + 6
    kept: list[int] = []
    for i in wanted:
        if i in (0, last) or ((i - kept[-1]) * width >= least and (last - i) * width >= least):
            kept.append(i)
    return kept


def topology(found: LoadMap) -> str:
    """Return a supernode with its drawers, or a slice of a torus, with the load of each link; else an empty text."""
    shape = found.network.topology
    if isinstance(shape, TwoLevelDirect):
        return _supernode(found, shape)
    if isinstance(shape, Torus) and len(shape.sizes) <= 3 and max(shape.sizes[:2]) <= 16:
        return _slice(found, shape)
    return ""


def _supernode(found: LoadMap, shape: TwoLevelDirect) -> str:
    size = shape.drawers * shape.octants
    built = found.network.build()
    sources, targets = (side // size for side in built.ends())
    within = np.flatnonzero(sources == targets)
    within = within[within >= built.fabric]
    supernode = int(sources[within[np.argmax(np.round(found.busy[within], 9))]])
    busy = _Busiest(found, range(supernode * size, (supernode + 1) * size))
    columns = 2 if shape.drawers > 1 else 1
    corner = [((d % columns) * (_BOX + _GAP), (d // columns) * (_BOX + _GAP)) for d in range(shape.drawers)]
    middle = [(x + _BOX / 2, y + _BOX / 2 + 4) for x, y in corner]
    parts = []
    members = [
        [(supernode * shape.drawers + drawer) * shape.octants + octant for octant in range(shape.octants)]
        for drawer in range(shape.drawers)
    ]
    for a, b in combinations(range(shape.drawers), 2):
        pair = [busy.between(members[d], members[e], "L-remote") for d, e in ((a, b), (b, a))]
        parts += _halves(middle[a], middle[b], pair, 4, f"L-remote, drawers {a} and {b}")
    for drawer in range(shape.drawers):
        x, y = corner[drawer]
        parts.append(f'<rect class="box" x="{x:g}" y="{y:g}" width="{_BOX:g}" height="{_BOX:g}" rx="6"/>')
        parts.append(_text(x + 6, y + 14, f"drawer {drawer}", "start", "soft"))
        parts += _drawer(shape, members[drawer], middle[drawer], busy)
    width = columns * _BOX + (columns - 1) * _GAP
    height = -(-shape.drawers // columns) * (_BOX + _GAP) - _GAP
    parts.append(_text(0, height + 15, f"supernode {supernode}", "start", "soft"))
    title = f"Links of supernode {supernode}, which has the busiest link within a supernode"
    return _svg(width, height + 24, parts, title)


def _drawer(shape: TwoLevelDirect, members: Sequence[int], middle: Spot, busy: _Busiest) -> list[str]:
    """Return the octants of a drawer on a circle, with their links to each other and outwards."""
    radius, size = _BOX * 0.29, shape.drawers * shape.octants
    dot = min(8.0, 2.6 * radius / shape.octants)
    spots = [_on_circle(middle, radius, i / shape.octants) for i in range(shape.octants)]
    parts = []
    for i, j in combinations(range(shape.octants), 2):
        pair = [busy.between([members[p]], [members[q]], "L-local") for p, q in ((i, j), (j, i))]
        parts += _halves(spots[i], spots[j], pair, 1.5, f"L-local, octants {i} and {j}")
    for i, spot in enumerate(spots):
        load, peers = busy.outwards(members[i])
        if peers:
            outer = _on_circle(middle, radius + dot + 9, i / shape.octants)
            parts.append(_line(spot, outer, load, 3, f"D links of octant {i}: {peers} supernodes, {busy_text(load)}"))
            tip = _on_circle(middle, radius + dot + 16, i / shape.octants)
            parts.append(_text(tip[0], tip[1] + 4, str(peers), "middle"))
        kind = "node barred" if members[i] % size in shape.holes else "node"
        parts.append(f'<circle class="{kind}" cx="{spot[0]:.1f}" cy="{spot[1]:.1f}" r="{dot:g}"/>')
        if dot >= 7:
            parts.append(_text(spot[0], spot[1] + 4, str(i), "middle"))
    return parts


def _slice(found: LoadMap, shape: Torus) -> str:
    busy = _Busiest(found, range(shape.nodes()))
    nx, ny, nz = (*shape.sizes, 1, 1)[:3]
    plane = nx * ny
    level = max(range(nz), key=lambda z: busy.touching(range(z * plane, (z + 1) * plane)))
    gap = min(64.0, 280 / max(nx - 1, ny - 1, 1))
    radius, edge, around = min(11.0, 0.3 * gap), 30.0, min(26.0, 0.9 * gap)
    spot = {level * plane + y * nx + x: (edge + x * gap, edge + y * gap) for y in range(ny) for x in range(nx)}
    parts = []
    for a, b in sorted(busy.pairs):
        if a not in spot or b not in spot:
            continue
        (xa, ya), (xb, yb) = spot[a], spot[b]
        load = busy.pairs[a, b]["link"]
        if math.hypot(xb - xa, yb - ya) < gap * 1.5:
            end, way = ((xa + xb) / 2, (ya + yb) / 2), "to"
        else:
            end, way = (
                (xa + around * float(np.sign(xa - xb)), ya + around * float(np.sign(ya - yb))),
                "over the edge to",
            )
        parts.append(_line((xa, ya), end, load, 0.5 * radius, f"{a} {way} {b}: {busy_text(load)}"))
    for node, (x, y) in spot.items():
        beyond = max((one["link"] for (a, b), one in busy.pairs.items() if a == node and b not in spot), default=0.0)
        circle = f'cx="{x:g}" cy="{y:g}" r="{radius:g}"'
        parts.append(
            f'<circle class="ground" {circle}/>'
            f'<circle class="node {_kind(beyond)}" {circle} fill-opacity="{beyond:.3f}">'
            f"<title>node {node}: busiest link to another slice {busy_text(beyond)}</title></circle>"
        )
    width, height = 2 * edge + (nx - 1) * gap, 2 * edge + (ny - 1) * gap
    if nz > 1:
        parts.append(_text(0, height + 8, f"slice z = {level} of {nz}", "start", "soft"))
    return _svg(width, height + 18, parts, "Links of the slice of the torus with the busiest link")


class _Busiest:
    """The busiest link of each class between two nodes, by their numbers."""

    def __init__(self, found: LoadMap, drawn: range) -> None:
        built = found.network.build()
        sources, targets = built.ends()
        kinds, names = built.link_classes(), found.network.class_names
        self.pairs: dict[tuple[int, int], dict[str, float]] = {}
        for link in range(built.fabric, built.links):
            a, b = int(sources[link]), int(targets[link])
            if a == b or a not in drawn:  # a mesh keeps a number where the torus would go on
                continue
            loads = self.pairs.setdefault((a, b), {})
            name = names[kinds[link]]
            loads[name] = max(loads.get(name, 0.0), float(found.busy[link]))

    def between(self, sources: Sequence[int], targets: Sequence[int], name: str) -> float:
        return max((self.pairs.get((a, b), {}).get(name, 0.0) for a in sources for b in targets), default=0.0)

    def outwards(self, node: int) -> tuple[float, int]:
        """Return the load of the busiest D link of an octant, and the number of its D links."""
        loads = [kinds["D"] for (a, _), kinds in self.pairs.items() if a == node and "D" in kinds]
        return max(loads, default=0.0), len(loads)

    def touching(self, nodes: range) -> float:
        return max(
            (load for (a, b), kinds in self.pairs.items() if a in nodes and b in nodes for load in kinds.values()),
            default=0.0,
        )


def _on_circle(middle: Spot, radius: float, turn: float) -> Spot:
    angle = 2 * math.pi * (turn - 0.25)
    return middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)


def _halves(a: Spot, b: Spot, pair: Sequence[float], width: float, title: str) -> list[str]:
    middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
    ends = zip((a, b), pair, strict=True)
    return [_line(end, middle, load, width, f"{title}: {busy_text(load)}") for end, load in ends]


def _kind(busy: float) -> str:
    return "busy full" if busy >= SATURATED else "busy"


def _line(a: Spot, b: Spot, busy: float, width: float, title: str) -> str:
    thick = width * (1.6 if busy >= SATURATED else 1)
    return (
        f'<line class="{_kind(busy)}" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" '
        f'stroke-width="{thick:.3g}" stroke-opacity="{max(0.06, min(busy, 1)):.2f}">'
        f"<title>{escape(title)}</title></line>"
    )


def _cell(x: float, y: float, width: float, height: float, busy: float, title: str, gap: float = 0.0) -> str:
    """Return a cell with a dark lower edge if saturated; `gap` px at its right remain free, or a twentieth."""
    drawn = f'x="{x:.1f}" width="{width - (gap or 0.05 * width):.1f}"'
    tip = f"<title>{escape(title)}</title>" if title else ""
    opacity = f'fill-opacity="{max(0.04, min(busy, 1)):.2f}"'
    cell = f'<rect class="{_kind(busy)}" {drawn} y="{y:.1f}" height="{height:g}" {opacity}>{tip}</rect>'
    return cell + f'<rect class="edge" {drawn} y="{y + height - 3:.1f}" height="3"/>' * (busy >= SATURATED)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    role = f' class="{kind}"' if kind else ""
    return f'<text{role} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _legend(x: float, y: float) -> str:
    """Return the legend: idle, busy and saturated, in `LEGEND` px."""
    begin = x + text_width("idle", SIZE) + 6
    cells = [_cell(begin + 12 * i, y, 12, 10, i / 8, "") for i in range(8)]
    busy = begin + 8 * 12 + 6
    full = busy + text_width("busy", SIZE) + 12
    words = ((x, "idle"), (busy, "busy"), (full + 18, "saturated"))
    return "".join(
        [*cells, _cell(full, y, 12, 10, 1.0, ""), *(_text(at, y + 9, w, "start", "soft") for at, w in words)]
    )


def _svg(width: float, height: float, parts: Sequence[str], title: str, room: int = 0, left: float = 0.0) -> str:
    """Return a drawing with the legend below it, at `left` px if it is wide; `room` is the width of the page."""
    left, kind = (left, "wide") if room >= WIDE else (0.0, "narrow" if room else "map")
    width, legend = max(width, left + LEGEND), _legend(left, height)
    height += 14
    return (
        f'<svg class="network {kind}" role="img" aria-label="{escape(title)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}{legend}</svg>'
    )
