"""The network model's curves as data: rate against scale with published points, and the rate after single failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture
from octant.report.charts.ticks import even_ticks, si_ticks
from octant.report.network.answers import CALIBRATED, error_text, limit_text, published_text, range_text
from octant.report.tables.layout import fill

if TYPE_CHECKING:
    from octant.network.overview import Overview
    from octant.network.scale import ScalePoint


def curve(shown: Overview) -> Picture:
    """Return rate against scale: the model with its calibrated range, the queueing solver and published values."""
    points = shown.curve.points
    unit = points[0].unit
    base = unit.split(" per ")[0]
    xs = tuple(float(p.size) for p in points)
    solvers = {p.solver for p in points}
    name = f"model ({points[0].solver})" if len(solvers) == 1 else "model (solver of each size in the table)"
    series = [ChartSeries(name, "curve", xs, tuple(p.rate_per_s for p in points), role="series-1")]
    known = [(x, p.published) for x, p in zip(xs, points, strict=True) if p.published]
    if known:
        labels = tuple(f"published at {x:g}{': ' + p.derived if p.derived else ''}" for x, p in known)
        at, values = tuple(x for x, _ in known), tuple(p.value for _, p in known)
        series.append(ChartSeries("published", "points", at, values, labels=labels, role="published"))
    if bounds := [(x, p.bound) for x, p in zip(xs, points, strict=True) if p.bound]:
        at, values = tuple(x for x, _ in bounds), tuple(b.rate_per_s for _, b in bounds)
        series.append(ChartSeries(bounds[0][1].solver, "line", at, values, role="grey"))
    ranged = any(p.low_per_s < p.high_per_s for p in points)
    if ranged:
        ends = tuple(p.low_per_s for p in points), tuple(p.high_per_s for p in points)
        series.append(
            ChartSeries("range of its calibration", "band", xs, series[0].y, *ends, role="series-1", names="none")
        )
    top = max(y for one in series for y in (*one.y, *one.high))
    word = shown.curve.size_word
    caption = fill(
        "network/page", "curve", rate_of=unit.removeprefix(base).strip(), traffic=shown.traffic, ranged=ranged,
        name=shown.network.title or shown.network.name, calibrated=CALIBRATED * any(p.calibrated for _, p in known),
    )  # fmt: skip
    along = Axis(word, False, even_ticks(xs[-1], lambda v: f"{v:g}"))
    upright = Axis("rate", False, even_ticks(top, si_ticks(base)), base)
    return Picture(
        "scale",
        f"{shown.traffic} against {word}",
        caption,
        (Panel(along, upright, tuple(series)),),
        (word, "rate", "calibrated range", "limited by", "published", "error", "solver"),
        tuple(_cells(point, base) for point in points),
    )


def _cells(point: ScalePoint, base: str) -> tuple[str, ...]:
    rate, ends = units.si_text(point.rate_per_s, base), range_text(point, base)
    return str(point.size), rate, ends, limit_text(point), published_text(point, base), error_text(point), point.solver


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
    word, kind = shown.curve.size_word, found[0].link_class
    along = Axis(word, False, even_ticks(float(max(w.size for w in found)), lambda v: f"{v:g}"))
    upright = Axis("rate left", False, tuple((tenth / 10, f"{10 * tenth} %") for tenth in range(0, 11, 2)))
    return Picture(
        "failures",
        f"One {kind} cable fails",
        fill("network/page", "failures", kind=kind, policies=policies),
        (Panel(along, upright, series),),
        (word, "policy", "rate left", "worst cable", "failures without effect"),
        tuple(
            (f"{w.size}", w.policy, units.percent_text(w.left), w.link, units.percent_text(w.harmless)) for w in found
        ),
    )
