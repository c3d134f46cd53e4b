"""McCalpin's STREAM in C and Fortran, with threads or MPI: a table of `Function … Rate …`, then a verdict.

The rate belongs to the shortest time, without write-allocate traffic; it is compared with that time.
"""

import re
from dataclasses import dataclass, field

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._rates import StatedRate, common_megabyte, solve
from octant.foreign._text import Rounded, count_of, number_of, ranks_of, word_of

_VERSION = re.compile(r"STREAM version \$?Revision:\s*([0-9.]+).*", re.IGNORECASE)
_ELEMENT = re.compile(
    r"(?:This system uses|Assuming)\s+([0-9]{1,2}) bytes per (?:array element|\w+ PRECISION word)\W*", re.I
)
_SIZE = re.compile(r"(?:Total Aggregate )?Array size\s*=\s*([0-9]+)(?:\s*\(elements\))?(?:, Offset\s*=\s*[0-9]+.*)?")
_RANKS = re.compile(r"Data is distributed across\s+([0-9]+) MPI ranks")
_THREADS = re.compile(
    r"Number of Threads\s+(?P<how>requested(?: for each MPI rank)?|counted(?: for rank 0)?)?\s*=\s*(?P<count>[0-9]+)"
)
_NUMBER = r"(?:[-+0-9.,eE]+|[-+]?(?:inf|nan)\w*|\*+)"
_ROW = re.compile(rf"([A-Za-z]\w{{2,11}})\s*:?\s+({_NUMBER}(?:\s+\S+){{1,7}})")
_RIGHT, _WRONG = re.compile(r"Solution Validates.*"), re.compile(r"Failed Validation on array.*", re.IGNORECASE)
_OPENING = re.compile(r"Double precision appears to have\s+[0-9]+ digits of accuracy")
_LINES_ABOVE_TITLE = 6
"""The version in Fortran prints up to so many lines before its title."""
_ARRAYS = {"Copy": 2, "Scale": 2, "Add": 3, "Triad": 3}
_COLUMNS = {
    "Best Rate MB/s": "bandwidth", "Rate (MB/s)": "bandwidth", "Avg time": "t_avg", "RMS time": "t_avg",
    "Min time": "t_min", "Max time": "t_max",
}  # fmt: skip


@dataclass(frozen=True)
class _Timings:
    """A row of the table."""

    line: int
    kernel: str
    numbers: dict[str, Rounded]  # by our names
    printed: dict[str, str]  # likewise: the title of the column and the word


@dataclass
class _Run:
    """Output of one run of the program."""

    begin: int
    version: str = ""
    version_line: str = ""
    element: int | None = None  # bytes
    elements: int | None = None  # of an array over all ranks
    ranks: int | None = 1
    threads: int | None = None
    columns: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()  # of the columns, as they are in the file
    rows: list["_Timings"] = field(default_factory=list)
    verdict: tuple[int, bool] | None = None  # the line, and whether the results are wrong


