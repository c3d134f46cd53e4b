"""Reduction of samples to the value of one launch; the only place that evaluates metrics.

The samples of a measurement have three axes: steps, ranks (or the lanes of ranks) and groups. A metric reduces them one
by one in its own order. The values before the last reduction are the distribution of the launch.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from octant.analysis import windows
from octant.analysis.lengths import LaneTime, lane_time, lost_share
from octant.metric import (
    SLOWEST,
    Custom,
    FirstOf,
    Interrupted,
    NamedResult,
    OfPairs,
    Rate,
    Reading,
    Seconds,
    Share,
    groups,
    ranks,
    steps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.metric import How, Metric, Reduce, Value
    from octant.record import Point, RankTotal, Reduced, Result, Samples, Series, Work

Array: TypeAlias = "NDArray[np.float64]"
Cells: TypeAlias = "dict[tuple[int | None, int | None], Array]"  # (group, rank or lane) -> samples, or one number

SKETCHED = 10_000  # values drawn from the sketch of a record without samples
_HOW: dict[How, Callable[..., Array]] = {
    "mean": np.mean,
    "median": np.median,
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "p99.9": lambda array, axis=0: np.sort(array, axis=axis)[-1 - len(array) // 1000],
}


class NoSamplesError(ValueError):
    """The measurement has no data for the metric; the message names what is missing."""


@dataclass(frozen=True)
class LaunchMeasurement:
    """Value of one launch, its samples in time order, and the value of each group."""

    value: float
    samples: Array  # base units, before the last reduction; none for results and functions of the whole point
    by_group: tuple[float, ...] = ()  # where the metric does not reduce groups
    together: float = 1.0  # share of the time in which all lanes or groups were busy
    is_median: bool = True  # the value is the median of the samples, so they give its interval
    whole_s: float | None = None  # of a share of time: the total
    lanes: tuple[LaneTime, ...] = ()  # lost time of each lane, if interruptions are measured
    by_pair: Mapping[tuple[int, int], float] = field(
        default_factory=dict
    )  # values by pair of hardware threads, if pairs are measured


def measure(metric: Metric, point: Point, samples: Samples) -> LaunchMeasurement:
    """Return the value of a metric in one launch.

    Raises:
        NoSamplesError: the point has neither the series nor a result with the metric's name.
    """
    try:
        return _value(metric.value, point, samples)
    except NoSamplesError:
        named = [result for result in point.results if result.name == metric.name and result.bound is None]
        if not named:
            raise
        return _of_results(named)


def _value(value: Value, point: Point, samples: Samples) -> LaunchMeasurement:
    if isinstance(value, Seconds):
        return _seconds(value, point, samples)
    if isinstance(value, Rate):
        return _rate(value, point, samples)
    if isinstance(value, Share):
        return _share(value, point, samples)
    if isinstance(value, Reading):
        return _reduce(_readings(point, samples, f"reading/{value.of}", value.role), value.over)
    if isinstance(value, NamedResult):
        named = [result for result in point.results if result.name == value.name]
        if not named:
            raise NoSamplesError(f"there is no result {value.name!r}")
        return _of_results(named)
    if isinstance(value, Custom | OfPairs):
        return _of_function(value, point, samples)
    if isinstance(value, Interrupted):
        lanes = tuple(lane_time(lane) for lane in _call(value.function, point, samples) if lane.whole_ns > 0)
        if not lanes:
            raise NoSamplesError("the record has no data for this metric")
        return LaunchMeasurement(
            lost_share(lanes), np.empty(0), whole_s=sum(lane.whole_s for lane in lanes), lanes=lanes
        )
    if isinstance(value, FirstOf):
        return _first_of(value, point, samples)
    parts = [_value(part, point, samples) for part in value.values]
    return _of_groups(np.asarray([_call(value.function, *(part.value for part in parts))]))


_Result = TypeVar("_Result")


def _call(function: Callable[..., _Result], *given: object) -> _Result:
    """Call a function of a workload.

    Raises:
        NoSamplesError: the record is of another version or was changed, and required data is missing.
    """
    try:
        return function(*given)
    except NoSamplesError:
        raise
    except (LookupError, ValueError, ArithmeticError) as error:
        raise NoSamplesError(f"the record has no data for this metric ({error})") from error


def _of_function(value: Custom | OfPairs, point: Point, samples: Samples) -> LaunchMeasurement:
    function: Callable[..., float | Mapping[tuple[int, int], float]] = value.function
    found = _call(function, point, samples)
    if isinstance(value, OfPairs) and isinstance(found, Mapping) and found:
        return LaunchMeasurement(float(_HOW[value.how](list(found.values()))), np.empty(0), by_pair=found)
    if isinstance(found, Mapping) or not math.isfinite(found):
        raise NoSamplesError("the record has no data for this metric")
    return _of_groups(np.asarray([found]))


def _first_of(value: FirstOf, point: Point, samples: Samples) -> LaunchMeasurement:
    for part in value.values[:-1]:
        with contextlib.suppress(NoSamplesError):
            return _value(part, point, samples)
    return _value(value.values[-1], point, samples)


def _seconds(value: Seconds, point: Point, samples: Samples) -> LaunchMeasurement:
    role = point.first_role if value.role is None else value.role
    scales = _scales(value, point, role)

    def scaled(cells: Cells) -> Cells:
        found = {key: array * scales[group] for key, array in cells.items() if (group := key[0] or 0) in scales}
        if not found:
            raise NoSamplesError("no group has both samples and counts")
        return found

    if value.over is None and point.pace == "chunks":
        pooled = _in_time_order(list(scaled(_cells(point, samples, value.of, role)).values()))
        return LaunchMeasurement(float(np.median(pooled)), pooled)
    over = SLOWEST if value.over is None else value.over
    kept = _reduced_parts(samples, value.of, role)
    if kept:
        cells, rest = _kept_cells(kept, point, over, value.undisturbed)
        apart = {key: array * point.coalesced for key, array in cells.items()}  # as before samples were added up
        return _reduce(scaled(apart), rest)
    if value.undisturbed:
        return _reduce(scaled(_undisturbed_cells(point, samples, value.of, role)), over)
    cells, together = _at_once(point, samples, value.of, role)
    return replace(_reduce(scaled(cells), over), together=together)


def _rate(value: Rate, point: Point, samples: Samples) -> LaunchMeasurement:
    role = point.first_role if value.role is None else value.role
    if not any(name in work.counts for work in point.work_of(value.role) for name in value.counts):
        raise NoSamplesError(f"there is no count {' or '.join(value.counts)}")
    if point.pace == "chunks":
        counts = _counts_of_lanes(point, value.counts, role)
        lanes = [series for series in samples.series if series.head.name == value.of and series.head.role == role]
        if not lanes:
            raise NoSamplesError(f"there is no series {value.of!r}")
        done = [counts.get((lane.head.group, lane.head.rank), 0.0) for lane in lanes]
        if len(lanes) == 1:
            rates = done[0] / (steady_values(lanes[0], point) * 1e-9)
            return LaunchMeasurement(float(np.median(rates)), rates)
        rates, together = windows.summed_rates(lanes, done, point.warmup)
        return LaunchMeasurement(float(np.median(rates)), rates, together=together)
    by_group: dict[int, float] = {}
    for work in point.work_of(value.role):
        done_once = sum(work.counts.get(name, 0) for name in value.counts)
        by_group[work.group] = by_group.get(work.group, 0.0) + done_once * point.batch_of(work.group, role)
    if not any(name in work.counts for work in point.work_of(value.role) for name in value.counts):
        raise NoSamplesError(f"there is no count {' or '.join(value.counts)}")
    over = (ranks("max"), groups("sum"), steps("median")) if value.over is None else value.over

    def of_times(group: int | None, ns: Array) -> Array:
        return by_group.get(group or 0, 0.0) / (ns * 1e-9)

    kept = _reduced_parts(samples, value.of, role)
    if kept:
        return _reduce(*_kept_cells(kept, point, over), of_times)
    cells, together = _at_once(point, samples, value.of, role)
    return replace(_reduce(cells, over, of_times), together=together)


def _share(value: Share, point: Point, samples: Samples) -> LaunchMeasurement:
    """Return a sum over a sum; a mean of ratios would weigh short steps like long ones."""
    role = point.first_role if value.role is None else value.role
    sums, totals, per_step = [], [], []
    other = next((h for h in point.heads if h.name in (value.of, value.to) and h.unit != "ns"), None)
    if other or (value.of.startswith("reading/") and samples.reduced):
        why = (
            f"{other.name} is in {other.unit}, not in ns" if other else f"the record contains only a part of {value.of}"
        )
        raise NoSamplesError(f"cannot compute the share of {value.to} ({why})")
    for name in (value.of, value.to):
        kept = [total for part in _reduced_parts(samples, name, role) for total in part.ranks]
        if kept:  # as a mean: a phase has no samples while marks were off, the step has all
            totals.append(float(sum(total.sum_ns for total in kept)))
            sums.append(totals[-1] / max(1, sum(total.count for total in kept)))
            continue
        cells = _cells(point, samples, name, role, marked=value.of.startswith("phase/"))
        totals.append(float(sum(array.sum() for array in cells.values())))
        sums.append(totals[-1])
        per_step.append(_over_ranks(list(cells.values()), "sum"))
    if not sums[1]:
        raise NoSamplesError(f"the time of {value.to} is zero")
    share, whole_s = sums[0] / sums[1], totals[1] * 1e-9
    if len(per_step) == 2 and len(per_step[0]) == len(per_step[1]) and (per_step[1] > 0).all():
        return LaunchMeasurement(share, per_step[0] / per_step[1], is_median=False, whole_s=whole_s)
    return LaunchMeasurement(share, np.empty(0), whole_s=whole_s)


def _of_groups(values: Array) -> LaunchMeasurement:
    """Return a value without samples, or one of each group."""
    return LaunchMeasurement(
        float(np.median(values)), np.empty(0), tuple(map(float, values)) if len(values) > 1 else ()
    )


def _of_results(results: Sequence[Result]) -> LaunchMeasurement:
    """Return the measurement of results; of several groups, each group's in order."""
    return _of_groups(np.asarray([result.value for result in sorted(results, key=lambda one: one.group)]))


