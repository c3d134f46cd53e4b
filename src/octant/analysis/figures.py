"""Figures from measurements: values of launches, their combination, and the limits that they provide.

Samples are read one measurement at a time and dropped. A launch keeps its value, its interval, a sketch of its times,
and thinned samples for pictures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from octant import stats
from octant.analysis.caveats import (
    caveats_about,
    caveats_about_samples,
    caveats_about_seats,
    caveats_about_togetherness,
)
from octant.analysis.lane_speeds import lane_speeds
from octant.analysis.lost import caveats_about_lost, cpu_time_of_chunk, slowed_by_loss
from octant.analysis.reduce import LaunchMeasurement, NoSamplesError, measure, steady_values
from octant.identity import Identity, identity_of, works_alone
from octant.limit import Best, Known, Limit
from octant.program import is_program
from octant.record import NOT_STATED, RecordError, unstated_counts
from octant.record.sketch import Sketch, sketch_of_array
from octant.request import Presentation, comparable_value, effort_knobs
from octant.stats import Caveat, Grade, Period, caveat
from octant.units import si_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from octant.analysis.lane_speeds import Lane
    from octant.analysis.lengths import LaneTime
    from octant.limit import Threads
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.record import Failure, Point, Result, Samples, Series
    from octant.workload import Workload


BEYOND = 1.05  # share of the limit that noise does not explain
BEYOND_TEXT = "the value exceeds its limit, whose measurement was probably disturbed; measure both again"
KEPT = 1000  # maximum number of samples of a launch for pictures
_LOST = ("lost time", "stolen time")


@dataclass(frozen=True)
class MeasuredCell:
    """Input of the figures of a cell."""

    workload: Workload
    points: Sequence[Point]  # one per launch
    metrics: Sequence[Metric]
    mismatches: Mapping[int, tuple[str, ...]] = field(
        default_factory=dict
    )  # differences from the request, by index of the point
    identity: Identity | None = None  # of the first point; `None`: derived from the point


@dataclass(frozen=True)
class LaunchFigure:
    """One metric of one launch."""

    metric: Metric
    point: Point
    value: stats.Interval  # base units; from the samples of this launch
    samples: NDArray[np.float64]  # base units, in time order, at most `KEPT` of them, the extremes among them
    count: int  # number of samples or windows
    times: Sketch  # of all steady samples of the step, ns, each for `point.batch` chunks or steps
    caveats: tuple[Caveat, ...]
    by_group: tuple[float, ...] = ()  # if the metric does not reduce groups
    mismatches: tuple[str, ...] = ()  # differences from the request
    whole_s: float | None = None  # of a share of time: the total
    lanes: tuple[LaneTime, ...] = ()  # lost time of each lane, if interruptions are measured
    by_pair: Mapping[tuple[int, int], float] = field(
        default_factory=dict
    )  # by pair of hardware threads, if pairs are measured
    speeds: tuple[
        tuple[Lane, float], ...
    ] = ()  # of concurrent lanes or ranks that work alone, in chunks or steps per second
    slowed: float | None = None  # slowdown relative to the CPU time of lanes that work alone

    @property
    def counts(self) -> bool:
        """Whether it enters the figure: not if more than half of its time was lost."""
        return not any(one.grade == Grade.INVALID and one.kind in _LOST for one in self.caveats)


@dataclass(frozen=True)
class Figure:
    """One metric of a cell, from all its launches. A wrong result has no value."""

    workload: Workload
    metric: Metric
    points: tuple[Point, ...]  # one per launch
    identity: Identity
    launches: tuple[LaunchFigure, ...]  # launches with a correct result
    wrong: tuple[Result, ...] = ()  # failed checks
    missing: str = ""  # reason for missing values: "there is no series 'phase/pack'"
    failed: int = 0  # launches without a point of the cell
    why_failed: str = ""  # the reason of the first of them
    limit: Limit | None = None
    is_limit: bool = False  # it provides a limit of this run and has no share of it
    request: str = ""  # key of its request
    label: str = ""  # of the request
    title: str = ""  # label and values of the knobs that the request varied
    show: Presentation = field(default_factory=Presentation)
    probe_caveats: tuple[Caveat, ...] = ()  # caveats of the probes at both ends of the run
    equal: tuple[Figure, ...] = ()  # the same figure of other requests of this run, whose launches are included

    @property
    def point(self) -> Point:
        """The point of the first launch."""
        return self.points[0]

    @property
    def knobs(self) -> Mapping[str, str]:
        """The knobs of the cell."""
        return self.point.knobs

    @property
    def mode(self) -> str:
        """The mode: one, threads, star (copies that work alone) or all (together)."""
        return mode_of(self.point)

    @property
    def name(self) -> str:
        """The title, with the mode unless the title contains it. Programs of users have no mode.

        Imported figures state the ranks, which are not those of one machine.
        """
        says_all = self.mode in self.title or is_program(self.workload.name)
        mode = unstated_counts(self.point) or self.mode
        if mode == "all" and "imported" in self.point.notes:
            mode = f"{self.point.working_ranks} ranks"
        name = self.title if says_all else f"{self.title} ({mode})"
        return f"{name}, emulated link {self.link}" if self.link else name

    @property
    def link(self) -> str:
        """The emulated link between hosts; "": none, it is a figure of this machine."""
        return self.point.process.link

    @cached_property
    def counted(self) -> tuple[LaunchFigure, ...]:
        """The launches that determine the value, including those of equal figures, in the order of their start.

        All launches, if each lost more than half of its time.
        """
        every = [launch for launches in self._sides for launch in launches]
        return tuple(sorted(every, key=_start))

    @cached_property
    def _sides(self) -> list[list[LaunchFigure]]:
        """The valid launches, of the figure and of each equal one that has any."""
        every = [one.launches for one in (self, *self.equal)]
        usable = [[launch for launch in launches if launch.counts] for launches in every]
        return [launches for launches in (usable if any(usable) else map(list, every)) if launches]

    @cached_property
    def value(self) -> stats.Estimate | None:
        """The figure in base units, with its uncertainty; a wrong result has none.

        A figure that is not measurable has no interval in any view.
        """
        found = self._estimate
        return found.without_interval if found and self.invalid else found

    @cached_property
    def _estimate(self) -> stats.Estimate | None:
        """The estimate over launches, with an interval of any width."""
        return None if self.wrong or not self.launches else value_of(self.counted)

    @cached_property
    def next_launch(self) -> stats.Estimate | None:
        """The prediction interval of one more launch; `None` for fewer than six, or if not measurable."""
        if self.value is None or self.invalid:
            return None
        if self.metric.is_share:
            return stats.next_share([launch.value.middle for launch in self.counted], self.value.period)
        return stats.next_launch([launch.value for launch in self.counted], self.value.period)

    def at(self, step_s: float) -> float | None:
        """Return the metric's value for this time of the step, or of a chunk of every lane; `None` if unrelated."""
        point = self.point
        counts = {name: point.count(name) for work in point.work for name in work.counts}
        return self.metric.at(step_s, counts, point.parts)

    @property
    def at_limit(self) -> float | None:
        """The metric's value if the step took the limit's time."""
        return None if self.limit is None else self.at(self.limit.seconds)

    @property
    def of_limit(self) -> float | None:
        """Fraction of the limit reached; 1 is as good as the hardware allows. An invalid figure has none."""
        value, best = self.value, self.at_limit
        if self.is_limit or value is None or self.invalid or not best or not value.middle:
            return None
        return value.middle / best if self.metric.better == "higher" else best / value.middle

    @cached_property
    def caveats(self) -> tuple[Caveat, ...]:
        """The worst caveat of each kind, the worst kinds first."""
        beyond = (self.of_limit or 0) > BEYOND
        disturbed = (caveat("measured above the limit", BEYOND_TEXT, self.of_limit or 0.0),) * beyond
        return stats.worst_of_each_kind((*self._caveats, *disturbed))

    @cached_property
    def _caveats(self) -> tuple[Caveat, ...]:
        """The caveats that do not depend on the limit."""
        found = [one for launch in self.counted for one in launch.caveats]
        if self._estimate is None:
            return tuple(found)
        found += [*self.probe_caveats, *self._excluded]
        found += caveats_about_seats([launch.point for launch in self.counted])
        return (
            *found,
            *stats.caveats_about_equal_points(
                [[launch.value for launch in side] for side in self._sides],
                lambda value: si_text(value, self.metric.unit, 4),
            ),
            *stats.caveats_over_launches(
                [launch.value for launch in self.counted], self._estimate, self.metric.is_share
            ),
        )

    @property
    def tried(self) -> int:
        """The number of launches, including failed ones and those of equal figures."""
        return sum(len(one.points) + one.failed for one in (self, *self.equal))

    @property
    def valid_count(self) -> int:
        """The number of valid launches; 0 if each lost more than half of its time."""
        return sum(launch.counts for launch in self.counted) if self.value else 0

    @property
    def count_text(self) -> str:
        """The number of valid launches, and of all: `6`, `5 of 6`, `0 of 9`; empty without a value."""
        number = self.valid_count
        return "" if self.value is None else str(number) if number == self.tried else f"{number} of {self.tried}"

    @property
    def _excluded(self) -> tuple[Caveat, ...]:
        """The caveat about excluded launches, with the reasons."""
        every = (self, *self.equal)
        failed = sum(one.failed for one in every)
        without = sum(len(one.points) - len(one.launches) for one in every)
        lost = self.tried - failed - without - len(self.counted)
        missing = next((one.missing for one in every if one.missing), "")
        why = next((one.why_failed for one in every if one.why_failed), "")
        reasons = (
            (failed, f"failed ({why})" if why else "failed"),
            (without, f"gave no value ({missing})"),
            (lost, "excluded (more than half of the CPU time lost)"),
        )
        texts = [f"{number} of {self.tried} launches {why}" for number, why in reasons if number]
        return (caveat("launches excluded", "; ".join(texts), failed + without + lost),) if texts else ()

    @property
    def invalid(self) -> bool:
        """Whether it must not be used for a share of a limit, a limit or a verdict."""
        return any(one.grade == Grade.INVALID for one in self._caveats)

    @property
    def mismatches(self) -> tuple[str, ...]:
        """The differences of launches from the request, each once."""
        return tuple(dict.fromkeys(text for launch in self.launches for text in launch.mismatches))


