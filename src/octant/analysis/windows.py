"""Concurrent lanes and groups: rates in windows in which all were busy, and overlapping steps.

Samples of lanes are not synchronised, so the combined rate is computed in windows of time: the sum of every lane's rate
over its own busy time, in windows in which all lanes were busy and undisturbed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.record import Series

MAX_WINDOWS = 2_000_000
"""Maximum number of windows; pauses of millions of samples would give more, then there is one window."""
_PAUSE = 20.0  # usual steps in a gap that separates two bursts


@dataclass(frozen=True)
class _Track:
    """Samples of one lane after the warm-up, in ns."""

    start: NDArray[np.float64]
    last: NDArray[np.float64]
    disturbed: NDArray[np.bool_]  # preempted, or much longer than usual

    def through(self, edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return, between edges, the samples done, the busy ns, and whether the lane was busy and undisturbed.

        Work is uniform within a sample and stops in the gaps between samples.
        """
        times = np.column_stack([self.start, self.start + self.last]).ravel()
        numbers = np.arange(len(self.start))
        counts = np.column_stack([numbers, numbers + 1]).ravel().astype(np.float64)
        lost = np.concatenate([[0], np.cumsum(np.where(self.disturbed, self.last, 0))])
        spent = np.concatenate([[0], np.cumsum(self.last)])
        lost_at, spent_at = (np.column_stack([total[:-1], total[1:]]).ravel() for total in (lost, spent))
        width = np.diff(edges)
        done, at_work, wasted = (np.diff(np.interp(edges, times, x)) for x in (counts, spent_at, lost_at))
        return done, at_work, (at_work >= 0.8 * width) & (wasted <= 0.001 * width)


def _track(lane: Series, warmup: int) -> _Track:
    begins = lane.begin_ns
    if begins is None:
        begins = np.cumsum(lane.values) - lane.values
    skipped = warmup if len(lane.values) > warmup else 0
    last = lane.values[skipped:]
    flagged = np.isin(np.arange(skipped, skipped + len(last)), list(lane.preempted))
    usual = np.quantile(last, 0.25)
    # A context switch of microseconds is negligible in a sample of milliseconds; it counts if it cost time.
    return _Track(begins[skipped:], last, (flagged & (last > 1.05 * usual)) | (last > 4 * usual))


def summed_rates(lanes: Sequence[Series], done: Sequence[float], warmup: int) -> tuple[NDArray[np.float64], float]:
    """Return the summed rates of all lanes in windows of time, and the share of usable windows.

    Only windows count in which every lane was busy and undisturbed: while one thread is preempted, the others run with
    less contention. Windows have the length of four undisturbed samples, or less if there are too few. If there are
    none at all, all windows count.

    Args:
        done: count of one sample of each lane.
    """
    tracks = [_track(lane, warmup) for lane in lanes if len(lane.values)]
    each = [amount for lane, amount in zip(lanes, done, strict=True) if len(lane.values)]
    begin = max(float(track.start[0]) for track in tracks)
    end = min(float(track.start[-1] + track.last[-1]) for track in tracks)
    typical = max(float(np.quantile(track.last, 0.25)) for track in tracks)
    rates, whole = np.zeros(0), np.zeros(0, dtype=bool)
    parts: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]] = []
    for length in (4, 2, 1):
        edges = np.array([begin, max(end, begin + 1)])
        if 1 < (end - begin) / (length * typical) < MAX_WINDOWS:
            edges = np.arange(begin, end, length * typical)
        parts = [track.through(edges) for track in tracks]
        whole = np.logical_and.reduce([part[2] for part in parts])
        # Work of the harness between two bursts is excluded, as for a single lane.
        rates = sum(
            (amount * part[0][whole] / (part[1][whole] * 1e-9) for amount, part in zip(each, parts, strict=True)),
            np.zeros(int(whole.sum())),
        )
        if whole.sum() >= 10:
            break
    if not whole.any():
        amounts = (amount * part[0] for amount, part in zip(each, parts, strict=True))
        rates = sum(amounts, np.zeros(len(edges) - 1)) / (np.diff(edges) * 1e-9)
    return rates, float(whole.mean())


