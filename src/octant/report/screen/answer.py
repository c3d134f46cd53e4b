"""What the first screen of a run's report says, as data: the sentence, belief and tiles.

`tiles` and `reliability` make them from a summary, and `advice.findings` what to do; the page and the terminal only write
them.
"""

from dataclasses import dataclass

from octant.report.strips import ShareBar, Strip
from octant.stats.grades import GradeName


@dataclass(frozen=True)
class Tile:
    """One headline with what it needs to be believed; without a figure only `name`, `what` and `missing`."""

    name: str  # "Peak"
    what: str  # "2 cores, double precision"
    missing: str = ""  # why there is no figure: "one core, no second rank"
    number: str = ""  # "129", "even"
    unit: str = ""  # "Gflop/s", "within 10 %"
    interval: str = ""  # "123 … 136: 95 % interval, median of 5 of 6 launches"
    grade: GradeName = "reliable"
    reasons: tuple[str, ...] = ()  # of the grade
    strip: Strip | None = None
    bar: ShareBar | None = None
    of: str = ""  # what 100 % is, the share first: "90 % of 144 Gflop/s: 8 lanes x 2 units x 2 x clock"
    also: tuple[str, ...] = ()  # at most three related values
    figure: int | None = None  # the place of its figure in `Summary.figures`, for a link


@dataclass(frozen=True)
class ReliabilityRow:
    """One row of "how far this can be believed"."""

    what: str
    seen: str
    so: str


@dataclass(frozen=True)
class Reliability:
    """How far the page can be believed: the worst grade of its tiles, one sentence, and the table behind it."""

    grade: GradeName
    text: str
    rows: tuple[ReliabilityRow, ...]