def includes(failure: Failure, figure: Figure) -> bool:
    """Return whether a failure includes a figure's cell. Lists of values and unknown knobs match."""
    name = failure.workload
    same_ranks = (
        is_program(name) or failure.ranks == figure.point.ranks
    )  # the command line of a cell determines the ranks
    if name != figure.workload.name or not same_ranks:
        return False
    effort = effort_knobs(name)
    spelled = partial(comparable_value, subject=name)
    asked = {knob: values for knob, values in failure.knobs.items() if knob in figure.knobs and knob not in effort}
    return all(spelled(figure.knobs[knob]) in map(spelled, values.split(",")) for knob, values in asked.items())


def _start(launch: LaunchFigure) -> float:
    begun = launch.point.process.begun
    return begun.timestamp() if begun else 0.0


def value_of(launches: Sequence[LaunchFigure]) -> stats.Estimate:
    """Return the value of launches in base units: their median, or the share of their total time.

    If a record does not state the total of a share, all launches have equal weight.

    Raises:
        ValueError: no launches, or no record states its start time. Stored records do.
    """
    begun = [begun for launch in launches if (begun := launch.point.process.begun)]
    if not begun:
        raise ValueError("no record states the start time of its launch")
    period = Period(min(begun), max(begun))
    if not launches[0].metric.is_share:
        return stats.median_over_launches([launch.value for launch in launches], period)
    wholes = [launch.whole_s for launch in launches if launch.whole_s]
    shares = [launch.value.middle for launch in launches]
    return stats.share_over_launches(shares, wholes if len(wholes) == len(shares) else [1.0] * len(shares), period)


