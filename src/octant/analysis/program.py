"""Metrics of a user's program: the requested values, then those of every program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant import units
from octant.analysis.occupancy import occupancy
from octant.metric import Metric, custom, result, seconds
from octant.profile import measures
from octant.workload import Bars, Curve, RankBars, Workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.program import ProgramValue
    from octant.record import Point, Samples
    from octant.request import Request, Subject
    from octant.workload import Picture

WALL, USER, SYSTEM, MEMORY = "wall time", "user time", "system time", "memory"
MINOR_FAULTS, MAJOR_FAULTS = "minor page faults", "major page faults"
WAITS, PREEMPTIONS = "voluntary context switches", "involuntary context switches"
OF_THE_SYSTEM = frozenset({MINOR_FAULTS, MAJOR_FAULTS, WAITS, PREEMPTIONS})
"""Counters that are shown only in the details of a figure."""
_ALWAYS = (
    (WALL, "s", "of the whole command line, including the launcher"),
    (USER, "s", "of all processes"),
    (SYSTEM, "s", "of all processes"),
    (MEMORY, "B", "largest resident set of one process"),
    (MINOR_FAULTS, "1", "of all processes"),
    (MAJOR_FAULTS, "1", "of all processes"),
    (WAITS, "1", "of all processes"),
    (PREEMPTIONS, "1", "of all processes"),
)
_OF_PROFILE: tuple[tuple[str, str, Literal["lower", "higher"], str], ...] = (
    (
        measures.MPI_SHARE,
        "1",
        "lower",
        "time of threads in MPI over threads that call MPI × time from Init to Finalize",
    ),
    (measures.MPI_TIME, "s", "lower", "time of the threads of a rank in MPI, mean over ranks"),
    (measures.PARALLEL_EFFICIENCY, "1", "higher", "load balance × communication efficiency"),
    (measures.LOAD_BALANCE, "1", "higher", "mean over maximum of the time outside MPI"),
    (measures.COMMUNICATION_EFFICIENCY, "1", "higher", "maximum time outside MPI over the elapsed time"),
    (measures.BYTES_SENT, "B", "lower", "by all ranks, in messages, collectives and one-sided operations"),
    (measures.MESSAGES_SENT, "1", "lower", "by all ranks"),
    (measures.MPI_CALLS, "1", "lower", "of all ranks"),
    (measures.PROFILING_COST, "1", "lower", "estimated share of the recording in the elapsed time"),
)
"""Values of a program whose MPI calls were recorded."""
_DETAILS_OF_PROFILE = frozenset({measures.MPI_CALLS, measures.PROFILING_COST})
_SHARES = frozenset(
    {
        measures.MPI_SHARE,
        measures.PARALLEL_EFFICIENCY,
        measures.LOAD_BALANCE,
        measures.COMMUNICATION_EFFICIENCY,
        measures.PROFILING_COST,
    }
)
UTILISATION, CORES_USED, IMBALANCE = "CPU utilisation", "cores used", "load imbalance"
_RANK_TIMES = (f"reading/{USER}", f"reading/{SYSTEM}")


def program_workload(request: Request, points: Sequence[Point]) -> Workload:
    """Return the workload of a program; its headline is the first requested value, else the wall time.

    It provides no limit and has none.

    Args:
        ask: with a command line.
        points: of one of its cells.
    """
    subject = request.subject
    units_of = {one.name: one.unit for point in points for one in point.results if one.bound is None}
    metrics = [_of_value(value) for value in subject.values]
    known = [one for one in _ALWAYS if one[0] in units_of]
    metrics += [
        Metric(name, unit, "lower", result(name), note=note, of_system=name != WALL) for name, unit, note in known
    ]
    metrics += _of_processors(points)
    metrics += _of_profiles(points, units_of)
    named = {metric.name for metric in metrics}
    further = [(name, unit) for name, unit in units_of.items() if name not in named]
    metrics += [Metric(name, unit, "lower", result(name), of_system=True) for name, unit in further]
    each_once = {metric.name: metric for metric in reversed(metrics)}  # a value overrides a metric of every program
    ordered = tuple(each_once[name] for name in dict.fromkeys(metric.name for metric in metrics))
    name = subject.name.partition("/")[2]
    return Workload(f"The program {name}", ordered, {}, subject.name, pictures=_pictures(request, points))


def declared_workload(subject: Subject) -> Workload:
    """Return the workload of a program before any measurement, with every metric that a point may have."""
    metrics = [_of_value(value) for value in subject.values]
    metrics += [Metric(name, unit, "lower", result(name), note=note) for name, unit, note in _ALWAYS]
    metrics += [Metric(name, unit, better, result(name), note=note) for name, unit, better, note in _OF_PROFILE]
    metrics.append(Metric(CORES_USED, "1", "higher", custom(lambda point, _: cores_used(point))))
    metrics.append(_utilisation_metric())
    metrics.append(Metric(IMBALANCE, "1", "lower", custom(_imbalance)))
    return Workload(f"The program {subject.name.partition('/')[2]}", tuple(metrics), {}, subject.name)


def _of_value(value: ProgramValue) -> Metric:
    """Return the metric of a value that the user requested; counts of calls do not depend on lost time."""
    note = "of the MPI profile" if value.region or value.call else "as stated by the program"
    quantity = value.call.split(":")[1] if value.call else ""
    is_count = quantity in ("calls", "bytes", "bytes per call")
    return Metric(
        value.name, value.unit, value.better, result(value.name), note, of_system=is_count,
        of_capacity=quantity == "share",
    )  # fmt: skip


def _utilisation_metric(note: str = "") -> Metric:
    return Metric(UTILISATION, "1", "higher", custom(lambda point, _: utilisation(point)), note, of_capacity=True)


def _of_processors(points: Iterable[Point]) -> list[Metric]:
    """Return the metrics of processor use that the points contain."""
    found = []
    known = {one.name for point in points for one in point.results}
    if {WALL, USER, SYSTEM} <= known:
        note = "user and system time over wall time"
        found.append(Metric(CORES_USED, "1", "higher", custom(lambda point, _: cores_used(point)), note))
        if any(occupancy(point) for point in points):
            note = "user and system time over wall time and the hardware threads that the program may use"
            found.append(_utilisation_metric(note))
    if any(_is_by_rank(point) for point in points):
        note = "CPU time of the busiest rank over the mean of all ranks, less 1"
        found.append(Metric(IMBALANCE, "1", "lower", custom(_imbalance), note))
    return found


def _of_profiles(points: Iterable[Point], units_of: Mapping[str, str]) -> list[Metric]:
    """Return the metrics of the profile that the points contain, and the time of each region."""
    found = [
        Metric(
            name, unit, better, result(name), note, of_system=name in _DETAILS_OF_PROFILE, of_capacity=name in _SHARES
        )
        for name, unit, better, note in _OF_PROFILE
        if name in units_of
    ]
    names = dict.fromkeys(head.name for point in points for head in point.heads)
    return found + [
        Metric(f"time in {region}", "s", "lower", seconds(name), note="of the slowest rank")
        for name in names
        if (region := measures.region_of(name))
    ]


def named(point: Point, name: str) -> float:
    """Return the result of that name.

    Raises:
        LookupError: the point does not have it.
    """
    for one in point.results:
        if one.name == name and one.bound is None:
            return one.value
    raise LookupError(f"there is no result {name!r}")


def cores_used(point: Point) -> float:
    """Return CPU time over wall time: the average number of busy hardware threads.

    Raises:
        LookupError: a time is missing, or the wall time is 0.
    """
    wall_s = named(point, WALL)
    if not wall_s > 0:
        raise LookupError("the program has no wall time")
    return (named(point, USER) + named(point, SYSTEM)) / wall_s


def utilisation(point: Point) -> float:
    """Return the CPU time over the time of the hardware threads that the program may use, 0 to about 1.

    Raises:
        LookupError: as `cores_used`, or the hardware threads are not known.
    """
    occupied = occupancy(point)
    if occupied is None:
        raise LookupError("the hardware threads of the program are not known")
    return cores_used(point) / len(occupied.hardware_threads)


def _is_by_rank(point: Point) -> bool:
    """Return whether CPU times of several ranks are recorded."""
    return len({head.rank for head in point.heads if head.name == _RANK_TIMES[0]}) > 1


def values_of_ranks(samples: Samples, *names: str) -> Mapping[int, float]:
    """Return by rank the sum of the last values of these series."""
    found: dict[int, float] = {}
    for series in samples.series:
        if series.head.name in names and len(series.values):
            found[series.head.rank] = found.get(series.head.rank, 0.0) + float(series.values[-1])
    return found


def cpu_time_of_ranks(samples: Samples) -> Mapping[int, float]:
    """Return by rank the user and system time in seconds."""
    return values_of_ranks(samples, *_RANK_TIMES)


def _imbalance(_point: Point, samples: Samples) -> float:
    times = list(cpu_time_of_ranks(samples).values())
    mean = float(np.mean(times)) if times else 0.0
    if len(times) < 2 or not mean:
        raise LookupError("CPU times of several ranks are not recorded")
    return max(times) / mean - 1


def _pictures(request: Request, points: Sequence[Point]) -> tuple[Picture, ...]:
    """Return a curve for each knob swept over numbers, bars for one swept over words, and bars for ranks."""
    swept = [(name, values.split(",")) for name, values in request.knobs.items() if "," in values]
    title = request.show.title or request.subject.name.partition("/")[2]
    metric = request.subject.values[0].name if request.subject.values else WALL
    found: list[Picture] = []
    for name, values in swept:
        if _are_numbers(values):
            found.append(Curve(name, title=f"{title}: {metric} against {name}"))
        else:
            found.append(Bars(name, title=f"{title}: {metric} by {name}"))
    ranks = (RankBars(title=f"{title}: CPU time by rank"),) if any(map(_is_by_rank, points)) else ()
    return (*found, *ranks)


def _are_numbers(values: Sequence[str]) -> bool:
    """Return whether the values have positions on an axis: numbers from 0 up, or sizes."""
    try:
        return all(0 <= float(value) < math.inf for value in values)
    except ValueError:
        return any(value.endswith("B") for value in values) and all(map(_is_size, values))


def _is_size(value: str) -> bool:
    try:
        units.parse_bytes(value)
    except ValueError:
        return False
    return True
