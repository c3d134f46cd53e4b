"""What the first screen of a run's report says, as data: the sentence, belief and tiles.

`tiles` and `belief` make them from a summary, and `advice.findings` what to do; the page and the terminal only write
them.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Doubt: TypeAlias = Literal["sound", "note", "doubtful", "not measurable", "wrong"]
"""The grade of a tile or a row, in words; signs are `SIGNS`."""
SIGNS: dict[Doubt, str] = {"sound": "✓", "note": "i", "doubtful": "!", "not measurable": "×", "wrong": "✗"}
DOUBTS: tuple[Doubt, ...] = tuple(SIGNS)
"""From none to the worst; the first four in the order of `stats.Grade`."""


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
        """The least and the greatest of what is drawn: the ends of the drawing."""
        drawn = (*self.counted, *self.left_out, self.low, self.middle, self.high)
        return min(drawn), max(drawn)


@dataclass(frozen=True)
class Bar:
    """A bar from 0. `limit`: a share of a limit, the only one in the accent colour; `comparison`: of anything else.

    parts: causes of lost time, stacked over all time.
    """

    kind: Literal["limit", "comparison", "parts"]
    shares: tuple[tuple[str, float], ...]  # name and share of 1; one of them but for `parts`


@dataclass(frozen=True)
class Tile:
    """One headline with what it needs to be believed; without a figure only `name`, `what` and `missing`."""

    name: str  # "Peak"
    what: str  # "2 cores, double precision"
    missing: str = ""  # why there is no figure: "one core, no second rank"
    number: str = ""  # "129", "even"
    unit: str = ""  # "Gflop/s", "within 10 %"
    interval: str = ""  # "123 … 136: 95 % interval, median of 5 of 6 launches"
    grade: Doubt = "sound"
    reasons: tuple[str, ...] = ()  # of the grade
    strip: Strip | None = None
    bar: Bar | None = None
    of: str = ""  # what 100 % is, the share first: "90 % of 144 Gflop/s: 8 lanes x 2 units x 2 x clock"
    also: tuple[str, ...] = ()  # at most three related values
    figure: int | None = None  # the place of its figure in `Summary.figures`, for a link


@dataclass(frozen=True)
class BeliefRow:
    """One row of "how far this can be believed"."""

    what: str
    seen: str
    so: str


@dataclass(frozen=True)
class Belief:
    """How far the page can be believed: the worst grade of its tiles, one sentence, and the table behind it."""

    grade: Doubt
    text: str
    rows: tuple[BeliefRow, ...]
