"""The data model of the first screen: tiles, their drawings, and reliability, which all views write.

`tiles` and `reliability` make them from a summary, and `advice.findings` the findings.
"""

from dataclasses import dataclass, replace
from typing import Literal

from octant.advice.fitness import MachineVerdict
from octant.analysis.figures import Figure
from octant.report import claims
from octant.stats.grades import GradeName


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
        """The phrases next to the value, the most important first."""
        return tuple(filter(None, (self.what, self.basis, self.of, *self.also)))


@dataclass(frozen=True)
class ReliabilityRow:
    """One row of the table of reliability."""

    what: str
    seen: str  # the observation
    so: str  # its consequence


@dataclass(frozen=True)
class Reliability:
    """The reliability of a report: the worst grade of its tiles, at most two sentences, and the table behind them."""

    grade: GradeName
    text: str
    rows: tuple[ReliabilityRow, ...]

    @property
    def word(self) -> str:
        """The grade as the glossary names it, printed after "Reliability:"."""
        return "wrong result" if self.grade == "wrong" else self.grade


@dataclass(frozen=True)
class FitnessLine:
    """The line about the machine of a run with a noise test."""

    verdict: MachineVerdict
    text: str  # the first reason as a sentence, and the number of others; "": none

    @property
    def label(self) -> str:
        """`Machine: not fit for benchmarking`."""
        return f"Machine: {self.verdict.replace('fit', 'fit for benchmarking', 1)}"

    @property
    def grade(self) -> GradeName:
        """The grade whose colour and sign views use."""
        grades: dict[MachineVerdict, GradeName] = {"fit": "reliable", "fit with reservations": "limited"}
        return grades.get(self.verdict, "not measurable")


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