def _scales(value: Seconds, point: Point, role: str) -> dict[int, float]:
    """Return by group the seconds of one chunk, step or counted item per ns of a sample."""
    found = {}
    by_group: dict[int, list[Work]] = {work.group: [] for work in point.work} or {0: []}
    for work in point.work_of(value.role):
        by_group[work.group].append(work)
    for group, works in by_group.items():
        done = sum(work.counts.get(name, 0) for work in works for name in value.per)
        if done or not value.per:
            each = done / (sum(work.lanes for work in works) if point.pace == "chunks" else 1) if value.per else 1.0
            found[group] = 1e-9 / (each * point.batch_of(group, role))
    if not found:
        raise NoSamplesError(f"there is no count {' or '.join(value.per)}")
    return found


def _counts_of_lanes(point: Point, names: Sequence[str], role: str) -> dict[tuple[int, int], float]:
    """Return (group, rank) -> counts of one sample of each of its lanes.

    Raises:
        NoSamplesError: counts by rank are not of all ranks.
    """
    found: dict[tuple[int, int], float] = {}
    lanes: dict[int, dict[int, set[int]]] = {}  # group -> rank -> threads
    for head in point.heads:
        if head.role == role:
            lanes.setdefault(head.group, {}).setdefault(head.rank, set()).add(head.thread)
    for work in point.work:
        if work.role != role:
            continue
        of_group = lanes.get(work.group, {})
        listed = point.groups[work.group] if work.group < len(point.groups) else sorted(of_group)
        members = [rank for rank in listed if rank in of_group]
        if any(len(work.by_rank[name]) < len(members) for name in names if name in work.by_rank):
            raise NoSamplesError("the counts by rank do not cover all ranks")
        for place, rank in enumerate(members):
            threads = len(of_group[rank])
            each = sum(
                work.by_rank[name][place] / threads if name in work.by_rank else work.counts.get(name, 0) / work.lanes
                for name in names
            )
            found[(work.group, rank)] = each * point.batch_of(work.group, role)
    return found


