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

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from octant.network.loads import LoadMap
    from octant.network.overview import Overview


def write(shown: Overview, path: Path) -> Path:
    """Writes the page and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(shown), path)


def render(shown: Overview) -> str:
    """The page as a text; the same overview gives the same text."""
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
        load_terms=terms.of_loads(),
        link_terms=terms.of_links(max(reversed(maps), key=lambda found: len(found.classes))) if maps else (),
        drawing_terms=terms.of_drawing(maps[first]) if maps and network_svg.topology(maps[first]) else (),
    )


def answer(shown: Overview) -> str:
    """The largest size in words: the rate, what limits it, and how often the limit changes up to there."""
    points = shown.curve.points
    last, changes = points[-1], sum(a.bottleneck != b.bottleneck for a, b in pairwise(points))
    rate = units.si_text(last.rate_per_s, last.unit.partition(" per ")[0])
    whose = last.unit.partition(" per ")[2] or shown.network.node
    often = "once" if changes == 1 else f"{changes} times"
    on_the_way = f" From {points[0].size} up to there what limits changes {often}." if changes else ""
    size = f"{last.size} {shown.curve.size_word}"
    return f"{shown.traffic} on {size}: {rate} per {whose}, limited by {last.bottleneck}.{on_the_way}"


def reliability(shown: Overview) -> str:
    """How far the model can be believed: how far it is from published points on which it was not calibrated."""
    known = [point for point in shown.curve.points if point.error is not None]
    free = [p.error for p in known if p.error is not None and p.published and not p.published.calibrated]
    said = ["A prediction, not a measurement: link loads counted exactly on a described network."]
    if free:
        span = " to ".join(dict.fromkeys(f"{100 * error:+.1f} %" for error in (min(free), max(free))))
        said.append(f"Off by {span} at {units.counted(len(free), 'published point')} on which it was not calibrated.")
    elif known:
        said.append("It was calibrated on what is published here, so agreement there is no evidence.")
    else:
        said.append("Nothing published of this traffic at these sizes is known to compare it with.")
    if gaps := len(shown.network.unexplained):
        said.append(f"What it does not explain ({gaps}) stands at the end.")
    return " ".join(said)


def sentence(shown: Overview, found: LoadMap) -> str:
    """One size in words: the rate, what limits it, and what comes next."""
    one = found.bottleneck
    others = sorted((c for c in found.classes if c.link_class != one.link_class), key=lambda c: -c.busiest)
    what = found.pattern if found.per != "node" else shown.network.node
    rate = f"{units.si_text(found.rate_per_s, found.unit)}/s per {what if found.per == 'node' else found.per}"
    following = (
        f"; the busiest link of {others[0].link_class} is at {network_svg.busy_text(others[0].busiest)}"
        if others
        else ""
    )
    return f"{rate}. {one.link_class} is saturated{following}.".replace(" %", "\u202f%")


def _frame(shown: Overview, size: int, found: LoadMap) -> Markup:
    """What the slider shows at one size."""
    said = Markup("<p><strong>{} {}:</strong> {}</p>").format(size, shown.curve.size_word, sentence(shown, found))
    map_ = Markup(network_svg.topology(found))  # noqa: S704 - escapes its texts
    region = Markup('<div class="drawing" tabindex="0" role="region" aria-label="Topology">{}</div>').format(map_)
    return said + _both(partial(network_svg.strips, found)) + (region if map_ else "")


def _both(draw: Callable[..., str]) -> Markup:
    """A drawing for both widths of a page, of which its style shows one."""
    drawn = (draw(room=room) for room in (network_svg.WIDE, network_svg.NARROW))
    return Markup("".join(drawn))  # noqa: S704 - the drawings escape their texts


def _first_frame(shown: Overview) -> int:
    """The frame to begin with: where the bottleneck first changes after the smallest sizes, else the largest."""
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
