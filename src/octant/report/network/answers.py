"""What the network model answers, as text and as JSON."""

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct, to_builtins
from rich.table import Table

from octant.network.calibrate import Calibration
from octant.network.failures import Random, Recovery, Sweep
from octant.network.files import NetworkFile
from octant.network.predictions import FlowRates, Prediction
from octant.network.scale import ScalePoint, ScalingCurve
from octant.network.whatif import Bracket, Difference, Explanation, RequiredChange, Sensitivity
from octant.report.segments import segment_facts
from octant.report.terminal import render
from octant.simulate.run_calibration import Evidence, StoreCalibration
from octant.units import bytes_text, counted, percent_text, si_text

_NEW_ROUTES = "traffic stalls where its routes know no other way; --policy recompute makes new routes"

CALIBRATED = "*"
"""Stands beside a published point on which the model was calibrated."""


def plain(value: object) -> Any:
    """Dataclasses, arrays and infinities as JSON knows them; loads and other large arrays of an answer are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [f.name for f in dataclasses.fields(value) if f.repr]
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Struct):
        return plain(to_builtins(value))
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def as_json(value: object) -> str:
    """Any answer of the model, for programs; rates are in base units."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def curve_json(curve: ScalingCurve) -> str:
    """A curve; every point with its error against the published value."""
    points = [{**plain(point), curve.size_word: point.size, "error": plain(point.error)} for point in curve.points]
    return json.dumps({**plain(curve), "points": points}, indent=2, ensure_ascii=False)


def rate_text(value: float, unit: str, digits: int = 3) -> str:
    """A rate for people: `12.3 GB/s`, or `no limit` where nothing holds it back."""
    return "no limit" if math.isinf(value) else si_text(value, unit, digits)


def time_text(value: float) -> str:
    """A time for people: `133 µs`, or `never` of what does not end."""
    return "never" if math.isinf(value) else si_text(value, "s")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    return table


def curve_text(curve: ScalingCurve) -> str:
    """One size a row: the model with its calibrated range, what limits, the next better solver, the published value."""
    unit = curve.points[0].unit if curve.points else ""
    columns = (">model", ">range", "limited by", ">next limit", ">next solver", ">published", ">error")
    table = _table(f">{curve.size_word}", *columns)
    for p in curve.points:
        ends = [rate_text(value, "") for value in (p.low_per_s, p.high_per_s)]
        spread = " … ".join(ends) if p.high_per_s > p.low_per_s else ""
        table.add_row(
            str(p.size),
            rate_text(p.rate_per_s, "", 4),
            spread,
            f"{p.bottleneck} ({p.resource})" if p.resource else p.bottleneck,
            f"{100 * (p.headroom - 1):+.1f} %" if p.headroom else "",
            rate_text(p.bound.rate_per_s, "") if p.bound else "",
            published_text(p, ""),
            f"{100 * p.error:+.1f} %" if p.error is not None else "",
        )
    solvers = " / ".join(dict.fromkeys(p.solver for p in curve.points))
    bounds = " / ".join(dict.fromkeys(p.bound.solver for p in curve.points if p.bound))
    lines = [f"{curve.network}: {curve.traffic}, {unit}", render(table), f"model: {solvers}"]
    lines += [f"next solver: {bounds}"] * bool(bounds)
    lines += [
        f"{CALIBRATED} at {p.size} the model was calibrated on this: {', '.join(p.published.calibrated)}"
        for p in curve.points
        if p.published and p.published.calibrated
    ]
    lines += list(dict.fromkeys(f"{p.size}: {said}" for p in curve.points for said in (p.assumption, p.note) if said))
    return "\n".join(lines)


def published_text(point: ScalePoint, unit: str) -> str:
    """The published value, marked where the model was calibrated on it and so does not predict it."""
    if point.published is None:
        return ""
    return si_text(point.published.value, unit) + f" {CALIBRATED}" * bool(point.published.calibrated)