def mode_of(point: Point) -> str:
    """Return the mode: one, threads (of one rank), star (ranks that work alone) or all (ranks together).

    Idle ranks do not count. `not stated`: an imported file does not state the ranks, or the threads of its single rank.
    """
    if point.working_ranks is None:
        return NOT_STATED
    if point.working_ranks == 1:
        return NOT_STATED if point.threads is None else "threads" if point.threads > 1 else "one"
    return "star" if works_alone(point) else "all"


def launch_figures(
    point: Point, metrics: Sequence[Metric], mismatches: tuple[str, ...] = ()
) -> dict[str, LaunchFigure | NoSamplesError]:
    """Return the figure of one launch in each metric, or the error; the samples are read once."""
    try:
        samples = point.read()
    except RecordError as error:
        return {metric.name: NoSamplesError(f"cannot read the samples ({error})") for metric in metrics}
    limited = caveats_about(point, samples, mismatches)
    times, speeds = _times(point, samples), lane_speeds(point, samples)
    cpu_s = cpu_time_of_chunk(point, samples)
    figures: dict[str, LaunchFigure | NoSamplesError] = {}
    for metric in metrics:
        try:
            made = _launch_figure(metric, point, measure(metric, point, samples), times, limited, mismatches)
            slowed = slowed_by_loss(point, metric, made.value.middle, cpu_s)
            figures[metric.name] = replace(made, speeds=speeds, slowed=slowed)
        except NoSamplesError as error:
            figures[metric.name] = error
    return figures


