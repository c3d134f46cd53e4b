"""Lanes and groups that work at the same time: rates of windows in which all were at work, steps that overlap.

Lanes begin and end their samples whenever they like, so what they reach together is read from windows of time: the
sum of every lane's rate over its own time at work, where all lanes were at work and undisturbed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.record import Series

_PAUSE = 20.0  # a gap longer than so many usual steps lies between two bursts


@dataclass(frozen=True)
class _Track:
    """One lane's samples after the warm-up, in ns."""

    start: NDArray[np.float64]
    last: NDArray[np.float64]
    disturbed: NDArray[np.bool_]  # the lane was switched out, or took far longer than it usually does

    def through(self, edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Between edges: samples done, ns at work, and whether that was nearly all the time, undisturbed.

        Work goes on evenly inside a sample and rests in the gaps between samples.
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
    # A switch of some microseconds is nothing to a sample of some milliseconds: it counts where it cost time.
    return _Track(begins[skipped:], last, (flagged & (last > 1.05 * usual)) | (last > 4 * usual))


def summed_rates(lanes: Sequence[Series], done: Sequence[float], warmup: int) -> tuple[NDArray[np.float64], float]:
    """What all lanes do per second at work, in windows of time, and the share of windows that could be used.

    Only windows count in which every lane was at work undisturbed: beside a thread that was switched out, the others
    run alone, which is another experiment. Windows are as long as four undisturbed samples, shorter where the machine
    left too few of that length; where it left none at all, all windows count.

    Args:
        done: what one sample of each lane does.
    """
    tracks = [_track(lane, warmup) for lane in lanes if len(lane.values)]
    each = [amount for lane, amount in zip(lanes, done, strict=True) if len(lane.values)]
    begin = max(float(track.start[0]) for track in tracks)
    end = min(float(track.start[-1] + track.last[-1]) for track in tracks)
    typical = max(float(np.quantile(track.last, 0.25)) for track in tracks)
    rates, whole = np.zeros(0), np.zeros(0, dtype=bool)
    parts: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]] = []
    for length in (4, 2, 1):
        edges = np.arange(begin, end, length * typical)
        if len(edges) < 2:
            edges = np.array([begin, max(end, begin + 1)])
        parts = [track.through(edges) for track in tracks]
        whole = np.logical_and.reduce([part[2] for part in parts])
        # The harness's own work between two bursts is part of no rate, as for a single lane.
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
    """For each of several groups, which steps lie where every other group was inside a burst, for all of its ranks.

    `None` where gaps were not recorded.
    """
    spans: dict[int, NDArray[np.float64]] = {}
    for one in series:
        begins = one.begin_ns
        if begins is None or not len(begins):
            return None
        spans.setdefault(one.head.group, _bursts(begins, one.values))
    kept: dict[int, NDArray[np.bool_]] = {}
    for one in series:
        begins, group = one.begin_ns, one.head.group
        assert begins is not None  # noqa: S101 - looked at above
        keep = np.ones(len(begins), dtype=bool)
        for other, bursts in spans.items():
            if other != group:
                at = np.searchsorted(bursts[:, 0], begins, side="right") - 1
                keep &= (at >= 0) & (begins + one.values <= bursts[np.maximum(at, 0), 1])
        # A step that one rank does outside is left out for its group: ranks are compared step by step.
        whole = kept.setdefault(group, keep)
        least = min(len(whole), len(keep))
        kept[group] = whole[:least] & keep[:least]
    return kept


def _bursts(begins: NDArray[np.float64], lasts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Begin and end of each stretch of steps without a long pause, in time order; shape (bursts, 2)."""
    gaps = begins[1:] - (begins + lasts)[:-1]
    usual = float(np.median(np.diff(begins))) if len(begins) > 1 else 0.0
    cuts = np.flatnonzero(gaps > _PAUSE * usual) + 1
    firsts, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(begins)]]) - 1
    return np.column_stack([begins[firsts], (begins + lasts)[ends]])