class _Reader:
    """Reader of the lines of the output."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.runs = [_Run(0)]
        self.opening = 0  # the first of the lines that the version in Fortran prints above its title

    def read(self) -> None:
        for line in self.lines:
            verdict = self.runs[-1].verdict
            opens = _OPENING.fullmatch(line.text) or _ELEMENT.fullmatch(line.text)
            if opens and not self.near_opening(line):
                self.opening = line.number
            begins = self.header_of(line) or any(one.match(line.text) for one in (_RIGHT, _VERSION, _ELEMENT))
            if verdict and begins:
                self.runs.append(_Run(verdict[0] + 1))
            if self.head(line) or self.header(line) or self.row(line) or self.checked(line):
                self.lines.use(line)

    def near_opening(self, line: Line) -> bool:
        return bool(self.opening) and line.number - self.opening <= _LINES_ABOVE_TITLE

    def head(self, line: Line) -> bool:
        run, text = self.runs[-1], line.text
        if found := _VERSION.fullmatch(text):
            if run.version:  # the run before has no verdict
                run = _Run(line.number)
                self.runs.append(run)
            above = self.opening if self.near_opening(line) else line.number
            run.begin = max(run.begin, above)  # what is further above was printed by other programs
            run.version, run.version_line = word_of(found[1]), text
            run.ranks = None if run.version.startswith("1.") else 1  # versions of MPI
        elif found := _ELEMENT.fullmatch(text):
            run.element = int(found[1])
        elif found := _SIZE.fullmatch(text):
            run.elements = count_of(found[1])
        elif found := _RANKS.fullmatch(text):
            run.ranks = ranks_of(found[1])
        elif found := _THREADS.fullmatch(text):
            counted = found["how"] is None or found["how"].startswith("counted")
            run.threads = ranks_of(found["count"]) if counted or run.threads is None else run.threads
        else:
            return False
        return True

    @staticmethod
    def header_of(line: Line) -> list[str]:
        cells = [cell for cell in re.split(r"\s{2,}|\t", line.text) if cell]
        return cells[1:] if cells[:1] == ["Function"] else []

    def header(self, line: Line) -> bool:
        cells = self.header_of(line)
        if not cells:
            return False
        run = self.runs[-1]
        run.columns, run.rows = tuple(_COLUMNS.get(cell, "") for cell in cells), []
        run.titles = tuple(cells)
        unknown = [cell for cell, ours in zip(cells, run.columns, strict=True) if not ours]
        if unknown:
            self.lines.refuse(line, f"unknown columns ({', '.join(unknown)[:60]}) are not imported")
        return True

    def row(self, line: Line) -> bool:
        run = self.runs[-1]
        found = _ROW.fullmatch(line.text)
        if not run.columns or not found:
            return False
        words = found[2].split()
        numbers = [number_of(word) for word in words]
        if found[1] not in _ARRAYS:
            self.lines.refuse(line, f"{found[1]} is not a kernel of STREAM and is not imported")
            return False
        if len(words) != len(run.columns) or not all(numbers):
            self.lines.refuse(line, "the values do not match the columns; the row is not imported")
            return False
        named = {ours: number for ours, number in zip(run.columns, numbers, strict=True) if ours and number}
        printed = {
            ours: f"{found[1]}: {title}={word}"
            for ours, title, word in zip(run.columns, run.titles, words, strict=True)
        }
        run.rows.append(_Timings(line.number, found[1], named, printed))
        return True

    def checked(self, line: Line) -> bool:
        run, wrong = self.runs[-1], bool(_WRONG.fullmatch(line.text))
        if not wrong and not _RIGHT.fullmatch(line.text):
            return False
        if run.rows:
            run.verdict = run.verdict or (line.number, wrong)
        return True


def read(lines: Lines) -> Output:
    """Parse the output; rows without a verdict are not imported.

    Raises:
        Refusal: rates that are consistent with no unit.
    """
    reader = _Reader(lines)
    reader.read()
    tables, remarks = [], []
    for run in reader.runs:
        if run.verdict:
            tables += _tables(run, run.verdict)
            if lacking := [kernel for kernel in _ARRAYS if kernel not in {row.kernel for row in run.rows}]:
                last = run.rows[-1].line
                remarks.append(f"the table that ends at line {last} has no row of {', '.join(lacking)}")
        elif run.rows:
            untitled = "" if run.version else ", and no title of STREAM precedes it"
            last = run.rows[-1].line
            remarks.append(f"line {last} is not followed by a verdict{untitled}; the table is not imported")
        elif run.version:
            remarks.append(f"the run that begins at line {run.begin} has no results")
    first = next((run for run in reader.runs if run.version), reader.runs[0])
    return Output("STREAM", first.version, first.version_line, tuple(tables), remarks=tuple(remarks[:3]))


def _tables(run: _Run, verdict: tuple[int, bool]) -> list[Table]:
    """Return a table for each kernel."""
    array_bytes = run.elements * run.element if run.elements and run.element else None
    stated = [
        StatedRate(_ARRAYS[row.kernel] * array_bytes, row.numbers["t_min"], row.numbers["bandwidth"])
        for row in run.rows
        if array_bytes and all(row.numbers[name].value > 0 for name in ("t_min", "bandwidth") if name in row.numbers)
        if {"t_min", "bandwidth"} <= row.numbers.keys()
    ]
    megabyte: float | None = 1e6
    if stated:
        solution = solve(stated, (1.0,), f"the rates at line {run.rows[0].line}")
        megabyte = common_megabyte([solution], "the file")
    tables = []
    for read in run.rows:
        values = [
            ImportedValue(ours, number.value * (megabyte or 0), "B/s", read.line, printed=read.printed[ours])
            if ours == "bandwidth"
            else ImportedValue(ours, number.value, "s", read.line, printed=read.printed[ours])
            for ours, number in read.numbers.items()
            if ours != "bandwidth" or megabyte
        ]
        values.append(ImportedValue("validation", float(verdict[1]), "1", verdict[0], 0.0))
        size = {"bytes": str(_ARRAYS[read.kernel] * array_bytes)} if array_bytes else {}
        row = ImportedRow(read.line, size, tuple(values))
        scope, knobs = ((run.begin, verdict[0]),), {"kernel": read.kernel.lower()}
        tables.append(Table("stream", read.line, (row,), knobs, run.ranks, run.threads, scope=scope))
    return tables
