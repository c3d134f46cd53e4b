"""The network model's curves as data: rate against scale with the published points, and what single failures leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture
from octant.report.charts.ticks import even_ticks, si_ticks
from octant.report.network.answers import CALIBRATED, published_text

if TYPE_CHECKING:
    from octant.network.overview import Overview
    from octant.network.scale import ScalePoint


def curve(shown: Overview) -> Picture:
    """Rate against scale: the model with the range of its calibration, the queueing solver, and what was published."""
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
        series.append(
            ChartSeries(
                "published",
                "points",
                tuple(x for x, _ in known),
                tuple(p.value for _, p in known),
                labels=labels,
                role="published",
            )
        )
    bounds = [(x, p.bound) for x, p in zip(xs, points, strict=True) if p.bound]
    if bounds:
        series.append(
            ChartSeries(
                bounds[0][1].solver,
                "line",
                tuple(x for x, _ in bounds),
                tuple(b.rate_per_s for _, b in bounds),
                role="grey",
            )
        )
    ranged = any(p.low_per_s < p.high_per_s for p in points)
    if ranged:
        ends = tuple(p.low_per_s for p in points), tuple(p.high_per_s for p in points)
        series.append(
            ChartSeries("range of its calibration", "band", xs, series[0].y, *ends, role="series-1", names="none")
        )
    top = max(y for one in series for y in (*one.y, *one.high))
    word = shown.curve.size_word
    whose = unit.removeprefix(base).strip()
    return Picture(
        "scale",
        f"{shown.traffic} against {word}",
        f"Rate {whose} of {shown.traffic} on {shown.network.title or shown.network.name}."
        + " The band is the range that the evidence for the calibrated capacities allows, not a statistical error."
        * ranged
        + f" {CALIBRATED}: the model was calibrated on that point." * any(p.calibrated for _, p in known),
        (
            Panel(
                Axis(word, False, even_ticks(xs[-1], lambda v: f"{v:g}")),
                Axis("rate", False, even_ticks(top, si_ticks(base)), base),
                tuple(series),
            ),
        ),
        (word, "rate", "calibrated range", "limited by", "published", "model over published", "solver"),
        tuple(_cells(point, base) for point in points),
    )


def _cells(point: ScalePoint, base: str) -> tuple[str, ...]:
    low, high = (units.si_text(value, base) for value in (point.low_per_s, point.high_per_s))
    return (
        f"{point.size}",
        units.si_text(point.rate_per_s, base),
        f"{low} … {high}",
        f"{point.bottleneck} ({point.resource})" if point.resource else point.bottleneck,
        published_text(point, base),
        f"{100 * point.error:+.1f} %" if point.error is not None else "",
        point.solver,
    )


def failures(shown: Overview) -> Picture | None:
    """What the worst single failure leaves of the rate, by policy; `None` where nothing was swept."""
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
    policy_texts = {
        "twin": "twin: the cable beside it carries both",
        "spread": "spread: all that survive share it",
        "recompute": "recompute: shortest paths, before and after",
    }
    word, kind = shown.curve.size_word, found[0].link_class
    most = max(w.size for w in found)
    return Picture(
        "failures",
        f"One {kind} cable fails",
        f"What the worst of all single failures of {kind} cables leaves of the rate, with each cable failing in turn. "
        f"{'; '.join(policy_texts[policy] for policy in policies)}.",
        (
            Panel(
                Axis(word, False, even_ticks(float(most), lambda v: f"{v:g}")),
                Axis("rate left", False, tuple((tenth / 10, f"{10 * tenth} %") for tenth in range(0, 11, 2))),
                series,
            ),
        ),
        (word, "policy", "rate left", "worst cable", "failures without effect"),
        tuple(
            (f"{w.size}", w.policy, units.percent_text(w.left), w.link, units.percent_text(w.harmless)) for w in found
        ),
    )
