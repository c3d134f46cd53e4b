"""Which figure of one run is which of another.

Figures of the n-th asks of two runs that were measured in turn belong together: they may be of two programs. Of other
runs, figures of the same cell belong together. What is left is matched by the quantity that was measured: then
placement, pages, libraries or other means differ, which a comparison lists. Outputs of other tools tell fewer knobs
and have problem sizes of their own, so that the rest of an imported run is matched by the knobs that both sides tell.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from octant import workloads
from octant.analysis.each_rank import name_per_rank, per_rank
from octant.identity import identity_of

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.identity import Identity, Named
    from octant.machine import Machine
    from octant.record import Point
    from octant.store import StoredRun

Defaults = Callable[[str], Mapping[str, str]]
"""Of the knobs of a workload; asked where only one run knows a knob, which then counts as set so."""


@dataclass(frozen=True)
class _Row:
    identity: Identity
    metric: str = ""
    figure: Figure | None = None
    couple: Hashable = None  # the request's number and the values of its knobs; `None`: it is of no couple of requests


Key: TypeAlias = Callable[[_Row], Hashable]
Distance: TypeAlias = Callable[[_Row, _Row], "int | None"]
"""In how many knobs two rows with the same key differ; `None`: they do not belong together."""


def matched(
    before: Summary, after: Summary, curves: bool, defaults: Defaults
) -> list[tuple[Figure | None, Figure | None]]:
    """The figures of two runs side by side, those of `before` first; `None` where the other run has no such figure.

    Args:
        curves: points of curves take part too. A point that also lies in the table counts as that row.
    """
    shown = [_shown_figures(side, curves) for side in (before, after)]
    if before.run.imported or after.run.imported:
        shown = [_with_metrics_of(before, *shown), _with_metrics_of(after, *reversed(shown))]
    identities = _without_new_knobs([row.identity for side in shown for row in side], defaults)
    turned = in_turn(before.run, after.run)
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


def share_figures(run: StoredRun, other: StoredRun, defaults: Defaults = lambda _workload: {}) -> bool:
    """Whether two runs have a figure in common, as `compare` matches them."""
    points = [[point for point in one.points if _is_shown(one, point)] for one in (run, other)]
    if in_turn(run, other):
        cells = [{_couple(one, point) for point in side} for one, side in zip((run, other), points, strict=True)]
        if (cells[0] & cells[1]) - {None}:
            return True
    common = {point.workload for point in points[0]} & {point.workload for point in points[1]}
    sides = [list(dict.fromkeys(identity_of(point) for point in side if point.workload in common)) for side in points]
    identities = _without_new_knobs([*sides[0], *sides[1]], defaults)
    rows = [list(map(_Row, identities[: len(sides[0])])), list(map(_Row, identities[len(sides[0]) :]))]
    return any(_pairs(rows[0], rows[1], [way]) for way in _ways(run, other))


def in_turn(run: StoredRun, other: StoredRun) -> bool:
    """Whether the two were measured in turn, so that their n-th asks are a couple."""
    return bool(run.pair and other.pair and run.pair.partner == other.id and other.pair.partner == run.id)


def _couple(run: StoredRun, point: Point) -> Hashable:
    """Which cell of which ask a point is of, by the number of the request; `None` where none of the run asked for it."""
    numbers = (number for number, request in enumerate(run.requests) if request.key == point.launch.rpartition("-")[0])
    number = next(numbers, None)
    return None if number is None else (number, tuple(sorted(point.knobs.items())))


def _is_shown(run: StoredRun, point: Point) -> bool:
    """Whether it is a row of the table."""
    request = run.request_of(point.launch)
    return request is None or request.show.table


def _shown_figures(summary: Summary, curves: bool) -> list[Figure]:
    """Rows of the table first."""
    rows = sorted(summary.figures, key=lambda row: not row.show.table)
    return [row for row in rows if row.show.table or curves]


def _with_metrics_of(summary: Summary, own: Sequence[Figure], others: Sequence[Figure]) -> list[Figure]:
    """The figures in the metrics that the other run has of their workload, where it does not have their own.

    Another tool may state a quantity of its own, which is one of several metrics here, or of ranks that work alone the
    value of one of them.
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


def _without_new_knobs(identities: Sequence[Identity], defaults: Defaults) -> list[Identity]:
    """The identities without knobs that only some of a workload know, where these have their default."""
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
    """How rows are matched, the strictest first."""
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
                lambda old, new: _differing_as_told(old.identity, new.identity, machine),
            )
        )
    return ways


def _pairs(olds: Sequence[_Row], news: Sequence[_Row], ways: Iterable[tuple[Key, Distance]]) -> list[tuple[_Row, _Row]]:
    """Rows that are nearest to each other, and to no other row as near."""
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
    """How many names have another value."""
    return len({name for name, _ in set(some) ^ set(others)})


def _differing_as_told(one: Identity, other: Identity, machine: Machine) -> int | None:
    """In how many knobs two results differ; `None` where both tell a knob, and what matters of it differs.

    The number of threads of a rank counts as such a knob. That of ranks does not: results of an unknown number of ranks
    belong to none of a known number.

    Args:
        machine: that one of them was measured on.
    """
    threads = {one.size.threads, other.size.threads}
    if len(threads) > 1 and None not in threads:
        return None
    sizes, told = workloads.sizes(one.subject), (dict(one.knobs), dict(other.knobs))
    for name in told[0].keys() & told[1].keys():
        matters = sizes.get(name, _the_value)
        if matters(machine, told[0][name]) != matters(machine, told[1][name]):
            return None
    return _differing(one.knobs, other.knobs) + _differing(one.means, other.means)


def _the_value(_machine: Machine, value: str) -> str:
    return value
