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
from octant.report.tables.layout import fill
from octant.simulate.run_calibration import Evidence, StoreCalibration

CALIBRATED = "*"
"""Mark of a published point with which the model was calibrated."""
_MOST_CAUSES = 8


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
    return fill("network/answers", "curve", c=curve, calibrated=CALIBRATED)


def range_text(point: ScalePoint, unit: str) -> str:
    """Return the range that the calibration allows."""
    return fill("network/answers", "range", p=point, unit=unit)


def limit_text(point: ScalePoint) -> str:
    """Return the class of links that limits a point, with the resource."""
    return fill("network/answers", "limit", p=point)


def error_text(point: ScalePoint) -> str:
    """Return the error of the model against the published value."""
    return fill("network/answers", "error", p=point)


def published_text(point: ScalePoint, unit: str) -> str:
    """Return the published value, marked if the model was calibrated with it."""
    return fill("network/answers", "published", p=point, unit=unit, calibrated=CALIBRATED)


def answer_text(answer: Prediction) -> str:
    """Return the rate, and the limit of each class of links; loads are per unit of a sender or of the largest flow."""
    return fill("network/answers", "prediction", a=answer)


def explanation_text(explanation: Explanation, gains: Sequence[Sensitivity]) -> str:
    """Return an answer with the sources of the load on its tightest link, and the gain from faster links."""
    return fill("network/answers", "explanation", e=explanation, gains=gains, most=_MOST_CAUSES)


def differences_text(first: str, second: str, rows: Sequence[Difference]) -> str:
    """Return two machines side by side, a row for each size."""
    return fill("network/answers", "differences", first=first, second=second, rows=rows)


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
    return fill("network/calibration", "fit", f=fit)


def store_calibration_text(found: StoreCalibration) -> str:
    """Return what a run measured, the resulting capacities and start-up times, and lines for a network file."""
    pairs = list(zip(found.evidence, found.fits, strict=True))
    evidence = [
        fill("network/calibration", "evidence", e=e, fit_=fit, segments=segment_facts(e.segments)) for e, fit in pairs
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
    return fill("network/answers", "networks", networks=networks)


def inventory_text(found: NetworkInventory) -> str:
    """Return nodes, switches and cables; for a fabric also the devices without traffic and the lines of the dump."""
    return fill("network/answers", "inventory", n=found)