def answer_text(answer: Prediction) -> str:
    """The rate, and what every class of links would allow. Loads are per unit of a sender or the largest flow."""
    table = _table("class", ">load", ">capacity", ">alone", ">room", ">links", "tightest link")
    for b in answer.bottlenecks:
        table.add_row(
            b.link_class, f"{b.load / answer.units_each:.4g}", si_text(b.capacity_per_s, f"{answer.unit}/s"),
            si_text(b.rate_per_s, f"{answer.unit}/s"), f"×{b.headroom:.3g}" if math.isfinite(b.headroom) else "",
            str(b.links), b.link,
        )  # fmt: skip
    rate = rate_text(answer.rate_per_s, f"{answer.unit}/s", 4)
    lines = [f"{answer.network}: {answer.pattern}: {rate} per {answer.per} ({answer.solver})", render(table)]
    if answer.flow_rates:
        lines += _flow_rates_lines(answer.flow_rates, f"{answer.unit}/s")
    if answer.per == "flow" and answer.units_each > 1 and answer.unit == "B":
        lines.append(
            f"all flows (the largest: {bytes_text(answer.units_each)}) are through in {time_text(answer.time_s)}"
        )
    if answer.bound:
        lines.append(f"{answer.bound.solver}: {rate_text(answer.bound.rate_per_s, answer.unit + '/s', 4)}")
    if answer.stalled:
        lines.append(f"{percent_text(answer.stalled)} of the traffic has no route.")
    return "\n".join([*lines, *(f"note: {note}" for note in answer.notes)])


def _flow_rates_lines(found: FlowRates, unit: str) -> list[str]:
    """The rates of all flows that cross the network, from the slowest to the fastest."""
    ends = [rate_text(value, unit, 4) for value in (found.slowest_per_s, found.fastest_per_s)]
    quartiles = ", ".join(rate_text(value, unit, 4) for value in found.quartiles_per_s)
    crossing = f"{found.crossing:,} flows between nodes"
    return [
        f"{crossing}: slowest {ends[0]}, quartiles {quartiles}, mean {rate_text(found.mean_per_s, unit, 4)}, "
        f"fastest {ends[1]}"
    ]


def explanation_text(explanation: Explanation, worth: Sequence[Sensitivity]) -> str:
    """An answer with what loads its tightest link, what each class is worth, and what the model does not explain."""
    lines = [answer_text(explanation.answer), "", *explanation.sentences]
    if explanation.causes:
        lines.append("Its load, by pair and hop:")
        table = _table(">part", "between", ">hop", ">job")
        for cause in explanation.causes[:8]:
            table.add_row(percent_text(cause.part), cause.relation, str(cause.hop), str(cause.job))
        lines.append(render(table))
    table = _table("class", ">% rate per % capacity", ">rate if doubled")
    for s in worth:
        table.add_row(s.link_class, f"{s.elasticity:.2f}", f"×{s.rate_if_doubled:.3g}")
    lines += ["What a faster class is worth:", render(table)]
    for item in explanation.unexplained:
        lines.append(f"Not explained: {item.statement}: published {item.published}; model {item.model} ({item.why}).")
    return "\n".join(lines)


def differences_text(first: str, second: str, rows: Sequence[Difference]) -> str:
    """Two machines side by side."""
    table = _table(">size", f">{first}", f">{second}", ">ratio", "limited by", "then by")
    for row in rows:
        values = [rate_text(v, "", 4) for v in (row.first_per_s, row.second_per_s)]
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        table.add_row(str(row.size), *values, ratio, row.first_bottleneck, row.second_bottleneck)
    notes = [f"{row.size}: {note}" for row in rows for note in row.notes]
    return "\n".join([rows[0].unit if rows else "", render(table), *notes])


def change_text(change: RequiredChange, unit: str) -> str:
    """The smallest change that reaches a target."""
    target, present = (rate_text(v, f"{unit}/s", 4) for v in (change.target_per_s, change.present_per_s))
    if not change.factors:
        return f"{target} is reached already ({present})."
    what = ", ".join(f"{name} ×{factor:.3f}" for name, factor in change.factors.items())
    return f"{present} → {target}: {what} (solved again: {si_text(change.reached_per_s, f'{unit}/s', 4)})"


