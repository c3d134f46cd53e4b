"""Histories: one figure over the stored runs of a machine, what changed between runs, and steps.

A history has one quantity in one configuration. Build, library, kernel and other conditions may change within it; a
changed definition of the figure begins another history. Runs of other processors are never included.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from octant import workloads
from octant.analysis.conditions import NOT_SET, differences
from octant.analysis.evidence import APART, invalid_caveats
from octant.analysis.figures import MeasuredCell, figures_of
from octant.analysis.imported import recorded_workload
from octant.analysis.matching import without_new_knobs
from octant.analysis.mismatches import mismatches_of
from octant.analysis.program import program_workload
from octant.machine.system import VOLATILE
from octant.request import comparable
from octant.stats.steps import Session, StepSearch, find_steps
from octant.stats.verdicts import log_speeds
from octant.units import exact_bytes_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from octant.analysis.conditions import Difference
    from octant.analysis.figures import Figure
    from octant.analysis.matching import Defaults
    from octant.identity import Identity
    from octant.metric import Metric
    from octant.record import Point
    from octant.request import Request
    from octant.store import StoredRun
    from octant.workload import Workload

_NO_CHANGE = VOLATILE | {"seed", "measured"}
"""Differences between runs that are no changes of the machine or of the software."""


@dataclass(frozen=True)
class HistoryRow:
    """A figure in one run."""

    run: StoredRun
    figure: Figure
    changes: tuple[Difference, ...] = ()  # since the row before
    session: int | None = None  # index of its session; `None`: it is not counted
    why_not: str = ""  # reason why it is not counted

    @property
    def begun(self) -> datetime:
        """The start of the first launch."""
        return self.figure.value.period.begin if self.figure.value else started(self.run)


@dataclass(frozen=True)
class FigureHistory:
    """A figure over the runs of a machine, oldest first, with its steps."""

    name: str  # the words that select it: "stream kernel=triad bytes=1GiB"
    metric: Metric
    rows: tuple[HistoryRow, ...]
    search: StepSearch
    is_logarithmic: bool = True  # sizes of steps are differences of logarithms, else of values

    @cached_property
    def sessions(self) -> tuple[HistoryRow, ...]:
        """The rows that are counted, one per session."""
        return tuple(row for row in self.rows if row.session is not None)


@dataclass
class SeriesOfPoints:
    """Points of one quantity in the runs of a machine: a history whose values were not computed yet."""

    key: tuple[Hashable, ...]
    identity: Identity
    request: Request | None  # of the newest run
    points: dict[str, list[Point]] = field(default_factory=dict)  # one per launch, by run
    in_table: bool = False
    titles: set[str] = field(default_factory=set)  # of its requests
    tiles: set[tuple[str, str]] = field(default_factory=set)  # name of the tile, metric

    @property
    def id(self) -> str:
        """Six hexadecimal digits that identify the series in every store."""
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:6]

    @property
    def leaf(self) -> str:
        """The name of the workload without its family, or of the program."""
        return self.identity.subject.rpartition("/")[2]

    @cached_property
    def workload(self) -> Workload:
        """The workload, from the newest run."""
        newest = self.points[max(self.points)]
        if self.request and self.request.subject.command:
            return program_workload(self.request, newest)
        return workloads.workloads().get(self.identity.subject) or recorded_workload(newest)

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """Everything that distinguishes the series from others of its workload, as it is typed."""
        one = self.identity
        found = {name: _typed(name, value) for name, value in (*one.knobs, *one.means)}
        found |= {"ranks": str(one.size.ranks), "threads": str(one.size.threads)}
        found |= {"mode": "star"} if one.size.alone else {}
        found |= {"link": one.link} if one.link else {}
        if self.request and self.request.shape.place:
            found["place"] = self.request.shape.place
        return found | dict(one.settings)


def _typed(name: str, value: str) -> str:
    """Return the value of a knob as it is typed: `bytes=1GiB`."""
    return exact_bytes_text(int(value)).replace(" ", "") if name == "bytes" and value.isdigit() else value


def started(run: StoredRun) -> datetime:
    """Return the start of a run in the local time zone."""
    return datetime.fromisoformat(run.started).astimezone()


def collect_series(runs: Iterable[StoredRun], defaults: Defaults) -> list[SeriesOfPoints]:
    """Return the series of all measured points of runs of one machine, those with most runs first.

    Args:
        defaults: defaults of the knobs of a workload; older runs may lack new knobs.
    """
    found: list[tuple[StoredRun, Identity, Request | None, list[Point]]] = []
    for run in sorted(runs, key=lambda one: one.id):
        if not run.imported:
            found += ((run, identity, request, points) for identity, request, points in _cells_of(run))
    plain = without_new_knobs([identity for _, identity, _, _ in found], defaults)
    series: dict[tuple[Hashable, ...], SeriesOfPoints] = {}
    for (run, _, request, points), identity in zip(found, plain, strict=True):
        key = (*identity.same_series, _count_names(points))
        one = series.setdefault(key, SeriesOfPoints(key, identity, request))
        one.request = request or one.request
        one.points.setdefault(run.id, []).extend(points)
        if request:
            one.in_table |= request.show.table
            one.titles |= {text for text in (request.show.title, request.show.short, request.show.test) if text}
            one.tiles |= set(_tiles(run, request, points[0]))
    parts = [part for one in series.values() for part in _split_by_amounts(one)]
    return sorted(parts, key=lambda one: (-len(one.points), not one.in_table, one.leaf))


def _cells_of(run: StoredRun) -> Iterator[tuple[Identity, Request | None, list[Point]]]:
    """Yield the points of each cell of a run with their identity, one point per launch."""
    cells: dict[tuple[object, ...], dict[str, Point]] = {}
    for point in run.points:
        key = (
            point.launch.rpartition("-")[0],
            point.workload,
            point.ranks,
            point.threads,
            *sorted(point.knobs.items()),
        )
        cells.setdefault(key, {})[point.launch] = point
    titles = [workload.probe.title for workload in workloads.workloads().values() if workload.probe]
    for by_launch in cells.values():
        points = list(by_launch.values())
        request = run.request_of(points[0].launch)
        if not request or request.show.title not in titles:  # a probe is no figure of the run
            yield run.identity_of(points[0]), request, points


def _count_names(points: Sequence[Point]) -> Hashable:
    return points[0].pace, tuple((work.group, work.role, *sorted(work.counts)) for work in points[0].work)


def _split_by_amounts(series: SeriesOfPoints) -> list[SeriesOfPoints]:
    """Return a series for each counted amount of work: if it changed, the figure was defined differently.

    Amounts that differ between launches of one run are not part of the definition.
    """
    amounts = {
        run: {tuple((w.group, w.role, tuple(sorted(w.counts.items()))) for w in one.work) for one in points}
        for run, points in series.points.items()
    }
    if len(set().union(*amounts.values())) == 1 or any(len(found) > 1 for found in amounts.values()):
        return [series]
    parts: dict[Hashable, dict[str, list[Point]]] = {}
    for run, points in series.points.items():
        parts.setdefault(next(iter(amounts[run])), {})[run] = points
    return [replace(series, key=(*series.key, amount), points=points) for amount, points in parts.items()]


def _tiles(run: StoredRun, request: Request, point: Point) -> Iterator[tuple[str, str]]:
    """Yield the tiles of the first screen that show this cell, with their metric."""
    label = request.show.title
    for tile in run.screen.tiles:
        for named in tile.figures:
            knobs = ((comparable(point.knobs.get(name, "")), comparable(value)) for name, value in named.knobs.items())
            if label == named.title and all(own == wanted for own, wanted in knobs):
                yield tile.name, named.metric


def read_history(
    series: SeriesOfPoints, runs: Mapping[str, StoredRun], name: str, metric: str = "", sessions_only: bool = False
) -> FigureHistory:
    """Return the history of a series: its figure in each run, the changes between runs, and the steps.

    Args:
        runs: by id.
        name: the words that select the figure.
        metric: "" is the headline.
    """
    chosen = series.workload.metric(metric)
    rows: list[HistoryRow] = []
    for run_id in sorted(series.points):
        run = runs[run_id]
        figure = _figure(series, run, chosen)
        if figure is None:
            continue
        changes = _changes(rows[-1], run, figure) if rows and not sessions_only else ()
        rows.append(HistoryRow(run, figure, changes))
    counted, is_logarithmic = _counted(rows)
    return FigureHistory(name, chosen, counted, find_steps(_sessions(counted, is_logarithmic)), is_logarithmic)


def _figure(series: SeriesOfPoints, run: StoredRun, metric: Metric) -> Figure | None:
    points = series.points[run.id]
    given = {place: found for place, one in enumerate(points) if (found := mismatches_of(run, one))}
    cell = MeasuredCell(series.workload, points, (metric,), given, run.identity_of(points[0]))
    return figures_of(cell).get(metric.name)


def _changes(before: HistoryRow, run: StoredRun, figure: Figure) -> tuple[Difference, ...]:
    """Return the conditions that differ from those of the row before."""
    rows = differences(before.run, run, [(before.figure, figure)])
    return tuple(row for row in rows if row[0] not in _NO_CHANGE and NOT_SET not in row[1:])


def _counted(rows: Sequence[HistoryRow]) -> tuple[tuple[HistoryRow, ...], bool]:
    """Return the rows with their sessions, and whether logarithms can be used: all values are positive.

    A run within an hour of the session before it is of the same session, and its first run is counted.
    """
    found: list[HistoryRow] = []
    last: datetime | None = None
    number = 0
    for row in rows:
        figure, why = row.figure, ""
        if figure.wrong:
            why = "wrong result"
        elif figure.value is None:
            why = figure.missing or "no valid launch"
        elif caveats := invalid_caveats(figure):
            why = caveats[0].text
        elif last is not None and row.begun - last < APART:
            why = "within an hour of the session before"
        session = None if why else number
        if not why:
            last, number = row.begun, number + 1
        found.append(HistoryRow(row.run, figure, row.changes, session, why))
    values = [launch.value.middle for row in found if row.session is not None for launch in row.figure.counted]
    return tuple(found), all(value > 0 for value in values)


def _sessions(rows: Iterable[HistoryRow], is_logarithmic: bool) -> Iterator[Session]:
    for row in rows:
        if row.session is None or row.figure.value is None:
            continue
        values = [row.figure.value.middle, *(launch.value.middle for launch in row.figure.counted)]
        better = row.figure.metric.better
        sign = 1.0 if better == "higher" else -1.0
        first, *launches = log_speeds(values, better) if is_logarithmic else sign * np.asarray(values)
        yield Session(float(first), tuple(map(float, launches)))


def words_of(series: SeriesOfPoints, every: Sequence[SeriesOfPoints], metric: str = "") -> str:
    """Return the words that select this series and no other one: the workload, then few knobs; quoted for a shell."""
    rivals = [one for one in every if one is not series and one.leaf == series.leaf]
    words = [series.leaf]
    own = series.attributes
    while rivals:
        apart = Counter(name for name, value in own.items() for one in rivals if one.attributes.get(name, "") != value)
        if not apart:
            words.append(f"id={series.id}")
            break
        name = max(apart, key=lambda one: (apart[one], -list(own).index(one)))
        words.append(f"{name}={own[name]}")
        rivals = [one for one in rivals if one.attributes.get(name, "") == own[name]]
    shown = metric and metric != series.workload.metrics[0].name
    return shlex.join([*words, *([f"metric={metric}"] if shown else [])])
