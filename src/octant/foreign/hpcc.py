"""HPC Challenge: `Key=value` lines of the summary section, with sizes, checks and figures.

The program appends to its file: each summary is one run, and all runs of a file are imported. The names of keys state
the units: GB/s, GBytes and GUPs are 10^9, usec 10^-6. The rate of a Star test is the mean over processes that do not
communicate. The sections before a summary state which tests failed or were not checked.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._account import quote
from octant.foreign._text import Rounded, date_of, number_of, ranks_of, word_of

_TITLE = re.compile(r"(?:This is the (?:DARPA/DOE )?)?(HPC Challenge Benchmark version ([0-9][\w.]*).*)")
_TIME = re.compile(r"Current time \([0-9]+\) is (.+)")
_SECTION = re.compile(r"(Begin|End) of (.{1,60}) section\.?")
_PAIR = re.compile(r"([A-Za-z_]\w{0,60}) *= *(\S.{0,80})")
_FAILED = re.compile(
    r"[1-9][0-9]* tests? completed and failed residual checks[,.]|Found [1-9][0-9]* errors in .*\(failed\).*"
    r"|Node\(s\) with error [1-9][0-9]*|Failed Validation on array.*"
)
_UNCHECKED = re.compile(r"[1-9][0-9]* tests? completed without checking[,.]")
_RIGHT = re.compile(
    r"Node\(s\) with error 0|Found 0 errors in .*\(passed\).*"
    r"|[1-9][0-9]* tests? completed and passed residual checks[,.]"
)
_Pairs: TypeAlias = "dict[str, tuple[int, Rounded]]"
_UPDATES = 0.01  # of all updates may be wrong


@dataclass(frozen=True)
class _Test:
    """A benchmark and the keys of its figures."""

    name: str
    figures: tuple[tuple[str, str, str, int], ...]  # key, our name, unit, power of ten
    knobs: Callable[[_Pairs], dict[str, str]] = lambda _: {}
    single: bool = False  # of one process
    grid: str = ""  # before the keys of its process grid: "HPL"
    threads: str = "omp_get_max_threads"  # the key of the threads of a rank; "": one by its definition; "?": no key
    check: tuple[str, str, float] | None = None  # key, our name, bound

    @property
    def section(self) -> str:
        """Section of the output with the details of the test, in lower case without `_`."""
        return (
            "latencybandwidth"
            if "pingpong" in self.name or "_ring_" in self.name
            else self.name.lower().replace("_", "")
        )


def _size(key: str, knob: str = "n", times: int = 1) -> Callable[[_Pairs], dict[str, str]]:
    return lambda pairs: {knob: str(round(pairs[key][1].value) * times)} if _whole(pairs, key) else {}


def _whole(pairs: _Pairs, key: str) -> bool:
    return key in pairs and 0 <= pairs[key][1].value < 1e15


def _loops(star: str) -> tuple[_Test, ...]:
    def knobs(name: str, arrays: int) -> Callable[[_Pairs], dict[str, str]]:
        return lambda pairs: {"kernel": name.lower(), **_size("STREAM_VectorSize", "bytes", 8 * arrays)(pairs)}

    return tuple(
        _Test(
            f"{star}_stream",
            ((f"{star}STREAM_{name}", "bandwidth", "B/s", 9),),
            knobs(name, arrays),
            star == "Single",
            threads="STREAM_Threads",
        )
        for name, arrays in (("Copy", 2), ("Scale", 2), ("Add", 3), ("Triad", 3))
    )


def _both(
    name: str,
    key: str,
    figure: str,
    unit: str,
    knobs: Callable[[_Pairs], dict[str, str]],
    threads: str = "omp_get_max_threads",
) -> tuple[_Test, ...]:
    """Return the Star test (all processes, without communication) and the Single test (one process)."""
    return tuple(
        _Test(f"{how}_{name}", ((f"{how}{key}", figure, unit, 9),), knobs, how == "Single", threads=threads)
        for how in ("Star", "Single")
    )


def _updates(variant: str) -> _Test:
    key = f"MPIRandomAccess{variant}"
    figures = ((f"{key}_GUPs", "updates", "update/s", 9), (f"{key}_time", "time", "s", 0))
    check = (f"{key}_ErrorsFraction", "errors", _UPDATES)
    return _Test(f"mpi_randomaccess{variant.lower()}", figures, _size(f"{key}_N", "bytes", 8), check=check)


def _messages(name: str, what: str, by: str = "") -> tuple[_Test, ...]:
    """Return the latency and bandwidth tests; `by` is a prefix for figures that are a minimum, not a median."""
    return (
        _Test(f"{what}_latency", ((f"{name}Latency_usec", f"{by}time", "s", -6),), threads=""),
        _Test(f"{what}_bandwidth", ((f"{name}Bandwidth_GBytes", f"{by}bandwidth", "B/s", 9),), threads=""),
    )


_TESTS = (
    _Test(
        "hpl", (("HPL_Tflops", "rate", "flop/s", 12), ("HPL_time", "time", "s", 0)),
        lambda pairs: {**_size("HPL_N")(pairs), **_size("HPL_NB", "block")(pairs)}, grid="HPL", threads="?",
    ),
    *_both("dgemm", "DGEMM_Gflops", "rate", "flop/s", _size("DGEMM_N"), "?"),
    _Test(
        "ptrans", (("PTRANS_GBs", "rate", "B/s", 9), ("PTRANS_time", "time", "s", 0)),
        lambda pairs: {**_size("PTRANS_n")(pairs), **_size("PTRANS_nb", "block")(pairs)}, grid="PTRANS", threads="",
        check=("PTRANS_residual", "residual", 16.0),
    ),
    _updates(""),
    _updates("_LCG"),
    *_both("randomaccess", "RandomAccess_GUPs", "updates", "update/s", _size("RandomAccess_N", "bytes", 8)),
    *_both("randomaccess_lcg", "RandomAccess_LCG_GUPs", "updates", "update/s", _size("RandomAccess_LCG_N", "bytes", 8)),
    *_loops("Star"),
    *_loops("Single"),
    *_both("fft", "FFT_Gflops", "rate", "flop/s", _size("FFT_N")),
    _Test(
        "mpi_fft", (("MPIFFT_Gflops", "rate", "flop/s", 9),), _size("MPIFFT_N"),
        check=("MPIFFT_maxErr", "error", 1e-6),
    ),
    *(
        test
        for end in ("Min", "Avg", "Max")
        for test in _messages(f"{end}PingPong", f"{end}_pingpong")
    ),
    *_messages("NaturallyOrderedRing", "naturally_ordered_ring", "HPCC "),
    *_messages("RandomlyOrderedRing", "randomly_ordered_ring", "HPCC "),
)  # fmt: skip


@dataclass
class _Run:
    """Output of one run of the program."""

    begin: int
    end: int = 0
    version: str = ""
    version_line: str = ""
    started: str = ""
    pairs: _Pairs = field(default_factory=dict)
    success: tuple[int, bool] | None = None  # line, and whether every test was right
    opened: bool = False  # a section has begun
    whole: bool = False  # its summary has an end
    sections: dict[str, tuple[int, str]] = field(
        default_factory=dict
    )  # by name: line and "failed", "unchecked", "right"
    seen: set[str] = field(default_factory=set)  # keys

    def verdict(self, name: str) -> tuple[int, str]:
        """Return line and verdict of the section of a test; (0, "") if it has no verdict."""
        return self.sections.get(name.replace("_", ""), (0, ""))


class _Reader:
    """Reader of the lines of the output."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.runs: list[_Run] = [_Run(0)]
        self.section = ""
        self.outside: Line | None = None  # the first line of results that is not in a summary
        self.listing = False  # whether the line before is a list of the input of HPL, which may go on

    def read(self) -> None:
        for line in self.lines:
            if self.title(line) or self.border(line) or self.pair(line) or self.said(line) or self.listed(line):
                self.lines.use(line)
        if self.lines:
            self.runs[-1].end = self.runs[-1].end or self.lines[-1].number

    def begin(self, line: Line) -> _Run:
        """Start another run, unless the current one is empty."""
        run = self.runs[-1]
        if run.version or run.whole or run.seen:
            run.end = run.end or line.number - 1
            self.runs.append(_Run(line.number))
        elif not run.opened:
            run.begin = line.number  # what is above it was printed by other programs
        self.section = ""
        return self.runs[-1]

    def title(self, line: Line) -> bool:
        found = _TITLE.fullmatch(line.text)
        if found:
            run = self.begin(line)
            run.version, run.version_line = word_of(found[2]), found[1]
        return bool(found)

    def border(self, line: Line) -> bool:
        """Read the begin or the end of a section; the summary is also a section."""
        found = _SECTION.fullmatch(line.text)
        if not found:
            return False
        known = found[2] == "Summary" or found[2].lower().replace("_", "") in _SECTIONS
        if not known:
            self.lines.refuse(line, "unknown section, which is not imported")
            self.section = self.section if self.section == "summary" else ""
            return False
        if found[1] == "Begin" and found[2] == "Summary" and (self.runs[-1].whole or self.runs[-1].seen):
            self.begin(line)
        run = self.runs[-1]
        if not run.opened and not run.version and not run.seen:
            run.begin = line.number
        run.opened = True
        if found[1] == "End" and found[2] == "Summary" and self.section == "summary":
            run.whole, run.end = True, line.number
        self.section = found[2].lower().replace("_", "") if found[1] == "Begin" else ""
        return True

    def pair(self, line: Line) -> bool:
        """Read a line of the summary."""
        found = _PAIR.fullmatch(line.text) if "=" in line.text else None
        if found and found[1] in _KEYS and self.section != "summary":
            self.outside = self.outside or line
        if not found or self.section != "summary":
            return False
        run, key, number = self.runs[-1], found[1], number_of(found[2])
        if key in run.seen:
            run.pairs.pop(key, None)
            run.success = None if key == "Success" else run.success
            self.lines.refuse(line, f"{key} occurs twice; dependent figures are not imported")
            return False
        run.seen.add(key)
        if key == "Success":
            run.success = line.number, found[2] == "1"
        elif key in _KEYS and number:
            run.pairs[key] = line.number, number
        elif key in _KEYS:
            self.lines.refuse(line, "its value is not a number; dependent figures are not imported")
        elif not _KNOWN_KEY.fullmatch(key):
            self.lines.refuse(line, "unknown key, which is not imported")
        return key in _KEYS

    def listed(self, line: Line) -> bool:
        """Read the further lines of a list of the input, which change no figure."""
        goes_on = self.listing and bool(re.fullmatch(r"[0-9][0-9 ]*", line.text))
        self.listing = goes_on or bool(re.fullmatch(r"(?:N|NB|P|Q|NBMIN|NDIV|DEPTH) +: [0-9 ]+", line.text))
        return goes_on

    def said(self, line: Line) -> bool:
        """Read a verdict of a section, or the time when the run began."""
        run, text = self.runs[-1], line.text
        if (time := _TIME.fullmatch(text)) and not run.started and not self.section:
            run.started = date_of(time[1])
            return bool(run.started)
        if not self.section:
            return False
        words = ((_FAILED, "failed"), (_UNCHECKED, "unchecked"), (_RIGHT, "right"))
        word = next((word for pattern, word in words if pattern.fullmatch(text)), "")
        known = run.sections.get(self.section)
        if word and (known is None or _WORST.index(word) < _WORST.index(known[1])):
            run.sections[self.section] = line.number, word
        return bool(word)


