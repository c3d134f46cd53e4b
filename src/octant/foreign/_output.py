"""Result of a reader: the tables of a file, and the numbers of interpreted and other lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Account:
    """Numbers of interpreted, irrelevant and unrecognised lines of a file."""

    interpreted: int = 0
    irrelevant: int = 0
    unrecognised: int = 0
    quoted: tuple[str, ...] = ()  # the first unrecognised lines with their numbers, those in the tool's syntax first
    prefixes: tuple[str, ...] = ()  # prefixes that were removed

    @property
    def stated(self) -> bool:
        """Whether lines were counted."""
        return bool(self.interpreted or self.irrelevant or self.unrecognised)

    def text(self) -> str:
        """Return e.g. `25 lines interpreted, 4 irrelevant, 1 unrecognised`."""
        text = f"{self.interpreted} lines interpreted, {self.irrelevant} irrelevant, {self.unrecognised} unrecognised"
        removed = " and ".join(f'"{prefix}"' for prefix in self.prefixes)
        return f"{text}; the prefix {removed} was removed" if removed else text


@dataclass(frozen=True)
class ImportedValue:
    """A number in the file, in base units."""

    name: str  # "time", "t_max", "bandwidth"
    value: float  # nan: the tool printed no number
    unit: str
    line: int  # of the file, from 1
    bound: float | None = None  # of a check: limit stated by the tool
    group: int = 0
    printed: str = field(default="", compare=False)  # name and value in the file: "HPL_time=-1"


@dataclass(frozen=True)
class ImportedRow:
    """Figures of one cell in the file."""

    line: int
    knobs: Mapping[str, str]
    values: tuple[ImportedValue, ...] = ()
    failed: str = ""  # reason for missing figures: "timed out"


@dataclass(frozen=True)
class Table:
    """Rows of one benchmark with one number of processes."""

    benchmark: str  # name in the tool
    line: int
    rows: tuple[ImportedRow, ...]
    knobs: Mapping[str, str] = field(default_factory=dict)  # of all rows
    ranks: int | None = 1  # `None`: the file does not state it
    threads: int | None = 1  # of each rank; `None`: the file does not state it
    groups: tuple[tuple[int, ...], ...] = ()  # groups of ranks that communicated; empty: all ranks
    alone: bool = False  # processes did not communicate
    verified: bool = True  # the tool reports correct results, or has no checks
    started: str = ""  # ISO 8601, if the tool prints it for each run; overrides that of the output
    scope: tuple[tuple[int, int], ...] = ()  # first and last line of each part that can change figures; empty: the file


@dataclass(frozen=True)
class Output:
    """Content of an imported file."""

    tool: str  # "IMB"
    version: str  # "2021.11"; "": not stated
    version_line: str  # the unmodified line with the version
    tables: tuple[Table, ...]
    started: str = ""  # ISO 8601, if the tool prints it
    architecture: str = ""
    remarks: tuple[str, ...] = ()  # what was not imported, and why
    account: Account = field(default=Account(), compare=False)

    @property
    def name(self) -> str:
        """Tool and version: `IMB 2021.11`."""
        return f"{self.tool} {self.version}".strip()
