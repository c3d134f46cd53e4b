"""Data of inline drawings: the launches of a figure as dots, and a share as a bar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from octant.report import claims

if TYPE_CHECKING:
    from octant.analysis.figures import Figure


@dataclass(frozen=True)
class Strip:
    """Launches as dots over a band, the interval over launches, with a tick at the median; all in base units.

    Without such an interval `low` and `high` are the median, and there is no band.
    """

    counted: tuple[float, ...]
    left_out: tuple[float, ...]  # launches that lost too much time
    low: float
    middle: float
    high: float
    ends: tuple[str, str] = ("", "")  # `span` in words, in the scale of the value

    @property
    def span(self) -> tuple[float, float]:
        """Minimum and maximum of the drawing."""
        drawn = (*self.counted, *self.left_out, self.low, self.middle, self.high)
        return min(drawn), max(drawn)


@dataclass(frozen=True)
class ShareBar:
    """A bar from 0. `limit`: a share of a limit, the only one in the accent colour; `comparison`: of anything else.

    parts: causes of lost time, stacked over all time.
    """

    kind: Literal["limit", "comparison", "parts"]
    shares: tuple[tuple[str, float], ...]  # name and share of 1; one of them but for `parts`


def launch_strip(figure: Figure) -> Strip | None:
    """Return the launches of a figure as dots; `None` for a single launch."""
    value = figure.value
    if value is None or figure.tried < 2:
        return None
    every = [launch for one in (figure, *figure.equal) for launch in one.launches]
    filled, left_out = (tuple(one.value.middle for one in every if one.counts is side) for side in (True, False))
    low, high = (value.low, value.high) if value.is_interval and filled else (value.middle, value.middle)
    strip = Strip(filled, left_out, low, value.middle, high)
    return replace(strip, ends=claims.end_texts(value, figure.metric, strip.span))
