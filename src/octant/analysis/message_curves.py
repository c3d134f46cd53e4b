"""The measured time of single messages of a machine, with which profiles of MPI programs are compared."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from octant import workloads
from octant.analysis.segments import hot_and_cold, segments, with_causes
from octant.analysis.summary import summarise
from octant.message_times import LengthSegment, MessageTimes
from octant.mpi.inventory import library_and_version
from octant.mpi.neutral import TITLES
from octant.profile.excess import MessageCurve, NoCurve
from octant.store import Store
from octant.workload import Traffic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.segments import Segment
    from octant.analysis.summary import Summary
    from octant.profile.job import JobProfile
    from octant.store import StoredRun

MAX_RUNS = 50
"""Maximum number of runs of the same machine that are read, newest first."""
BUFFERS = "buffers"
"""Knob that distinguishes cached from uncached messages."""


def message_of(summary: Summary, figure: Figure, link: str = "") -> Traffic | None:
    """Return the traffic of a figure that is the time of one message over this link; `None`: it is not such a figure.

    Figures of ranks that share cores are excluded.
    """
    if figure.workload.traffic is None or figure.wrong or figure.link != link or figure.point.share_cores:
        return None
    try:
        traffic = figure.workload.traffic(summary.run.machine, figure.point)
    except (KeyError, ValueError):
        return None
    return traffic if isinstance(traffic, Traffic) and traffic.is_message and figure.metric.unit == "s" else None


def message_points(summary: Summary, one_host: bool, link: str = "") -> dict[str, list[tuple[float, float]]]:
    """Return length and median time of messages between ranks of one host, or of two hosts, by kind of buffers.

    Args:
        summary: of a run with message times.
        one_host: within a host, otherwise between hosts.
        link: only over this emulated link; "": over none.
    """
    points: dict[str, dict[float, list[float]]] = {}
    for figure in summary.figures:
        traffic = message_of(summary, figure, link)
        here = len({given.host for given in figure.point.given}) == 1
        if traffic is None or figure.value is None or figure.invalid or here != one_host:
            continue
        if figure.value.middle > 0:
            by_length = points.setdefault(figure.knobs.get(BUFFERS, ""), {})
            by_length.setdefault(traffic.units, []).append(figure.value.middle)
    return {
        buffers: [(length, float(np.median(times))) for length, times in by_length.items()]
        for buffers, by_length in points.items()
    }


def message_times(found: Sequence[Segment]) -> MessageTimes:
    """Return message times from the segments of a curve, at least one."""
    return MessageTimes(tuple(LengthSegment(one.first, one.at_first_s, one.seconds_per_byte) for one in found))


def find_curve(run: StoredRun, job: JobProfile) -> MessageCurve | NoCurve:
    """Return the newest curve of the machine of a run with the MPI library of a profile, or why there is none.

    A profile of ranks on several hosts needs a curve between hosts.
    """
    library = _library(job.library)
    between = len({one.host for one in job.processes}) > 1
    others, unusable = False, ""
    for one in islice(Store(run.folder.parent.parent).runs_like(run), MAX_RUNS):
        libraries = {_library(point.process.mpi) for point in one.points if _may_be_message(point.workload)}
        if library not in libraries:
            others = others or bool(libraries)
            continue
        if curve := _curve_of(summarise(one), library, between):
            return curve
        unusable = unusable or one.id
    place = "between two hosts" if between else "between two ranks"
    name = library or "the MPI library of the profile"
    why = f"the store has no times of messages {place} of this machine with {name}"
    if unusable:
        return NoCurve(f"{why} that are reliable; those of run {unusable} are too few or not valid")
    return NoCurve(f"{why}, only with other libraries" if others else why)


def eager_limits(first: Sequence[Segment]) -> tuple[int, int] | None:
    """Return the longest length before the first change of protocol and the shortest after it; `None`: no change."""
    changes = [(before, now) for before, now in pairwise(first) if now.kind == "step" and now.cause == "protocol"]
    return (round(changes[0][0].last), round(changes[0][1].first)) if changes else None


def _may_be_message(workload: str) -> bool:
    known = workloads.workloads().get(workload)
    return known is not None and known.traffic is not None


def _library(banner: str) -> str:
    """Return library and version, or the first line of an unknown banner."""
    try:
        name, version = library_and_version(banner)
        return f"{TITLES[name]} {version}"
    except ValueError:
        return (banner.splitlines() or [""])[0].strip()


def _curve_of(summary: Summary, library: str, between: bool) -> MessageCurve | None:
    """Return the curve of a run; of cached and uncached buffers, the slower one."""
    known = replace(
        summary, figures=tuple(one for one in summary.figures if _library(one.point.process.mpi) == library)
    )
    curves = message_points(known, one_host=not between).values()
    found = _fitted(sorted((one for one in curves if segments(one)), key=len, reverse=True)[:2])
    if not found:
        return None
    limits = eager_limits(found)
    return MessageCurve(
        message_times(found),
        shortest=found[0].first,
        longest=found[-1].last,
        source=f"run {summary.run.id}, {library}",
        eager_limit=limits[0] if limits else None,
        rendezvous_from=limits[1] if limits else None,
        between_hosts=between,
    )


def _fitted(curves: Sequence[Sequence[tuple[float, float]]]) -> Sequence[Segment]:
    """Return the segments of the only curve, or of the slower of two; a change of protocol is in both."""
    if len(curves) < 2:
        return segments(curves[0]) if curves else ()
    one, other = hot_and_cold(curves[0], curves[1])
    longest = min(one[-1].last, other[-1].last)
    slower, faster = sorted((one, other), key=lambda of: -_at(of, longest))
    return with_causes(slower, {}, faster)


def _at(found: Sequence[Segment], length: float) -> float:
    return next((one for one in reversed(found) if one.first <= length), found[0]).seconds(length)
