"""High-Performance Linpack of netlib and vendors, also in HPC Challenge: rows below `T/V N NB …`, then checks.

Columns are identified by name; vendors add columns (`Gflops (   per GPU)`). HPL-MxP (mixed precision) is a separate
benchmark: rows with more columns, or `HPL MxP Result` of NVIDIA, with checks before `GFLOPS = …`.
"""

import math
import re
from dataclasses import dataclass, field

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._text import date_of, number_of, ranks_of, word_of

_TITLE = re.compile(
    r"(HPLinpack|HPL-NVIDIA|HPL-AI(?:-NVIDIA)?|HPL-MxP(?:-NVIDIA)?)\s+v?([0-9][\w.]*)\s+--\s.*"
    r"|(AMD Zen HPL)\s+([0-9]\w*)"
)
_BOUND = re.compile(r"- Computational tests pass if scaled residuals are less than\s+(\S+)")
_PRECISION = re.compile(r"- The relative machine precision \(eps\) is taken to be\s+(\S+)")
_START = re.compile(r"HPL_pdgesv\(\) start time\s+(\w{3} \w{3}\s+\d+ [\d:]+ \d{4})")
_NORMS = re.compile(r"\|\|[^=]{0,230}\|\|[^=]{0,80}")
_CHECK = re.compile(r"\s*+([^\s.]*+\.?[^\s.]*+)\s*+\.{3,}+\s*+(PASSED|FAILED)\s*")
_EMULATED = re.compile(r"(?:\[\w+\]:? *)?HPL_EMULATE_DOUBLE_PRECISION *[=:] *([0-9]+)\b.*")
_SECTION = re.compile(r"(?:Begin|End) of \w{2,30} section\.?")
_UNCHECKED = re.compile(r"([1-9][0-9]*) tests completed without checking.*")
_FINISHED = re.compile(r"Finished +[0-9]+ tests? with the following results:")
_VARIANT = re.compile(r"[WC][A-Za-z]{0,8}[0-9][A-Za-z0-9]{0,12}")
_MXP_CELLS = re.compile(
    r"N = (?P<N>[0-9]+), NB = (?P<NB>[0-9]+), NPROW = (?P<P>[0-9]+), NPCOL = (?P<Q>[0-9]+), "
    r"SLOPPY-TYPE = (?P<type>\w{1,20})"
)
_MXP_RATE = re.compile(r"(LU )?GFLOPS = (\S+), per GPU = +(\S+)(?: -+ .*)?")
_MXP_THRESHOLD = re.compile(r"Threshold [ .]*= +(\S+)")
_MXP_RESULT = re.compile(r"\*+ HPL MxP Result +\*+")
_USUAL_BOUND = 16.0
_DOUBLE_EPS = 1.110223e-16
_COLUMNS = ("T/V", "N", "NB", "P", "Q", "Time", "Gflops")
_KNOBS = {"T/V": "variant", "SWP": "swap", "SLOPPY-TYPE": "precision"}
"""Columns that are knobs."""
_LOW_PRECISION = {"1": "FP8", "2": "FP16"}
"""Meaning of the option --sloppy-type of NVIDIA's HPL-MxP."""
_PRINTED = {"P": "NPROW", "Q": "NPCOL", "Gflops_IRS": "GFLOPS"}
"""Names in NVIDIA's mixed-precision results of columns of other outputs."""
_FIGURES = {
    "hpl": (("Gflops", "rate", "flop/s", 1e9), ("Time", "time", "s", 1.0), ("per-GPU", "rate per GPU", "flop/s", 1e9)),
    "hpl_mxp": (
        ("Gflops_IRS", "rate", "flop/s", 1e9), ("Gflops", "rate_factor", "flop/s", 1e9), ("Time", "t_factor", "s", 1.0),
        ("FGMRES", "t_refine", "s", 1.0), ("per-GPU", "rate per GPU", "flop/s", 1e9),
        ("LU per-GPU", "rate_factor per GPU", "flop/s", 1e9),
    ),
}  # fmt: skip
"""Column, name in Octant, unit and factor, by benchmark. The rate of HPL-MxP includes factorisation and refinement."""


@dataclass
class _Found:
    """One solution with its checks."""

    line: int
    cells: dict[str, str]
    mixed: bool  # of HPL-MxP
    lines: dict[str, int] = field(default_factory=dict)  # of cells that are not on the first line
    titled: bool = False  # between NVIDIA's titles of its results
    started: str = ""
    end: int = 0  # the last line that can change its figures
    bound: float | None = None  # of its residual, if it is not that of the run
    checks: list[ImportedValue] = field(default_factory=list)