def bracket_text(bracket: Bracket, unit: str) -> str:
    """Two routings and the ideal between them."""
    rates = (bracket.first_per_s, bracket.second_per_s, bracket.ideal_per_s, bracket.ideal_at_most_per_s)
    one, two, ideal, most = (rate_text(rate, f"{unit}/s", 4) for rate in rates)
    return "\n".join(
        [
            f"{bracket.first}: {one}",
            f"{bracket.second}: {two}",
            f"ideal adaptive: {ideal} to {most}, {percent_text(bracket.on_second)} of the traffic by {bracket.second}, "
            f"limited by {bracket.bottleneck}",
            *([f"note: {bracket.note}"] if bracket.note else []),
        ]
    )


def sweep_text(sweep: Sweep, unit: str) -> str:
    """A failure sweep as its distribution."""
    rate = np.quantile(sweep.rates_per_s, [0.0, 0.25, 0.5, 0.75, 1.0])
    spread = ", ".join(si_text(float(v), f"{unit}/s", 4) for v in rate)
    left = "fails" if sweep.left == 0 else f"keeps {percent_text(sweep.left)}"
    own = f"; the file's own routing: {si_text(sweep.own_per_s, f'{unit}/s', 4)}" if sweep.policy == "recompute" else ""
    return "\n".join(
        [
            f"{len(sweep.links)} {sweep.link_class} cables, each {left} alone (policy {sweep.policy}):",
            f"  whole          {si_text(sweep.base_per_s, f'{unit}/s', 4)}{' by shortest paths' if own else ''}{own}",
            f"  quartiles      {spread}",
            f"  worst          {sweep.worst_link}, then limited by {sweep.worst_bottleneck}",
            f"  without effect {sweep.harmless} of {len(sweep.links)}; stalls traffic: {sweep.stalling}",
            *([f"  {_NEW_ROUTES}"] if sweep.stalling and sweep.policy != "recompute" else []),
        ]
    )


def random_text(random: Random, unit: str) -> str:
    """Random sets of failures: quantiles of the trials that left every flow a route, and how many did not."""
    rates = ", ".join(f"{percent_text(q)}: {si_text(v, f'{unit}/s', 4)}" for q, v in random.quantiles_per_s.items())
    cut = f"disconnected: {random.cut_off} of {counted(random.trials, 'trial')}" if random.cut_off else ""
    said = "; ".join(part for part in (rates, cut) if part)
    hint = f"\n{_NEW_ROUTES}" if random.cut_off and random.policy != "recompute" else ""
    return f"{counted(random.failures, 'random link')} down, {counted(random.trials, 'trial')}: {said}{hint}"


def recovery_text(recovery: Recovery) -> str:
    """What detection and failover did."""
    lost, missing = recovery.lost_packets, recovery.undelivered_packets
    calm, took = (time_text(value) for value in (recovery.undisturbed_s, recovery.time_s))
    if not lost:
        return f"{recovery.link} dies: nothing is lost, nobody notices; exchange {calm} → {took}"
    dropped = f"path dropped after {time_text(recovery.detected_s)}" if recovery.detected_s else "path never dropped"
    again = (
        "not all lost packets arrive"
        if missing
        else f"all lost packets delivered after {time_text(recovery.recovered_s)}"
    )
    ended = f"exchange {calm} → {'does not end' if missing else took}"
    return (
        f"{recovery.link} dies: {dropped}, {again}; {ended}; {lost} lost, {recovery.resent_packets} sent again, "
        f"{missing} missing in the end"
    )


def calibration_text(fit: Calibration) -> str:
    """Fitted capacities with their ranges."""
    table = _table("class", ">value", ">low", ">high", "")
    for p in fit.parameters:
        bounds = [si_text(v, "/s", 4) if 0 < v < math.inf else "open" for v in (p.low, p.high)]
        table.add_row(p.link_class, si_text(p.value, "/s", 4), *bounds, "" if p.determined else "not determined")
    lines = [f"{fit.traffic}: misfit {fit.misfit:.2f} tolerances", render(table)]
    if fit.widened > 1 + 1e-9:
        miss = f"the best fit misses a point by {fit.widened:.3g} times its tolerance"
        lines.append(f"{miss}; the ranges hold what all points but any one allow")
    return "\n".join(lines)