_WORST = ("failed", "unchecked", "right")
_SECTIONS = {
    *(f"{how}randomaccess{end}" for how in ("mpi", "star", "single") for end in ("", "lcg")), "ptrans", "mpifft", "hpl",
    "latencybandwidth", *(f"{how}{name}" for how in ("star", "single") for name in ("dgemm", "stream", "fft")),
}  # fmt: skip
"""Names of sections in lower case without `_`."""
_KEYS = {
    "Success", "CommWorldProcs", "HPL_N", "HPL_NB", "DGEMM_N", "PTRANS_n", "PTRANS_nb", "MPIRandomAccess_N",
    "MPIRandomAccess_LCG_N", "RandomAccess_N", "RandomAccess_LCG_N", "STREAM_VectorSize", "STREAM_Threads", "FFT_N",
    "MPIFFT_N", "MPIFFT_Procs", "M_OPENMP", "omp_get_max_threads",
    *(f"{name}_np{side}" for name in ("HPL", "PTRANS") for side in ("row", "col")),
    *(figure[0] for test in _TESTS for figure in test.figures), *(test.check[0] for test in _TESTS if test.check),
}  # fmt: skip
"""Keys whose values are imported or describe results."""
_KNOWN_KEY = re.compile(
    r"Version(?:Major|Minor|Micro|Release)|LANG|sizeof_\w+|MPI_Wtick|[ds]weps|HPL_[ds]MACH_[A-Z]+|CPS_\w+|FFTE\w+"
    r"|omp_get_num_(?:threads|procs)|Mem(?:Proc|Spec|Val)|MPIFFT_time[0-9]|HPL(?:Max|Min)Procs"
    r"|MPIRandomAccess(?:_LCG)?_(?:CheckTime|Errors|ExeUpdates|TimeBound|Algorithm)"
    r"|HPL_(?:eps|[RABX]norm[1I]|depth|nbdiv|nbmin|cpfact|crfact|ctop|order)"
)
"""Keys that the tool always prints; `hpcc.toml` has the reasons why they change no figure."""


