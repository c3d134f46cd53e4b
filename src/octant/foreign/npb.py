"""NAS Parallel Benchmarks: a block of ` KEY = value` below `XX Benchmark Completed`, in all versions and languages.

The title above a block states whether the program is serial, of OpenMP threads, or of MPI processes.
"""

import re
from dataclasses import dataclass, field

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._text import number_of, ranks_of, word_of

_TITLE = re.compile(
    r"NAS Parallel Benchmarks?\s+(\S.{0,60}?)\s+--?\s+((?:BT|CG|DC|DT|EP|FT|IS|LU|MG|SP|UA)(?:-MZ)?)"
    r"(?: [\w+]{1,20})? Benchmark"
)
_SERIAL = re.compile(r"\bSER\b|\bSerial\b")
_USUAL = frozenset(["NPB", "SER", "Serial", "OMP", "OpenMP", "MPI", "MZ", "Parallel", "C", "version", "with"])
"""Words of titles that do not identify a programming model beyond the numbers of ranks and threads."""
_START = re.compile(r"([A-Z]{2}(?:-MZ)?)(?: NPB-\w{1,20})? Benchmark Completed\.?")
_IO = re.compile(r"BTIO -- (\S.{0,40}?)\s+write interval: +[0-9]+")
_PAIR = re.compile(r"([A-Za-z][A-Za-z/_ ]{2,30}?)\s*=\s*(\S.*)")
_RANKS = ("Total processes", "Number of processes")
_ACTIVE = "Active processes"  # of all; the others wait
_THREADS = ("Total threads", "Number of threads", "Threads")
_KNOBS = {"Class": "class", "class_npb": "class", "Size": "size", "Iterations": "iterations"}
_LAST = "Version"  # of the pairs that are read
_NEEDED = frozenset({"Time in seconds", "Verification", _LAST})
_READ = frozenset({*_KNOBS, *_NEEDED, *_RANKS, _ACTIVE, *_THREADS, "Mop/s total"})


@dataclass
class _Run:
    """Output of one run of a program."""

    begin: int
    end: int = 0
    io: str = ""  # how BT writes its solution; "": it does not
    program: str = ""  # what its title states of the version and the programming model; "": it has no title
    name: str = ""  # the benchmark whose block of results is there
    pairs: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the results are complete."""
        return bool(self.name) and self.pairs.keys() >= _NEEDED


def read(lines: Lines) -> Output:
    """Parse the output; a block is complete if it has its last line, the version."""
    runs = [_Run(0)]
    for line in lines:
        if _take(runs, line):
            lines.use(line)
        run = runs[-1]
        if not run.whole or line.number in (run.end, run.end + 1):  # the block of results ends with a blank line
            run.end = line.number
    tables, remarks = [], []
    version, version_line = "", ""
    for run in runs:
        if run.program and not run.name:
            remarks.append(f"the run that begins at line {run.begin or 1} has no results")
        if run.name and not run.whole:
            missing = ", ".join(sorted(_NEEDED - run.pairs.keys()))
            remarks.append(f"the results of {run.name} from line {run.begin} on have no {missing} and are not imported")
        if run.whole and (table := _table(run)):
            tables.append(table)
            stated = run.pairs[_LAST][1]
            version, version_line = version or word_of(stated), version_line or f"Version = {stated}"
    return Output("NPB", version, version_line, tuple(tables), remarks=tuple(remarks[:3]))


def _take(runs: list[_Run], line: Line) -> bool:
    """Read a line; a title, or a block without one, begins another run."""
    run = runs[-1]
    if title := _TITLE.fullmatch(line.text):
        if run.program or run.name:
            runs.append(_Run(line.number))
        runs[-1].program, runs[-1].begin = title[1], line.number  # what is above it was printed by other programs
        return True
    if writes := _IO.fullmatch(line.text):
        run.io = word_of(writes[1])
        return True
    if begun := _START.fullmatch(line.text):
        if run.name:
            runs.append(_Run(run.end + 1))
        runs[-1].name = begun[1]
        return True
    if not run.name or run.whole or not (pair := _PAIR.fullmatch(line.text)) or pair[1] not in _READ:
        return False
    return run.pairs.setdefault(pair[1], (line.number, pair[2].rstrip()))[0] == line.number


def _count(run: _Run, *keys: str) -> int | None:
    return next((count for key in keys if key in run.pairs and (count := ranks_of(run.pairs[key][1]))), None)


def _shape(run: _Run) -> tuple[int | None, int | None]:
    """Return the numbers of ranks and of threads of each; `None` where the output does not state them."""
    ranks, threads = _count(run, _ACTIVE) or _count(run, *_RANKS), _count(run, *_THREADS)
    if ranks is None:
        if threads is not None:  # a program of threads prints no number of processes
            return 1, threads
        return (1, 1) if _SERIAL.search(run.program) else (None, None)
    if threads is None:
        return ranks, None if run.name.endswith("-MZ") else 1
    return ranks, threads // ranks if threads % ranks == 0 else None  # the total over all ranks


def _table(run: _Run) -> Table | None:
    pairs = run.pairs
    line, seconds = pairs["Time in seconds"][0], number_of(pairs["Time in seconds"][1])
    rate = number_of(pairs["Mop/s total"][1]) if "Mop/s total" in pairs else None
    if seconds is None:
        return None

    def printed(key: str) -> str:
        return f"{key}={pairs[key][1]}"

    values = (
        [ImportedValue("rate", rate.value * 1e6, "op/s", pairs["Mop/s total"][0], printed=printed("Mop/s total"))]
        if rate
        else []
    )
    values.append(ImportedValue("time", seconds.value, "s", line, printed=printed("Time in seconds")))
    at, verdict = pairs["Verification"]
    performed = "NOT" not in verdict.upper().split()
    if performed:
        values.append(ImportedValue("verification", float(verdict.upper() != "SUCCESSFUL"), "1", at, 0.0))
    knobs = {ours: word_of("".join(pairs[key][1].split())) for key, ours in _KNOBS.items() if key in pairs}
    if model := [word for word in re.findall(r"[A-Za-z]+", run.program) if word not in _USUAL]:
        knobs["program"] = word_of("_".join(model).lower())
    knobs |= {"io": run.io} if run.io else {}
    ranks, threads = _shape(run)
    row = ImportedRow(line, {}, tuple(values))
    return Table(
        run.name, line, (row,), knobs, ranks, threads, verified=performed, scope=((run.begin, run.end),)
    )  # fmt: skip