def _off(point: Point, group: int, count: int) -> NDArray[np.bool_]:
    """Return which of the first `count` samples of a group had no phase marks."""
    off = np.zeros(count, dtype=bool)
    for begin, end in point.marks_off_by_group.get(group, ()):
        off[begin:end] = True
    return off


def _steady(name: str, group: int, count: int, point: Point, marked: bool = False) -> NDArray[np.bool_]:
    """Return which of a series' `count` samples are in the steady state.

    If marks were off at times, these are the samples of the step without marks, or with `marked` those with marks, to
    which the share of a phase refers.
    """
    numbers, wanted, skipped = np.arange(count), np.ones(count, dtype=bool), point.warmup
    if name.startswith("phase/"):
        skipped = int((~_off(point, group, point.warmup)).sum())
    elif name == "step" and group in point.marks_off_by_group:
        off = _off(point, group, count)
        wanted = ~off if marked else off
        wanted = wanted if wanted.any() else ~wanted
    steady = wanted & (numbers >= skipped)
    return steady if steady.any() else wanted


def steady_values(series: Series, point: Point, marked: bool = False) -> Array:
    """Return the steady samples, as `_steady`; the cost of an empty phase is subtracted from phases."""
    head, values = series.head, _times(series, point)
    return values[_steady(head.name, head.group, len(values), point, marked)]