def store_calibration_text(found: StoreCalibration) -> str:
    """What a run measured, what that says of each capacity and of start-up times, and lines for a network file."""
    lines = [f"{found.network} from run {found.run} on {found.machine}"]
    for one, fit in zip(found.evidence, found.fits, strict=True):
        unit = f"{one.pattern.unit}/s"
        rates = [si_text(v, unit, 4) for v in (one.rate_per_s.middle, one.rate_per_s.low, one.rate_per_s.high)]
        lines += ["", f"{one.workload}, {one.between}: {rates[0]} [{rates[1]}, {rates[2]}] ({one.says}; {one.rate_is})"]
        lines += [f"  doubt: {caveat}" for caveat in one.caveats]
        lines.append(calibration_text(fit))
        if one.startup:
            took, ends = one.startup.seconds, one.startup.overhead_s
            times = ", ".join(si_text(v, "s") for v in (took.low, took.high))
            latency, software = si_text(one.startup.file_latency_s, "s"), " to ".join(si_text(v, "s") for v in ends)
            lines.append(f"start-up (L + 2o): {si_text(took.middle, 's')} [{times}]")
            lines.append(f"  latency in the file: {latency}, which leaves --overhead {software}")
        lines += [f"{name}: {text}" for name, text in segment_facts(one.segments)]
    written = [row for one, fit in zip(found.evidence, found.fits, strict=True) for row in _file_lines(found, one, fit)]
    if written:
        lines += ["", "for the network file:", *written, *_message_lines(found)]
    return "\n".join([*lines, *([""] if found.left_out else []), *(f"not used: {why}" for why in found.left_out)])


def _file_lines(found: StoreCalibration, one: Evidence, fit: Calibration) -> list[str]:
    """Capacities that the run shows, as TOML; what it bounds from above only is no capacity."""
    lines = []
    for p in fit.parameters:
        if not p.low > 0:
            continue
        ends = {"endpoint": "endpoint.injection", "local": "endpoint.local"}
        where = ends.get(p.link_class, f"links.{p.link_class}")
        value, low, high = (v * p.each for v in (p.value, p.low, p.high))
        top = f", high = {high:.4g}" if math.isfinite(high) else ""
        source = f"{one.workload}, run {found.run} on {found.machine}{'' if top else '; open above'}"
        lines += [f"[{where}]", f"{p.resource}_per_s = {{ value = {value:.4g}, low = {low:.4g}{top}, "
                  f"source = {json.dumps(source, ensure_ascii=False)} }}"]  # fmt: skip
    return lines


def _message_lines(found: StoreCalibration) -> list[str]:
    """Times of messages by their length, as TOML: a line for each segment, within a node and between nodes."""
    lines: dict[str, list[str]] = {}
    for one in found.evidence:
        flows = one.pattern.flows
        if not one.is_message or not one.segments or flows is None:
            continue
        where = "inside" if flows.sources[0] == flows.targets[0] else "between"
        rows = []
        for part in one.segments:
            rate = f", bytes_per_s = {part.bandwidth:.4g}" if math.isfinite(part.bandwidth) else ""
            rows.append(f"  {{ first = {part.first:.0f}, time = {part.at_first_s:.4g}{rate} }},")
        lines.setdefault(where, [f"{where} = [", *rows, "]"])
    if not lines:
        return []
    source = json.dumps(f"run {found.run} on {found.machine}", ensure_ascii=False)
    return ["[messages]", *(line for of in lines.values() for line in of), f"source = {source}"]


def networks_text(networks: Sequence[NetworkFile]) -> str:
    """The catalogue, one network a row."""
    table = _table("network", "shape", ">nodes", "routing", "published", "what it is")
    for n in networks:
        table.add_row(
            n.name, n.topology.kind, str(n.topology.nodes()), n.routing.name, ", ".join(n.published), n.title
        )  # fmt: skip
    return render(table)