def read(lines: Lines) -> Output:
    """Parse the output; a summary must be complete, since checks follow the figures."""
    reader = _Reader(lines)
    reader.read()
    runs = [run for run in reader.runs if run.version or run.seen]
    tables = [table for run in runs if run.whole for test in _TESTS if (table := _table(test, run))]
    cut = [run for run in runs if not run.whole]
    first = next((run for run in runs if run.version), reader.runs[0])
    started = next((run.started for run in runs if run.whole and run.started), "")
    remarks = _remarks(runs, cut)
    if reader.outside and not runs:
        remarks = (f'{quote(reader.outside)} is not in a summary: no "Begin of Summary section." precedes it',)
    return Output("HPCC", first.version, first.version_line, tuple(tables), started, "", remarks)


def _remarks(runs: list[_Run], cut: list[_Run]) -> tuple[str, ...]:
    """Return a remark on runs without a complete summary."""
    if not cut:
        return ()
    if len(runs) == 1:
        return (
            "the summary is incomplete: the run was aborted"
            if cut[0].seen
            else "there is no summary: the run was aborted",
        )
    where = ", ".join(f"line {max(1, run.begin)}" for run in cut[:5]) + (", …" if len(cut) > 5 else "")
    return (f"runs without a complete summary are not imported: {len(cut)} of {len(runs)}, beginning at {where}",)


