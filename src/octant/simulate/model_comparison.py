"""Predictions of the network model for measured figures, from a network file or from the run itself.

A run within one node has a model of its own. A message takes the measured time of a single message of its length
(`is_message`). Pairs of ranks affect each other only by the measured slowdown of both directions (`duplex`), and by the
measured memory bandwidth. For all figures except those single messages, the model is a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from octant.analysis.message_curves import BUFFERS, message_of, message_points, message_times
from octant.analysis.segments import segments
from octant.analysis.summary import Modelled
from octant.failure import Refusal
from octant.message_times import MeasuredTimes, MessageTimes
from octant.network.collectives import MessageCosts, exchange, fastest, programs
from octant.network.files import NetworkFile
from octant.network.traffic import Flows, rank_flows
from octant.record import known_count
from octant.untrusted import convert
from octant.workload import CollectiveTraffic, NoTraffic, Traffic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.network.collectives import Program
    from octant.network.traffic import Nodes
    from octant.record import Point

_MAX_FLOWS = 100_000  # of a figure; limits the time to generate a page


@dataclass(frozen=True)
class Duplex:
    """Slowdown of simultaneous messages in both directions of a pair."""

    ratio: float  # time of both directions over that of one, 1 to 2
    bytes_each: float


@dataclass
class _Model:
    """A network with its message times, and a cache of evaluated algorithms."""

    summary: Summary
    network: NetworkFile | None  # `None`: the node itself
    inside: dict[str, MessageTimes]  # between ranks of a node, by their buffers
    between: dict[str, MessageTimes]  # between nodes
    duplex: Duplex | None
    priced: dict[tuple[object, ...], list[Program]] = field(default_factory=dict)

    def headline(self, figure: Figure) -> float | None:
        """Return the predicted headline value of a figure, in seconds; `None`: the model has no prediction."""
        workload, point = figure.workload, figure.point
        if workload.traffic is None or figure.metric.name != workload.metric().name or figure.metric.unit != "s":
            return None
        if figure.wrong or figure.link or point.share_cores or not point.given:
            return None
        try:
            traffic = workload.traffic(self.summary.run.machine, point)
            return None if isinstance(traffic, NoTraffic) else self._seconds(traffic, point)
        except (Refusal, KeyError, ValueError):  # a point of another version
            return None

    def _seconds(self, traffic: Traffic | CollectiveTraffic, point: Point) -> float | None:
        nodes = self._nodes(point)
        if nodes is None:
            return None
        buffers = point.knobs.get(BUFFERS, "")
        costs = MessageCosts(measured=MeasuredTimes(_chosen(self.inside, buffers), _chosen(self.between, buffers)))
        network = self._network(point, costs.measured)
        groups = [np.array(group, np.int32) for group in point.groups] or [
            np.arange(known_count(point.ranks), dtype=np.int32)
        ]
        if isinstance(traffic, CollectiveTraffic):
            if len(groups) > 1:
                return None
            at = nodes[groups[0]]
            key = (traffic.operation, traffic.algorithm, buffers, at.tobytes(), point.working_ranks)
            if key not in self.priced:
                self.priced[key] = programs(network, traffic.operation, at, costs, traffic.algorithm)[0]
            return fastest(self.priced[key], traffic.bytes_each).seconds(traffic.bytes_each)
        flows = _joined([_flows(traffic, group) for group in groups])
        if len(flows) > _MAX_FLOWS:
            return None
        return exchange(network, flows, nodes, costs).time_s / traffic.parts

    def _nodes(self, point: Point) -> Nodes | None:
        """Return the node of every rank: hosts in the order of the nodes of the file; `None`: there are too few."""
        hosts = list(dict.fromkeys(given.host for given in point.given))
        active = self.network.topology.active() if self.network else np.zeros(1, np.int32)
        if len(hosts) > len(active) or len(point.given) != point.ranks:
            return None
        return active[[hosts.index(given.host) for given in point.given]]

    def _network(self, point: Point, times: MeasuredTimes) -> NetworkFile:
        if self.network is not None:
            return self.network
        rates = [one for one in (self._pairs_rate(point, times), self._memory_rate()) if one]
        rate = {"bytes_per_s": min(rates)} if rates else {}
        table = {
            "name": "this-node",
            "topology": {"kind": "torus", "sizes": [1]},
            "links": {"link": {}},
            "endpoint": {"local": rate},
            "routing": {"name": "dimension-ordered"},
        }
        return convert(table, NetworkFile)

    def _pairs_rate(self, point: Point, times: MeasuredTimes) -> float | None:
        """Return the bytes per second of all pairs of ranks, in both directions; `None`: not measured."""
        if self.duplex is None or times.inside is None:
            return None
        took = times.inside.seconds(np.array([self.duplex.bytes_each]))[0] - times.inside.startup_s
        ranks = known_count(point.working_ranks)
        return ranks / self.duplex.ratio * self.duplex.bytes_each / took if took > 0 else None

    def _memory_rate(self) -> float | None:
        """Return the bytes per second of messages that are read once and written once."""
        known = self.summary.known.by_name.get("memory traffic", {})
        return max((best.value for best in known.values()), default=0.0) / 2 or None

    @property
    def text(self) -> str:
        """Description of the model, for the user."""
        measured = "message times as measured in this run"
        if self.network is not None:
            costs = measured if self.inside or self.between else "message times from its file"
            return f"{self.network.name}; {costs}"
        ratio = 1.0 if self.duplex is None else self.duplex.ratio
        return f"{measured}; both directions at once take {ratio:.2f} times as long as one"


def with_model(summary: Summary, network: NetworkFile | None = None) -> Summary:
    """Return the summary with a model of its messages, if a network is given or the run contains message times."""
    inside, between = times_of(summary, one_host=True), times_of(summary, one_host=False)
    if network is None and not inside:
        return summary
    model = _Model(summary, network, inside, between, duplex_of(summary, one_host=True))
    return replace(
        summary, modelled=Modelled(model.text, model.headline, lambda figure: bool(message_of(summary, figure)))
    )


def times_of(summary: Summary, one_host: bool, link: str = "") -> dict[str, MessageTimes]:
    """Return the times of messages between ranks of one node, or between nodes, by kind of buffers.

    Args:
        summary: of a run with message times.
        one_host: within a node, otherwise between nodes.
        link: only over this emulated link; "": over none.
    """
    found = {buffers: segments(points) for buffers, points in message_points(summary, one_host, link).items()}
    return {buffers: message_times(of) for buffers, of in found.items() if of}


def duplex_of(summary: Summary, one_host: bool, link: str = "") -> Duplex | None:
    """Return the measured slowdown of the longest messages in both directions; `None`: not measured.

    Args:
        summary: with all metrics.
        one_host: within a node, otherwise between two nodes.
        link: as for `times_of`.
    """
    found = []
    for one in summary.figures:
        figure = summary.figure(one, one.workload.duplex) if one.workload.duplex else None
        here = len({given.host for given in one.point.given}) == 1
        if figure is None or figure.value is None or figure.invalid or one.link != link or here != one_host:
            continue
        if one.point.share_cores:
            continue
        length = one.point.count("bytes_sent") / max(1, one.point.count("messages"))
        found.append((length, min(2.0, max(1.0, figure.value.middle))))
    if not found:
        return None
    length, ratio = max(found)
    return Duplex(ratio, length) if length else None


def _chosen(times: dict[str, MessageTimes], buffers: str) -> MessageTimes | None:
    """Return the times of the same buffers, otherwise of any."""
    return times.get(buffers) or next(iter(times.values()), None)


def _flows(traffic: Traffic, ranks: Nodes) -> Flows:
    """Return all messages of the pattern among a group of ranks, including successive ones."""
    made = rank_flows(traffic.pattern, len(ranks))
    length = traffic.units * traffic.parts / traffic.at_once
    sources, targets = (ranks[np.repeat(one, traffic.at_once)] for one in (made.sources, made.targets))
    flows = Flows(sources, targets, np.repeat(made.units, traffic.at_once) * length)
    if not traffic.both_ways:
        return flows
    return _joined([flows, Flows(flows.targets, flows.sources, flows.units)])


def _joined(parts: Iterable[Flows]) -> Flows:
    every = list(parts)
    return Flows(
        np.concatenate([one.sources for one in every]),
        np.concatenate([one.targets for one in every]),
        np.concatenate([one.units for one in every]),
    )