def _times(series: Series, point: Point) -> Array:
    """Return all samples; the cost of an empty phase is subtracted from phases."""
    if series.head.name.startswith("phase/") and series.entries is not None:
        without: Array = np.maximum(series.values - series.entries * point.process.clock.empty_ns, 0)
        return without
    return series.values


def _cells(point: Point, samples: Samples, name: str, role: str | None, marked: bool = False) -> Cells:
    """Return the steady samples of one series by group and lane; `marked` as for `_steady`."""
    wanted = point.first_role if role is None else role
    cells = _by_lane(
        [
            (series, steady_values(series, point, marked))
            for series in samples.series
            if series.head.name == name and series.head.role == wanted
        ]
    )
    if not any(len(array) for array in cells.values()):
        raise NoSamplesError(f"there is no series {name!r}")
    return cells


def _undisturbed_cells(point: Point, samples: Samples, name: str, role: str) -> Cells:
    """Return the steady samples of those steps during which no rank of their group was switched out."""
    found = []
    of_steps: dict[int, list[Series]] = {}
    for one in samples.series:
        if one.head.name == "step":
            of_steps.setdefault(one.head.group, []).append(one)
    for series in samples.series:
        head, count = series.head, len(series.values)
        if (head.name, head.role) != (name, role):
            continue
        every = of_steps.get(head.group, [])
        lost = np.asarray(sorted(frozenset().union(*(one.preempted for one in every))), dtype=np.int64)
        number = np.arange(count)
        if name != "step":  # a phase has no samples where marks were off
            number = np.flatnonzero(~_off(point, head.group, max((len(one.values) for one in every), default=count)))
        undisturbed = ~np.isin(number[:count], lost) & _steady(name, head.group, count, point)
        found.append((series, _times(series, point)[undisturbed]))
    cells = _by_lane(found)
    if not any(len(array) for array in cells.values()):
        raise NoSamplesError(f"a rank was preempted in every {name}")
    return cells


