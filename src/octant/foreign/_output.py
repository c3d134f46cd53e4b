"""What a reader returns: the tables of a file, and how many of its lines were interpreted."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Account:
    """How many lines of a file were interpreted, are irrelevant, and were not recognised."""

    interpreted: int = 0
    irrelevant: int = 0
    unrecognised: int = 0
    quoted: tuple[str, ...] = ()  # the first unrecognised lines with their numbers, those in the tool's syntax first
    prefixes: tuple[str, ...] = ()  # that were removed from the lines

    @property
    def stated(self) -> bool:
        """Whether the reader of the tool accounts for its lines."""
        return bool(self.interpreted or self.irrelevant or self.unrecognised)

    def text(self) -> str:
        """`25 lines interpreted, 4 irrelevant, 1 unrecognised`."""
        text = f"{self.interpreted} lines interpreted, {self.irrelevant} irrelevant, {self.unrecognised} unrecognised"
        removed = " and ".join(f'"{prefix}"' for prefix in self.prefixes)
        return f"{text}; the prefix {removed} was removed" if removed else text


@dataclass(frozen=True)
class ImportedValue:
    """A number of the file in base units."""

    name: str  # "time", "t_max", "bandwidth"
    value: float  # nan: the tool wrote no number
    unit: str
    line: int  # of the file, from 1
    bound: float | None = None  # of a check: what the tool says it has to be within
    group: int = 0
    printed: str = field(default="", compare=False)  # by the tool, with its own name: "HPL_time=-1"


@dataclass(frozen=True)
class ImportedRow:
    """What a file says of one cell."""

    line: int
    knobs: Mapping[str, str]
    values: tuple[ImportedValue, ...] = ()
    failed: str = ""  # why there are no figures: "timed out"


@dataclass(frozen=True)
class Table:
    """What a file says of one benchmark at one number of processes."""

    benchmark: str  # in the tool's words
    line: int
    rows: tuple[ImportedRow, ...]
    knobs: Mapping[str, str] = field(default_factory=dict)  # of all rows
    ranks: int | None = 1  # `None`: the file does not state it
    threads: int | None = 1  # of each rank; `None`: the file does not state it
    groups: tuple[tuple[int, ...], ...] = ()  # ranks that worked together; empty: all
    alone: bool = False  # each process worked by itself
    verified: bool = True  # the tool says that its results are right, or checks nothing at all
    started: str = ""  # ISO 8601, where the tool writes it for each run; overrides that of the output
    scope: tuple[tuple[int, int], ...] = ()  # first and last line of each part that can change figures; empty: the file


@dataclass(frozen=True)
class Output:
    """What a file says."""

    tool: str  # "IMB"
    version: str  # "2021.11"; "": the file does not say it
    version_line: str  # the line that says it, as it is
    tables: tuple[Table, ...]
    started: str = ""  # ISO 8601, where the tool writes when it ran
    architecture: str = ""
    remarks: tuple[str, ...] = ()  # what was not read, and why
    account: Account = field(default=Account(), compare=False)

    @property
    def name(self) -> str:
        """`IMB 2021.11`."""
        return f"{self.tool} {self.version}".strip()
