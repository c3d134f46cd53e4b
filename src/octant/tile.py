"""What the first screen of a report is made of, as a suite declares it and a run stores it: no report names a workload.

A figure is named by the title of its ask; titles, words and numbers are data, and `{…}` in a text stands for one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

MOST = 6
"""Tiles of a first screen."""
MOST_ALSO = 3
"""Further values of a tile."""
NAME_WIDTH = 32
"""Characters of the short name of a figure, in tiles and tables."""

Text = Annotated[str, Meta(max_length=300)]


@dataclass(frozen=True)
class NamedFigure:
    """One figure of a run: of the asks with this title, of the cells with these knobs."""

    title: Text
    knobs: Mapping[str, Text] = field(default_factory=dict)
    metric: Text = ""  # "": the headline
    pick: Literal["first", "last", "best"] = "first"  # of several cells, in the order in which they were asked


@dataclass(frozen=True)
class TileComparison:
    """What the bar of a tile shows where it is no share of a limit: a figure against another one."""

    text: Text  # "{share} of the {against} with base pages"; also {value}, and knobs: {value.bytes}, {against.bytes}
    value: NamedFigure | None = None  # `None`: the headline
    against: NamedFigure | None = None  # `None`: the headline


@dataclass(frozen=True)
class Also:
    """A further value of a tile."""

    show: Literal["value", "plateaus", "half length", "library", "time lost"] = "value"
    label: Text = ""
    figure: NamedFigure | None = None  # of `value`; a cell of the curve of `plateaus` and `half length`


@dataclass(frozen=True)
class DeclaredTile:
    """One tile: which figure is its headline, what its bar shows, and what stands below."""

    name: Text  # "Peak"
    what: Text  # "2 cores, double precision"
    figures: Annotated[tuple[NamedFigure, ...], Meta(max_length=64)]  # the first that was measured; of `kind` all
    kind: Literal["figure", "time lost", "balance"] = "figure"
    bar: Literal["none", "limit", "comparison", "parts"] = "none"
    compared: TileComparison | None = None
    also: Annotated[tuple[Also, ...], Meta(max_length=MOST_ALSO)] = ()
    missing: Text = ""  # why there may be no figure here: "one core, no second rank"


@dataclass(frozen=True)
class DeclaredAnswer:
    """The sentence above the tiles. A part is left out where a tile that it names has no figure."""

    subject: Text = ""  # "Two cores"
    says: Annotated[tuple[Text, ...], Meta(max_length=MOST)] = ()  # "computed at {Peak}"
    besides: Text = ""  # "a byte from memory is worth {Peak/Memory} operations"


@dataclass(frozen=True)
class DeclaredScreen:
    """The sentence and the tiles of a run; none: the report chooses."""

    answer: DeclaredAnswer = DeclaredAnswer()
    tiles: Annotated[tuple[DeclaredTile, ...], Meta(max_length=MOST)] = ()