def _readings(point: Point, samples: Samples, name: str, role: str | None) -> Cells:
    """Return the steady readings; a sample may have several, and a large record keeps every n-th."""
    wanted = point.first_role if role is None else role
    steps_of = {(s.head.group, s.head.rank): len(s.values) for s in samples.series if s.head.name == "step"}
    kept = [part for part in samples.reduced if part.name == "step"]
    steps_of.update({(part.group, total.rank): total.count for part in kept for total in part.ranks})
    found = []
    for series in samples.series:
        head, values = series.head, series.values
        if (head.name, head.role) == (name, wanted) and len(values):
            skipped = round(point.warmup * len(values) / max(1, steps_of.get((head.group, head.rank), len(values))))
            found.append((series, values[skipped:] if skipped < len(values) else values))
    if not found:
        raise NoSamplesError(f"there is no series {name!r}")
    return _by_lane(found)


def _by_lane(found: Sequence[tuple[Series, Array]]) -> Cells:
    """Return the samples by group, in order, and position of the lane in it."""
    cells: Cells = {}
    places: dict[int, int] = {}
    for series, array in sorted(found, key=lambda one: one[0].head.group):
        group = series.head.group
        cells[(group, places.setdefault(group, 0))] = array
        places[group] += 1
    return cells


def _at_once(point: Point, samples: Samples, name: str, role: str) -> tuple[Cells, float]:
    """Return the steps during which all groups were busy, and their share of all steps."""
    every = _cells(point, samples, name, role)
    if len(point.groups) < 2:
        return every, 1.0
    mine, of_steps = (
        [s for s in samples.series if s.head.name == one and s.head.role == role] for one in (name, "step")
    )
    at_once = windows.steps_at_once(of_steps)
    if not at_once:
        return every, 0.0
    steady = [_steady(name, series.head.group, len(series.values), point) for series in mine]
    kept = [those.copy() for those in steady]
    for series, keep in zip(mine, kept, strict=True):
        common = at_once.get(series.head.group, np.zeros(0, dtype=bool))
        if name != "step":  # a phase has no samples where marks were off
            common = common[~_off(point, series.head.group, len(common))]
        keep[: len(common)] &= common
        keep[len(common) :] = False
    if not all(keep.any() for keep in kept):
        return every, 0.0
    share = sum(int(keep.sum()) for keep in kept) / sum(int(those.sum()) for those in steady)
    return _by_lane([(series, series.values[keep]) for series, keep in zip(mine, kept, strict=True)]), share


def _in_time_order(lanes: Sequence[Array]) -> Array:
    """Return the samples of all lanes by their position in the lane, since hosts share no clock."""
    places = np.concatenate([(np.arange(len(lane)) + 0.5) / max(1, len(lane)) for lane in lanes])
    ordered: Array = np.concatenate(lanes)[np.argsort(places, kind="stable")]
    return ordered


def _over_ranks(arrays: Sequence[Array], how: How) -> Array:
    """Return the reduction over arrays, position by position, up to the shortest."""
    if all(array.ndim == 0 for array in arrays):
        return np.asarray(_HOW[how](np.asarray(arrays)))
    least = min(len(array) for array in arrays)
    return np.asarray(_HOW[how](np.stack([array[:least] for array in arrays]), axis=0))


def _reduce(
    cells: Cells, over: Sequence[Reduce], transform: Callable[[int | None, Array], Array] | None = None
) -> LaunchMeasurement:
    """Remove the axes in order. `transform` turns times of a group into rates once ranks are removed.

    Raises:
        NoSamplesError: there are no cells.
    """
    if not cells:
        raise NoSamplesError("no group has both times and counts")
    state = dict(cells)
    before: Array = np.concatenate([np.atleast_1d(array) for array in state.values()])
    waiting = transform
    for part in over:
        if waiting is not None and part.axis == "groups":
            state, waiting = _transform(state, waiting), None
        before = np.concatenate([np.atleast_1d(array) for array in state.values()])
        if part.axis == "steps":
            state = {key: np.asarray(_HOW[part.how](array)) for key, array in state.items()}
        else:
            state = _merge(state, part)
    if waiting is not None:
        before = np.concatenate([np.atleast_1d(waiting(key[0], array)) for key, array in state.items()])
        state = _transform(state, waiting)
    left = np.asarray([float(np.median(array)) for array in state.values()])
    by_group = tuple(map(float, left)) if len(left) > 1 else ()
    if not over or over[-1].axis != "steps":  # the values of ranks or groups are no time series
        return LaunchMeasurement(float(np.median(left)), np.empty(0), by_group)
    return LaunchMeasurement(
        float(np.median(left)), before, by_group, is_median=over[-1].how == "median" and not by_group
    )


