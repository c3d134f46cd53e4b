"""From points to figures: what every launch of a cell says, what they say together, and the limits that they provide.

Samples are read one point at a time and dropped: a launch keeps its value, its own interval, a sketch of its times,
and samples thinned to a budget, for pictures.
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


BEYOND = 1.05  # a share of the limit that no noise of a good measurement explains
KEPT = 1000  # samples of a launch that a figure keeps for pictures
_LOST = ("lost time", "stolen time")


@dataclass(frozen=True)
class MeasuredCell:
    """What the figures of a cell are made from."""

    workload: Workload
    points: Sequence[Point]  # one per launch
    metrics: Sequence[Metric]
    mismatches: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # with what was asked, by a point's place
    identity: Identity | None = None  # of the first point; `None`: as far as the point itself says it


@dataclass(frozen=True)
class LaunchFigure:
    """One metric of one launch."""

    metric: Metric
    point: Point
    value: stats.Interval  # base units; of this launch's own samples
    samples: NDArray[np.float64]  # base units, in time order, at most `KEPT` of them, the extremes among them
    count: int  # samples or windows there were
    times: Sketch  # of all steady samples of the step, ns, each for `point.batch` chunks or steps
    caveats: tuple[Caveat, ...]
    by_group: tuple[float, ...] = ()  # where the metric does not reduce groups
    mismatches: tuple[str, ...] = ()  # what was given is not what was asked
    whole_s: float | None = None  # of a share of time: what it is a share of
    lanes: tuple[LaneTime, ...] = ()  # what each of them lost, where interruptions are measured
    by_pair: Mapping[tuple[int, int], float] = field(default_factory=dict)  # of hardware threads, where pairs are
    speeds: tuple[tuple[Lane, float], ...] = ()  # of lanes or ranks that worked alone at once, chunks or steps a second
    slowed: float | None = None  # how many times worse the value is than by the CPU time of lanes that work alone

    @property
    def counts(self) -> bool:
        """Whether it enters the figure: not where more than half of its time was lost."""
        return not any(one.grade == Grade.INVALID and one.kind in _LOST for one in self.caveats)


@dataclass(frozen=True)
class Figure:
    """One metric of a cell, made from all its launches; a wrong answer has no speed."""

    workload: Workload
    metric: Metric
    points: tuple[Point, ...]  # one per launch
    identity: Identity
    launches: tuple[LaunchFigure, ...]  # those with a right answer
    wrong: tuple[Result, ...] = ()  # the checks that failed
    missing: str = ""  # why right launches have no value: "there is no series 'phase/pack'"
    failed: int = 0  # launches that gave no point of the cell
    why_failed: str = ""  # the reason of the first of them
    limit: Limit | None = None
    is_limit: bool = False  # it provides a limit of this run, so it has no share of it
    request: str = ""  # the key of the request that it answers
    label: str = ""  # of the request
    title: str = ""  # the label and the values of the knobs that the request swept
    show: Presentation = field(default_factory=Presentation)
    beside: tuple[Caveat, ...] = ()  # what looks at the machine, at both ends of the run, say against it
    equal: tuple[Figure, ...] = ()  # of other requests of this run, whose launches count as launches of this one

    @property
    def point(self) -> Point:
        """The first launch's."""
        return self.points[0]

    @property
    def knobs(self) -> Mapping[str, str]:
        """The knobs of the cell."""
        return self.point.knobs

    @property
    def mode(self) -> str:
        """How many worked, and how: one, threads, star (copies that work alone) or all (together)."""
        return mode_of(self.point)

    @property
    def name(self) -> str:
        """The title, with the mode unless the title says it, or it is of a user's program, whose mode is not known.

        Of imported figures, whose number of ranks is not that of one machine, the ranks.
        """
        says_all = self.mode in self.title or is_program(self.workload.name)
        mode = unstated_counts(self.point) or self.mode
        if mode == "all" and "imported" in self.point.notes:
            mode = f"{self.point.working_ranks} ranks"
        name = self.title if says_all else f"{self.title} ({mode})"
        return f"{name}, emulated link {self.link}" if self.link else name

    @property
    def link(self) -> str:
        """What joined emulated hosts; "": none, it is a figure of this machine."""
        return self.point.process.link

    @cached_property
    def counted(self) -> tuple[LaunchFigure, ...]:
        """The launches that the value is made of, those of equal points too, in the order in which they were made.

        Where more than half of the time of every launch was lost, all of them.
        """
        every = [launch for launches in self._sides for launch in launches]
        return tuple(sorted(every, key=_start))

    @cached_property
    def _sides(self) -> list[list[LaunchFigure]]:
        """The launches that count, of the figure and of each equal one that has any."""
        every = [one.launches for one in (self, *self.equal)]
        usable = [[launch for launch in launches if launch.counts] for launches in every]
        return [launches for launches in (usable if any(usable) else map(list, every)) if launches]

    @cached_property
    def value(self) -> stats.Estimate | None:
        """The figure in base units, with what is known of its uncertainty; a wrong answer has none.

        Of a figure that is not measurable no interval is known, in whichever view.
        """
        found = self._estimate
        return found.without_interval if found and self.invalid else found

    @cached_property
    def _estimate(self) -> stats.Estimate | None:
        """What the launches say, with an interval of any width."""
        return None if self.wrong or not self.launches else value_of(self.counted)

    @cached_property
    def next_launch(self) -> stats.Estimate | None:
        """Where one more launch would lie now; `None` for fewer than six, and of what is not measurable."""
        if self.value is None or self.invalid:
            return None
        if self.metric.is_share:
            return stats.next_share([launch.value.middle for launch in self.counted], self.value.period)
        return stats.next_launch([launch.value for launch in self.counted], self.value.period)

    def at(self, step_s: float) -> float | None:
        """The metric's value if the step, or a chunk of every lane, took so long; `None` where that says nothing."""
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
        """What casts doubt on the figure: of each kind the worst, the worst kinds first."""
        beyond = (self.of_limit or 0) > BEYOND
        disturbed = (
            caveat("beyond its limit", "beyond its limit: what set the limit was disturbed", self.of_limit or 0.0),
        ) * beyond
        return stats.worst_of_each_kind((*self._caveats, *disturbed))

    @cached_property
    def _caveats(self) -> tuple[Caveat, ...]:
        """Those that do not come from the limit."""
        found = [one for launch in self.counted for one in launch.caveats]
        if self._estimate is None:
            return tuple(found)
        found += [*self.beside, *self._left_out]
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
        """How many launches there were, those of equal points too, whatever came of them."""
        return sum(len(one.points) + one.failed for one in (self, *self.equal))

    @property
    def counting(self) -> int:
        """How many launches count; 0 where each lost more than half of its time, though a value is made of them."""
        return sum(launch.counts for launch in self.counted) if self.value else 0

    @property
    def count_text(self) -> str:
        """How many launches count, and of how many: `6`, `5 of 6`, `0 of 9`; empty without a value."""
        number = self.counting
        return "" if self.value is None else str(number) if number == self.tried else f"{number} of {self.tried}"

    @property
    def _left_out(self) -> tuple[Caveat, ...]:
        """That launches are not in the value, and why."""
        every = (self, *self.equal)
        failed = sum(one.failed for one in every)
        without = sum(len(one.points) - len(one.launches) for one in every)
        lost = self.tried - failed - without - len(self.counted)
        missing = next((one.missing for one in every if one.missing), "")
        why = next((one.why_failed for one in every if one.why_failed), "")
        reasons = (
            (failed, f"failed ({why})" if why else "failed"),
            (without, f"gave no value ({missing})"),
            (lost, "lost more than half of their time, and do not count"),
        )
        texts = [f"{number} of {self.tried} launches {why}" for number, why in reasons if number]
        return (caveat("launches left out", "; ".join(texts), failed + without + lost),) if texts else ()

    @property
    def invalid(self) -> bool:
        """Whether it is none that a share of a limit, a limit or a verdict may be made of."""
        return any(one.grade == Grade.INVALID for one in self._caveats)

    @property
    def mismatches(self) -> tuple[str, ...]:
        """What launches were given other than asked, each once."""
        return tuple(dict.fromkeys(text for launch in self.launches for text in launch.mismatches))