@dataclass
class _Run:
    """Output of one run of the program."""

    begin: int
    head_end: int = 0  # the line before the first header of columns
    build: str = ""
    version: str = ""
    version_line: str = ""
    mixed: bool = False
    bound: float = _USUAL_BOUND
    precision: str = ""  # the relative machine precision, if it is not that of double
    emulated: bool = False  # NVIDIA: double precision in other number formats
    unchecked: bool = False
    other: bool = False  # HPC Challenge printed the title, and then a section
    found: list[_Found] = field(default_factory=list)


class _Reader:
    """Reader of the lines of the output."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.runs = [_Run(0)]
        self.columns: tuple[str, ...] = ()
        self.current: _Found | None = None  # whose verdict comes next
        self.last = 0
        self.reported: set[str] = set()  # headers whose unknown columns were reported

    def read(self) -> None:
        for line in self.lines:
            self.runs[-1].other |= not self.runs[-1].head_end and bool(_SECTION.fullmatch(line.text))
            readers = (self.title, self.header, self.row, self.mixed, self.check, self.head)
            if any(reader(line) for reader in readers):
                self.lines.use(line)
            self.last = line.number
        self.close(self.last)

    def close(self, end: int) -> None:
        """End the part of the current solution."""
        if self.runs[-1].found and not self.runs[-1].found[-1].end:
            self.runs[-1].found[-1].end = end
        self.current = None

    def title(self, line: Line) -> bool:
        found = _TITLE.fullmatch(line.text)
        if not found:
            return False
        run, name, version = self.runs[-1], found[1] or found[3], found[2] or found[4]
        again = run.version if name == "HPLinpack" else run.build  # a vendor's title comes before or after it
        if run.found or again:
            self.close(line.number - 1)
            run = _Run(line.number)
            self.runs.append(run)
        elif not run.version and not run.build:
            run.begin = line.number  # what is above it was printed by other programs
        self.columns = ()
        run.mixed |= name.startswith(("HPL-AI", "HPL-MxP"))
        if name == "HPLinpack":
            run.version, run.version_line = word_of(version), line.text
        else:
            run.build = word_of(f"{name} {version}")
        return True

    def header(self, line: Line) -> bool:
        words = tuple(re.sub(r"\(\s*per GPU\s*\)", " per-GPU ", line.text).split())
        if words[:1] != ("T/V",) or words[1:2] == (":",):  # the second explains the name
            return False
        self.close(line.number - 1)
        self.runs[-1].head_end = self.runs[-1].head_end or line.number - 1
        self.columns = words if set(_COLUMNS) <= set(words) and len(words) == len(set(words)) else ()
        if not self.columns:
            self.lines.refuse(line, "unknown columns; the rows below them are not imported")
            return False
        known = {*_COLUMNS, *_KNOBS, *(figure[0] for figures in _FIGURES.values() for figure in figures)}
        unknown = [word for word in words if word not in known]
        if unknown and line.text not in self.reported:
            self.reported.add(line.text)
            self.lines.refuse(line, f"unknown columns ({' '.join(unknown)[:60]}) are not imported")
        return True

    def row(self, line: Line) -> bool:
        words = line.text.replace("(", " ").replace(")", " ").split()
        mixed = words[:1] == ["HPL_AI"]
        words = words[mixed:]
        if not self.columns or not words or not _VARIANT.fullmatch(words[0]):
            return False
        self.close(line.number - 1)
        if len(words) != len(self.columns) or not all(map(number_of, words[1:])):
            self.lines.refuse(line, "the values do not match the columns; the row is not imported")
            return False
        run = self.runs[-1]
        cells = dict(zip(self.columns, words, strict=True))
        self.current = _Found(line.number, cells, mixed or run.mixed or "Gflops_IRS" in self.columns)
        run.found.append(self.current)
        return True

    def mixed(self, line: Line) -> bool:
        """Read a line of NVIDIA's results in mixed precision, which begin and end with the same title."""
        run = self.runs[-1]
        if _MXP_RESULT.fullmatch(line.text):
            ends = self.current is not None and self.current.titled
            self.close(line.number - 1 + ends)
            if not ends:
                run.head_end = run.head_end or line.number - 1
                self.current = _Found(line.number, {}, mixed=True, titled=True)
                run.found.append(self.current)
            return True
        one = self.current
        if one is None or not one.titled:
            return False
        if found := _MXP_CELLS.fullmatch(line.text):
            one.cells |= {key: found[key] for key in ("N", "NB", "P", "Q")}
            one.cells["SLOPPY-TYPE"] = _LOW_PRECISION.get(found["type"], found["type"])
        elif (found := _MXP_RATE.fullmatch(line.text)) and number_of(found[2]) and number_of(found[3]):
            rate, part = ("Gflops", "LU per-GPU") if found[1] else ("Gflops_IRS", "per-GPU")
            one.cells |= {rate: found[2], part: found[3]}
            one.lines |= {rate: line.number, part: line.number}
        elif (found := _MXP_THRESHOLD.fullmatch(line.text)) and (number := number_of(found[1])):
            one.bound = number.value
        else:
            return False
        return True

    def check(self, line: Line) -> bool:
        name, _, verdict = line.text.partition("=")
        one = self.current
        if not one or not _NORMS.fullmatch(name) or not (check := _CHECK.fullmatch(verdict)):
            return False
        number, bound = number_of(check[1]), one.bound if one.bound is not None else self.runs[-1].bound
        value = number.value if number else math.nan
        name = f"residual_{len(one.checks) + 1}" if one.checks else "residual"
        one.checks.append(ImportedValue(name, value, "1", line.number, bound))
        if check[2] == "FAILED" and value <= bound:  # the verdict of the tool has precedence
            one.checks.append(ImportedValue("verification", 1.0, "1", line.number, 0.0))
        return True

    def head(self, line: Line) -> bool:
        """Read a line of the head of a run, of its end, or the time of a start."""
        run = self.runs[-1]
        if found := _BOUND.fullmatch(line.text):
            number = number_of(found[1])
            run.bound = number.value if number and math.isfinite(number.value) else _USUAL_BOUND
        elif found := _PRECISION.fullmatch(line.text):
            number = number_of(found[1])
            plain = number and math.isclose(number.value, _DOUBLE_EPS, rel_tol=1e-3)
            run.precision = "" if plain else word_of(found[1])
        elif found := _EMULATED.fullmatch(line.text):
            run.emulated = int(found[1]) > 0
        elif (found := _START.fullmatch(line.text)) and run.found:
            run.found[-1].started = date_of(found[1])
        elif _UNCHECKED.fullmatch(line.text):
            run.unchecked = True
        elif _FINISHED.fullmatch(line.text):
            self.close(line.number)
        else:
            return False
        return True


