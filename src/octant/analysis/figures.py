"""From points to figures: what every launch of a cell says, the limits that figures provide, and what casts doubt.

Samples are read one point at a time and dropped: a launch keeps its value, its own interval, a sketch of its times,
and samples thinned to a budget, for pictures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from octant import stats
from octant.analysis.reduce import Measured, NoSamplesError, measure, steady_values
from octant.ask import Presentation, cell_key
from octant.limit import Best, Known, Limit
from octant.record.sketch import Sketch, sketch_of_array
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from octant.limit import Threads
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.record import Point, Result, Samples, Series
    from octant.workload import Workload


BEYOND = 1.05  # a share of the limit that no noise of a good measurement explains
KEPT = 1000  # samples of a launch that a figure keeps for pictures


@dataclass(frozen=True)
class LaunchFigure:
    """One metric of one launch."""

    metric: Metric
    point: Point
    value: stats.Interval  # base units; of this launch's own samples
    samples: NDArray[np.float64]  # base units, in time order, at most `KEPT` of them
    count: int  # samples or windows there were
    times: Sketch  # of all steady samples of the step, ns, each for `point.batch` chunks or steps
    flags: tuple[str, ...]  # what casts doubt on it: "preempted", "cores shared", "foreign load", …
    by_group: tuple[float, ...] = ()  # where the metric does not reduce groups
    mismatches: tuple[str, ...] = ()  # what was given is not what was asked

    @property
    def draws(self) -> NDArray[np.float64]:
        """Samples in time order whose median is the value; the value itself where no samples stand behind it.

        A value need not be the median of the samples that are kept: they are scaled to it.
        """
        middle = float(np.median(self.samples)) if len(self.samples) else 0.0
        return self.samples * (self.value.middle / middle) if middle else np.asarray([self.value.middle])


@dataclass(frozen=True)
class Figure:
    """One metric of a cell, made from all its launches; a wrong answer has no speed."""

    workload: Workload
    metric: Metric
    points: tuple[Point, ...]  # one per launch
    launches: tuple[LaunchFigure, ...]  # those with a right answer
    wrong: tuple[Result, ...] = ()  # the checks that failed
    missing: str = ""  # why right launches have no value: "there is no series 'phase/pack'"
    limit: Limit | None = None
    is_limit: bool = False  # it provides a limit of this run, so it has no share of it
    label: str = ""  # of the ask
    title: str = ""  # the label and the values of the knobs that the ask swept
    show: Presentation = field(default_factory=Presentation)

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
        """The title, with the mode unless the title says it."""
        return self.title if self.mode in self.title else f"{self.title} ({self.mode})"

    @property
    def key(self) -> tuple[object, ...]:
        """What makes this the same figure in another run."""
        return (*cell_key(self.point.workload, self.knobs, self.point.ranks), self.metric.name)

    @cached_property
    def value(self) -> stats.Interval | None:
        """The figure with its interval, in base units; a wrong answer has none."""
        if self.wrong or not self.launches:
            return None
        return stats.over_launches([launch.value for launch in self.launches])

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
        """Fraction of the limit reached; 1 is as good as the hardware allows."""
        value, best = self.value, self.at_limit
        if self.is_limit or value is None or not best or not value.middle:
            return None
        return value.middle / best if self.metric.better == "higher" else best / value.middle

    @property
    def flags(self) -> tuple[str, ...]:
        """What casts doubt on the figure; that of each launch once."""
        flags = dict.fromkeys(flag for launch in self.launches for flag in launch.flags)
        if 1 < len(self.launches) < stats.FEW_LAUNCHES and not self.wrong:
            flags[f"only {len(self.launches)} launches: the interval is their range"] = None
        if (self.of_limit or 0) > BEYOND:
            flags["beyond its limit: what set the limit was disturbed"] = None
        return tuple(flags)

    @property
    def mismatches(self) -> tuple[str, ...]:
        """What launches were given other than asked, each once."""
        return tuple(dict.fromkeys(text for launch in self.launches for text in launch.mismatches))


def mode_of(point: Point) -> str:
    """one, threads (of one rank), star (ranks that work alone, each its own copy) or all (ranks together).

    Idle ranks do not count.
    """
    if point.working_ranks == 1:
        return "threads" if point.threads > 1 else "one"
    alone = point.pace == "chunks" or (len(point.groups) > 1 and all(len(group) == 1 for group in point.groups))
    return "star" if alone else "all"


def launch_figures(
    point: Point, metrics: Sequence[Metric], mismatches: tuple[str, ...] = ()
) -> dict[str, LaunchFigure | NoSamplesError]:
    """What one launch says in each of these metrics, or why it says nothing; reads the point's samples once.

    Raises:
        RecordError: the samples cannot be read.
    """
    samples = point.read()
    doubtful = doubts(point, samples, mismatches)
    times = _times(point, samples)
    figures: dict[str, LaunchFigure | NoSamplesError] = {}
    for metric in metrics:
        try:
            figures[metric.name] = _launch_figure(
                metric, point, measure(metric, point, samples), times, doubtful, mismatches
            )
        except NoSamplesError as error:
            figures[metric.name] = error
    return figures


def _launch_figure(
    metric: Metric,
    point: Point,
    measured: Measured,
    times: Sketch,
    doubtful: tuple[str, ...],
    mismatches: tuple[str, ...],
) -> LaunchFigure:
    samples, value = measured.samples, measured.value
    flags = (*doubtful, *_at_once_flags(measured.together))
    # Samples give an interval for their median alone: a mean or a worst step has none within one launch.
    interval = stats.Interval(value, value, value)
    if len(samples):
        correlation = stats.correlation_time(samples)
        interval = stats.median_interval(samples, correlation) if measured.is_median else interval
        flags += unsteady(samples, correlation)
    thinned = samples if len(samples) <= KEPT else samples[np.linspace(0, len(samples) - 1, KEPT).astype(int)]
    return LaunchFigure(metric, point, interval, thinned, len(samples), times, flags, measured.by_group, mismatches)


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
    return figures_of(workload, points, (chosen,), mismatches)[chosen.name]


def figures_of(
    workload: Workload,
    points: Sequence[Point],
    metrics: Sequence[Metric],
    mismatches: Mapping[int, tuple[str, ...]] | None = None,
) -> dict[str, Figure]:
    """The figures of several metrics of one cell, by the metric's name.

    Raises:
        RecordError: samples cannot be read.
    """
    by_metric: dict[str, list[LaunchFigure]] = {metric.name: [] for metric in metrics}
    missing: dict[str, str] = {}
    for place, point in enumerate(points):
        if not point.passed:
            continue
        for name, one in launch_figures(point, metrics, (mismatches or {}).get(place, ())).items():
            if isinstance(one, NoSamplesError):
                missing[name] = str(one)
            else:
                by_metric[name].append(one)
    wrong = tuple(check for point in points for check in point.failed_checks)
    return {
        metric.name: Figure(
            workload, metric, tuple(points), tuple(by_metric[metric.name]), wrong, missing.get(metric.name, ""),
            label=workload.name, title=workload.name,
        )
        for metric in metrics
    }  # fmt: skip


def known_limits(figures: Iterable[tuple[Figure, Sequence[str]]], machine: Machine) -> Known:
    """The best figure for every limit and set of hardware threads.

    Args:
        figures: each with the names of the limits that it provides.
    """
    by_name: dict[str, dict[Threads, Best]] = {}
    for one, names in figures:
        if one.value is None:
            continue
        for name in names:
            threads = one.point.hardware_threads
            best = by_name.setdefault(name, {}).get(threads)
            if best is None or one.value.middle > best.value:
                by_name[name][threads] = Best(one.value.middle, repr(one.key[:-1]))
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


def _at_once_flags(share: float) -> tuple[str, ...]:
    """What is to be said if lanes or groups were rarely at work at the same time."""
    if share == 0:
        return ("threads were never all at work undisturbed at once",)
    return (f"threads were all at work at once in {100 * share:.0f} % of the time",) if share < 0.5 else ()


def doubts(point: Point, samples: Samples, mismatches: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What casts doubt on a point, in words for people; empty when nothing does."""
    flags = []
    steps = _steps(point, samples)
    number = sum(len(series.values) for series in steps)
    preempted = sum(map(_cut_short, steps))
    if preempted > 0.05 * number:
        flags.append(f"preempted in {100 * preempted / number:.0f} % of samples")
    if point.share_cores:
        flags.append("more threads than hardware threads")
    during = point.noise.get("during", {})
    elapsed = during.get("time_s", 0.0)
    if elapsed > 0:
        if during.get("node_steal_s", 0.0) > 0.05 * elapsed:
            flags.append("the hypervisor took CPU time away")
        own = during.get("node_own_cpu_s", during.get("own_cpu_s", 0.0) * point.ranks)
        foreign = during.get("node_busy_s", 0.0) - own
        if foreign > max(0.25 * elapsed, 0.05):
            flags.append("other processes were busy")
    if mismatches:
        more = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
        flags.append(f"NOT AS ASKED: {mismatches[0]}{more}")
    if not point.passed:
        flags.append("WRONG ANSWER")
    if point.process.build.get("faults_compiled"):
        flags.append("fault-injection build")
    if short := _short_phases(point, samples):
        flags.append(f"phases shorter than ten of their marks: {', '.join(short)}")
    return tuple(flags)