def includes(failure: Failure, figure: Figure) -> bool:
    """Whether what failed includes a figure's cell: lists of values do, and knobs that the figure does not know may."""
    name = failure.workload
    same_ranks = is_program(name) or failure.ranks == figure.point.ranks  # the command line of a cell says how many
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
    """What launches of the same thing say together, in base units: their median, or the share of all their time.

    Where a record does not say what a launch's share is a share of, all launches count alike.

    Raises:
        ValueError: no launches, or no record says when its launch started. Those of a store do.
    """
    begun = [begun for launch in launches if (begun := launch.point.process.begun)]
    if not begun:
        raise ValueError("no record says when its launch started")
    period = Period(min(begun), max(begun))
    if not launches[0].metric.is_share:
        return stats.median_over_launches([launch.value for launch in launches], period)
    wholes = [launch.whole_s for launch in launches if launch.whole_s]
    shares = [launch.value.middle for launch in launches]
    return stats.share_over_launches(shares, wholes if len(wholes) == len(shares) else [1.0] * len(shares), period)


def mode_of(point: Point) -> str:
    """one, threads (of one rank), star (ranks that work alone, each its own copy) or all (ranks together).

    Idle ranks do not count. `not stated`: an imported file does not state the number of ranks, or that of the threads
    of its single rank.
    """
    if point.working_ranks is None:
        return NOT_STATED
    if point.working_ranks == 1:
        return NOT_STATED if point.threads is None else "threads" if point.threads > 1 else "one"
    return "star" if works_alone(point) else "all"


