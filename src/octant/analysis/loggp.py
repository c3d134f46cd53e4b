"""LogGP from a ping-pong curve: start-up time and time a byte of each protocol segment, and the error of the fit.

The model of Alexandrov, Ionescu, Schauser and Scheiman (SPAA 1995): a message of s bytes takes L + 2o + (s - 1) G. The
round trip alone cannot tell the latency L from the overheads o, so each segment has their sum, `startup_s` = L + 2o.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octant import units

LEAST_POINTS = 3  # of a segment: two would fit any line


@dataclass(frozen=True)
class Segment:
    """One protocol: messages from `first_bytes` to `last_bytes`, both measured and included."""

    first_bytes: int
    last_bytes: int
    startup_s: float  # L + 2o
    seconds_per_byte: float  # G
    error: float  # root mean square of (model - measured) / measured
    worst: float  # largest |model - measured| / measured

    def seconds(self, length: float) -> float:
        """One-way time of a message of `length` bytes."""
        return self.startup_s + max(0.0, length - 1) * self.seconds_per_byte

    @property
    def bandwidth(self) -> float:
        """Bytes a second that a long message approaches; infinite where length made no difference."""
        return 1 / self.seconds_per_byte if self.seconds_per_byte > 0 else float("inf")


@dataclass(frozen=True)
class Fit:
    """The segments from short to long, without a gap between the lengths measured."""

    segments: tuple[Segment, ...]
    error: float  # root mean square of the relative errors of all points
    worst: float

    def seconds(self, length: float) -> float:
        """One-way time of a message of `length` bytes; between two segments the shorter one's protocol holds."""
        chosen = next((s for s in reversed(self.segments) if length >= s.first_bytes), self.segments[0])
        return chosen.seconds(length)

    def __str__(self) -> str:
        parts = [
            f"from {units.bytes_text(s.first_bytes)} {units.si_text(s.startup_s, 's')} + "
            f"{units.si_text(s.seconds_per_byte, 's')} a byte"
            for s in self.segments
        ]
        error, worst = units.percent_text(self.error), units.percent_text(self.worst)
        return f"LogGP (L + 2o, G): {'; '.join(parts)}; error {error}, {worst} at worst."

    @property
    def breaks(self) -> tuple[int, ...]:
        """Where a new protocol is first seen, bytes."""
        return tuple(segment.first_bytes for segment in self.segments[1:])


@dataclass(frozen=True)
class _Piece:
    startup_s: float
    seconds_per_byte: float
    residuals: NDArray[np.float64]  # relative


def _line(lengths: NDArray[np.float64], seconds: NDArray[np.float64]) -> _Piece:
    """Least squares of the relative error, neither term negative (normal equations of two columns)."""
    one, more = 1 / seconds, np.maximum(lengths - 1, 0) / seconds
    aa, ab, bb = float(one @ one), float(one @ more), float(more @ more)
    a, b = float(one.sum()), float(more.sum())  # the target is 1 everywhere
    determinant = aa * bb - ab * ab
    candidates = [(a / aa, 0.0)]
    if bb > 0:
        candidates.append((0.0, b / bb))
    if determinant > 1e-12 * aa * bb:
        candidates.append(((a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant))
    residuals = [(x * one + y * more - 1, x, y) for x, y in candidates if x >= 0 and y >= 0]
    errors, startup_s, per_byte_s = min(residuals, key=lambda item: float(item[0] @ item[0]))
    return _Piece(startup_s, per_byte_s, errors)


def fit(points: Sequence[tuple[int, float]], most_segments: int = 4, noise: float = 0.01) -> Fit:
    """Fits (length in bytes, one-way seconds) points, finding by itself where the protocol changes.

    Of several times of one length the median counts.

    The division into segments has the least Bayesian information criterion (Schwarz 1978) of relative errors over all
    divisions of at least `LEAST_POINTS` points each; each further segment has to pay for its two terms and its border.
    Errors below `noise` (relative) are taken for the measurement's own and buy nothing.

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
    best = min(_divisions(lengths, seconds, most_segments), key=lambda pieces: _criterion(pieces, noise))
    segments, at = [], 0
    for piece in best:
        last = at + len(piece.residuals) - 1
        rms, worst = _errors(piece.residuals)
        ends = int(lengths[at]), int(lengths[last])
        segments.append(Segment(*ends, piece.startup_s, piece.seconds_per_byte, rms, worst))
        at = last + 1
    return Fit(tuple(segments), *_errors(np.concatenate([piece.residuals for piece in best])))


def _errors(residuals: NDArray[np.float64]) -> tuple[float, float]:
    return float(np.sqrt(np.mean(residuals**2))), float(np.max(np.abs(residuals)))


def _criterion(pieces: Sequence[_Piece], noise: float) -> float:
    residuals = np.concatenate([piece.residuals for piece in pieces])
    n = len(residuals)
    variance = float(np.mean(residuals**2)) + noise**2
    return n * float(np.log(variance)) + (3 * len(pieces) - 1) * float(np.log(n))


def _divisions(lengths: NDArray[np.float64], seconds: NDArray[np.float64], most: int) -> list[tuple[_Piece, ...]]:
    """The division with the least squares for every number of segments, by dynamic programming."""
    n = len(lengths)
    pieces = {
        (i, j): _line(lengths[i:j], seconds[i:j])
        for i, j in itertools.combinations(range(n + 1), 2)
        if j - i >= LEAST_POINTS
    }
    cost = {key: float(np.sum(piece.residuals**2)) for key, piece in pieces.items()}
    reached: dict[int, tuple[float, tuple[_Piece, ...]]] = {0: (0.0, ())}
    found = []
    for _ in range(most):
        further: dict[int, tuple[float, tuple[_Piece, ...]]] = {}
        for (i, j), price in cost.items():
            if i in reached and (j not in further or reached[i][0] + price < further[j][0]):
                further[j] = (reached[i][0] + price, (*reached[i][1], pieces[i, j]))
        reached = further
        if n in reached:
            found.append(reached[n][1])
    return found