def _short_phases(point: Point, samples: Samples) -> list[str]:
    """The phases of which one entry takes less than ten marks, by name."""
    short: dict[str, None] = {}
    for series in samples.series:
        kind, _, name = series.head.name.partition("/")
        entered = 0.0 if series.entries is None else float(series.entries.sum())
        if kind == "phase" and entered and series.values.sum() / entered < 10 * point.process.clock.mark_ns:
            short[name] = None
    return list(short)


def _cut_short(lane: Series) -> int:
    """Samples that saw a switch, without those as quick as the samples that saw none, where there are enough of these.

    Into samples of tens of milliseconds some daemon always falls, for microseconds.
    """
    hit = np.isin(np.arange(len(lane.values)), list(lane.preempted))
    if not hit.any():
        return 0
    enough = (~hit).sum() >= 6
    harmless = lane.values <= 1.05 * np.median(lane.values[~hit]) if enough else np.zeros(len(hit), dtype=bool)
    return int((hit & ~harmless).sum())


def unsteady(samples: NDArray[np.float64], correlation: float = 1.0) -> tuple[str, ...]:
    """What the samples themselves say against being one steady state, in words for people."""
    flags = []
    if len(samples) < 6:
        flags.append(f"only {counted(len(samples), 'sample')}: the interval is their range")
    elif len(samples) < 6 * correlation:
        alike = f"{len(samples)} samples that swing so slowly tell no more than {len(samples) / correlation:.0f}"
        flags.append(f"{alike}: the interval is their range")
    change = stats.drift(samples)
    if abs(change) > 0.03:
        flags.append(f"drifts by {100 * change:+.0f} % from first half to second")
    far = float(stats.outliers(samples).mean())
    if far > 0.05:
        flags.append(f"{100 * far:.0f} % outliers")
    return tuple(flags)
