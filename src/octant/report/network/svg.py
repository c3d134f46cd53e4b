"""The network model's drawings: how busy classes are against scale, and a piece of the topology, as inline SVG.

Half a line belongs to the direction that starts there: the half at A is the link from A to B.
"""

from __future__ import annotations

import math
import pkgutil
import re
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from octant.failure import Refusal
from octant.network.topologies import Torus, TwoLevelDirect
from octant.report.charts.layout.fonts import FAMILY, text_width
from octant.report.charts.palette import COLOURS
from octant.report.tables.layout import fill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.network.loads import ClassLoad, LoadMap

SATURATED = 0.9995
SIZE = 11.0
"""Of the texts, px."""
WIDE, NARROW = 780, 288
"""Rooms for which a page has a drawing, px."""
LEGEND = 280.0
_BOX, _GAP = 152.0, 36.0
"""Of the drawers of a supernode, px: two beside each other fit a phone."""
Spot = tuple[float, float]


def standalone(svg: str) -> str:
    """The drawing as a file of its own, with light colours."""
    style = re.sub(r"var\(--([\w-]+)\)", lambda found: COLOURS[found[1]].light, network_style())
    return svg.replace(">", f"><style>{style}.network {{ background: #fff; font-family: {FAMILY}; }}</style>", 1) + "\n"


def network_style() -> str:
    """The style of these drawings, whose variables are those of `palette`."""
    return (pkgutil.get_data("octant.report.network", "network.css") or b"").decode()


def network_script() -> str:
    """The script that shows the same drawing for each size."""
    return (pkgutil.get_data("octant.report.network", "network.js") or b"").decode()


