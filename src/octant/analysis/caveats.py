"""What casts doubt on one launch: what its record says of it, and what its samples say themselves."""

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

    from octant.record import Point, Samples, Series

LEAST_BURSTS = 4
_NOTED = {
    "outlived": ("processes outlived", "processes outlived the program and were ended: {}"),
    "ranks missing": ("ranks missing", "ranks without a report, so times and memory are of the others: {}"),
    "cut output": ("output cut", "not all of the output was stored: {}"),
    "failed after": ("command after failed", "{}"),
    "problems": ("launch problems", "{}"),
    "binds itself": ("launcher binds", "the launcher binds the ranks itself: {}"),
}
"""Notes of a program's point: the kind of caveat that each is, and its sentence."""
TIME_SLICE_NS = 3e6  # Linux's: beside other load few longer samples are undisturbed


def caveats_about(point: Point, samples: Samples, mismatches: tuple[str, ...] = ()) -> tuple[Caveat, ...]:
    """What casts doubt on all figures of a point.

    Args:
        mismatches: what it was given other than asked.
    """
    found = [*_unfit(point, mismatches), *_other_work(point), *_effort(point)]
    if point.process.link:
        found.append(caveat("emulated link", f"emulated link of {point.process.link}, not a network of this machine"))
    if point.share_cores:
        crowd = oversubscription(point)
        found.append(caveat("cores shared", crowd.text if crowd else "more threads than hardware threads"))
    if short := _short_phases(point, samples):
        found.append(caveat("short phase", f"phases shorter than ten of their marks: {', '.join(short)}", len(short)))
    if source := point.notes.get("imported"):
        found.append(caveat("imported", f"not measured here: {source}, line {point.notes.get('lines', '?')}"))
    if missing := unstated_counts(point):
        found.append(caveat("count not stated", f"{missing} in the imported file"))
    if why := point.notes.get("unverified"):
        found.append(caveat("not verified", why))
    if others := point.notes.get("others"):
        text = f"{others} other thread{'s' * (others != '1')} drew: too small a load to reach the knee of latency"
        found.append(caveat("small load", f"{text}, unless it rises by 25 % along the load"))
    if copied := point.notes.get("memory_copy"):
        found.append(caveat("memory copy", copied))
    if rounded := point.notes.get("rounded"):
        found.append(caveat("sizes rounded", f"rounded: {rounded}"))
    if is_program(point.workload):
        found += _program_caveats(point)
    return (*found, *_interrupted(point, samples))


def failed_commands(points: Sequence[Point]) -> tuple[str, ...]:
    """Return which commands after launches failed, and in how many launches: a sentence each, without its end."""
    found = Counter(point.notes["failed after"] for point in points if "failed after" in point.notes)
    return tuple(f"{text}, in {number} of {counted(len(points), 'launch')}" for text, number in found.items())


def _program_caveats(point: Point) -> list[Caveat]:
    """What the guard of a user's program noted."""
    noted = ((point.notes.get(note), kind, text) for note, (kind, text) in _NOTED.items())
    found = [caveat(kind, text.format(said)) for said, kind, text in noted if said]
    # Problems name what outlived and which ranks are missing once more.
    if {"processes outlived", "ranks missing"} & {one.kind for one in found}:
        found = [one for one in found if one.kind != "launch problems"]
    return found


def _interrupted(point: Point, samples: Samples) -> list[Caveat]:
    """What is to be said of samples that were cut short; of short ones where the record has no lost time."""
    steps = [series for series in samples.series if (series.head.name, series.head.role) == ("step", point.first_role)]
    number = sum(len(series.values) for series in steps)
    preempted = sum(map(_cut_short, steps))
    if preempted <= 0.05 * number:
        return []
    share = preempted / number
    text = f"preempted in {100 * share:.0f} % of samples"
    length_ns = float(np.median(np.concatenate([series.values for series in steps])))
    if length_ns > TIME_SLICE_NS:
        longer = f"{length_ns * 1e-6:.0f} ms, longer than a time slice: they contain the time of others"
        return [caveat("long samples", f"{text}, which last {longer}", share)]
    return [] if lost_time_of(point) else [caveat("preempted", text, share)]


