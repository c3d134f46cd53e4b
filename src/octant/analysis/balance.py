"""Balance of places: the speed of each core, socket, domain or host while all of them work alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from octant import stats
from octant.stats.paired import LEAST_ROUNDS
from octant.stats.places import slowest_over_fastest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.lane_speeds import Lane
    from octant.analysis.summary import Summary
    from octant.machine import Cpu, Topology
    from octant.record import Point

Kind: TypeAlias = Literal["core", "domain", "socket", "host", "thread", "rank"]
"""Kind of place; threads and ranks if a record does not state their core."""
_Key: TypeAlias = tuple[str, int]
"""Host and number of a place."""


@dataclass(frozen=True)
class PlaceSpeed:
    """Speed of one place of a figure."""

    name: str  # "core 3", with several hosts "core 3 of node7"
    cpus: tuple[tuple[str, int], ...]  # used hardware threads: host and number; none if unknown
    relative: tuple[float, ...]  # speed over the mean of all places, of each launch
    value: stats.Estimate  # over launches


@dataclass(frozen=True)
class PlaceBalance:
    """Balance of the places of one kind of a figure, numbered as the machine does."""

    figure: Figure
    kind: Kind
    places: tuple[PlaceSpeed, ...]
    ratio: stats.Estimate  # slowest over fastest, of the same launches
    slowest: PlaceSpeed
    fastest: PlaceSpeed

    @property
    def proven(self) -> bool:
        """Whether a place is slower: the paired interval of at least four launches excludes 100 %."""
        return self.ratio.is_interval and self.ratio.number >= LEAST_ROUNDS and self.ratio.high < 1

    @property
    def max_undetected_slowdown(self) -> float | None:
        """The largest slowdown of a place that is consistent with the interval; `None` without an interval."""
        return 1 - self.ratio.low if self.ratio.is_interval else None


@dataclass(frozen=True)
class Balances:
    """Balances of several figures."""

    figures: Sequence[PlaceBalance]

    @property
    def worst(self) -> PlaceBalance | None:
        """The proven one with the least ratio, else the one with the largest undetected slowdown."""
        proven = [one for one in self.figures if one.proven]
        if proven:
            return min(proven, key=lambda one: one.ratio.middle)
        return max(
            (
                one
                for one in self.figures
                if one.max_undetected_slowdown is not None and one.ratio.number >= LEAST_ROUNDS
            ),
            key=lambda one: one.max_undetected_slowdown or 0.0,
            default=None,
        )


def balance(summary: Summary) -> tuple[PlaceBalance, ...]:
    """Return the balance of each figure of the table whose lanes or ranks work alone at the same time.

    The finest kind is first. If kinds have the same places, only hosts, else cores, else the coarser kind is returned.
    Shares of lost time are no speeds. Oversubscribed and invalid figures are not compared.
    """
    topology = summary.run.machine.topology
    return tuple(
        found
        for figure in summary.figures
        if figure.show.table and figure.value and not figure.metric.is_share and not figure.invalid
        for found in of_figure(figure, topology)
    )


def of_figure(figure: Figure, topology: Topology) -> list[PlaceBalance]:
    """Return the balance of each kind of place of a figure; none if its lanes do not work alone."""
    launches = [launch for launch in figure.counted if launch.speeds and not launch.point.share_cores]
    if not launches or figure.value is None:
        return []
    cpus = {cpu.os: cpu for cpu in topology.cpus}
    by_launch = [_with_seats(launch.point, dict(launch.speeds)) for launch in launches]
    found: list[PlaceBalance] = []
    before: list[frozenset[_Key]] = []
    for kind, key in _kinds(by_launch, cpus).items():
        grouped = [_by_place(lanes, key) for lanes in by_launch]
        common = sorted(set.intersection(*(set(groups) for groups in grouped)))
        if len(common) < 2:
            continue
        seats = [frozenset(seat for groups in grouped for seat, _ in groups[place] if seat) for place in common]
        if found and seats == before:
            if found[-1].kind == "core" and kind != "host":
                continue
            found.pop()
        before = seats
        logs = np.array([[np.mean([np.log(v) for _, v in groups[place]]) for place in common] for groups in grouped])
        found.append(_balance(figure, kind, common, seats, logs))
    return found


_Seated: TypeAlias = "dict[Lane, tuple[tuple[str, int] | None, float]]"


def _with_seats(point: Point, speeds: Mapping[Lane, float]) -> _Seated:
    """Return the hardware thread, if it is a single one, and the speed of each lane."""
    seated: _Seated = {}
    for (rank, thread), speed in speeds.items():
        given = point.given[rank] if rank < len(point.given) else None
        mask = given.thread_masks[thread] if given and thread < len(given.thread_masks) else ()
        seated[(rank, thread)] = ((given.host, mask[0]) if given and len(mask) == 1 else None, speed)
    return seated


def _kinds(by_launch: Sequence[_Seated], cpus: Mapping[int, Cpu]) -> dict[Kind, Callable[[Lane, _Key | None], _Key]]:
    """Return a key function for each kind of place; lanes on unknown hardware threads count by thread or rank."""
    every = [(lane, seat) for lanes in by_launch for lane, (seat, _) in lanes.items()]
    if any(seat is None or seat[1] not in cpus for _, seat in every):
        several = len({rank for (rank, _), _ in every}) > 1
        if several:
            return {"rank": lambda lane, _seat: ("", lane[0])}
        return {"thread": lambda lane, _seat: ("", lane[1])}

    def on(unit: Callable[[Cpu], int | None]) -> Callable[[Lane, _Key | None], _Key]:
        def key(_lane: Lane, seat: _Key | None) -> _Key:
            number = unit(cpus[seat[1]]) if seat else 0
            return (seat[0] if seat else "", -1 if number is None else number)

        return key

    return {
        "core": on(lambda cpu: cpu.core),
        "domain": on(lambda cpu: cpu.numa),
        "socket": on(lambda cpu: cpu.package),
        "host": on(lambda _cpu: 0),
    }


def _by_place(
    lanes: _Seated, key: Callable[[Lane, _Key | None], _Key]
) -> dict[_Key, list[tuple[tuple[str, int] | None, float]]]:
    found: dict[_Key, list[tuple[tuple[str, int] | None, float]]] = {}
    for lane, (seat, speed) in lanes.items():
        found.setdefault(key(lane, seat), []).append((seat, speed))
    return found


def _balance(
    figure: Figure, kind: Kind, keys: Sequence[_Key], seats: Sequence[frozenset[_Key]], logs: np.ndarray
) -> PlaceBalance:
    assert figure.value is not None  # noqa: S101 - checked by the caller
    period, several = figure.value.period, len({host for host, _ in keys}) > 1
    relative = np.exp(logs) / np.exp(logs).mean(axis=1, keepdims=True)
    places = tuple(
        PlaceSpeed(
            _name(kind, key, several), tuple(sorted(cpus)), tuple(map(float, of)),
            stats.median_over_launches([stats.Interval(x, x, x) for x in map(float, of)], period),
        )
        for key, cpus, of in zip(keys, seats, relative.T, strict=True)
    )  # fmt: skip
    ratio, slow, fast = slowest_over_fastest(logs, period)
    return PlaceBalance(figure, kind, places, ratio, places[slow], places[fast])


def _name(kind: Kind, key: _Key, several_hosts: bool) -> str:
    host, number = key
    if kind == "host":
        return host
    return f"{kind} {number} of {host}" if several_hosts else f"{kind} {number}"
