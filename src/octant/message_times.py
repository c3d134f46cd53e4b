"""Measured message times by length, as piecewise linear functions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LengthSegment:
    """A linear segment of message times, from `first` bytes to the next segment."""

    first: float  # bytes
    at_first_s: float
    seconds_per_byte: float


@dataclass(frozen=True)
class MessageTimes:
    """The time of a single message by its length; steps are changes of protocol."""

    stretches: tuple[LengthSegment, ...]  # ascending, at least one; the first also applies to shorter messages

    @property
    def startup_s(self) -> float:
        """Time of an empty message."""
        return float(self.seconds(np.zeros(1))[0])

    @property
    def seconds_per_byte(self) -> float:
        """Time per byte of the longest messages."""
        return self.stretches[-1].seconds_per_byte

    def seconds(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the times of messages of these lengths in bytes, in seconds, with the shape of `lengths`."""
        first, start, slope = (
            np.array([getattr(one, name) for one in self.stretches])
            for name in ("first", "at_first_s", "seconds_per_byte")
        )
        of = np.clip(np.searchsorted(first, lengths, side="right") - 1, 0, len(first) - 1)
        least = max(0.0, float(start[0] - first[0] * slope[0]))
        found: NDArray[np.float64] = np.maximum(least, start[of] + (lengths - first[of]) * slope[of])
        return found


@dataclass(frozen=True)
class MeasuredTimes:
    """Message times between ranks of one node, and between nodes; `None`: not measured."""

    inside: MessageTimes | None = None
    between: MessageTimes | None = None

    def __bool__(self) -> bool:
        """Whether anything was measured."""
        return bool(self.inside or self.between)

    def startup_s(self, inside: NDArray[np.bool_], between: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the time of an empty message in each step, the maximum of its kinds; NaN: a kind is unknown.

        Args:
            inside: whether a step has messages within a node, shape (steps,).
            between: whether it has messages between nodes, shape (steps,).
        """
        return self._longest([(self.inside, np.where(inside, 0.0, -1.0)), (self.between, np.where(between, 0.0, -1.0))])

    def seconds(self, inside: NDArray[np.float64], between: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the time of the longest message of each step, the maximum of both kinds; -1 bytes: no message."""
        return self._longest([(self.inside, inside), (self.between, between)])

    @staticmethod
    def _longest(kinds: Sequence[tuple[MessageTimes | None, NDArray[np.float64]]]) -> NDArray[np.float64]:
        found = np.zeros(len(kinds[0][1]))
        for times, lengths in kinds:
            known = times.seconds(np.maximum(lengths, 0.0)) if times else np.full(len(lengths), np.nan)
            found = np.maximum(found, np.where(lengths < 0, 0.0, known))
        return found


NOT_MEASURED = MeasuredTimes()
