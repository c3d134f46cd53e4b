"""Caveats of one launch, from its record and from its samples."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from octant import stats
from octant.analysis.lost import lost_time_of, oversubscription
from octant.placement import numbers_text
from octant.program import is_program
from octant.record import known_count, unstated_counts
from octant.stats import Caveat, caveat, graded
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from octant.metric import Metric
    from octant.record import Point, Samples, Series

LEAST_BURSTS = 4
_NOTED = {
    "outlived": ("processes outlived the program", "processes outlived the program and were terminated: {}"),
    "ranks missing": ("ranks without a report", "times and memory exclude ranks without a report: {}"),
    "cut output": ("truncated output", "the stored output is truncated: {}"),
    "failed after": ("failed command after the launch", "{}"),
    "problems": ("launch problems", "{}"),
    "binds itself": ("binding by the launcher", "options of the launcher bind the ranks: {}"),
}
"""Notes of a program's measurement: kind and text of the caveat of each."""
TIME_SLICE_NS = 3e6  # of Linux; longer samples contain time of other processes


def caveats_about(point: Point, samples: Samples, mismatches: tuple[str, ...] = ()) -> tuple[Caveat, ...]:
    """Return the caveats of all figures of a measurement.

    Args:
        mismatches: differences from the request.
    """
    found = [*_unfit(point, mismatches), *_other_work(point), *_effort(point)]
    if point.process.link:
        found.append(
            caveat(
                "emulated link",
                f"the hosts were joined by an emulated link ({point.process.link}), not by a real network",
            )
        )
    if point.share_cores:
        crowd = oversubscription(point)
        found.append(
            caveat(
                "oversubscription",
                f"oversubscribed ({crowd.counts_text if crowd else 'more threads than hardware threads'})",
            )
        )
    if short := _short_phases(point, samples):
        found.append(
            caveat(
                "phase too short",
                f"phases take less than ten times their timing overhead: {', '.join(short)}",
                len(short),
            )
        )
    if source := point.notes.get("imported"):
        found.append(
            caveat(
                "imported result", f"imported, not measured here: result {source}, line {point.notes.get('lines', '?')}"
            )
        )
    if missing := unstated_counts(point):
        found.append(caveat("rank or thread count not stated", f"{missing} in the imported file"))
    if why := point.notes.get("unverified"):
        found.append(caveat("result not verified", why))
    if others := point.notes.get("others"):
        text = f"only {others} other thread{'s' * (others != '1')} loaded the memory"
        rise = "the memory is saturated only if its latency rises by at least 25 % with the load"
        found.append(caveat("insufficient memory load", f"{text}; {rise}"))
    if copied := point.notes.get("memory_copy"):
        found.append(caveat("access to memory instead of storage", copied))
    if rounded := point.notes.get("rounded"):
        found.append(caveat("rounded sizes", f"sizes were rounded: {rounded}"))
    if is_program(point.workload):
        found += _program_caveats(point)
    return (*found, *_interrupted(point, samples))


def failed_commands(points: Sequence[Point]) -> tuple[str, ...]:
    """Return a clause for each failed command after launches, with the number of launches in which it failed."""
    found = Counter(point.notes["failed after"] for point in points if "failed after" in point.notes)
    return tuple(f"{text}, in {number} of {counted(len(points), 'launch')}" for text, number in found.items())


def _program_caveats(point: Point) -> list[Caveat]:
    """Return the caveats from notes of the guard of a user's program."""
    noted = ((point.notes.get(note), kind, text) for note, (kind, text) in _NOTED.items())
    found = [caveat(kind, text.format(note)) for note, kind, text in noted if note]
    # Problems repeat the surviving processes and the missing ranks.
    if {"processes outlived the program", "ranks without a report"} & {one.kind for one in found}:
        found = [one for one in found if one.kind != "launch problems"]
    return found


def _interrupted(point: Point, samples: Samples) -> list[Caveat]:
    """Return the caveat of preempted samples; of short samples only if the record has no lost time."""
    steps = [series for series in samples.series if (series.head.name, series.head.role) == ("step", point.first_role)]
    number = sum(len(series.values) for series in steps)
    preempted = sum(map(_cut_short, steps))
    if preempted <= 0.05 * number:
        return []
    share = preempted / number
    text = f"{100 * share:.0f} % of the samples were preempted"
    length_ns = float(np.median(np.concatenate([series.values for series in steps])))
    if length_ns > TIME_SLICE_NS:
        longer = f"a sample takes {length_ns * 1e-6:.0f} ms, longer than a time slice, and includes other processes"
        return [caveat("long preempted samples", f"{text}; {longer}", share)]
    return [] if lost_time_of(point) else [caveat("preempted samples", text, share)]


def _unfit(point: Point, mismatches: tuple[str, ...]) -> list[Caveat]:
    """Return the caveats that make all figures invalid."""
    found = []
    if not point.passed:
        found.append(caveat("wrong result", "the result is wrong: verification failed"))
    if mismatches:
        more = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
        found.append(caveat("request not met", f"the request was not met: {mismatches[0]}{more}", len(mismatches)))
    if point.process.build.get("faults_compiled"):
        found.append(
            caveat("fault-injection build", "the kernel is a fault-injection build; measure with a release build")
        )
    return found


