"""Summary of a stored run: a figure per cell from all its launches, with limits."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from octant import units, workloads
from octant.analysis.figures import MeasuredCell, figures_of, includes, known_limits
from octant.analysis.imported import imported_workload, recorded_workload
from octant.analysis.levels import cached_by_ladder
from octant.analysis.measured_machine import with_measured
from octant.analysis.mismatches import mismatches_of
from octant.analysis.names import knob_text
from octant.analysis.probes import caveats_by_probes
from octant.analysis.program import program_workload
from octant.analysis.series import series_metrics
from octant.limit import Best, Known, variant_name
from octant.program import is_program
from octant.request import comparable_cell
from octant.units import duration_text
from octant.workload import Stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.record import Point
    from octant.request import Request
    from octant.store import StoredRun
    from octant.workload import Workload


Answer = TypeVar("Answer")
_METRICS_OF_PICTURES = ("x", "y", "rate", "low", "middle", "high")
"""Fields of pictures with names of metrics; x may be a knob."""
RUN_PREFIX = len("20261121-214530-123")
"""Characters of a run's id that identify it in texts: its start to the millisecond."""
_MOSTLY = 0.5  # share of a buffer in huge pages
_THIS_MACHINE = ""  # host of stored limits; the layout of hardware threads does not depend on its name


@dataclass(frozen=True)
class Modelled:
    """Predictions of a model for figures, for pictures."""

    text: str  # description of the model, as the end of a sentence
    headline: Callable[[Figure], float | None]  # in base units; `None`: no prediction
    is_made_from: Callable[[Figure], bool]  # whether the model was calibrated with the figure


@dataclass(frozen=True)
class Summary:
    """Run with its headline figures in the order of the requests."""

    run: StoredRun
    figures: tuple[Figure, ...]
    known: Known  # the limits that this run's figures provide
    clocks_hz: tuple[float, ...]  # of every cell, ascending
    unknown: tuple[str, ...]  # workloads with points in the run that this installation does not have
    others: Mapping[tuple[Hashable, ...], Figure]  # of other metrics, by cell, title and metric
    modelled: Modelled | None = None

    @property
    def clock_text(self) -> str:
        """`3.59 GHz`, or `3.39 GHz to 3.59 GHz, depending on the workload`; empty if no clock was observed."""
        ends = dict.fromkeys(units.si_text(clock, "Hz") for clock in (*self.clocks_hz[:1], *self.clocks_hz[-1:]))
        return " to ".join(ends) + ", depending on the workload" * (len(ends) > 1)

    def by_workload(self) -> list[tuple[Workload, list[Figure]]]:
        """Return the figures grouped by workload; those of a user's program also by headline."""
        groups: dict[tuple[str, str], tuple[Workload, list[Figure]]] = {}
        for figure in self.figures:
            headline = figure.metric.name if is_program(figure.workload.name) else ""
            groups.setdefault((figure.workload.name, headline), (figure.workload, []))[1].append(figure)
        return list(groups.values())

    @property
    def every(self) -> tuple[Figure, ...]:
        """The headline figures, then those of other metrics."""
        return *self.figures, *self.others.values()

    def figure(self, headline: Figure, metric: str) -> Figure | None:
        """Return another metric of the cell of a headline figure, if it was requested."""
        if metric in ("", headline.metric.name):
            return headline
        return self.others.get(_place(headline, metric))


def summarise(
    run: StoredRun,
    known: Mapping[str, Workload] | None = None,
    all_metrics: bool = False,
    further: Collection[tuple[str, str]] = (),
    headlines: bool = False,
) -> Summary:
    """Return the headline figures of a run; the samples of one cell at a time are in memory.

    Args:
        known: the workloads; default: the installed ones.
        all_metrics: include every metric, phase and reading; else only those of limits and pictures.
        further: other requested metrics, each as workload and metric.
        headlines: only the headline of users' programs, for verdicts after many rounds.
    """
    installed = workloads.workloads() if known is None else known
    made: list[tuple[Request | None, Figure]] = []  # of every metric of a cell, the headline first
    for request, points in _cells(run):
        known_one = installed.get(points[0].workload)
        if request and request.subject.command:
            workload = program_workload(request, points)
        else:
            workload = imported_workload(points, known_one) if run.imported else known_one or recorded_workload(points)
        if request and workload.probe and request.show.title == workload.probe.title:
            continue  # a probe is no figure of the run
        wanted = (
            workload.metrics[:1]
            if headlines and is_program(workload.name)
            else (*workload.metrics, *series_metrics(points))
            if all_metrics or is_program(workload.name)  # from results, so that all are cheap
            else _needed_metrics(workload, points, {metric for name, metric in further if name == workload.name})
        )
        given = {place: found for place, point in enumerate(points) if (found := mismatches_of(run, point))}
        of_cell = list(figures_of(MeasuredCell(workload, points, wanted, given, run.identity_of(points[0]))).values())
        if not of_cell:  # no result, imported or of a workload that is not installed
            continue
        reasons = _reasons_of_failure(run, request, of_cell[0]) if request else []
        failed, why = len(reasons), next(iter(reasons), "")
        made += [(request, _with_label(replace(one, failed=failed, why_failed=why), request)) for one in of_cell]
    probe_caveats = caveats_by_probes(run, installed)
    every = [replace(figure, probe_caveats=probe_caveats) for figure in _with_equal_ones(made)]
    run = replace(run, machine=_measured(run.machine, every))
    limits = _with_stored(known_limits(provided_limits(every, run.machine), run.machine), run)
    every = [with_limit(figure, limits, run.machine) for figure in every]
    figures = tuple(figure for figure in every if figure.metric is figure.workload.metrics[0])
    rest = (figure for figure in every if figure.metric is not figure.workload.metrics[0])
    others = {_place(figure, figure.metric.name): figure for figure in rest}
    subjects = {point.workload for point in run.points if not is_program(point.workload)}
    unknown = sorted(() if run.imported else subjects - set(installed))
    clocks = [(clock, len(one.point.hardware_threads)) for one in figures if (clock := clock_hz(one))]
    return Summary(run, figures, limits, tuple(sorted(clock for clock, _ in clocks)), tuple(unknown), others)


