"""Matching of the figures of two runs.

In interleaved runs, figures of the n-th requests are paired, also if they are of two programs. In other runs, figures
of the same cell are paired. The others are matched by the measured quantity; a comparison lists differences in
placement, pages or libraries. Imported results have fewer knobs and other problem sizes, so they are matched by common
knobs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from octant import workloads
from octant.analysis.per_rank import name_per_rank, per_rank
from octant.identity import identity_of

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.identity import Identity, Named
    from octant.machine import Machine
    from octant.record import Point
    from octant.store import StoredRun

Defaults = Callable[[str], Mapping[str, str]]
"""Function that returns the defaults of the knobs of a workload, for knobs that only one run has."""


@dataclass(frozen=True)
class _Row:
    identity: Identity
    metric: str = ""
    figure: Figure | None = None
    couple: Hashable = None  # number of the request and values of its knobs; `None`: not paired


Key: TypeAlias = Callable[[_Row], Hashable]
Distance: TypeAlias = Callable[[_Row, _Row], "int | None"]
"""Number of knobs in which two rows with the same key differ; `None`: they do not match."""


def matched(
    before: Summary, after: Summary, curves: bool, defaults: Defaults
) -> list[tuple[Figure | None, Figure | None]]:
    """Return the paired figures of two runs, those of `before` first; `None` if the other run has no such figure.

    Args:
        curves: include points of curves. A point that is also in the table counts as that row.
    """
    shown = [_shown_figures(side, curves) for side in (before, after)]
    if before.run.imported or after.run.imported:
        shown = [_with_metrics_of(before, *shown), _with_metrics_of(after, *reversed(shown))]
    identities = without_new_knobs([row.identity for side in shown for row in side], defaults)
    turned = are_interleaved(before.run, after.run)
    runs = [*[before.run] * len(shown[0]), *[after.run] * len(shown[1])]
    rows = [
        _Row(one, row.metric.name, row, _couple(run, row.point) if turned else None)
        for one, row, run in zip(identities, (*shown[0], *shown[1]), runs, strict=True)
    ]
    olds, news = (
        list({(row.identity.cell, row.metric): row for row in reversed(side)}.values())[::-1]
        for side in (rows[: len(shown[0])], rows[len(shown[0]) :])
    )
    pairs = _pairs(olds, news, _ways(before.run, after.run))
    partners = {id(old): new for old, new in pairs}
    alone = [new for new in news if all(new is not one for one in partners.values())]
    return [
        *((old.figure, partner.figure if (partner := partners.get(id(old))) else None) for old in olds),
        *((None, new.figure) for new in alone),
    ]


def common_figures(run: StoredRun, other: StoredRun, defaults: Defaults = lambda _workload: {}) -> int:
    """Return how many figures two runs have in common, as `compare` matches them."""
    points = [[point for point in one.points if _is_shown(one, point)] for one in (run, other)]
    if are_interleaved(run, other):
        cells = [{_couple(one, point) for point in side} for one, side in zip((run, other), points, strict=True)]
        if coupled := (cells[0] & cells[1]) - {None}:
            return len(coupled)
    common = {point.workload for point in points[0]} & {point.workload for point in points[1]}
    sides = [list(dict.fromkeys(identity_of(point) for point in side if point.workload in common)) for side in points]
    identities = without_new_knobs([*sides[0], *sides[1]], defaults)
    rows = [list(map(_Row, identities[: len(sides[0])])), list(map(_Row, identities[len(sides[0]) :]))]
    return len(_pairs(rows[0], rows[1], _ways(run, other)))


def are_interleaved(run: StoredRun, other: StoredRun) -> bool:
    """Return whether two runs were interleaved, so that their n-th requests are paired."""
    return bool(run.pair and other.pair and run.pair.partner == other.id and other.pair.partner == run.id)


def _couple(run: StoredRun, point: Point) -> Hashable:
    """Return the request number and knob values of a point; `None` if no request of the run matches."""
    numbers = (number for number, request in enumerate(run.requests) if request.key == point.launch.rpartition("-")[0])
    number = next(numbers, None)
    return None if number is None else (number, tuple(sorted(point.knobs.items())))


def _is_shown(run: StoredRun, point: Point) -> bool:
    """Return whether a point is a row of the table."""
    request = run.request_of(point.launch)
    return request is None or request.show.table


def _shown_figures(summary: Summary, curves: bool) -> list[Figure]:
    """Return the figures of tables and curves, rows of the table first."""
    rows = sorted(summary.figures, key=lambda row: not row.show.table)
    return [row for row in rows if row.show.table or curves]


def _with_metrics_of(summary: Summary, own: Sequence[Figure], others: Sequence[Figure]) -> list[Figure]:
    """Return the figures in the metrics that the other run has of their workload.

    Another tool may state a quantity that is one of several metrics here, or the value of one rank of ranks that work
    alone.
    """
    wanted: dict[tuple[str, bool], set[str]] = {}
    for one in others:
        wanted.setdefault((one.workload.name, one.identity.size.alone), set()).add(one.metric.name)
    found = []
    for one in own:
        alone = one.identity.size.alone
        names = sorted(wanted.get((one.workload.name, alone), set()))
        further = [figure for name in names if (figure := summary.figure(one, name))]
        if alone and not summary.run.imported:
            every = [figure for metric in one.workload.metrics if (figure := summary.figure(one, metric.name))]
            further += [per_rank(figure) for figure in every if name_per_rank(figure.metric.name) in names]
        found += [one] if one.metric.name in names or not further else further
    return found


def without_new_knobs(identities: Sequence[Identity], defaults: Defaults) -> list[Identity]:
    """Return the identities without knobs that only some of a workload have, if these have their default."""
    known: dict[str, list[frozenset[str]]] = {}
    for one in identities:
        known.setdefault(one.subject, []).append(frozenset(name for name, _ in (*one.knobs, *one.means)))
    new = {name: frozenset.union(*sets) - frozenset.intersection(*sets) for name, sets in known.items()}
    plain = {
        name: {knob: value for knob, value in defaults(name).items() if knob in some}
        for name, some in new.items()
        if some
    }
    return [one.without(plain.get(one.subject, {})) for one in identities]


def _ways(run: StoredRun, other: StoredRun) -> list[tuple[Key, Distance]]:
    """Return the ways to match rows, the strictest first."""
    ways: list[tuple[Key, Distance]] = [
        (lambda row: (row.couple, row.metric), lambda old, _new: None if old.couple is None else 0),
        (lambda row: (row.identity.cell, row.metric), lambda _old, _new: 0),
        (
            lambda row: (row.identity.same_quantity, row.metric),
            lambda old, new: _differing(old.identity.means, new.identity.means),
        ),
    ]
    if run.imported or other.imported:
        machine = other.machine if run.imported else run.machine
        ways.append(
            (
                lambda row: (row.identity.subject, replace(row.identity.size, threads=None), row.metric),
                lambda old, new: _differing_stated_knobs(old.identity, new.identity, machine),
            )
        )
    return ways


def _pairs(olds: Sequence[_Row], news: Sequence[_Row], ways: Iterable[tuple[Key, Distance]]) -> list[tuple[_Row, _Row]]:
    """Return pairs of rows that are uniquely nearest to each other."""
    pairs: list[tuple[_Row, _Row]] = []
    for key, distance in ways:
        groups: dict[Hashable, tuple[list[_Row], list[_Row]]] = {}
        for side, rows in enumerate((olds, news)):
            for row in rows:
                if all(row is not pair[side] for pair in pairs):
                    groups.setdefault(key(row), ([], []))[side].append(row)
        for group in groups.values():
            pairs += _nearest(*group, distance)
    return pairs


def _nearest(olds: Sequence[_Row], news: Sequence[_Row], distance: Distance) -> list[tuple[_Row, _Row]]:
    found = {
        (i, j): far
        for i, old in enumerate(olds)
        for j, new in enumerate(news)
        if (far := distance(old, new)) is not None
    }
    rivals = {
        pair: [far for other, far in found.items() if other != pair and (other[0] == pair[0] or other[1] == pair[1])]
        for pair in found
    }
    return [(olds[i], news[j]) for (i, j), far in found.items() if all(far < other for other in rivals[i, j])]


def _differing(some: Named, others: Named) -> int:
    """Return the number of names with different values."""
    return len({name for name, _ in set(some) ^ set(others)})


def _differing_stated_knobs(one: Identity, other: Identity, machine: Machine) -> int | None:
    """Return in how many knobs two results differ; `None` if a knob that both state differs in substance.

    The number of threads of a rank counts as such a knob. The number of ranks does not: results with an unknown number
    match none with a known number.

    Args:
        machine: on which one of them was measured.
    """
    threads = {one.size.threads, other.size.threads}
    if len(threads) > 1 and None not in threads:
        return None
    sizes, knobs = workloads.sizes(one.subject), (dict(one.knobs), dict(other.knobs))
    for name in knobs[0].keys() & knobs[1].keys():
        matters = sizes.get(name, _the_value)
        if matters(machine, knobs[0][name]) != matters(machine, knobs[1][name]):
            return None
    return _differing(one.knobs, other.knobs) + _differing(one.means, other.means)


def _the_value(_machine: Machine, value: str) -> str:
    return value
