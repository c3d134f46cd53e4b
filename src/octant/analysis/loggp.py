"""LogGP from a ping-pong curve: start-up time and time per byte of each segment, and the error of the fit.

The model of Alexandrov, Ionescu, Schauser and Scheiman (SPAA 1995): a message of s bytes takes L + 2o + s G (there with
s - 1, so that the start-up is that of one byte; here it is that of an empty message). The round trip alone cannot tell
the latency L from the overheads o, so the fit has their sum. A protocol that takes over at some length may add to the
start-up (a *step*) and change G; a cache's end or another copy loop changes G alone (a *knee*). No segment is faster
than the one before it where they meet, so the modelled time never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from octant import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

LEAST_POINTS = 3  # of a curve: two would fit any line
LEAST_SIZES = 2  # of a segment
LEAST_NOISE = 0.01  # relative: deviations within 1 % are no segments of their own
TRUSTED = 0.25  # a fit with a worse error at any point describes another curve

_SHORT_BYTES = 8  # no protocol changes at so few bytes; the time of a word is the start-up's
_REACH = 8  # sizes by which a border is moved at once, at most
_ROUNDING = 1e-9  # relative
_WITHOUT_GAIN = 2  # further borders are tried that many times where one alone gains nothing


@dataclass(frozen=True)
class Segment:
    """Messages from `first_bytes` to `last_bytes`, both measured and included."""

    first_bytes: int
    last_bytes: int
    begin_s: float  # time of a message of `first_bytes`
    seconds_per_byte: float  # G
    jump_s: float  # what the first byte of the segment adds; 0: a knee, or the first segment

    def seconds(self, length: float) -> float:
        """One-way time of a message of `length` bytes, from `first_bytes` on."""
        return self.begin_s + (length - self.first_bytes) * self.seconds_per_byte

    @property
    def bandwidth(self) -> float:
        """Bytes per second that further bytes take; infinite where length made no difference."""
        return 1 / self.seconds_per_byte if self.seconds_per_byte > 0 else float("inf")


@dataclass(frozen=True)
class Fit:
    """The segments from short to long, without a gap between the lengths measured."""

    startup_s: float  # L + 2o: of an empty message
    segments: tuple[Segment, ...]
    error: float  # median of |model - measured| / measured
    worst: float  # the largest of them

    def seconds(self, length: float) -> float:
        """One-way time of a message of `length` bytes, never less than that of a shorter one."""
        chosen = next((s for s in reversed(self.segments) if length >= s.first_bytes), self.segments[0])
        return chosen.seconds(length)

    def line(self, lengths: Iterable[float]) -> list[tuple[float, float]]:
        """(length, seconds) of these lengths and of each border, where a step has a point below and one above."""
        ascending, points = sorted(lengths), list[tuple[float, float]]()
        ends = [float(segment.first_bytes) for segment in self.segments[1:]] + [ascending[-1]]
        for number, (segment, end) in enumerate(zip(self.segments, ends, strict=True)):
            begin = segment.first_bytes if number else ascending[0]
            xs = dict.fromkeys([begin, *(x for x in ascending if begin < x < end), end])
            points += [(x, segment.seconds(x)) for x in xs]
        return points

    def __str__(self) -> str:
        parts = [f"L + 2o {units.si_text(self.startup_s, 's')}, G {_per_byte(self.segments[0])}"]
        for segment in self.segments[1:]:
            more = f"{units.si_text(segment.jump_s, 's')} more, " if segment.jump_s else ""
            parts.append(f"from {units.bytes_text(segment.first_bytes)} {more}G {_per_byte(segment)}")
        error, worst = units.percent_text(self.error), units.percent_text(self.worst)
        return f"LogGP: {'; '.join(parts)}; median error {error}, {worst} at worst."

    @property
    def is_trusted(self) -> bool:
        """Whether the worst error is small enough for the fit to stand for the curve."""
        return self.worst <= TRUSTED

    @property
    def breaks(self) -> tuple[int, ...]:
        """The first measured lengths of all segments but the first, bytes."""
        return tuple(segment.first_bytes for segment in self.segments[1:])

    @property
    def steps(self) -> tuple[int, ...]:
        """Those of them where the start-up rises: changes of protocol."""
        return tuple(segment.first_bytes for segment in self.segments[1:] if segment.jump_s > 0)


def _per_byte(segment: Segment) -> str:
    return f"{units.si_text(segment.seconds_per_byte, 's')} per byte"


_Borders = tuple[tuple[int, bool], ...]
"""(place of the first length of the new segment, whether it is a step), ascending."""


@dataclass(frozen=True)
class _Solved:
    borders: _Borders
    coefficients: NDArray[np.float64]  # the start-up, G of each segment, the jump of each step
    residuals: NDArray[np.float64]  # relative
    criterion: float


def fit(points: Sequence[tuple[int, float]], most_segments: int = 7, noise: float = LEAST_NOISE) -> Fit:
    """Fits (length in bytes, one-way seconds) points, finding by itself where segments begin.

    Of several times of one length the median counts. All segments are one non-negative least-squares problem of the
    relative errors: the start-up, the G of every segment and the jump of every step, none of them below 0. Which
    borders there are, and which are steps, is searched for: the best further border is added, then borders are moved,
    dropped and changed in kind while the Bayesian information criterion (Schwarz 1978) falls. A knee has to pay for two
    terms, a step for three.

    Args:
        noise: relative error of one point; smaller residuals justify no border.

    Raises:
        ValueError: fewer than `LEAST_POINTS` different lengths, or a time that is not positive.
    """
    measured = sorted({length for length, _ in points})
    medians = [np.median([time for length, time in points if length == one]) for one in measured]
    lengths, seconds = np.array(measured, dtype=float), np.array(medians, dtype=float)
    if len(lengths) < LEAST_POINTS:
        raise ValueError(f"a fit needs {LEAST_POINTS} message lengths or more, not {len(lengths)}")
    if not (seconds > 0).all():
        raise ValueError("a one-way time must be positive")

    @cache
    def solve(borders: _Borders) -> _Solved:
        return _solved(lengths, seconds, borders, max(noise, _ROUNDING))

    best = _search(solve, lengths, most_segments - 1)
    return _as_fit(best, measured)


def _search(solve: Callable[[_Borders], _Solved], lengths: NDArray[np.float64], most: int) -> _Solved:
    """Greedily one border more, and local changes after each."""
    places = [i for i in range(LEAST_SIZES, len(lengths) - LEAST_SIZES + 1) if lengths[i] > _SHORT_BYTES]
    best = at = solve(())
    without_gain = 0
    for _ in range(most):
        further = [(*at.borders, (place, step)) for place in places for step in (False, True)]
        tried = [solve(borders) for one in further if (borders := _admitted(one)) is not None]
        if not tried:
            break
        at = min(tried, key=lambda found: found.criterion)
        while at.borders and (changed := _changed(solve, at, places)).criterion < at.criterion:
            at = changed
        without_gain = 0 if at.criterion < best.criterion else without_gain + 1
        best = min(best, at, key=lambda found: found.criterion)
        if without_gain == _WITHOUT_GAIN:
            break
    return best


def _admitted(borders: _Borders) -> _Borders | None:
    """The borders ascending; `None` where a segment would have too few lengths."""
    ascending = tuple(sorted(borders))
    close = any(b[0] - a[0] < LEAST_SIZES for a, b in pairwise(ascending))
    return None if close else ascending


def _changed(solve: Callable[[_Borders], _Solved], at: _Solved, places: Sequence[int]) -> _Solved:
    """The best of all with one border moved, dropped or of the other kind."""
    tried = []
    for number, (place, step) in enumerate(at.borders):
        rest = at.borders[:number] + at.borders[number + 1 :]
        tried.append(rest)
        near = [other for other in places if abs(other - place) <= _REACH]
        tried += [(*rest, (other, kind)) for other in near for kind in (False, True) if (other, kind) != (place, step)]
    solved = [solve(borders) for one in tried if (borders := _admitted(one)) is not None]
    return min(solved, key=lambda found: found.criterion)


def _solved(lengths: NDArray[np.float64], seconds: NDArray[np.float64], borders: _Borders, noise: float) -> _Solved:
    places = [place for place, _ in borders]
    jumps = [place for place, step in borders if step]
    begins = np.array([0.0, *lengths[places]])
    within = np.clip(lengths[:, None], begins, np.append(begins[1:], np.inf)) - begins  # bytes in each segment
    above = lengths[:, None] >= lengths[jumps]
    rows = np.concatenate([np.ones((len(lengths), 1)), within, above], axis=1) / seconds[:, None]
    coefficients = _non_negative(rows, np.ones(len(lengths)))
    residuals = rows @ coefficients - 1
    n, terms = len(lengths), 2 + 2 * len(borders) + len(jumps)
    criterion = n * float(np.log(np.mean(residuals**2) + noise**2)) + terms * float(np.log(n))
    return _Solved(borders, coefficients, residuals, criterion)


def _non_negative(rows: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least squares without negative coefficients (Lawson and Hanson 1974, chapter 23).

    Begins with the free solution without its negative terms, which is mostly the answer.
    """
    scale = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    scaled = rows / scale

    def free(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        x = np.zeros(len(scale))
        if chosen.any():
            x[chosen] = np.linalg.lstsq(scaled[:, chosen], target, rcond=None)[0]
        return x

    chosen = np.ones(len(scale), dtype=bool)
    while ((x := free(chosen))[chosen] < 0).any():
        chosen &= x >= 0
    for _ in range(3 * len(scale)):
        gradient = scaled.T @ (target - scaled @ x)
        gradient[chosen] = -np.inf
        if gradient.max() <= 1e-10:
            break
        chosen[int(gradient.argmax())] = True
        while ((z := free(chosen))[chosen] < 0).any():
            low = chosen & (z < 0)
            x = x + float(np.min(x[low] / (x[low] - z[low]))) * (z - x)
            chosen &= x > 1e-14
            x[~chosen] = 0
        x = z
    result: NDArray[np.float64] = x / scale
    return result


def _as_fit(best: _Solved, measured: Sequence[int]) -> Fit:
    places = [0, *(place for place, _ in best.borders)]
    per_byte = best.coefficients[1 : 1 + len(places)]
    jumps = iter(best.coefficients[1 + len(places) :])
    rises = [0.0, *(float(next(jumps)) if step else 0.0 for _, step in best.borders)]
    startup_s = float(best.coefficients[0])
    segments: list[Segment] = []
    for number, (place, slope, jump_s) in enumerate(zip(places, per_byte, rises, strict=True)):
        first = measured[place]
        before_s = segments[-1].seconds(first) if segments else startup_s + first * float(slope)
        last = measured[places[number + 1] - 1] if number + 1 < len(places) else measured[-1]
        segments.append(Segment(first, last, before_s + jump_s, float(slope), jump_s))
    errors = np.abs(best.residuals)
    return Fit(startup_s, tuple(segments), float(np.median(errors)), float(errors.max()))