def _unfit(point: Point, mismatches: tuple[str, ...]) -> list[Caveat]:
    """Why its figures are none of what was asked."""
    found = []
    if not point.passed:
        found.append(caveat("wrong answer", "WRONG ANSWER"))
    if mismatches:
        more = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
        found.append(caveat("not as asked", f"NOT AS ASKED: {mismatches[0]}{more}", len(mismatches)))
    if point.process.build.get("faults_compiled"):
        found.append(caveat("fault-injection build", "fault-injection build"))
    return found


def _other_work(point: Point) -> list[Caveat]:
    """What the whole node says of others; `caveats_about_lost` has what they took from the threads themselves."""
    during = point.noise.get("during", {})
    elapsed = during.get("time_s", 0.0)
    if elapsed <= 0:
        return []
    found: list[Caveat] = []
    if lost_time_of(point) is None:
        # Added up over all CPUs of the node, so it bounds what this point lost and does not make it invalid.
        threads = known_count(point.ranks) * known_count(point.threads)
        share = min(0.5, during.get("node_steal_s", 0.0) / (elapsed * threads))
        found += graded("stolen time", share, f"the hypervisor took up to {100 * share:.0f} % of the CPU time")
    own = during.get("node_own_cpu_s", during.get("own_cpu_s", 0.0) * known_count(point.ranks))
    if during.get("node_busy_s", 0.0) - own > max(0.25 * elapsed, 0.05):
        found.append(caveat("foreign load", "other processes were busy"))
    return found


def _effort(point: Point) -> list[Caveat]:
    """Where measuring ended before it had all that it was to have."""
    found = []
    precision = point.knobs.get("precision", "")
    if point.stopped_by == "time" and precision.strip("0.") and not is_program(point.workload):
        text = f"the time was up before a launch alone reached the precision {precision}"
        found.append(caveat("precision not reached", text))
    bursts = max((len(head.clock_hz) for head in point.heads), default=0)  # 0: not recorded
    if 0 < bursts < LEAST_BURSTS:
        found.append(caveat("few bursts", f"only {counted(bursts, 'burst')}", -bursts))
    return found


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


def caveats_about_seats(points: Sequence[Point]) -> tuple[Caveat, ...]:
    """Which hardware threads the only launch drew: other launches would have drawn others."""
    if len(points) != 1 or points[0].knobs.get("pin") != "each" or is_program(points[0].workload):
        return ()
    used = points[0].hardware_threads
    if len({host for host, _ in used}) != 1:
        return ()
    numbers = numbers_text([number for _, number in used])
    return (caveat("one draw of CPUs", f"on CPU{'s' * (len(used) > 1)} {numbers}: launches were not repeated"),)


def caveats_about_togetherness(share: float) -> tuple[Caveat, ...]:
    """What is to be said if lanes or groups were at work at the same time in less than half of the time."""
    if share == 0:
        return (caveat("lanes rarely together", "threads were never all at work undisturbed at once", 1.0),)
    text = f"threads were all at work at once in {100 * share:.0f} % of the time"
    return (caveat("lanes rarely together", text, 1 - share),) if share < 0.5 else ()


def caveats_about_samples(samples: NDArray[np.float64], correlation: float = 1.0) -> tuple[Caveat, ...]:
    """What the samples of one launch say against being one steady state.

    Args:
        correlation: how many neighbours count as one.
    """
    found = []
    if len(samples) < 6:
        text = f"only {counted(len(samples), 'sample')} in a launch: its own interval is their range"
        found.append(caveat("few samples", text, -len(samples)))
    elif len(samples) < 6 * correlation:
        independent = len(samples) / correlation
        alike = f"{len(samples)} samples that swing so slowly tell no more than {independent:.0f}"
        found.append(caveat("few samples", f"{alike}: the launch's own interval is their range", -independent))
    change = stats.drift(samples)
    if abs(change) > 0.03:
        text = f"drifts by {100 * change:+.0f} % from first half to second".replace("-", "−")
        found.append(caveat("drift", text, abs(change)))
    far = float(stats.outliers(samples).mean())
    if far > 0.05:
        found.append(caveat("outliers", f"{100 * far:.0f} % outliers", far))
    return tuple(found)
