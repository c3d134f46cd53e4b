"""Calibration of a network model from the measurements of a stored run, with ranges."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from octant import units, workloads
from octant.analysis.figures import Figure, value_of
from octant.analysis.segments import Segment, segments
from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
from octant.network.calibrate import Calibration, MeasuredRate, check_classes, fit, loaded_classes
from octant.network.files import NetworkFile
from octant.network.solve import engine
from octant.network.traffic import TrafficPattern, make
from octant.simulate.model_comparison import Duplex, duplex_of
from octant.simulate.stored_figures import matching_figures
from octant.stats import Estimate, Interval
from octant.store import StoredRun
from octant.workload import CollectiveTraffic, NoTraffic, Traffic

_LONG_BYTES = 65536  # the start-up is a small part of the time of longer messages
_SHORT_BYTES = 8  # the time of shorter messages is their start-up
_OF_SEVERAL = "it has several simultaneous messages and is used to test the model, not to calibrate it"
_FULL_DUPLEX = 1.1  # maximum time of both directions over that of one for independent directions
_NO_TIME = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Startup:
    """Time of the shortest message, L + 2o, and the resulting software overhead at either end (o of LogGP)."""

    seconds: Interval
    file_latency_s: float  # of the links between them, from the network file
    overhead_s: tuple[float, float]  # without a latency in the file: from none to all of the time


@dataclass(frozen=True)
class Evidence:
    """One measured rate, and the corresponding traffic of the model."""

    workload: str
    between: str
    launches: int
    rate_per_s: Interval
    rate_is: str  # meaning of the ends of the rate
    relation: Literal["eq", "at_least", "at_most"]
    says: str
    pattern: TrafficPattern = field(repr=False)
    at_most_per_s: float = float("inf")  # upper limit of the link class from other results of the run
    startup: Startup | None = None
    segments: tuple[Segment, ...] = ()  # of the times of messages in the same buffers over their length
    caveats: tuple[str, ...] = ()  # what casts doubt on it
    is_message: bool = False  # single messages without other traffic


@dataclass(frozen=True)
class StoreCalibration:
    """Calibration of a network from a stored run."""

    network: str
    run: str
    machine: str
    evidence: tuple[Evidence, ...]
    fits: tuple[Calibration, ...]  # one each
    left_out: tuple[str, ...]  # unused results of the run, with reasons


class _NothingError(Exception):
    """Figures that give no information about this network; the message states why."""


_Declared: TypeAlias = tuple[Figure, Traffic]


def calibrate_from_run(
    network: NetworkFile, run: StoredRun, kernel: str = "", free: Sequence[str] = ()
) -> StoreCalibration:
    """Return capacities and start-up times of a network from the measurements of a run.

    `kernel` selects the figures of a workload with these knobs (`p2p buffers=hot`). `free` names the link classes to
    fit; empty: all that carry the measured traffic.

    Raises:
        Refusal: the run contains no usable figure; the message states the reason for each workload.
    """
    check_classes(network, free)
    groups, left_out = _traffic_groups(matching_figures(run, kernel), run)
    duplex, notes = _duplex(run)
    evidence, fits = [], []
    for figures in groups:
        try:
            one = _evidence(network, figures, duplex)
            fits.append(_fit(network, one, free))
            evidence.append(one)
        except _NothingError as error:
            left_out.append(f"{figures[0][0].workload.name}: {error}")
    left_out = list(dict.fromkeys([*left_out, *notes]))
    if not evidence:
        have = ", ".join(sorted({point.workload for point in run.points})) or "nothing"
        why = "; ".join(left_out) or f"it contains {have}"
        offered = " or ".join(name for name, one in workloads.workloads().items() if one.traffic and one.of_links)
        raise Refusal(
            f"cannot calibrate {network.name} from run {run.id} ({why}); try octant run {offered}, or --points",
            Exit.WRONG_WORD,
        )
    return StoreCalibration(network.name, run.id, run.machine.name, tuple(evidence), tuple(fits), tuple(left_out))


def _traffic_groups(figures: Sequence[Figure], run: StoredRun) -> tuple[list[list[_Declared]], list[str]]:
    """Return the figures with traffic, by workload and by whether they are of one node, and reasons for the others."""
    groups: dict[tuple[str, bool], list[_Declared]] = {}
    reasons: dict[tuple[str, bool], list[str]] = {}
    left_out = []
    for figure in figures:
        workload = figure.workload
        if workload.traffic is None:
            continue
        key = workload.name, _one_node(figure)
        if why := _unfit(figure):
            left_out.append(f"{workload.name}: {why}")
        elif isinstance(traffic := workload.traffic(run.machine, figure.point), NoTraffic):
            reasons.setdefault(key, []).append(f"{workload.name}: {traffic.reason}")
        elif isinstance(traffic, CollectiveTraffic) or not traffic.of_link:
            reasons.setdefault(key, []).append(f"{workload.name}: {_OF_SEVERAL}")
        else:
            groups.setdefault(key, []).append((figure, traffic))
    left_out += [reason for key, texts in reasons.items() if key not in groups for reason in texts]
    return list(groups.values()), left_out


def _unfit(figure: Figure) -> str:
    if figure.wrong:
        return "its verification failed"
    if any(point.process.build.get("faults_compiled") for point in figure.points):
        return "the kernel was built with fault injection"
    if any(point.share_cores for point in figure.points):
        return "it used more threads than hardware threads"
    if figure.link:
        return f"it was measured over an emulated link ({figure.link})"
    return figure.missing


def _one_node(figure: Figure) -> bool:
    given = figure.point.given
    return not given or given[0].host == given[-1].host


def _duplex(run: StoredRun) -> tuple[Duplex | None, list[str]]:
    """Return the slowdown of both directions within a node, and a note if the model cannot represent it."""
    names = {name for name, one in workloads.workloads().items() if one.duplex}
    kept = tuple(point for point in run.points if point.workload in names)
    summary = summarise(replace(run, points=kept), all_metrics=True)
    between = duplex_of(summary, one_host=False)
    if between is None or between.ratio <= _FULL_DUPLEX:
        return duplex_of(summary, one_host=True), []
    note = (
        f"duplex: between nodes, both directions take {between.ratio:.2f} times as long as one, but the links of the "
        "model are independent in each direction; predictions for both directions may be too fast by this factor"
    )
    return duplex_of(summary, one_host=True), [note]


def _evidence(network: NetworkFile, figures: Sequence[_Declared], duplex: Duplex | None = None) -> Evidence:
    """Return the rate of the figures of one workload: that of its longest messages, or its best rate.

    Within a node, the memory rate includes the simultaneous traffic of both directions (`duplex`).
    """
    timed = figures[0][0].metric.unit == "s"
    used, rate, start = _of_times(figures) if timed else _of_rates(figures)
    figure, traffic = used[0]
    pattern = _pattern(network, figure, traffic)
    if not timed and pattern.flows is not None and len(pattern.flows) > 1:
        raise _NothingError(f"the total rate of all flows of {traffic.pattern} is not the rate of one flow")
    says, inside = (
        traffic.description,
        pattern.flows is not None and bool(np.all(pattern.flows.sources == pattern.flows.targets)),
    )
    if duplex and traffic.is_message and inside:
        times = 2 / duplex.ratio
        rate = Interval(rate.low * times, rate.middle * times, rate.high * times)
        says += f"; both directions at once take {duplex.ratio:.2f} times as long"
    at_most = float("inf")
    if timed and traffic.relation == "at_least":
        bounds = [t.units / limit for f, t in used if (limit := f.at_limit)]
        at_most = max((bound for bound in bounds if bound > rate.high), default=at_most)
    return Evidence(
        workload=figure.workload.name,
        between=_between(network, figure, pattern),
        launches=len({launch.point.launch for f, _ in used for launch in f.launches}),
        rate_per_s=rate,
        rate_is=_value(used).text,
        relation=traffic.relation,
        says=says,
        pattern=pattern,
        at_most_per_s=at_most,
        startup=_startup(network, pattern, start),
        segments=_segments(figures, traffic) if timed else (),
        caveats=tuple(dict.fromkeys(one.text for f, _ in used for one in f.caveats)),
        is_message=traffic.is_message,
    )


def _segments(figures: Sequence[_Declared], longest: Traffic) -> tuple[Segment, ...]:
    """Return start-up and time per byte of messages by length, for the buffers of the longest message."""
    times: dict[float, list[Figure]] = {}
    for figure, traffic in figures:
        if traffic.may_be_cached == longest.may_be_cached:
            times.setdefault(traffic.units, []).append(figure)
    points = [
        (length, value_of([one for figure in of for one in figure.counted]).middle) for length, of in times.items()
    ]
    return segments([(length, seconds) for length, seconds in points if seconds > 0])


def _of_times(figures: Sequence[_Declared]) -> tuple[list[_Declared], Interval, Interval]:
    """Return the longest messages, their bytes per second, and the start-up time from the shortest ones."""
    long = [one for one in figures if one[1].units >= _LONG_BYTES]
    candidates = [one for one in long if not one[1].may_be_cached] or long
    if not candidates:
        raise _NothingError(f"it has no messages of at least {units.bytes_text(_LONG_BYTES)}")
    longest, shortest = (max(t.units for _, t in candidates), min(t.units for _, t in figures))
    used = [one for one in candidates if one[1].units == longest]
    whole = _value(used)
    start = _NO_TIME
    if shortest <= _SHORT_BYTES:
        seconds = _value([one for one in figures if one[1].units == shortest])
        start = Interval(seconds.low, seconds.middle, seconds.high)
    if start.high >= whole.low:
        raise _NothingError("its longest messages are not slower than its shortest ones")
    # At the low end, the start-up time is included in the transfer time.
    times = whole.high, whole.middle - start.middle, whole.low - start.high
    return used, Interval(*(longest / seconds for seconds in times)), start


def _of_rates(figures: Sequence[_Declared]) -> tuple[list[_Declared], Interval, Interval]:
    """Return the figure with the best rate, per node, without a start-up time."""
    best = max(figures, key=lambda one: _value([one]).middle)
    rate, nodes = _value([best]), len({given.host for given in best[0].point.given})
    return [best], Interval(rate.low / nodes, rate.middle / nodes, rate.high / nodes), _NO_TIME


def _value(figures: Sequence[_Declared]) -> Estimate:
    return value_of([launch for figure, _ in figures for launch in figure.counted])


def _pattern(network: NetworkFile, figure: Figure, traffic: Traffic) -> TrafficPattern:
    """Return the traffic of the model; between two ranks of one node it is that of a node with itself."""
    own, nodes = network.endpoint.to_itself, len(network.topology.active())
    inside = traffic.pattern == "to-itself" or (traffic.pattern == "first-to-last" and _one_node(figure))
    if inside and own == "free":
        raise _NothingError(f"{network.name} does not model traffic within a node (to_itself = 'free')")
    if inside and own != "memory" and traffic.relation != "at_most":
        raise _NothingError(f"{network.name} has no links within a node (to_itself = {own!r})")
    if not inside and nodes < 2:
        raise _NothingError(f"{network.name} has only one node")
    used = len({given.host for given in figure.point.given})
    if not inside and traffic.pattern != "first-to-last" and used != nodes:
        raise _NothingError(f"its {traffic.pattern} traffic used {used} nodes, but {network.name} has {nodes}")
    made = make(network, "to-itself" if inside else traffic.pattern, cost=traffic.cost)
    return replace(made, name=figure.workload.name)


def _between(network: NetworkFile, figure: Figure, pattern: TrafficPattern) -> str:
    flows = pattern.flows
    if flows is None or len(flows) > 1:
        return f"the nodes of {network.name}"
    if flows.sources[0] != flows.targets[0]:
        return "two nodes (in the model: the first and the last)"
    return "a node and itself" if figure.point.pace == "chunks" else "ranks of one node"


def _startup(network: NetworkFile, pattern: TrafficPattern, seconds: Interval) -> Startup | None:
    """Return the start-up time of a message; `None`: not measured, or several flows with different latencies."""
    flows = pattern.flows
    if not seconds.middle or flows is None or len(flows) > 1:
        return None
    topology = network.build()
    links = engine(network, topology).shares(int(flows.sources[0]), int(flows.targets[0]))
    classes = ((network.class_names[topology.class_of(link)], part) for link, part in links)
    latency_s = sum(part * network.link_class(name).latency for name, part in classes)
    low, high = (max(0.0, end - latency_s) / 2 for end in (seconds.low, seconds.high))
    return Startup(seconds, latency_s, (low if latency_s else 0.0, high))


def _fit(network: NetworkFile, one: Evidence, free: Sequence[str]) -> Calibration:
    used = loaded_classes(network, one.pattern)
    wanted = set(free or used) | ({"endpoint"} if {"injection", "ejection"} & set(free) else set())
    if not wanted & set(used):
        raise _NothingError(f"it loads {', '.join(used)}, which --free does not include")
    # A lower bound of the rate holds for every class of the route, whatever the file states for the others.
    among = [name for name in used if one.relation != "eq" or name in wanted]
    rate = one.rate_per_s
    edge = rate.high if one.relation == "at_most" else rate.low
    tolerance = max(abs(edge / rate.middle - 1), 1e-6)
    done = fit(one.workload, [(network, one.pattern)], [MeasuredRate(1, rate.middle, tolerance, one.relation)], among)
    bounded = (replace(p, high=min(p.high, one.at_most_per_s)) for p in done.parameters)
    return replace(done, parameters=tuple(p for p in bounded if p.link_class in wanted))