def steps_at_once(series: Sequence[Series]) -> dict[int, NDArray[np.bool_]] | None:
    """Return for each group which steps lie within a burst of every other group, for all of its ranks.

    The bursts of a group are those of its first series. Time and memory are linear in the number of groups and samples,
    except for sorting. `None` if gaps were not recorded.
    """
    begins: list[NDArray[np.float64]] = []
    for one in series:
        at = one.begin_ns
        if at is None or not len(at):
            return None
        begins.append(at)
    numbers = {group: number for number, group in enumerate(dict.fromkeys(one.head.group for one in series))}
    spans: dict[int, NDArray[np.float64]] = {}
    for one, at in zip(series, begins, strict=True):
        if one.head.group not in spans:
            spans[one.head.group] = _bursts(at, one.values)
    if not numbers:
        return {}
    apart = _Absences(list(spans.values()))
    start = np.concatenate(begins)
    lengths = [len(at) for at in begins]
    owner = np.repeat([numbers[one.head.group] for one in series], lengths)
    every = apart.only_of(owner, start, start + np.concatenate([one.values for one in series]))
    kept: dict[int, NDArray[np.bool_]] = {}
    for one, keep in zip(series, np.split(every, np.cumsum(lengths)[:-1]), strict=True):
        # A step outside on one rank is excluded for its group, since ranks are compared step by step.
        whole = kept.setdefault(one.head.group, keep)
        least = min(len(whole), len(keep))
        kept[one.head.group] = whole[:least] & keep[:least]
    return kept


class _Absences:
    """Times at which groups are in no burst; time is cut at every begin and end of a burst.

    Args:
        bursts: of each group, shape (bursts, 2), none of which overlap.
    """

    def __init__(self, bursts: Sequence[NDArray[np.float64]]) -> None:
        starts, ends = (np.concatenate([one[:, end] for one in bursts]) for end in (0, 1))
        numbers = np.repeat(np.arange(len(bursts)), [len(one) for one in bursts])
        self._times = np.unique(np.concatenate([starts, ends]))
        # Piece k lies between times k - 1 and k; the first and the last piece have no other end.
        first, after = np.searchsorted(self._times, starts) + 1, np.searchsorted(self._times, ends) + 1
        present, sums = (np.zeros(len(self._times) + 2, dtype=np.int64) for _ in range(2))
        for change, weights in ((present, np.ones_like(numbers)), (sums, numbers)):
            np.add.at(change, first, weights)
            np.subtract.at(change, after, weights)
        absent = len(bursts) - np.cumsum(present)[:-1]
        missing = len(bursts) * (len(bursts) - 1) // 2 - np.cumsum(sums)[:-1]  # its number, where one group is absent
        self._several, self._one = (np.concatenate([[0], np.cumsum(some)]) for some in (absent > 1, absent == 1))
        self._pieces = len(absent)
        alone = np.flatnonzero(absent == 1)
        self._keys = np.sort(missing[alone] * self._pieces + alone)  # by group, then by piece

    def only_of(
        self, groups: NDArray[np.int64], starts: NDArray[np.float64], ends: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return whether all other groups were in a burst from start to end; all arrays have one length."""
        first = np.searchsorted(self._times, starts, side="right")
        last = np.searchsorted(self._times, ends, side="left")
        several = self._several[last + 1] - self._several[first]
        one = self._one[last + 1] - self._one[first]
        of_group = np.searchsorted(self._keys, groups * self._pieces + last, side="right")
        of_group -= np.searchsorted(self._keys, groups * self._pieces + first, side="left")
        alone: NDArray[np.bool_] = (several == 0) & (one == of_group)
        return alone


def _bursts(begins: NDArray[np.float64], lasts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return begin and end of each series of steps without a long pause, in time order; shape (bursts, 2)."""
    gaps = begins[1:] - (begins + lasts)[:-1]
    usual = float(np.median(np.diff(begins))) if len(begins) > 1 else 0.0
    cuts = np.flatnonzero(gaps > _PAUSE * usual) + 1
    firsts, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(begins)]]) - 1
    return np.column_stack([begins[firsts], (begins + lasts)[ends]])