def _other_work(point: Point) -> list[Caveat]:
    """Return the caveats about other processes on the node; `caveats_about_lost` covers the time that threads lost."""
    during = point.noise.get("during", {})
    elapsed = during.get("time_s", 0.0)
    if elapsed <= 0:
        return []
    found: list[Caveat] = []
    if lost_time_of(point) is None:
        # Summed over all CPUs of the node: an upper bound, which does not invalidate the measurement.
        threads = known_count(point.ranks) * known_count(point.threads)
        share = min(0.5, during.get("node_steal_s", 0.0) / (elapsed * threads))
        found += graded("stolen time", share, f"the hypervisor took up to {100 * share:.0f} % of the CPU time")
    own = during.get("node_own_cpu_s", during.get("own_cpu_s", 0.0) * known_count(point.ranks))
    if during.get("node_busy_s", 0.0) - own > max(0.25 * elapsed, 0.05):
        found.append(caveat("load from other processes", "other processes used CPU time during the measurement"))
    return found


def _effort(point: Point) -> list[Caveat]:
    """Return the caveats of a measurement that ended before it was complete."""
    found = []
    precision = point.knobs.get("precision", "")
    if point.stopped_by == "time" and precision.strip("0.") and not is_program(point.workload):
        text = f"the time limit ended a launch before it reached the precision {precision}; increase seconds="
        found.append(caveat("precision not reached", text))
    bursts = max((len(head.clock_hz) for head in point.heads), default=0)  # 0: not recorded
    if 0 < bursts < LEAST_BURSTS:
        found.append(
            caveat("few bursts", f"a launch has only {counted(bursts, 'burst')} of samples; increase seconds=", -bursts)
        )
    return found


def _short_phases(point: Point, samples: Samples) -> list[str]:
    """Return the names of phases whose entries take less than ten marks."""
    short: dict[str, None] = {}
    for series in samples.series:
        kind, _, name = series.head.name.partition("/")
        entered = 0.0 if series.entries is None else float(series.entries.sum())
        if kind == "phase" and entered and series.values.sum() / entered < 10 * point.process.clock.mark_ns:
            short[name] = None
    return list(short)


def _cut_short(lane: Series) -> int:
    """Return the number of samples that a context switch lengthened.

    Preempted samples that are as fast as undisturbed ones, if there are enough of these, do not count: a daemon always
    runs for some microseconds within samples of tens of milliseconds.
    """
    hit = np.isin(np.arange(len(lane.values)), list(lane.preempted))
    if not hit.any():
        return 0
    enough = (~hit).sum() >= 6
    harmless = lane.values <= 1.05 * np.median(lane.values[~hit]) if enough else np.zeros(len(hit), dtype=bool)
    return int((hit & ~harmless).sum())


def caveats_about_seats(points: Sequence[Point]) -> tuple[Caveat, ...]:
    """Return the caveat that the only launch ran on one random choice of hardware threads."""
    if len(points) != 1 or points[0].knobs.get("pin") != "each" or is_program(points[0].workload):
        return ()
    used = points[0].hardware_threads
    if len({host for host, _ in used}) != 1:
        return ()
    numbers = numbers_text([number for _, number in used])
    return (caveat("single choice of CPUs", f"the only launch ran on CPU{'s' * (len(used) > 1)} {numbers}; repeat it"),)


def caveats_about_togetherness(share: float) -> tuple[Caveat, ...]:
    """Return the caveat that lanes or groups were busy at the same time for less than half of the time."""
    if share == 0:
        return (
            caveat(
                "threads rarely concurrent", "the threads were never all busy and undisturbed at the same time", 1.0
            ),
        )
    text = f"all threads were busy at the same time for only {100 * share:.0f} % of the time"
    return (caveat("threads rarely concurrent", text, 1 - share),) if share < 0.5 else ()


def caveats_about_samples(
    samples: NDArray[np.float64], correlation: float = 1.0, metric: Metric | None = None
) -> tuple[Caveat, ...]:
    """Return the caveats about the number, the steadiness and the outliers of the samples of one launch.

    Args:
        correlation: number of successive samples that count as one.
        metric: of the samples; `None`: a quantity that is no time or rate.
    """
    found = []
    if len(samples) < 6:
        text = f"a launch has only {counted(len(samples), 'sample')}; its interval is their range"
        found.append(caveat("few samples", text, -len(samples)))
    elif len(samples) < 6 * correlation:
        independent = len(samples) / correlation
        text = (
            f"{len(samples)} autocorrelated samples of a launch count as {independent:.0f}; its interval is their range"
        )
        found.append(caveat("few samples", text, -independent))
    change = stats.drift(samples)
    if abs(change) > 0.03:
        found.append(caveat("drift", f"{_change_text(change, metric)} in the second half of a launch", abs(change)))
    far = float(stats.outliers(samples).mean())
    if far > 0.05:
        found.append(caveat("outliers", f"{100 * far:.0f} % of the samples are outliers", far))
    return tuple(found)


def _change_text(change: float, metric: Metric | None) -> str:
    """Return a relative change in words: `4 % slower` for times and rates, else `4 % higher`."""
    percent = f"{100 * abs(change):.0f} %"
    if metric is None or not (metric.unit == "s" or metric.unit.endswith("/s")):
        return f"{percent} {'higher' if change > 0 else 'lower'}"
    return f"{percent} {'faster' if (change > 0) == (metric.better == 'higher') else 'slower'}"
