"""A network model's page: one HTML file with a slider over sizes, every number embedded, nothing from the network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from octant import __version__, units
from octant.report.network import svg as network_svg
from octant.report.network.pictures import curve, failures
from octant.report.run import html

if TYPE_CHECKING:
    from pathlib import Path

    from octant.network.loads import LoadMap
    from octant.network.overview import Overview


@dataclass(frozen=True)
class Frame:
    """What the slider shows at one size."""

    size: int
    sentence: str
    strips: Markup
    topology: Markup


def write(shown: Overview, path: Path) -> Path:
    """Writes the page and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(shown), path)


def render(shown: Overview) -> str:
    """The page as a text; the same overview gives the same text."""
    pictures = [picture for picture in (curve(shown), failures(shown)) if picture is not None]
    frames = [_frame(shown, size, found) for size, found in shown.maps.items()]
    word = shown.curve.size_word
    data = _data(shown)
    return html.render(
        "network.html.jinja",
        {"run": data["run"], "document": data, "exports": html.exports(pictures, data["run"])},
        ("chart", "network"),
        network=shown.network,
        traffic=shown.traffic,
        word=word,
        pictures=pictures,
        frames=frames,
        first=_first_frame(shown),
        heat=Markup(network_svg.heat(shown.maps, word)) if len(shown.maps) > 1 else None,  # noqa: S704 - escapes its texts
        drawn=network_svg.topology_description(next(iter(shown.maps.values()))) if frames else "",
    )  # fmt: skip


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
    return f"{rate}. {one.link_class} is saturated{following}."


def _frame(shown: Overview, size: int, found: LoadMap) -> Frame:
    drawings = network_svg.strips(found), network_svg.topology(found)
    return Frame(size, sentence(shown, found), *(Markup(svg) for svg in drawings))  # noqa: S704 - escape their texts


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
        "network": shown.network.model_dump(mode="json"),
        "curve": points,
        "maps": [
            {"size": size, "rate_per_s": found.rate_per_s, "classes": [asdict(one) for one in found.classes]}
            for size, found in shown.maps.items()
        ],
        "failures": [asdict(worst) for worst in shown.failures],
    }
