"""A network model's page: one HTML file with a slider over sizes, every number embedded, nothing from the network."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from msgspec import to_builtins

from octant import __version__, units
from octant.report.network import svg as network_svg
from octant.report.network import terms
from octant.report.network.pictures import curve, failures
from octant.report.page import html
from octant.report.tables.layout import fill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from octant.network.loads import LoadMap
    from octant.network.overview import Overview


def write(shown: Overview, path: Path) -> Path:
    """Write the page and return its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(shown), path)


def render(shown: Overview) -> str:
    """Return the page as a text; the same overview gives the same text."""
    pictures = [picture for picture in (curve(shown), failures(shown)) if picture is not None]
    sizes, maps = list(shown.maps), list(shown.maps.values())
    word, first, data = shown.curve.size_word, _first_frame(shown), _data(shown)
    frames = [(f"{size} {word}", _frame(shown, size, found)) for size, found in shown.maps.items()]
    return html.render(
        "network.html.jinja",
        {
            "run": data["run"],
            "document": html.packed(data),
            "exports": html.exports(pictures, data["run"]),
            "frames": html.packed(frames) if len(frames) > 1 else "",
        },
        style=network_svg.network_style(),
        script=network_svg.network_script(),
        network=shown.network,
        traffic=shown.traffic,
        answer=answer(shown),
        reliability=reliability(shown),
        word=word,
        pictures=pictures,
        sizes=sizes,
        first=first,
        frame=frames[first][1] if frames else "",
        heat=_both(partial(network_svg.heat, shown.maps, word)) if len(maps) > 1 else None,
        load_terms=terms.load_terms(),
        link_terms=terms.link_terms(max(reversed(maps), key=lambda found: len(found.classes))) if maps else (),
        drawing_terms=terms.drawing_terms(maps[first]) if maps and network_svg.topology(maps[first]) else (),
    )


def answer(shown: Overview) -> str:
    """Return the rate and the limit at the largest size, and how often the limit changes up to there."""
    points, node = shown.curve.points, shown.network.node
    last, changes = points[-1], sum(a.bottleneck != b.bottleneck for a, b in pairwise(points))
    unit, _, whose = last.unit.partition(" per ")
    return fill(
        "network/page", "answer", traffic=shown.traffic, size=f"{last.size} {shown.curve.size_word}",
        rate=units.si_text(last.rate_per_s, unit), whose=whose or node, limit=last.bottleneck,
        first=points[0].size, changes=changes,
    )  # fmt: skip


def reliability(shown: Overview) -> str:
    """Return the errors of the model at published points with which it was not calibrated."""
    known = [point for point in shown.curve.points if point.error is not None]
    free = [p.error for p in known if p.published and not p.published.calibrated]
    gaps = len(shown.network.unexplained)
    return fill("network/page", "reliability", free=free, calibrated=known, gaps=gaps)


def sentence(shown: Overview, found: LoadMap) -> str:
    """Return the rate at one size, its limit and the next limit."""
    limit = found.bottleneck.link_class
    others = sorted((c for c in found.classes if c.link_class != limit), key=lambda c: -c.busiest)
    whose = shown.network.node if found.per == "node" else found.per
    text = fill(
        "network/page", "size", rate=units.si_text(found.rate_per_s, found.unit), whose=whose, limit=limit,
        second=others[0].link_class if others else "", load=network_svg.busy_text(others[0].busiest) if others else "",
    )  # fmt: skip
    return text.replace(" %", "\u202f%")


def _frame(shown: Overview, size: int, found: LoadMap) -> Markup:
    """Return what the slider shows at one size."""
    said = Markup("<p><strong>{} {}:</strong> {}</p>").format(size, shown.curve.size_word, sentence(shown, found))
    map_ = Markup(network_svg.topology(found))  # noqa: S704 - escapes its texts
    region = Markup('<div class="drawing" tabindex="0" role="region" aria-label="Topology">{}</div>').format(map_)
    return said + _both(partial(network_svg.strips, found)) + (region if map_ else "")


def _both(draw: Callable[..., str]) -> Markup:
    """Return a drawing for both widths of a page; the style of the page shows one of them."""
    drawn = (draw(room=room) for room in (network_svg.WIDE, network_svg.NARROW))
    return Markup("".join(drawn))  # noqa: S704 - the drawings escape their texts


def _first_frame(shown: Overview) -> int:
    """Return the first frame: where the bottleneck first changes after the smallest sizes, else the largest."""
    kinds = [found.bottleneck.link_class for found in shown.maps.values()]
    changes = [i for i in range(2, len(kinds)) if kinds[i] != kinds[i - 1]]
    return changes[0] if changes else max(0, len(kinds) - 1)


def _data(shown: Overview) -> dict[str, Any]:
    points = [asdict(point) for point in shown.curve.points]
    for point in points:
        if point["headroom"] == float("inf"):
            point["headroom"] = None
    return {
        "run": f"{shown.network.name}-{shown.traffic}",
        "octant": __version__,
        "network": to_builtins(shown.network),
        "curve": points,
        "maps": [
            {"size": size, "rate_per_s": found.rate_per_s, "classes": [asdict(one) for one in found.classes]}
            for size, found in shown.maps.items()
        ],
        "failures": [asdict(worst) for worst in shown.failures],
    }
