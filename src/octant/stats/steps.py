"""Steps in the history of a figure: a sequential rank test that suspects, and fresh launches that confirm.

First stage: a two-sided cumulative sum of the normal scores of sequential ranks (rank CUSUM). The rank of a value among
all earlier ones does not depend on the shape of the noise. Second stage: the launches of the next session, which the
first stage has not seen, must differ from all earlier launches of the level (Mann and Whitney 1947). Their session must
also differ from the sessions before the step by more than sessions differ (Student's t), because the launches of one
session may share its conditions. The m-th confirmation of a history has the level 5 % / (m (m + 1)); these levels sum
to 5 %, whatever the length of the history.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field, replace
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant.stats.launches import neighbour_correlation
from octant.stats.student import LEVEL, t_quantile, two_sided_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

LEAST_SESSIONS = 4
"""Minimum number of sessions of a level before a step is suspected."""
LEAST_BEFORE = 3
"""Minimum number of sessions before a step."""
LEAST_FRESH = 4
"""Minimum number of launches of a session that confirms."""
FRESH_LAUNCHES = 8
"""Number of launches that are measured to confirm a step."""
DRIFT = 0.5
"""Allowance k of the cumulative sum, in standard deviations."""
CORRELATED, LEAST_FOR_CORRELATION = 0.2, 60
"""Lag-1 autocorrelation of sessions above which no error rate is claimed, and sessions that are needed to see it."""
SELECTED = 6.0
"""Divisor of the level of the test between sessions, because the sessions before a step are those that suggested it."""
_EXACT = 60  # values of both sides up to which the Mann-Whitney distribution is computed exactly
_NORMAL = NormalDist()

Direction = Literal["faster", "slower"]


@dataclass(frozen=True)
class Session:
    """A figure in one session; larger values are faster, usually logarithms of speeds (`log_speeds`)."""

    value: float
    launches: tuple[float, ...]


@dataclass(frozen=True)
class Shift:
    """Difference between the sessions after a step and those before, as differences of logarithms."""

    low: float | None  # ends of the 95 % interval; `None`: too few sessions
    middle: float  # Hodges and Lehmann's estimate
    high: float | None

    def goes(self, direction: Direction) -> bool:
        """Return whether the whole interval is in this direction."""
        if self.low is None or self.high is None:
            return False
        return self.low > 0 if direction == "faster" else self.high < 0


@dataclass(frozen=True)
class LevelChange:
    """A confirmed step."""

    first: int  # index of the first session of the new level
    confirmed: int  # index of the session whose launches confirmed it
    direction: Direction
    p: float  # of the confirming launches
    level: float  # that p had to reach
    shift: Shift


@dataclass(frozen=True)
class Suspicion:
    """A possible step that no session has confirmed or refuted yet."""

    first: int
    direction: Direction
    shift: Shift


@dataclass(frozen=True)
class StepSearch:
    """Steps in a history, and what limits the claim about them."""

    steps: tuple[LevelChange, ...] = ()
    suspicion: Suspicion | None = None
    rejected: tuple[int, ...] = ()  # indices of sessions that refuted a suspicion
    sessions: int = 0
    correlation: float = 0.0  # lag-1 autocorrelation of sessions within levels

    @property
    def is_enough(self) -> bool:
        """Whether there are enough sessions to look for a step."""
        return self.sessions >= LEAST_SESSIONS

    @property
    def is_correlated(self) -> bool:
        """Whether sessions are so correlated that no error rate is claimed."""
        return self.sessions >= LEAST_FOR_CORRELATION and self.correlation > CORRELATED


@dataclass
class _Level:
    """Sessions since the last step, with the cumulative sums over them."""

    start: int
    values: list[float] = field(default_factory=list)
    ordered: list[float] = field(default_factory=list)
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])  # faster, slower
    suspected: Direction | None = None

    def add(self, value: float) -> None:
        """Add a session.

        A step is suspected if a cumulative sum exceeds its threshold and the interval of the size excludes 0.
        """
        score = rank_score(self.ordered, value)
        self.values.append(value)
        insort(self.ordered, value)
        if self.suspected:
            return
        self.sums = [max(0.0, total + sign * score - DRIFT) for total, sign in zip(self.sums, (1, -1), strict=True)]
        if len(self.ordered) >= LEAST_SESSIONS and max(self.sums) > threshold(len(self.ordered)):
            direction: Direction = "faster" if self.sums[0] >= self.sums[1] else "slower"
            at = change_point(self.values)
            self.suspected = direction if shift_between(self.values[:at], self.values[at:]).goes(direction) else None

    def restart_sums(self) -> None:
        """Start the cumulative sums again after a suspicion was tested."""
        self.sums, self.suspected = [0.0, 0.0], None


def threshold(sessions: int) -> float:
    """Return the threshold h of the cumulative sum; a short history cannot reach 3 soon."""
    return min(3.0, 0.25 * sessions)


def rank_score(ordered: Sequence[float], value: float) -> float:
    """Return the normal score of the rank of a value among itself and earlier values; equal values share a rank.

    Args:
        ordered: the earlier values, ascending.
    """
    rank = (bisect_left(ordered, value) + bisect_right(ordered, value) + 1) / 2  # from 1/2: the middle of its share
    return _NORMAL.inv_cdf(rank / (len(ordered) + 1))


@dataclass
class Replay:
    """A history, replayed session by session as it was when each session was the newest."""

    sessions: list[Session] = field(default_factory=list)
    steps: list[LevelChange] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)  # indices of sessions that refuted a suspicion
    _level: _Level = field(default_factory=lambda: _Level(0))

    @property
    def suspected(self) -> Direction | None:
        """The direction of a possible step that the next session may confirm; `None`: there is none."""
        return self._level.suspected

    def add(self, session: Session) -> None:
        """Add the newest session, which confirms or refutes a suspicion if it has enough launches."""
        place = len(self.sessions)
        self.sessions.append(session)
        if self.suspected and len(session.launches) >= LEAST_FRESH:
            number = len(self.steps) + len(self.rejected) + 1
            found = _confirm(self.sessions, self._level, place, number)
            if found:
                self.steps.append(found)
                values = [one.value for one in self.sessions[found.first : place]]
                self._level = _Level(found.first, values, sorted(values))
            else:
                self.rejected.append(place)
                self._level.restart_sums()
        self._level.add(session.value)

    def result(self) -> StepSearch:
        """Return what was found so far, with sizes from all sessions of each level."""
        values = [one.value for one in self.sessions]
        start, suspicion = self._level.start, None
        if self.suspected:
            first = start + change_point(values[start:])
            suspicion = Suspicion(first, self.suspected, shift_between(values[start:first], values[first:]))
        edges = [0, *(one.first for one in self.steps), len(values)]
        sized = tuple(
            replace(one, shift=shift_between(values[edges[n] : one.first], values[one.first : edges[n + 2]]))
            for n, one in enumerate(self.steps)
        )
        levels = [values[a:b] for a, b in itertools.pairwise(edges)]
        within = [value - fmean(level) for level in levels for value in level]
        return StepSearch(sized, suspicion, tuple(self.rejected), len(values), _correlation(within))


def find_steps(sessions: Iterable[Session]) -> StepSearch:
    """Return the steps of a history.

    Args:
        sessions: at different times, oldest first.
    """
    replay = Replay()
    for session in sessions:
        replay.add(session)
    return replay.result()


def _correlation(within: Sequence[float]) -> float:
    return neighbour_correlation(np.asarray([*within])) if any(within) else 0.0


def _confirm(sessions: Sequence[Session], level: _Level, place: int, number: int) -> LevelChange | None:
    """Return the step if the launches of a fresh session confirm it.

    Args:
        place: index of that session.
        number: of the confirmation in this history, from 1.
    """
    alpha = LEVEL / (number * (number + 1))
    past, fresh, sign = sessions[level.start : place], sessions[place], 1 if level.suspected == "faster" else -1
    values = [sign * one.value for one in past]
    launches = [sign * launch for one in past for launch in one.launches]
    p = mann_whitney_p(launches, [sign * one for one in fresh.launches])
    at = change_point([one.value for one in past])
    beyond = session_p(values[:at], values[at:], sign * fresh.value)
    as_large = sum(value >= sign * fresh.value for value in values[:at])
    if p > alpha or beyond > alpha / (SELECTED * number) or as_large > alpha * at or level.suspected is None:
        return None
    return LevelChange(level.start + at, place, level.suspected, p, alpha, Shift(None, 0.0, None))


def change_point(values: Sequence[float]) -> int:
    """Return the index at which the second of two levels begins: the split with the least sum of squares.

    At least three values are before it and one is after it. Otherwise a single outlier would be a level.

    Args:
        values: at least four.
    """
    x = np.asarray(values, np.float64)
    x = x - x.mean()
    number, sums = np.arange(LEAST_BEFORE, len(x)), np.cumsum(x)[LEAST_BEFORE - 1 : -1]
    return LEAST_BEFORE + int(np.argmax(sums**2 / (number * (len(x) - number))))


def session_p(before: Sequence[float], after: Sequence[float], fresh: float) -> float:
    """Return the one-sided p-value of a fresh session that is not larger than the sessions before a step.

    Student's t of one value against the mean of others; the spread is that of sessions within both levels.
    """
    freedom = len(before) + len(after) - 2
    if freedom < 1 or not before:
        return 1.0
    squares = sum(sum((value - fmean(side)) ** 2 for value in side) for side in (before, after) if side)
    beyond, error = fresh - fmean(before), math.sqrt(squares / freedom * (1 + 1 / len(before)))
    if beyond <= 0:
        return 1.0
    return float(two_sided_p(beyond / error, freedom)) / 2 if error else 0.0


def mann_whitney_p(before: Sequence[float], fresh: Sequence[float]) -> float:
    """Return the one-sided p-value that fresh values are not larger than earlier ones (Mann and Whitney 1947).

    Exact for up to 60 different values, else normal with corrections for continuity and ties.
    """
    both = np.sort(np.asarray([*before, *fresh], np.float64))
    ranks = (np.searchsorted(both, fresh, "left") + np.searchsorted(both, fresh, "right") + 1) / 2
    total, m, number = float(ranks.sum()), len(fresh), len(both)
    sizes = np.unique(both, return_counts=True)[1]
    if number <= _EXACT and len(sizes) == number:
        shares = rank_sum_shares(m, number)
        return float(shares[round(total) :].sum())
    ties = float((sizes.astype(np.float64) ** 3 - sizes).sum()) / (number * (number - 1))
    variance = m * (number - m) / 12 * (number + 1 - ties)
    if variance <= 0:
        return 1.0
    return 1 - _NORMAL.cdf((total - m * (number + 1) / 2 - 0.5) / math.sqrt(variance))


def rank_sum_shares(m: int, number: int) -> NDArray[np.float64]:
    """Return the probability of each sum of m different ranks out of 1 to `number`, by sum."""
    ways = np.zeros((m + 1, m * number + 1))
    ways[0, 0] = 1.0
    for rank in range(1, number + 1):
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank]
    shares: NDArray[np.float64] = ways[m] / math.comb(number, m)
    return shares


def shift_between(before: Sequence[float], after: Sequence[float]) -> Shift:
    """Return Hodges and Lehmann's shift (1963) with a 95 % interval.

    The interval is that of the rank test if the sessions are enough for it, else Student's.
    """
    differences = np.sort(np.subtract.outer(np.asarray(after, np.float64), np.asarray(before, np.float64)).ravel())
    middle = float(np.median(differences))
    m, n = len(after), len(before)
    freedom = m + n - 2
    if 2 / math.comb(m + n, m) <= LEVEL:
        cut = _rank_cut(m, n)
        return Shift(float(differences[cut]), middle, float(differences[-cut - 1]))
    if freedom < 1:
        return Shift(None, middle, None)
    squares = sum(float(((np.asarray(side) - np.mean(side)) ** 2).sum()) for side in (before, after))
    half = t_quantile(LEVEL, freedom) * math.sqrt(squares / freedom * (1 / m + 1 / n))
    return Shift(middle - half, middle, middle + half)


def _rank_cut(m: int, n: int) -> int:
    """Return how many of the ordered differences are outside of the 95 % interval on each side."""
    if m + n > _EXACT:
        error = math.sqrt(m * n * (m + n + 1) / 12)
        return max(0, math.floor(m * n / 2 - _NORMAL.inv_cdf(1 - LEVEL / 2) * error) - 1)
    sums = np.cumsum(rank_sum_shares(m, m + n)[m * (m + 1) // 2 :])
    return int(np.searchsorted(sums, LEVEL / 2, side="right")) - 1