def _launch_figure(
    metric: Metric,
    point: Point,
    measured: LaunchMeasurement,
    times: Sketch,
    limited: tuple[Caveat, ...],
    mismatches: tuple[str, ...],
) -> LaunchFigure:
    samples, value = measured.samples, measured.value
    if not math.isfinite(value):  # a result that the kernel could not determine
        raise NoSamplesError(f"the value of a launch is {value:g}")
    lost = caveats_about_lost(point, metric, value, times)
    caveats = (*limited, *lost, *caveats_about_togetherness(measured.together))
    # Samples give an interval only for their median; a mean or a maximum has none within one launch.
    interval = stats.Interval(value, value, value)
    if len(samples):
        correlation = stats.correlation_time(samples)
        interval = stats.median_interval(samples, correlation) if measured.is_median else interval
        caveats += caveats_about_samples(samples, correlation, metric)
    kept = stats.thinned(samples, KEPT)
    return LaunchFigure(
        metric, point, interval, kept, len(samples), times, caveats, measured.by_group, mismatches,
        measured.whole_s, measured.lanes, measured.by_pair,
    )  # fmt: skip


def figure(
    workload: Workload,
    points: Sequence[Point],
    metric: str = "",
    mismatches: Mapping[int, tuple[str, ...]] | None = None,
) -> Figure:
    """Return the figure of one metric (default: the headline) of a cell, without a limit.

    Args:
        points: one per launch of the cell.
        mismatches: of each point, by index.

    Raises:
        KeyError: the workload has no such metric.
        RecordError: samples cannot be read.
    """
    chosen = workload.metric(metric)
    return figures_of(MeasuredCell(workload, points, (chosen,), mismatches or {}))[chosen.name]


def figures_of(cell: MeasuredCell) -> dict[str, Figure]:
    """Return the figures of one cell by metric name."""
    workload, points = cell.workload, tuple(cell.points)
    by_metric: dict[str, list[LaunchFigure]] = {metric.name: [] for metric in cell.metrics}
    missing: dict[str, str] = {}
    for place, point in enumerate(points):
        if not point.passed:
            continue
        for name, one in launch_figures(point, cell.metrics, cell.mismatches.get(place, ())).items():
            if isinstance(one, NoSamplesError):
                missing[name] = str(one)
            else:
                by_metric[name].append(one)
    wrong = tuple(check for point in points for check in point.failed_checks)
    identity = cell.identity or identity_of(points[0])
    return {
        metric.name: Figure(
            workload, metric, points, identity, tuple(by_metric[metric.name]), wrong,
            missing.get(metric.name, ""), label=workload.name, title=workload.name,
        )
        for metric in cell.metrics
    }  # fmt: skip


def known_limits(figures: Iterable[tuple[Figure, Mapping[str, str]]], machine: Machine) -> Known:
    """Return the best figure for every limit and set of hardware threads.

    Args:
        figures: each with the names of the limits that it provides, and the setting that is stated with each.
    """
    by_name: dict[str, dict[Threads, Best]] = {}
    for one, names in figures:
        if one.value is None or one.invalid or one.link:
            continue
        higher = one.metric.better == "higher"
        value = one.value.middle if higher else 1 / one.value.middle if one.value.middle else 0.0
        for name, setting in names.items():
            threads = one.point.hardware_threads
            best = by_name.setdefault(name, {}).get(threads)
            if best is None or value > best.value:
                by_name[name][threads] = Best(value, one.identity.cell, setting)
    return Known(machine.topology, by_name)


def _times(point: Point, samples: Samples) -> Sketch:
    """Return the sketch of step times. Batches of groups may differ and are powers of two."""

    def longer(group: int) -> float:
        return point.batch / point.batch_of(group, point.first_role)

    kept = [part for part in samples.reduced if part.name == "step" and part.role == point.first_role]
    if kept:
        doublings = [round(math.log2(longer(part.group) * point.coalesced)) for part in kept]
        sketches = [part.sketch.doubled(times) for part, times in zip(kept, doublings, strict=True)]
        return sum(sketches[1:], sketches[0])
    steps = [steady_values(series, point) * longer(series.head.group) for series in _steps(point, samples)]
    return sketch_of_array(np.concatenate(steps)) if steps else Sketch()


def _steps(point: Point, samples: Samples) -> list[Series]:
    return [s for s in samples.series if s.head.name == "step" and s.head.role == point.first_role]