def drawing(maps: Mapping[int, LoadMap], size_word: str) -> str:
    """The drawing that fits: several sizes as a heat map, one as a piece of its topology or else as its links by load.

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
    """How busy a link is, in percent."""
    return f"{100 * busy:.0f} %" if busy >= 0.0995 or busy == 0 else f"{100 * busy:.1f} %"


def heat(maps: Mapping[int, LoadMap], size_word: str, room: int = WIDE) -> str:
    """How busy the busiest link of every class is, against size: one row a class, one column a size.

    Args:
        maps: by size.
        size_word: what is counted: `supernodes`, `nodes`.
        room: px across.
    """
    sizes, names = list(maps), _names(maps.values())
    left, top, row = _label_width(names), 8.0, 26.0
    width = min(26.0, (room - left - 12) / len(sizes))
    parts = []
    for r, name in enumerate(names):
        y = top + r * (row + 4)
        parts.append(_text(left - 8, y + row / 2 + 4, name, "end"))
        for c, size in enumerate(sizes):
            found = _of(maps[size], name)
            if found is not None:
                title = f"{size} {size_word}: {name} {busy_text(found.busiest)} of its capacity"
                parts.append(_cell(left + c * width, y, width, row, found.busiest, title))
    bottom = top + len(names) * (row + 4)
    labels = _labelled(sizes, width)
    parts += [_text(left + (i + 0.5) * width, bottom + 12, str(sizes[i]), "middle") for i in labels]
    parts.append(_text(left, bottom + 29, size_word, "start", "soft"))
    legend = left if room >= WIDE else 0.0
    parts.append(_legend(legend, bottom + 40))
    title = f"Load of the busiest link of {', '.join(names)} against {size_word}"
    return _svg(max(left + len(sizes) * width + 12, legend + LEGEND), bottom + 54, parts, title, _room_class(room))


def strips(found: LoadMap, room: int = WIDE) -> str:
    """All links of every class from the idlest to the busiest, in 32 steps; `room` px across."""
    names = [c.link_class for c in found.classes]
    texts = [
        f"{busy_text(c.busiest)} at most, {c.links:,} links" if c.limited else f"no limit, {c.links:,} links"
        for c in found.classes
    ]
    left, top, row, beside = _label_width(names), 8.0, 22.0, room >= WIDE
    aside = max(text_width(text, SIZE) for text in texts) + 12 if beside else 0
    width, pitch = min(14.0, (room - left - aside) / 32), row + (5 if beside else 20)
    parts = []
    for r, one in enumerate(found.classes):
        y = top + r * pitch
        parts.append(_text(left - 8, y + row / 2 + 4, one.link_class, "end"))
        parts += [
            _cell(left + begin * width, y, count * width, row, busy, busy_text(busy), 1.0)
            for begin, count, busy in _runs(one.quantiles)
        ]
        spot = (left + 32 * width + 10, y + row / 2 + 4) if beside else (left, y + row + 12)
        parts.append(_text(*spot, texts[r], "start"))
    bottom = top + len(found.classes) * pitch
    legend = left if beside else 0.0
    parts.append(_legend(legend, bottom + 4))
    title = f"Links of {', '.join(names)} from the idlest to the busiest"
    return _svg(max(left + 32 * width + aside, legend + LEGEND), bottom + 18, parts, title, _room_class(room))


def _runs(values: Sequence[float]) -> list[tuple[int, int, float]]:
    """Neighbours that are equally busy in what is shown: where they begin, how many they are, how busy."""
    found, begin = [], 0
    for _, group in groupby(values, busy_text):
        same = list(group)
        found.append((begin, len(same), max(same)))
        begin += len(same)
    return found


def _room_class(room: int) -> str:
    return "wide" if room >= WIDE else "narrow"


def _label_width(names: Sequence[str]) -> float:
    return max(text_width(name, SIZE) for name in names) + 10


def _labelled(sizes: Sequence[int], width: float) -> list[int]:
    """Which columns have their size below: the first, the last, and those between that leave room for both."""
    last = len(sizes) - 1
    wanted = [i for i, size in enumerate(sizes) if i in (0, last) or last < 12 or size % 8 == 0]
    least = max(text_width(str(size), SIZE) for size in sizes) + 6
    kept: list[int] = []
    for i in wanted:
        if i in (0, last) or ((i - kept[-1]) * width >= least and (last - i) * width >= least):
            kept.append(i)
    return kept


def topology(found: LoadMap) -> str:
    """A supernode with its drawers, or a slice of a torus, with how busy each link is; empty for other shapes."""
    shape = found.network.topology
    if isinstance(shape, TwoLevelDirect):
        return _supernode(found, shape)
    if isinstance(shape, Torus) and len(shape.sizes) <= 3 and max(shape.sizes[:2]) <= 16:
        return _slice(found, shape)
    return ""


def topology_description(found: LoadMap) -> str:
    """Return what the drawing of the topology shows."""
    return fill("network/terms", "topology", kind=type(found.network.topology).__name__)


def _names(maps: object) -> list[str]:
    return list(dict.fromkeys(one.link_class for found in maps for one in found.classes))  # type: ignore[attr-defined]


def _of(found: LoadMap, name: str) -> ClassLoad | None:
    return next((one for one in found.classes if one.link_class == name), None)


def _supernode(found: LoadMap, shape: TwoLevelDirect) -> str:
    size = shape.drawers * shape.octants
    supernode = busiest_supernode(found, size)
    busy = _Busiest(found, range(supernode * size, (supernode + 1) * size))
    columns = 2 if shape.drawers > 1 else 1
    corner = [((d % columns) * (_BOX + _GAP), (d // columns) * (_BOX + _GAP)) for d in range(shape.drawers)]
    middle = [(x + _BOX / 2, y + _BOX / 2 + 4) for x, y in corner]
    parts = []
    for a in range(shape.drawers):
        for b in range(a + 1, shape.drawers):
            pair = [
                busy.between(_members(shape, supernode, d), _members(shape, supernode, e), "L-remote")
                for d, e in ((a, b), (b, a))
            ]
            parts += _halves(middle[a], middle[b], pair, 4, f"L-remote, drawers {a} and {b}")
    for drawer in range(shape.drawers):
        x, y = corner[drawer]
        parts.append(f'<rect class="box" x="{x:g}" y="{y:g}" width="{_BOX:g}" height="{_BOX:g}" rx="6"/>')
        parts.append(_text(x + 6, y + 14, f"drawer {drawer}", "start", "soft"))
        parts += _drawer(shape, _members(shape, supernode, drawer), middle[drawer], busy)
    width = columns * _BOX + (columns - 1) * _GAP
    height = -(-shape.drawers // columns) * (_BOX + _GAP) - _GAP
    parts.append(_text(0, height + 15, f"supernode {supernode}", "start", "soft"))
    parts.append(_legend(0, height + 24))
    return _svg(max(width, LEGEND), height + 38, parts, topology_description(found), "map")


def _drawer(shape: TwoLevelDirect, members: Sequence[int], middle: Spot, busy: _Busiest) -> list[str]:
    """The octants of a drawer on a circle, with their links to each other and outwards."""
    radius, size = _BOX * 0.29, shape.drawers * shape.octants
    dot = min(8.0, 2.6 * radius / shape.octants)
    spots = [_on_circle(middle, radius, i / shape.octants) for i in range(shape.octants)]
    parts = []
    for i in range(shape.octants):
        for j in range(i + 1, shape.octants):
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


def busiest_supernode(found: LoadMap, size: int) -> int:
    """Number of the first supernode (of `size` octants) that has a link within it as busy as any such link."""
    built = found.network.build()
    sources, targets = (side // size for side in built.ends())
    within = np.flatnonzero(sources == targets)
    within = within[within >= built.fabric]
    return int(sources[within[np.argmax(np.round(found.busy[within], 9))]])


def _members(shape: TwoLevelDirect, supernode: int, drawer: int) -> list[int]:
    return [(supernode * shape.drawers + drawer) * shape.octants + octant for octant in range(shape.octants)]


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
            parts.append(
                _line((xa, ya), ((xa + xb) / 2, (ya + yb) / 2), load, 0.5 * radius, f"{a} to {b}: {busy_text(load)}")
            )
        else:
            away = (xa + around * float(np.sign(xa - xb)), ya + around * float(np.sign(ya - yb)))
            parts.append(_line((xa, ya), away, load, 0.5 * radius, f"{a} around to {b}: {busy_text(load)}"))
    for node, (x, y) in spot.items():
        beyond = max(
            (loads["link"] for (a, b), loads in busy.pairs.items() if a == node and b not in spot), default=0.0
        )
        title = f"<title>node {node}: out of the slice {busy_text(beyond)}</title>"
        parts.append(f'<circle class="ground" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>')
        parts.append(
            f'<circle class="node {_kind(beyond)}" cx="{x:g}" cy="{y:g}" r="{radius:g}" '
            f'fill-opacity="{beyond:.3f}">{title}</circle>'
        )
    width, height = 2 * edge + (nx - 1) * gap, 2 * edge + (ny - 1) * gap
    if nz > 1:
        parts.append(_text(0, height + 8, f"slice z = {level} of {nz}", "start", "soft"))
    parts.append(_legend(0, height + 18))
    return _svg(max(width, LEGEND), height + 32, parts, topology_description(found), "map")


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
        """The busiest D link of an octant, and how many supernodes its D links lead to."""
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
    return [
        _line(end, middle, load, width, f"{title}: {busy_text(load)}") for end, load in zip((a, b), pair, strict=True)
    ]


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
    """A cell, whose lower edge is dark where it is saturated; `gap` px are left free at its right, or a twentieth."""
    drawn = f'x="{x:.1f}" width="{width - (gap or 0.05 * width):.1f}"'
    told = f"<title>{escape(title)}</title>" if title else ""
    opacity = f'fill-opacity="{max(0.04, min(busy, 1)):.2f}"'
    cell = f'<rect class="{_kind(busy)}" {drawn} y="{y:.1f}" height="{height:g}" {opacity}>{told}</rect>'
    return cell + f'<rect class="edge" {drawn} y="{y + height - 3:.1f}" height="3"/>' * (busy >= SATURATED)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    role = f' class="{kind}"' if kind else ""
    return f'<text{role} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _legend(x: float, y: float) -> str:
    """Idle, busy and saturated, in `LEGEND` px."""
    begin = x + text_width("idle", SIZE) + 6
    cells = [_cell(begin + 12 * i, y, 12, 10, i / 8, "") for i in range(8)]
    busy = begin + 8 * 12 + 6
    full = busy + text_width("busy", SIZE) + 12
    words = ((x, "idle"), (busy, "busy"), (full + 18, "saturated"))
    return "".join(
        [*cells, _cell(full, y, 12, 10, 1.0, ""), *(_text(at, y + 9, w, "start", "soft") for at, w in words)]
    )


def _svg(width: float, height: float, parts: Sequence[str], title: str, kind: str) -> str:
    return (
        f'<svg class="network {kind}" role="img" aria-label="{escape(title)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
