"""The data model of the first screen: tiles and reliability, which terminal, page and programs write.

`tiles` and `reliability` make them from a summary, and `advice.findings` the findings.
"""

from dataclasses import dataclass

from octant.report.strips import ShareBar, Strip
from octant.stats.grades import GradeName


@dataclass(frozen=True)
class Tile:
    """One headline with what is needed to judge it; without a figure only `name`, `what` and `missing`."""

    name: str  # "Peak"
    what: str  # what was measured: "double precision"
    missing: str = ""  # why there is no figure: "one core, no second rank"
    number: str = ""  # "129", "even"
    unit: str = ""  # "Gflop/s", "within 10 %"
    ends: str = ""  # of the 95 % interval, in the unit: "123 … 136"; "one launch" or "no interval" without one
    basis: str = ""  # what the reader must know of the launches: "5 of 6 launches"; "" if all were used
    interval: str = ""  # in full, for details: "123 … 136: 95 % interval, median of 5 of 6 launches"
    grade: GradeName = "reliable"
    reasons: tuple[str, ...] = ()  # caveats, the worst first
    strip: Strip | None = None
    bar: ShareBar | None = None
    of: str = ""  # what the bar shows, the share first: "90 % of 144 Gflop/s: 8 lanes × 2 units × 2 × clock"
    also: tuple[str, ...] = ()  # at most three related values
    figure: int | None = None  # index of its figure in `Summary.figures`, for a link

    @property
    def details(self) -> tuple[str, ...]:
        """The phrases beside the value, the most important first."""
        return tuple(filter(None, (self.what, self.basis, self.of, *self.also)))


@dataclass(frozen=True)
class ReliabilityRow:
    """One row of the table of reliability."""

    what: str
    seen: str  # the observation
    so: str  # its consequence


WORDS: dict[GradeName, str] = {
    "reliable": "good", "note": "good", "limited": "limited", "not measurable": "insufficient",
    "wrong": "wrong results",
}  # fmt: skip


@dataclass(frozen=True)
class Reliability:
    """The reliability of a report: the worst grade of its tiles, at most two sentences, and the table behind them."""

    grade: GradeName
    text: str
    rows: tuple[ReliabilityRow, ...]

    @property
    def word(self) -> str:
        """The word after "Reliability:"."""
        return WORDS[self.grade]