def read(lines: Lines) -> Output:
    """Parse the output; solutions without a verdict are not imported."""
    reader = _Reader(lines)
    reader.read()
    tables, remarks = [], []
    for run in reader.runs:
        if (run.version or run.build) and not (run.head_end or run.other):
            remarks.append(f"the run that begins at line {run.begin} has no results")
        for one in run.found:
            if lacking := {"N", "NB", "P", "Q", "Gflops_IRS" if one.titled else "Gflops"} - one.cells.keys():
                missing = ", ".join(sorted(_PRINTED.get(name, name) for name in lacking))
                remarks.append(f"the results at line {one.line} have no {missing} and are not imported")
            elif not one.checks and not run.unchecked:
                remarks.append(f"line {one.line} is not followed by a verdict and is not imported")
            elif table := _table(run, one):
                tables.append(table)
            else:
                lines.refuse(one.line, "invalid numbers of processes; the row is not imported")
    first = next((run for run in reader.runs if run.version), reader.runs[0])
    started = next((one.started for run in reader.runs for one in run.found if one.started), "")
    return Output("HPL", first.version, first.version_line, tuple(tables), started, "", tuple(remarks[:3]))


def _table(run: _Run, one: _Found) -> Table | None:
    cells = one.cells
    rows, columns = ranks_of(cells["P"]), ranks_of(cells["Q"])
    numbers = {name: number for name, word in cells.items() if (number := number_of(word))}
    if not rows or not columns or rows * columns > 10_000_000:
        return None
    benchmark = "hpl_mxp" if one.mixed else "hpl"
    figures = [figure for figure in _FIGURES[benchmark] if figure[0] in cells]
    values = [
        ImportedValue(
            ours,
            numbers[name].value * times,
            unit,
            one.lines.get(name, one.line),
            printed=f"{_PRINTED.get(name, name)}={cells[name]}",
        )
        for name, ours, unit, times in figures
    ]
    knobs = {"n": word_of(cells["N"]), "block": word_of(cells["NB"]), "grid": f"{rows}x{columns}"}
    knobs |= {ours: word_of(cells[name]) for name, ours in _KNOBS.items() if name in cells}
    knobs |= {"double": "emulated"} if run.emulated else {}
    knobs |= {name: value for name, value in (("build", run.build), ("eps", run.precision)) if value}
    scope = ((run.begin, run.head_end), (one.line, one.end))
    row = ImportedRow(one.line, {}, (*values, *one.checks))
    return Table(
        benchmark, one.line, (row,), knobs, rows * columns, None, verified=bool(one.checks), started=one.started,
        scope=scope,
    )  # fmt: skip