def _transform(state: Cells, transform: Callable[[int | None, Array], Array]) -> Cells:
    return {key: transform(key[0], array) for key, array in state.items()}


def _merge(state: Cells, part: Reduce) -> Cells:
    merged: dict[tuple[int | None, int | None], list[Array]] = {}
    for (group, rank), array in state.items():
        merged.setdefault((group, None) if part.axis == "ranks" else (None, rank), []).append(array)
    return {key: _over_ranks(arrays, part.how) for key, arrays in merged.items()}


def _reduced_parts(samples: Samples, name: str, role: str) -> list[Reduced]:
    return [part for part in samples.reduced if part.name == name and part.role == role]


_OF_TOTAL: Mapping[How, Callable[[RankTotal], float]] = {
    "mean": lambda total: total.sum_ns / max(1, total.count),
    "sum": lambda total: float(total.sum_ns),
    "max": lambda total: float(total.greatest_ns),
    "min": lambda total: float(total.least_ns),
}


def _kept_cells(
    kept: Sequence[Reduced], point: Point, over: Sequence[Reduce], undisturbed: bool = False
) -> tuple[Cells, Sequence[Reduce]]:
    """Return the cells of a record that keeps no samples, in ns, and the remaining reductions.

    The slowest rank's time of each step is cut like samples; sums, extremes and sketches are of all samples.

    Raises:
        NoSamplesError: the order of reductions needs every sample of every rank.
    """
    cells: Cells = {}
    first, *rest = over
    if undisturbed and (first.axis, first.how) == ("ranks", "max"):
        for part in kept:
            cells[(part.group, None)] = _slowest_undisturbed(part, point, steps("max") in over)
    elif (first.axis, first.how) == ("ranks", "max"):
        for part in kept:
            cells[(part.group, None)] = _slowest(part, point)
    elif first.axis == "steps" and first.how in _OF_TOTAL and not undisturbed:
        for part in kept:
            for total in part.ranks:
                cells[(part.group, total.rank)] = np.asarray(_OF_TOTAL[first.how](total))
    else:
        raise NoSamplesError(f"the record keeps no samples for the {first.how} over {first.axis}")
    return dict(sorted(cells.items(), key=lambda cell: cell[0][0] or 0)), rest


def _slowest(part: Reduced, point: Point) -> Array:
    """Return the slowest rank's time of each steady step; of a sketch, an unordered sample with the maximum."""
    if part.slowest_ns is not None:
        return part.slowest_ns[_steady(part.name, part.group, len(part.slowest_ns), point)]
    if part.slowest is None:
        raise NoSamplesError(f"the record does not contain the slowest times of {part.name}")
    drawn = part.slowest.sample(SKETCHED)
    if len(drawn):
        drawn[-1] = max((ns for _, _, ns in part.worst), default=drawn[-1])
    shuffled: Array = np.random.default_rng(0).permutation(drawn)  # the sorted order would look like drift
    return shuffled


def _slowest_undisturbed(part: Reduced, point: Point, worst: bool) -> Array:
    """Return `_slowest` of steps during which no rank was switched out; of a sketch only if `worst`.

    Raises:
        NoSamplesError: there is none, or it is not recorded.
    """
    lost = np.asarray(sorted(part.preempted), dtype=np.int64)
    if part.slowest_ns is not None:
        count = len(part.slowest_ns)
        kept = part.slowest_ns[~np.isin(np.arange(count), lost) & _steady(part.name, part.group, count, point)]
    else:
        kept = np.asarray([float(ns) for step, _, ns in part.worst if worst and step not in part.preempted])
    if not len(kept):
        raise NoSamplesError(f"the record does not contain an undisturbed {part.name}")
    return kept