def _scaled(value: float, power: int) -> float:
    """Return the value times a power of ten; negative powers are divisions, which are exact."""
    return value * float(10**power) if power >= 0 else value / float(10**-power)


def _table(test: _Test, run: _Run) -> Table | None:
    pairs = run.pairs
    values = [
        ImportedValue(
            ours, _scaled(pairs[key][1].value, power), unit, pairs[key][0], printed=f"{key}={pairs[key][1].value:.6g}"
        )
        for key, ours, unit, power in test.figures
        if key in pairs
    ]
    if not values:
        return None
    checks = _checks(test, run)
    knobs, line = test.knobs(pairs), values[0].line
    if test.grid and (sides := _grid(pairs, test.grid)):
        knobs["grid"] = f"{sides[0]}x{sides[1]}"
    return Table(
        test.name, line, (ImportedRow(line, {}, (*values, *checks)),), knobs, _ranks(test, pairs),
        _threads(test, pairs),
        alone=test.name.startswith("Star"), verified=bool(checks) and run.verdict(test.section)[1] != "unchecked",
        started=run.started, scope=((run.begin, run.end),),
    )  # fmt: skip


def _checks(test: _Test, run: _Run) -> list[ImportedValue]:
    """Return the checks of a test: those in the summary, else of its section, else of the whole run.

    `Success=0` means that a test failed. If sections state which one, other tests are not affected.
    """
    line, word = run.verdict(test.section)
    checks = []
    if test.check and test.check[0] in run.pairs and word != "unchecked":
        at, number = run.pairs[test.check[0]]
        checks.append(ImportedValue(test.check[1], number.value, "1", at, test.check[2]))
    if word == "failed":
        return [*checks, ImportedValue("success", 1.0, "1", line, 0.0)]
    if checks or run.success is None:
        return checks
    at, right = run.success
    if right:
        return [ImportedValue("success", 0.0, "1", at, 0.0)]
    if all(said == "right" for _, said in run.sections.values()):
        return [ImportedValue("success", 1.0, "1", at, 0.0)]
    return [ImportedValue("success", 0.0, "1", line, 0.0)] if word == "right" else []


def _count(pairs: _Pairs, key: str) -> int | None:
    """Return a number of processes or threads."""
    return ranks_of(str(round(pairs[key][1].value))) if _whole(pairs, key) else None


def _grid(pairs: _Pairs, name: str) -> tuple[int, int] | None:
    rows, columns = (_count(pairs, f"{name}_np{side}") for side in ("row", "col"))
    return (rows, columns) if rows and columns and rows * columns <= 10_000_000 else None


def _ranks(test: _Test, pairs: _Pairs) -> int | None:
    """Return the number of participating processes: those of the grid, which may be fewer than all."""
    every = _count(pairs, "CommWorldProcs")
    if test.single:
        return 1
    if test.grid:
        sides = _grid(pairs, test.grid)
        return sides[0] * sides[1] if sides else every
    return (_count(pairs, "MPIFFT_Procs") or every) if test.name == "mpi_fft" else every


def _threads(test: _Test, pairs: _Pairs) -> int | None:
    """Return the number of threads per process; `None` for BLAS, whose number of threads is not printed."""
    if not test.threads:
        return 1
    if "M_OPENMP" in pairs and pairs["M_OPENMP"][1].value < 0 and test.threads != "?":
        return 1  # not built with OpenMP
    return _count(pairs, test.threads)
