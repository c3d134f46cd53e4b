"""What the network model answers, as text and as JSON."""

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, to_builtins

from octant.network.calibrate import Calibration
from octant.network.failures import Random, Recovery, Sweep
from octant.network.files import NetworkFile
from octant.network.inventory import NetworkInventory
from octant.network.predictions import Prediction
from octant.network.scale import ScalePoint, ScalingCurve
from octant.network.whatif import Bracket, Difference, Explanation, RequiredChange, Sensitivity
from octant.report.segments import segment_facts
from octant.report.tables.layout import fill, rate_text, text_table
from octant.simulate.run_calibration import Evidence, StoreCalibration
from octant.units import percent_text, si_text

CALIBRATED = "*"
"""Mark of a published point with which the model was calibrated."""
_MAX_CAUSES = 8


def plain(value: object) -> Any:
    """Return dataclasses, arrays and infinities as values of JSON; fields without `repr` are omitted."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Struct):
        return plain(to_builtins(value))
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(value: object) -> str:
    """Return any answer of the model as JSON; rates are in base units."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def curve_json(curve: ScalingCurve) -> str:
    """Return a curve as JSON; each point has its error against the published value."""
    points = [{**plain(point), curve.size_word: point.size, "error": plain(point.error)} for point in curve.points]
    return as_json({**plain(curve), "points": points})


def curve_text(curve: ScalingCurve) -> str:
    """Return a row for each size: the rate with its range, what limits it, the next solver and the published value."""
    columns = (">model", ">range", "limited by", ">headroom", ">next solver", ">published", ">error")
    rows = [
        (
            p.size, rate_text(p.rate_per_s, "", 4), range_text(p, "") if p.high_per_s > p.low_per_s else "",
            limit_text(p), f"{100 * (p.headroom - 1):+.1f} %" if p.headroom else "",
            rate_text(p.bound.rate_per_s, "") if p.bound else "", published_text(p, ""), error_text(p),
        )
        for p in curve.points
    ]  # fmt: skip
    unit = curve.points[0].unit if curve.points else ""
    table = text_table((f">{curve.size_word}", *columns), rows)
    return fill("network/answers", "curve", c=curve, unit=unit, table=table, calibrated=CALIBRATED)


def range_text(point: ScalePoint, unit: str) -> str:
    """Return the range that the calibration allows."""
    return " … ".join(rate_text(value, unit) for value in (point.low_per_s, point.high_per_s))


def limit_text(point: ScalePoint) -> str:
    """Return the class of links that limits a point, with the resource."""
    return f"{point.bottleneck} ({point.resource})" if point.resource else point.bottleneck


def error_text(point: ScalePoint) -> str:
    """Return the error of the model against the published value."""
    return f"{100 * point.error:+.1f} %" if point.error is not None else ""


def published_text(point: ScalePoint, unit: str) -> str:
    """Return the published value, marked if the model was calibrated with it."""
    if point.published is None:
        return ""
    return si_text(point.published.value, unit) + f" {CALIBRATED}" * bool(point.published.calibrated)


def answer_text(answer: Prediction) -> str:
    """Return the rate, and the limit of each class of links; loads are per unit of a sender or of the largest flow."""
    unit = f"{answer.unit}/s"
    columns = ("class", ">load", ">capacity", ">limit if only this class", ">headroom", ">links", "tightest link")
    rows = [
        (
            b.link_class, f"{b.load / answer.units_each:.4g}", si_text(b.capacity_per_s, unit),
            si_text(b.rate_per_s, unit), f"× {b.headroom:.3g}" if math.isfinite(b.headroom) else "", b.links, b.link,
        )
        for b in answer.bottlenecks
    ]  # fmt: skip
    return fill("network/answers", "prediction", a=answer, table=text_table(columns, rows))


def explanation_text(explanation: Explanation, gains: Sequence[Sensitivity]) -> str:
    """Return an answer with the sources of the load on its tightest link, and the gain from faster links."""
    causes = [(percent_text(one.part), one.relation, one.hop, one.job) for one in explanation.causes[:_MAX_CAUSES]]
    rows = [(one.link_class, f"{one.elasticity:.2f}", f"× {one.rate_if_doubled:.3g}") for one in gains]
    return fill(
        "network/answers", "explanation", e=explanation, answer=answer_text(explanation.answer),
        causes=text_table((">share", "between", ">hop", ">job"), causes),
        gains=text_table(("class", ">% rate per % capacity", ">gain if doubled"), rows),
    )  # fmt: skip


def differences_text(first: str, second: str, rows: Sequence[Difference]) -> str:
    """Return two machines side by side, a row for each size."""
    cells = [
        (
            row.size, *(rate_text(v, "", 4) for v in (row.first_per_s, row.second_per_s)),
            "" if row.ratio is None else f"{row.ratio:.3f}", row.first_bottleneck, row.second_bottleneck,
        )
        for row in rows
    ]  # fmt: skip
    head = (">size", f">{first}", f">{second}", ">ratio", f"{first} limited by", f"{second} limited by")
    notes = [f"{row.size}: {note}" for row in rows for note in row.notes]
    return "\n".join([rows[0].unit if rows else "", text_table(head, cells), *notes])


