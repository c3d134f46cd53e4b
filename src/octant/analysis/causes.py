"""Causes of lost time, as shares of all time that add up to the lost time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from octant.analysis.lost import lost_time_of, timed_ranks
from octant.stats import graded
from octant.stats.grades import GRADE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.record import Point
    from octant.stats.grades import GradeName
    from octant.stats.lost import LostShares

LOST_LITTLE = 0.01
"""Share of lost time below which views do not mention it."""
_LEAST_NAMED = 0.0005  # least share of a named cause


@dataclass(frozen=True)
class Causes:
    """Causes of lost time as shares of all time, 0 to 1; they add up to `lost`."""

    lost: float
    other_processes: float
    quota: float
    host: float  # taken by the hypervisor
    unexplained: float
    oversubscribed: float = 0.0  # by the launch's own threads on shared hardware threads

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """Name and share of each cause, in stacking order."""
        return (
            ("other processes", self.other_processes),
            *[("oversubscription", self.oversubscribed)] * bool(self.oversubscribed),
            ("a CPU quota", self.quota),
            ("the host", self.host),
            ("unexplained", self.unexplained),
        )

    @property
    def main(self) -> str:
        """The cause of at least half of the lost time; "": none, or hardly any time was lost."""
        name, share = max(self.parts, key=lambda part: part[1])
        return name if share >= _LEAST_NAMED and share >= self.lost / 2 else ""

    @property
    def named(self) -> tuple[tuple[str, float], ...]:
        """The parts that are large enough to be named."""
        return tuple((name, share) for name, share in self.parts if share >= _LEAST_NAMED)


class _Taken(NamedTuple):
    """Lost time of one launch in seconds."""

    whole: float
    lost: float
    other_processes: float
    oversubscribed: float
    quota: float
    host: float

    @classmethod
    def of(cls, whole: float, lost: float, known: Sequence[float]) -> _Taken:
        """Return the loss with the recorded causes, which together explain no more than was lost.

        Args:
            known: shares of `whole` that the recorded causes took, as `_explained`.
        """
        too_much = max(1.0, sum(known) * whole / lost) if lost > 0 else 1.0
        return cls(whole, lost, *(share * whole / too_much if lost > 0 else 0.0 for share in known))


def causes(figure: Figure) -> Causes | None:
    """Return the causes of the time that the launches of a figure lost; `None` without a value.

    For another figure, the lost time of its launches by CPU clocks of threads; `None` if it is not recorded.
    """
    if figure.value is None:
        return None
    if not figure.metric.of_lost_time:
        return causes_of_points(launch.point for launch in figure.counted)
    weights = [launch.whole_s for launch in figure.counted if launch.whole_s]
    wholes = weights if len(weights) == len(figure.counted) else [1.0] * len(figure.counted)
    return _added(
        [
            _Taken.of(whole, launch.value.middle * whole, _explained(launch.point))
            for launch, whole in zip(figure.counted, wholes, strict=True)
        ]
    )


@dataclass(frozen=True)
class LossCounts:
    """Numbers of measurements of a run (launches of its figures) that lost over half of their time."""

    lost: int
    every: int
    shown: int  # of the lost ones: those of figures without other launches

    @property
    def text(self) -> str:
        """`390 of 461 measurements lost over half of their time; they are excluded`."""
        if self.lost and self.lost == self.shown == self.every:
            if self.every == 1:
                return "the only measurement lost over half of its time, but is shown"
            every, all_ = ("both", "both") if self.every == 2 else (f"all {self.every}", "all")
            return f"{every} measurements lost over half of their time, so {all_} are shown"
        return f"{self.lost} of {self.every} measurements lost over half of their time; {self.treatment}"

    @property
    def treatment(self) -> str:
        """Treatment of these measurements."""
        if not self.shown:
            return "they are excluded"
        if self.shown == self.lost:
            return "they are shown, since their figures have no other launches"
        return f"{self.shown} of them are shown, since their figures have no other launches; the others are excluded"


def count_losses(summary: Summary) -> LossCounts:
    """Return the numbers of measurements, including those of curves, that lost over half of their time."""
    lost = shown = 0
    for figure in summary.figures:
        mine = sum(not launch.counts for launch in figure.launches)
        lost += mine
        shown += mine * (not any(launch.counts for launch in figure.counted))
    return LossCounts(lost, sum(len(figure.launches) for figure in summary.figures), shown)


def causes_of_run(summary: Summary) -> Causes | None:
    """Return the causes of the lost time of a run, by CPU clocks of threads; `None` if it is not recorded."""
    return causes_of_points(summary.run.points)


def causes_of_points(points: Iterable[Point]) -> Causes | None:
    """Return the causes of the lost time of these points; `None` if it is not recorded.

    The greater of CPU clocks of threads and stolen time: CPU clocks may include stolen time, so the two are not added.
    """
    found = []
    for point in points:
        lost = lost_time_of(point)
        if lost is not None:
            walls_s = [ns * 1e-9 for one in timed_ranks(point) for ns in one.wall_ns]
            by_clock = sum(share * wall for share, wall in zip(lost.by_thread, walls_s, strict=True))
            found.append(_Taken.of(sum(walls_s), max(by_clock, lost.steal * sum(walls_s)), _explained(point)))
    return _added(found) if found else None


def causes_by_hardware_thread(points: Iterable[Point]) -> dict[tuple[str, int], Causes]:
    """Return the causes of the lost time of each hardware thread, by host and number, over all points.

    Threads that may use several hardware threads are not included. Throttling and stolen time are recorded for all
    threads of a rank together; each thread has their mean.
    """
    taken: dict[tuple[str, int], list[_Taken]] = {}
    for point in points:
        lost, ranks = lost_time_of(point), timed_ranks(point)
        if lost is None:
            continue
        lanes = [(one, thread) for one in ranks for thread in range(len(one.wall_ns))]
        for (one, thread), share in zip(lanes, lost.by_thread, strict=True):
            masks = point.given[one.rank].thread_masks if one.rank < len(point.given) else ()
            if thread < len(masks) and len(masks[thread]) == 1:
                whole_s = one.wall_ns[thread] * 1e-9
                wait = one.wait_ns[thread] / one.wall_ns[thread] if one.wait_ns else 0.0
                loss = _Taken.of(whole_s, max(share, lost.steal) * whole_s, _divided(wait, lost))
                taken.setdefault((point.given[one.rank].host, masks[thread][0]), []).append(loss)
    return {place: _added(losses) for place, losses in sorted(taken.items())}


def _explained(point: Point) -> tuple[float, float, float, float]:
    """Return the shares of time: other processes, own threads, quota, hypervisor. Wait includes throttling."""
    lost = lost_time_of(point)
    if lost is None:
        return 0.0, 0.0, 0.0, 0.0
    ranks = [one for one in timed_ranks(point) if one.wait_ns]
    whole = sum(ns for one in ranks for ns in one.wall_ns)
    return _divided(sum(ns for one in ranks for ns in one.wait_ns) / whole if whole else 0.0, lost)


def _divided(wait: float, lost: LostShares) -> tuple[float, float, float, float]:
    """Return the run-queue wait of some threads, divided by cause, with the shares of quota and hypervisor."""
    waited = max(0.0, min(1.0, wait) - lost.throttled)
    own = min(waited, lost.oversubscribed)
    return waited - own, own, lost.throttled, lost.steal


def _added(launches: Sequence[_Taken]) -> Causes:
    """Return the sums over launches as shares of the time of all of them."""
    whole, lost, *explained = (sum(column) for column in zip(*launches, strict=True))
    shares = [seconds / whole for seconds in explained]
    others, own, quota, host = shares
    return Causes(lost / whole, others, quota, host, max(0.0, lost / whole - sum(shares)), own)


def share_lost(points: Iterable[Point]) -> float | None:
    """Return the share of all time of these points that was lost; `None` if it is not recorded."""
    found = causes_of_points(points)
    return found.lost if found else None


def grade_of_share_lost(share: float | None) -> GradeName:
    """Return the grade of a share of lost time; reliable if it is not known."""
    return GRADE_NAMES[max((one.grade for one in graded("lost time", share or 0.0, "")), default=0)]