def _place(figure: Figure, metric: str) -> tuple[Hashable, ...]:
    """Return the key of a metric of a cell in a run."""
    return figure.identity.cell, figure.title, metric


def _measured(machine: Machine, figures: Sequence[Figure]) -> Machine:
    """Return the machine with measured clock and cache size; unchanged without a figure of one core."""
    headlines = (one for one in figures if one.metric is one.workload.metrics[0])
    clocks = [hz for one in headlines if len(one.point.hardware_threads) == 1 and (hz := clock_hz(one))]
    return with_measured(machine, float(np.median(clocks)), cached_by_ladder(figures, machine)) if clocks else machine


def clock_hz(figure: Figure) -> float | None:
    """Return the clock at the figure's work: the median of medians of launches; `None` if unobserved."""
    clocks = [clock for launch in figure.counted if (clock := launch.point.clock_hz)]
    return float(np.median(clocks)) if clocks else None


def _cells(run: StoredRun) -> list[tuple[Request | None, list[Point]]]:
    """Return the points of each cell, one per launch, in the order of the requests."""
    order = {launch.key: i for i, launch in enumerate(run.launches)}
    cells: dict[tuple[object, ...], tuple[Request | None, dict[str, Point]]] = {}
    requests: set[str] = set()
    places: dict[tuple[object, ...], int] = {}  # points of a resumed launch are last in the file
    for point in sorted(run.points, key=lambda p: order.get(p.launch, len(order))):
        request = run.request_of(point.launch)
        # Launches of older versions may lack knobs that were not requested.
        known = {name: point.knobs.get(name, "") for name in request.knobs} if request else point.knobs
        ranks = 0 if is_program(point.workload) else point.ranks  # the command line of a cell determines the ranks
        key = (request.key if request else point.launch, point.workload, ranks, comparable_cell(known, point.workload))
        if request and request.key not in requests:
            requests.add(request.key)
            cells_asked = [comparable_cell(cell, point.workload) for cell in request.cells()]
            asked = ((request.key, point.workload, ranks, cell) for cell in cells_asked)
            places.update({cell: len(places) + i for i, cell in enumerate(asked)})
        by_launch = cells.setdefault(key, (request, {}))[1]
        if point.launch not in by_launch or by_launch[point.launch].passed:  # a wrong result is kept
            by_launch[point.launch] = point
    numbers = {request.key: i for i, request in enumerate(run.requests)}  # launches start in random order
    ordered = sorted(cells, key=lambda key: (numbers.get(str(key[0]), len(numbers)), places.get(key, len(places))))
    return [(cells[key][0], list(cells[key][1].values())) for key in ordered]


def _reasons_of_failure(run: StoredRun, request: Request, figure: Figure) -> list[str]:
    """Return the reasons of failed launches of a figure's cell that have no point after a resume."""
    launched = {point.launch for point in figure.points}
    failed = {
        failure.launch: (failure.reason.splitlines() or ["unknown reason"])[0]
        for failure in run.failures
        if failure.launch not in launched and includes(failure, figure) and run.request_of(failure.launch) == request
    }
    return list(failed.values())


def _needed_metrics(workload: Workload, points: Sequence[Point], further: Collection[str]) -> list[Metric]:
    """Return the headline, the metrics of limits and pictures, and other wanted metrics."""
    names = {provides.metric for provides in workload.provides} | set(further)
    names |= {getattr(picture, part, "") for picture in workload.pictures for part in _METRICS_OF_PICTURES}
    needed = [metric for i, metric in enumerate(workload.metrics) if i == 0 or metric.name in names]
    stacked = any(isinstance(picture, Stacked) for picture in workload.pictures)
    return [*needed, *(series_metrics(points) if stacked else ())]