def launch_figures(
    point: Point, metrics: Sequence[Metric], mismatches: tuple[str, ...] = ()
) -> dict[str, LaunchFigure | NoSamplesError]:
    """What one launch says in each of these metrics, or why it says nothing; reads the point's samples once."""
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
    if not math.isfinite(value):  # a result that the kernel could not give
        raise NoSamplesError(f"the value of a launch is {value:g}")
    lost = caveats_about_lost(point, metric, value, times)
    caveats = (*limited, *lost, *caveats_about_togetherness(measured.together))
    # Samples give an interval for their median alone: a mean or a worst step has none within one launch.
    interval = stats.Interval(value, value, value)
    if len(samples):
        correlation = stats.correlation_time(samples)
        interval = stats.median_interval(samples, correlation) if measured.is_median else interval
        caveats += caveats_about_samples(samples, correlation)
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
    """The figure of one metric (the headline unless named) of a cell, without a limit.

    Args:
        points: one per launch of the cell.
        mismatches: of each point, by its place.

    Raises:
        KeyError: the workload has no such metric.
        RecordError: samples cannot be read.
    """
    chosen = workload.metric(metric)
    return figures_of(MeasuredCell(workload, points, (chosen,), mismatches or {}))[chosen.name]


def figures_of(cell: MeasuredCell) -> dict[str, Figure]:
    """The figures of one cell, by the metric's name."""
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


def known_limits(figures: Iterable[tuple[Figure, Sequence[str]]], machine: Machine) -> Known:
    """The best figure for every limit and set of hardware threads.

    Args:
        figures: each with the names of the limits that it provides.
    """
    by_name: dict[str, dict[Threads, Best]] = {}
    for one, names in figures:
        if one.value is None or one.invalid or one.link:
            continue
        for name in names:
            threads = one.point.hardware_threads
            best = by_name.setdefault(name, {}).get(threads)
            if best is None or one.value.middle > best.value:
                by_name[name][threads] = Best(one.value.middle, one.identity.cell)
    return Known(machine.topology, by_name)


def _times(point: Point, samples: Samples) -> Sketch:
    """Batches are powers of two, and those of groups may differ; a sketch is of samples before they were added up."""

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
