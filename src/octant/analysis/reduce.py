"""Samples to the value of one launch: the only place where a metric's reductions are carried out.

The samples of a point have three axes: steps, ranks (or the lanes of ranks) and groups. A metric removes them one by
one, in the order in which it names them; what is there before the last one is removed is the launch's distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from octant.analysis import windows
from octant.metric import SLOWEST, Custom, Named, Rate, Reading, Seconds, Share, groups, ranks, steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.metric import How, Metric, Reduce, Value
    from octant.record import Point, RankTotal, Reduced, Samples, Series

Array: TypeAlias = "NDArray[np.float64]"
Cells: TypeAlias = "dict[tuple[int | None, int | None], Array]"  # (group, rank or lane) -> samples, or one number

SKETCHED = 10_000
"""How many values stand for the samples of a record that kept a sketch of them."""
_HOW: dict[How, Callable[..., Array]] = {
    "mean": np.mean,
    "median": np.median,
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
}


class NoSamplesError(ValueError):
    """The point has nothing that the metric could be made of; the message says what is missing."""


@dataclass(frozen=True)
class Measured:
    """What one launch says: the value, the samples behind it in time order, and the value of each group."""

    value: float
    samples: Array  # base units; before the last reduction; none behind a result or a function of the whole point
    by_group: tuple[float, ...] = ()  # where the metric does not reduce groups
    together: float = 1.0  # share of the time in which all lanes or groups were at work at once
    is_median: bool = True  # the value is the samples' median, whose interval they give


def measure(metric: Metric, point: Point, samples: Samples) -> Measured:
    """The value of a metric in one launch.

    Raises:
        NoSamplesError: the point has neither the series nor a result of the metric's name.
    """
    try:
        return _value(metric.value, point, samples)
    except NoSamplesError:
        named = [result.value for result in point.results if result.name == metric.name and result.bound is None]
        if not named:
            raise
        return _of_groups(np.asarray(named))


def _value(value: Value, point: Point, samples: Samples) -> Measured:
    if isinstance(value, Seconds):
        return _seconds(value, point, samples)
    if isinstance(value, Rate):
        return _rate(value, point, samples)
    if isinstance(value, Share):
        return _share(value, point, samples)
    if isinstance(value, Reading):
        return _reduce(_cells(point, samples, f"reading/{value.of}", value.role), value.over)
    if isinstance(value, Named):
        named = [result.value for result in point.results if result.name == value.name]
        if not named:
            raise NoSamplesError(f"there is no result {value.name!r}")
        return _of_groups(np.asarray(named))
    if isinstance(value, Custom):
        return _of_groups(np.asarray([value.function(point, samples)]))
    parts = [_value(part, point, samples) for part in value.values]
    return _of_groups(np.asarray([value.function(*(part.value for part in parts))]))


def _seconds(value: Seconds, point: Point, samples: Samples) -> Measured:
    role = point.first_role if value.role is None else value.role
    divisor = _per_lane(point, value.per, value.role) if value.per else 1.0
    if divisor == 0:
        raise NoSamplesError(f"nothing is counted as {' or '.join(value.per)}")
    scale = 1e-9 / (divisor * _batch(point, role))
    if value.over is None and point.pace == "chunks":
        lanes = list(_cells(point, samples, value.of, role).values())
        pooled = _in_time_order(lanes) * scale
        return Measured(float(np.median(pooled)), pooled)
    over = SLOWEST if value.over is None else value.over
    kept = _reduced_parts(samples, value.of, role)
    if kept:
        return _measure_reduced(kept, over, scale)
    cells, together = _at_once(point, samples, value.of, role)
    found = _reduce({key: array * scale for key, array in cells.items()}, over)
    return replace(found, together=together)


def _rate(value: Rate, point: Point, samples: Samples) -> Measured:
    role = point.first_role if value.role is None else value.role
    batch = _batch(point, role)
    if point.pace == "chunks":
        counts = _counts_of_lanes(point, value.counts, role)
        lanes = [series for series in samples.series if series.head.name == value.of and series.head.role == role]
        if not lanes:
            raise NoSamplesError(f"there is no series {value.of!r}")
        done = [counts.get((lane.head.group, lane.head.rank), 0.0) * batch for lane in lanes]
        if len(lanes) == 1:
            rates = done[0] / (_steady(lanes[0], point) * 1e-9)
            return Measured(float(np.median(rates)), rates)
        rates, together = windows.summed_rates(lanes, done, point.warmup)
        return Measured(float(np.median(rates)), rates, together=together)
    by_group: dict[int, float] = {}
    for work in point.work_of(value.role):
        done_once = sum(work.counts.get(name, 0) for name in value.counts)
        by_group[work.group] = by_group.get(work.group, 0.0) + done_once * batch
    over = (ranks("max"), groups("sum"), steps("median")) if value.over is None else value.over
    kept = _reduced_parts(samples, value.of, role)
    if kept:
        inner = tuple(part for part in over if part.axis != "groups")
        each = {part.group: _measure_reduced([part], inner, 1e-9) for part in kept}
        rates = np.asarray([by_group.get(group, 0.0) / found.value for group, found in each.items()])
        return Measured(float(rates.sum()), np.concatenate([by_group.get(g, 0.0) / m.samples for g, m in each.items()]))
    cells, together = _at_once(point, samples, value.of, role)
    found = _reduce(cells, over, lambda group, ns: by_group.get(group or 0, 0.0) / (ns * 1e-9))
    return replace(found, together=together)


def _share(value: Share, point: Point, samples: Samples) -> Measured:
    """A sum over a sum: a mean of ratios would weigh short steps like long ones."""
    role = point.first_role if value.role is None else value.role
    sums, per_step = [], []
    for name in (value.of, value.to):
        kept = _reduced_parts(samples, name, role)
        if kept:
            sums.append(float(sum(total.sum_ns for part in kept for total in part.ranks)))
            continue
        cells = _cells(point, samples, name, role, marked=value.of.startswith("phase/"))
        sums.append(float(sum(array.sum() for array in cells.values())))
        per_step.append(_over_ranks(list(cells.values()), "sum"))
    if not sums[1]:
        raise NoSamplesError(f"{value.to} took no time")
    share = sums[0] / sums[1]
    if len(per_step) == 2 and len(per_step[0]) == len(per_step[1]) and (per_step[1] > 0).all():
        return Measured(share, per_step[0] / per_step[1], is_median=False)
    return Measured(share, np.empty(0))


def _of_groups(values: Array) -> Measured:
    """A value that no samples stand behind, or one of each group."""
    return Measured(float(np.median(values)), np.empty(0), tuple(map(float, values)) if len(values) > 1 else ())


def _batch(point: Point, role: str) -> int:
    return next((work.batch for work in point.work if work.role == role), 1) * point.coalesced


def _per_lane(point: Point, names: Sequence[str], role: str | None) -> float:
    """What one lane's chunk, or one group's step, counts."""
    works = point.work_of(role)
    parts = sum(work.lanes for work in works) if point.pace == "chunks" else len({work.group for work in works})
    return point.count(*names, role=role) / parts if parts else 0.0


def _counts_of_lanes(point: Point, names: Sequence[str], role: str) -> dict[tuple[int, int], float]:
    """(group, rank) -> what one chunk of each of its lanes counts."""
    found: dict[tuple[int, int], float] = {}
    for work in point.work:
        if work.role != role:
            continue
        lanes = sorted({(h.rank, h.thread) for h in point.heads if (h.group, h.role) == (work.group, role)})
        members = sorted({rank for rank, _ in lanes}) or list(range(point.ranks))
        for place, rank in enumerate(members):
            threads = sum(lane[0] == rank for lane in lanes) or 1
            each = sum(
                work.by_rank[name][place] / threads if name in work.by_rank else work.counts.get(name, 0) / work.lanes
                for name in names
            )
            found[(work.group, rank)] = each
    return found


def _off(point: Point, group: int, count: int) -> NDArray[np.bool_]:
    """Which of the first `count` samples of a group had no phase marks."""
    off = np.zeros(count, dtype=bool)
    for begin, end, of in point.marks_off:
        if of == group:
            off[begin:end] = True
    return off


def _steady(series: Series, point: Point, marked: bool = False) -> Array:
    """The samples of the steady state; where marks were switched on and off, those of the step without marks.

    `marked`: of the step those samples that were measured with phase marks, since a phase's share is of these.
    """
    values, group = series.values, series.head.group
    if series.head.name.startswith("phase/"):
        entered = 0.0 if series.entries is None else series.entries
        values = np.maximum(values - entered * point.process.clock.empty_ns, 0)
        skipped = int((~_off(point, group, point.warmup)).sum())
        return values[skipped:] if len(values) > skipped else values
    if series.head.name != "step" or not any(of == group for _, _, of in point.marks_off):
        return values[point.warmup :] if len(values) > point.warmup else values
    off = _off(point, group, len(values))
    wanted = ~off if marked else off
    steady = wanted & (np.arange(len(values)) >= point.warmup)
    return values[steady] if steady.any() else values[wanted] if wanted.any() else values


def _cells(point: Point, samples: Samples, name: str, role: str | None, marked: bool = False) -> Cells:
    """The steady samples of one series by group and lane; `marked` as for `_steady`."""
    wanted = point.first_role if role is None else role
    cells: Cells = {
        (series.head.group, number): _steady(series, point, marked)
        for number, series in enumerate(samples.series)
        if series.head.name == name and series.head.role == wanted
    }
    if not any(len(array) for array in cells.values()):
        raise NoSamplesError(f"there is no series {name!r}")
    return cells


def _at_once(point: Point, samples: Samples, name: str, role: str) -> tuple[Cells, float]:
    """Of several groups, only the steps during which all groups were at work, and what share of all steps that is."""
    if len(point.groups) < 2 or name != "step":
        return _cells(point, samples, name, role), 1.0
    mine = [series for series in samples.series if series.head.name == name and series.head.role == role]
    if not mine:
        raise NoSamplesError(f"there is no series {name!r}")
    kept = windows.steps_at_once(mine, point.warmup)
    if kept is None:
        return _cells(point, samples, name, role), 0.0
    share = float(sum(map(np.sum, kept))) / max(1, sum(map(len, kept)))
    return {
        (series.head.group, n): series.values[keep] for n, (series, keep) in enumerate(zip(mine, kept, strict=True))
    }, share


def _in_time_order(lanes: Sequence[Array]) -> Array:
    """The samples of all lanes, by their place in their lane: lanes of several hosts share no clock."""
    places = np.concatenate([(np.arange(len(lane)) + 0.5) / max(1, len(lane)) for lane in lanes])
    ordered: Array = np.concatenate(lanes)[np.argsort(places, kind="stable")]
    return ordered


def _over_ranks(arrays: Sequence[Array], how: How) -> Array:
    """Place by place, as far as all reach."""
    if all(array.ndim == 0 for array in arrays):
        return np.asarray(_HOW[how](np.asarray(arrays)))
    least = min(len(array) for array in arrays)
    return np.asarray(_HOW[how](np.stack([array[:least] for array in arrays]), axis=0))


def _reduce(
    cells: Cells, over: Sequence[Reduce], transform: Callable[[int | None, Array], Array] | None = None
) -> Measured:
    """Removes the axes in order. `transform` turns the times of a group into rates once ranks are removed."""
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
    if not over or over[-1].axis != "steps":  # what is left of every rank or group is no series in time
        return Measured(float(np.median(left)), np.empty(0), by_group)
    return Measured(float(np.median(left)), before, by_group, is_median=over[-1].how == "median" and not by_group)


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


def _measure_reduced(kept: Sequence[Reduced], over: Sequence[Reduce], scale: float) -> Measured:
    """The same from what a record keeps where its samples would not fit.

    Raises:
        NoSamplesError: an order of reductions that needs every sample of every rank.
    """
    cells: Cells = {}
    first, *rest = over
    if first.axis == "ranks" and first.how == "max":
        for part in kept:
            slowest = part.slowest_ns
            if slowest is None and part.slowest is not None:
                slowest = part.slowest.sample(SKETCHED)
            if slowest is None:
                raise NoSamplesError(f"the record keeps no slowest times of {part.name}")
            cells[(part.group, None)] = slowest * scale
    elif first.axis == "steps" and first.how in _OF_TOTAL:
        for part in kept:
            for total in part.ranks:
                cells[(part.group, total.rank)] = np.asarray(_OF_TOTAL[first.how](total) * scale)
    else:
        raise NoSamplesError(f"the record is too large to keep what {first.how} over {first.axis} needs")
    return _reduce(cells, rest)
