"""Contents of the first screen of a report, declared by a suite and stored with the run.

A figure is named by the title of its request. `{…}` in a text is replaced by a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

MAX_TILES = 6
"""Maximum number of tiles."""
MAX_ADDITIONAL_VALUES = 3
"""Maximum number of additional values of a tile."""
NAME_WIDTH = 32
"""Maximum length of the short name of a figure in tiles and tables, in characters."""

Text = Annotated[str, Meta(max_length=300)]


@dataclass(frozen=True)
class NamedFigure:
    """Reference to a figure of a run: requests with this title, cells with these knobs."""

    title: Text
    knobs: Mapping[str, Text] = field(default_factory=dict)
    metric: Text = ""  # "": the headline
    pick: Literal["first", "last", "best"] = "first"  # of several cells, in the order of the requests


@dataclass(frozen=True)
class TileComparison:
    """Comparison in the bar of a tile that shows no share of a limit: a figure against another one."""

    text: Text  # "{share} of the {against} with base pages"; also {value}, and knobs: {value.bytes}, {against.bytes}
    value: NamedFigure | None = None  # `None`: the headline
    against: NamedFigure | None = None  # `None`: the headline


@dataclass(frozen=True)
class Also:
    """Additional value of a tile."""

    show: Literal["value", "plateaus", "half length", "library", "time lost"] = "value"
    label: Text = ""
    figure: NamedFigure | None = None  # of `value`; a cell of the curve of `plateaus` and `half length`


@dataclass(frozen=True)
class DeclaredTile:
    """Tile: its headline figure, its bar, and the values below."""

    name: Text  # "Peak"
    what: Text  # "2 cores, double precision"
    figures: Annotated[tuple[NamedFigure, ...], Meta(max_length=64)]  # the first that was measured; all for other kinds
    kind: Literal["figure", "time lost", "balance"] = "figure"
    bar: Literal["none", "limit", "comparison", "parts"] = "none"
    compared: TileComparison | None = None
    also: Annotated[tuple[Also, ...], Meta(max_length=MAX_ADDITIONAL_VALUES)] = ()
    missing: Text = ""  # reason if there is no figure here: "one core, no second rank"


@dataclass(frozen=True)
class DeclaredAnswer:
    """Sentence above the tiles. A part is omitted if a tile that it names has no figure."""

    subject: Text = ""  # "Two cores"
    says: Annotated[tuple[Text, ...], Meta(max_length=MAX_TILES)] = ()  # "computed at {Peak}"
    besides: Text = ""  # "machine balance {Peak/Memory} flop/byte"


@dataclass(frozen=True)
class DeclaredScreen:
    """Sentence and tiles of a run; none: the report chooses them."""

    answer: DeclaredAnswer = DeclaredAnswer()
    tiles: Annotated[tuple[DeclaredTile, ...], Meta(max_length=MAX_TILES)] = ()