def change_text(change: RequiredChange, unit: str) -> str:
    """Return the smallest change that reaches a target."""
    return fill("network/answers", "change", c=change, unit=f"{unit}/s")


def bracket_text(bracket: Bracket, unit: str) -> str:
    """Return the rates of two routings, and of an ideal adaptive routing."""
    return fill("network/answers", "bracket", b=bracket, unit=f"{unit}/s")


def sweep_text(sweep: Sweep, unit: str) -> str:
    """Return the distribution of the rate over single failures."""
    rates = np.quantile(sweep.rates_per_s, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
    return fill("network/failures", "sweep", s=sweep, unit=f"{unit}/s", rates=rates)


def random_text(random: Random, unit: str) -> str:
    """Return the rates after random sets of failures, and the number of trials that disconnect some traffic."""
    return fill("network/failures", "random", r=random, unit=f"{unit}/s")


def recovery_text(recovery: Recovery) -> str:
    """Return what detection and failover did."""
    return fill("network/failures", "recovery", r=recovery)


def calibration_text(fit: Calibration) -> str:
    """Return fitted capacities with their ranges."""
    rows = [
        (
            p.link_class, si_text(p.value, "/s", 4),
            *(si_text(v, "/s", 4) if 0 < v < math.inf else "open" for v in (p.low, p.high)),
            "" if p.determined else "not determined",
        )
        for p in fit.parameters
    ]  # fmt: skip
    return fill("network/calibration", "fit", f=fit, table=text_table(("class", ">value", ">low", ">high", ""), rows))


def store_calibration_text(found: StoreCalibration) -> str:
    """Return what a run measured, the resulting capacities and start-up times, and lines for a network file."""
    pairs = list(zip(found.evidence, found.fits, strict=True))
    evidence = [
        fill("network/calibration", "evidence", e=e, fit=calibration_text(fit), segments=segment_facts(e.segments))
        for e, fit in pairs
    ]
    lines = [row for one, fit in pairs for row in _capacity_lines(found, one, fit)]
    lines += _message_lines(found) if lines else []
    return fill("network/calibration", "stored", s=found, evidence=evidence, lines=lines)


def _capacity_lines(found: StoreCalibration, one: Evidence, fit: Calibration) -> list[str]:
    """Return capacities with a lower bound as TOML; an upper bound alone is no capacity."""
    ends = {"endpoint": "endpoint.injection", "local": "endpoint.local"}
    lines = []
    for p in (p for p in fit.parameters if p.low > 0):
        value, low, high = (v * p.each for v in (p.value, p.low, p.high))
        top = f", high = {high:.4g}" if math.isfinite(high) else ""
        source = f"{one.workload}, run {found.run} on {found.machine}{'' if top else '; open above'}"
        lines += [f"[{ends.get(p.link_class, f'links.{p.link_class}')}]",
                  f"{p.resource}_per_s = {{ value = {value:.4g}, low = {low:.4g}{top}, "
                  f"source = {json.dumps(source, ensure_ascii=False)} }}"]  # fmt: skip
    return lines


def _message_lines(found: StoreCalibration) -> list[str]:
    """Return times of messages by their length as TOML, within a node and between nodes; a line for each segment."""
    lines: dict[str, list[str]] = {}
    for one in found.evidence:
        flows = one.pattern.flows
        if one.is_message and one.segments and flows is not None:
            key = "inside" if flows.sources[0] == flows.targets[0] else "between"
            rates = [f", bytes_per_s = {s.bandwidth:.4g}" * math.isfinite(s.bandwidth) for s in one.segments]
            rows = [
                f"  {{ first = {s.first:.0f}, time = {s.at_first_s:.4g}{rate} }},"
                for s, rate in zip(one.segments, rates, strict=True)
            ]
            lines.setdefault(key, [f"{key} = [", *rows, "]"])
    source = json.dumps(f"run {found.run} on {found.machine}", ensure_ascii=False)
    return ["[messages]", *(line for part in lines.values() for line in part), f"source = {source}"] if lines else []


def networks_text(networks: Sequence[NetworkFile]) -> str:
    """Return the catalogue of networks, a row for each."""
    rows = [
        (n.name, n.topology.kind, n.topology.nodes(), n.routing.name, ", ".join(n.published), n.title) for n in networks
    ]
    return text_table(("=network", "topology", ">nodes", "routing", "published", "description"), rows)


def inventory_text(found: NetworkInventory) -> str:
    """Return nodes, switches and cables; for a fabric also the devices without traffic and the lines of the dump."""
    rows = [
        (c.name, f"{c.cables:,}", si_text(c.bytes_per_s, "B/s") if c.bytes_per_s is not None else "no limit")
        for c in found.classes
    ]
    apart = [(one.kind, f"{one.count:,}", one.reason) for one in (found.fabric.apart if found.fabric else ())]
    return fill(
        "network/answers", "inventory", n=found, classes=text_table(("class", ">cables", ">one direction"), rows),
        apart=text_table(("devices without traffic", ">count", "reason"), apart) if apart else "",
    )  # fmt: skip
