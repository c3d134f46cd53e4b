"""Page of a network model: one HTML file with a slider over sizes, which contains all numbers."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup
from msgspec import to_builtins

from octant import __version__, units
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture, even_ticks, si_ticks
from octant.report.network import svg as network_svg
from octant.report.network.answers import CALIBRATED, plain
from octant.report.page import html
from octant.report.tables.layout import fill, table_rows

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
    maps = list(shown.maps.values())
    word, data = shown.curve.size_word, _data(shown)
    kinds = [found.bottleneck.link_class for found in maps]
    changes = [i for i in range(2, len(kinds)) if kinds[i] != kinds[i - 1]]  # not from the smallest sizes
    first = changes[0] if changes else max(0, len(kinds) - 1)
    frames = [(f"{size} {word}", _frame(shown, size, found)) for size, found in shown.maps.items()]
    document = {"run": data["run"], "document": html.packed(data), "exports": html.exports(pictures, data["run"])}
    return html.render(
        "network.html.jinja", {**document, "frames": html.packed(frames) if len(frames) > 1 else ""},
        style=network_svg.asset("network.css"), script=network_svg.asset("network.js"), network=shown.network,
        traffic=shown.traffic, answer=answer(shown), reliability=reliability(shown), word=word, pictures=pictures,
        sizes=list(shown.maps), first=first, frame=frames[first][1] if frames else "",
        heat=_both(partial(network_svg.heat, shown.maps, word)) if len(maps) > 1 else None, load_terms=_terms("loads"),
        link_terms=link_terms(max(reversed(maps), key=lambda found: len(found.classes))) if maps else (),
        drawing_terms=drawing_terms(maps[first]) if maps and network_svg.topology(maps[first]) else (),
    )  # fmt: skip


def curve(shown: Overview) -> Picture:
    """Return rate against scale: the model with its calibrated range, the queueing solver and published values."""
    points = shown.curve.points
    unit = points[0].unit
    base = unit.split(" per ")[0]
    xs = tuple(float(p.size) for p in points)
    solvers = {p.solver for p in points}
    name = f"model ({points[0].solver})" if len(solvers) == 1 else "model (solver of each size in the table)"
    series = [ChartSeries(name, "curve", xs, tuple(p.rate_per_s for p in points), role="series-1")]
    if known := [(x, p.published) for x, p in zip(xs, points, strict=True) if p.published]:
        labels = tuple(f"published at {x:g}{': ' + p.derived if p.derived else ''}" for x, p in known)
        at, values = zip(*((x, p.value) for x, p in known), strict=True)
        series.append(ChartSeries("published", "points", at, values, labels=labels, role="published"))
    if bounds := [(x, p.bound) for x, p in zip(xs, points, strict=True) if p.bound]:
        at, values = zip(*((x, b.rate_per_s) for x, b in bounds), strict=True)
        series.append(ChartSeries(bounds[0][1].solver, "line", at, values, role="grey"))
    if ranged := any(p.low_per_s < p.high_per_s for p in points):
        low, high = (tuple(getattr(p, end) for p in points) for end in ("low_per_s", "high_per_s"))
        band = ChartSeries(
            "range of its calibration", "band", xs, series[0].y, low, high, role="series-1", names="none"
        )
        series.append(band)
    word = shown.curve.size_word
    caption = fill(
        "network/page", "curve", rate_of=unit.removeprefix(base).strip(), traffic=shown.traffic, ranged=ranged,
        name=shown.network.title or shown.network.name, calibrated=CALIBRATED * any(p.calibrated for _, p in known),
    )  # fmt: skip
    top = max(y for one in series for y in (*one.y, *one.high))
    upright = Axis("rate", False, even_ticks(top, si_ticks(base)), base)
    columns = (word, "rate", "calibrated range", "limited by", "published", "error", "solver")
    rows = table_rows("network/answers", "curve_rows", c=shown.curve, calibrated=CALIBRATED, unit=base)
    panel = Panel(_size_axis(shown, xs[-1]), upright, tuple(series))
    return Picture("scale", f"{shown.traffic} against {word}", caption, (panel,), columns, rows)


def _size_axis(shown: Overview, last: float) -> Axis:
    return Axis(shown.curve.size_word, False, even_ticks(last, lambda v: f"{v:g}"))


def failures(shown: Overview) -> Picture | None:
    """Return the rate after the worst single failure by policy; `None` if no failures were computed."""
    found = shown.failures
    if not found:
        return None
    policies = list(dict.fromkeys(worst.policy for worst in found))
    series = tuple(
        ChartSeries(
            policy, "curve", tuple(float(w.size) for w in found if w.policy == policy),
            tuple(w.left for w in found if w.policy == policy),
        )
        for policy in policies
    )  # fmt: skip
    kind = found[0].link_class
    upright = Axis("remaining rate", False, tuple((tenth / 10, f"{10 * tenth} %") for tenth in range(0, 11, 2)))
    panel = Panel(_size_axis(shown, max(w.size for w in found)), upright, series)
    names = next((tuple(w.quantiles) for w in found if w.quantiles), ())
    columns = (shown.curve.size_word, "policy", *names, "worst cable", "without effect", "traffic without a route")
    percent = units.percent_text
    rows = tuple(
        (
            f"{w.size}", w.policy, *(percent(w.quantiles[name]) if w.quantiles else "" for name in names), w.link,
            percent(w.harmless), percent(w.disconnecting),
        )
        for w in found
    )  # fmt: skip
    caption = fill("network/page", "failures", kind=kind, policies=policies)
    return Picture("failures", f"One {kind} cable fails", caption, (panel,), columns, rows)


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


class Term(NamedTuple):
    """A term of a picture and its meaning."""

    word: str
    meaning: str


def link_terms(found: LoadMap) -> tuple[Term, ...]:
    """Return the parts of the network, and the classes of links of a load map with their capacities and notes."""
    network, shape = found.network, found.network.topology
    named = {"shape": shape, "kind": type(shape).__name__, "node": network.node}
    classes = []
    for name in (one.link_class for one in found.classes):
        link = network.link_class(name)
        limits = fill("network/terms", "limits", found=link, each_way=name in shape.link_classes())
        meaning = fill("network/terms", "link", name=name, **named)
        classes.append(Term(name, "; ".join(filter(None, (meaning, link.note, limits)))))
    return (*_terms("parts", **named, size=shape.size()), *classes)


def drawing_terms(found: LoadMap) -> tuple[Term, ...]:
    """Return what the drawing of a topology shows; empty if there is no drawing."""
    shape = found.network.topology
    return _terms("drawing", shape=shape, kind=type(shape).__name__, node=found.network.node)


def _terms(part: str, **values: object) -> tuple[Term, ...]:
    lines = fill("network/terms", part, **values).splitlines()
    return tuple(Term(*line.split("\t", 1)) for line in lines if line)


def _frame(shown: Overview, size: int, found: LoadMap) -> Markup:
    """Return what the slider shows at one size."""
    said = Markup("<p><strong>{} {}:</strong> {}</p>").format(size, shown.curve.size_word, sentence(shown, found))
    map_ = Markup(network_svg.topology(found))  # noqa: S704 - escapes its texts
    region = Markup('<div class="drawing" tabindex="0" role="region" aria-label="Topology">{}</div>').format(map_)
    return said + _both(partial(network_svg.strips, found)) + (region if map_ else "")


def _both(draw: Callable[..., str]) -> Markup:
    """Return a drawing for both widths of a page; the style of the page shows one of them."""
    drawings = draw(room=network_svg.WIDE) + draw(room=network_svg.NARROW)
    return Markup(drawings)  # noqa: S704 - the drawings escape their texts


def _data(shown: Overview) -> dict[str, Any]:
    return {
        "run": f"{shown.network.name}-{shown.traffic}",
        "octant": __version__,
        "network": to_builtins(shown.network),
        "curve": plain(shown.curve.points),
        "maps": [
            {"size": size, "rate_per_s": found.rate_per_s, "classes": plain(found.classes)}
            for size, found in shown.maps.items()
        ],
        "failures": plain(shown.failures),
    }