def _with_label(figure: Figure, request: Request | None) -> Figure:
    named = request.show.expressions if request else {}
    swept = [name for name, value in request.knobs.items() if "," in value or name in named] if request else []
    label = request.show.title if request and request.show.title else figure.workload.name.rpartition("/")[2]
    words = [label, *(f"{name} {_value_text(name, figure.knobs.get(name, '?'), named)}" for name in swept)]
    shown, key = (request.show, request.key) if request else (figure.show, "")
    return replace(figure, label=label, title=", ".join(words), show=shown, request=key)


def _with_equal_ones(made: Sequence[tuple[Request | None, Figure]]) -> list[Figure]:
    """Return the figures with the same figures of other requests, whose launches count as theirs.

    A row of the table may also be a point of a curve. A figure with a wrong result is not shared.
    """
    groups: dict[tuple[object, ...], list[Figure]] = {}
    for _, figure in made:
        alone = id(figure) if figure.wrong else 0
        groups.setdefault((figure.identity.same_program, figure.metric.name, alone), []).append(figure)
    equal = {id(one): tuple(other for other in group if other is not one) for group in groups.values() for one in group}
    return [replace(figure, equal=equal[id(figure)]) for _, figure in made]


def provided_limits(figures: Sequence[Figure], machine: Machine) -> list[tuple[Figure, Mapping[str, str]]]:
    """Return the figures that provide limits, each with their names and the setting that is stated with them."""
    found = ((figure, dict(_limits_of(figure, machine))) for figure in figures)
    return [(figure, names) for figure, names in found if names]


def _limits_of(figure: Figure, machine: Machine) -> Iterator[tuple[str, str]]:
    point = figure.point
    for one in figure.workload.provides:
        if one.metric == figure.metric.name and _of_workload(functools.partial(one.when, machine, point), False):
            variant = _of_workload(functools.partial(one.variant, point), "")
            texts = [knob_text(name, _given_value(point, name)) for name in one.setting if name in point.knobs]
            yield variant_name(one.name, variant), ", ".join(texts)


def _given_value(point: Point, knob: str) -> str:
    """Return the value of a knob; of default pages, the kind of pages that the system granted."""
    value = point.knobs[knob]
    buffers = [buffer for given in point.given for buffer in given.buffers]
    if knob != "pages" or value not in ("default", "try-thp") or not buffers:
        return value
    return "thp" if min(buffer.huge_share for buffer in buffers) > _MOSTLY else "base"


def _with_stored(limits: Known, run: StoredRun) -> Known:
    """Return the limits of a run with those of earlier runs that it was given at its start."""
    found = {name: dict(by_threads) for name, by_threads in limits.by_name.items()}
    started = datetime.fromisoformat(run.started)
    for one in run.limits:
        age = duration_text((started - datetime.fromisoformat(one.measured)).total_seconds())
        threads = frozenset((_THIS_MACHINE, number) for number in one.threads)
        best = Best(one.value, None, one.setting, f"run {one.run[:RUN_PREFIX]}, {age} earlier")
        known = found.setdefault(one.name, {}).get(threads)
        if known is None or best.value > known.value:
            found[one.name][threads] = best
    return replace(limits, by_name=found)


def with_limit(figure: Figure, limits: Known, machine: Machine) -> Figure:
    """Return the figure with the limit that its workload declares, or marked as provider of that limit.

    The limits of this machine do not apply to an emulated link.
    """
    if figure.link:
        return figure
    workload, cell = figure.workload, figure.identity.cell
    known = limits.only(workload.bounded_by, clock_hz(figure))
    provides = any(
        best is not None and best.cell == cell
        for name in known.by_name
        for best in (known.best(name, figure.point.hardware_threads),)
    )
    limit = _of_workload(lambda: workload.least_seconds(known, machine, figure.point), None)
    return replace(figure, limit=limit, is_limit=provides)


def _of_workload(answer: Callable[[], Answer], otherwise: Answer) -> Answer:
    """Return the answer of a workload; `otherwise` if knobs of the point are missing or have invalid values."""
    try:
        return answer()
    except (KeyError, ValueError):
        return otherwise


def _value_text(knob: str, value: str, expressions: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> str:
    """Return a knob's value for people: `128 MiB` instead of `134217728` if that is exact, and `1 MiB (L2)`.

    Args:
        expressions: as in `Presentation`.
    """
    if expression := expressions.get(knob, {}).get(value, ""):
        return f"{units.bytes_text(int(value))} ({expression})"
    if knob != "bytes" or not value.isdigit():
        return value
    text = units.bytes_text(int(value))
    try:
        return text if units.parse_bytes(text) == int(value) else value
    except ValueError:  # rounded: `976.6 KiB` is not an integer number of bytes
        return value
