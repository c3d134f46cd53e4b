"""Foreign formats in: what other tools measured becomes a run of points with results alone, marked as imported.

Each occurrence of a cell in the files is one launch of it, so that several outputs of the same benchmark give an
interval. Nothing of such a run is ever started.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octant.failure import Exit, Refusal
from octant.foreign import ImportedRow, ImportedValue, Output, Table, find_octant_name
from octant.machine import Cpu, CpuSet, Machine, Processor, Topology
from octant.record import Failure, Point, Process, Result, Samples
from octant.record.writer import failure_line, launch_line, point_line
from octant.request import Launch, Presentation, Request, Shape, Subject, comparable
from octant.store import Store, StoredRun, append_durably
from octant.store.run_request import ImportedFile
from octant.tile import NAME_WIDTH

SWEPT = "bytes"
"""Knob that varies within a request; other knobs distinguish requests."""
MEMORY, NOT_STATED = "memory", "not-stated"
"""Knob for the location of buffers, and its value if the output only shows that they may differ."""
_Conditions = tuple[str, frozenset[tuple[str, str]], int | None]


@dataclass
class _Question:
    """A request under construction, with the rows of each cell; each occurrence is a launch."""

    request: Request
    cells: dict[str, list[tuple[int, ImportedRow, Table]]] = field(
        default_factory=dict
    )  # by size; int: number of the file

    @property
    def complete_request(self) -> Request:
        """The request with all sizes, and as many launches as its most frequent cell has."""
        sizes = {SWEPT: ",".join(self.cells)} if "" not in self.cells else {}
        return replace(
            self.request, knobs={**self.request.knobs, **sizes}, repeats=max(map(len, self.cells.values()))
        )  # fmt: skip


def create(
    store: Store, tool: str, outputs: Sequence[tuple[Path, Output]], machine: str = "", ranks: int | None = None
) -> StoredRun:
    """Create a run from imported files.

    Args:
        machine: what the machine is called that they are of; "": by the first file.
        ranks: number of processes, if a file does not state it; `None`: it remains unstated.

    Raises:
        Refusal: two files have the same content, or the store cannot be written.
    """
    _check_each_once(outputs)
    questions: dict[str, _Question] = {}
    apart = _kept_apart(outputs, ranks)
    differing = _differing_knobs(table for _, table in apart)
    for number, table in apart:
        _add(questions, tool, number, table, differing[table.benchmark])
    repeated = _repeated(questions)
    run = store.create(
        f"import {tool} {' '.join(str(path) for path, _ in outputs)}",
        unknown_machine(
            machine or outputs[0][0].name, next((o.architecture for _, o in outputs if o.architecture), "")
        ),
        [question.complete_request for question in questions.values()],
        who=f"import {tool}",
        imported=tuple(
            _file(path, output, [*_unstated_ranks([one for n, one in apart if n == number]), *repeated.get(number, ())])
            for number, (path, output) in enumerate(outputs)
        ),
    )
    lines = [line for question in questions.values() for line in _lines(question, outputs)]
    append_durably(run.records, lines)
    return store.read(run.id)


def _check_each_once(outputs: Sequence[tuple[Path, Output]]) -> None:
    """Refuse the same output twice, which would count as two launches that agree."""
    for place, (path, output) in enumerate(outputs):
        for earlier, other in outputs[:place]:
            if output == other:
                same = "the file is given twice" if path == earlier else f"{earlier} has the same numbers"
                raise Refusal(f"cannot import {path} as a further launch ({same}); give it once", Exit.WRONG_WORD)


def unknown_machine(name: str, architecture: str = "") -> Machine:
    """Return a machine of which only the name is known; runs with the same name are of the same machine."""
    topology = Topology((Cpu(0, 0, 0, None),), (), (), CpuSet([0]))
    processor = Processor("not told", name, "unknown", frozenset(), None)
    return Machine(name, topology, processor, 0, (), {"architecture": architecture} if architecture else {})


def _kept_apart(outputs: Sequence[tuple[Path, Output]], ranks: int | None) -> list[tuple[int, Table]]:
    """Return the tables with the numbers of their files, in order, each with the number of ranks if that is known.

    Tables of one benchmark without number of ranks, or location of buffers, may differ in it: they are
    no launches of one cell. The knob `table` numbers the former; a reader numbers the latter within its file.
    """
    tables = [
        (number, replace(table, ranks=table.ranks or ranks))
        for number, (_, output) in enumerate(outputs)
        for table in output.tables
    ]
    buffers = Counter[str]()
    for place, (number, table) in enumerate(tables):
        if table.knobs.get(MEMORY, "").startswith(NOT_STATED):
            buffers[table.benchmark] += 1
            which = buffers[table.benchmark]
            memory = NOT_STATED if which == 1 else f"{NOT_STATED}-{which}"
            tables[place] = (number, replace(table, knobs={**table.knobs, MEMORY: memory}))
    alike = Counter(_conditions(table) for _, table in tables if table.ranks is None)
    seen = Counter[_Conditions]()
    for place, (number, table) in enumerate(tables):
        if table.ranks is None and alike[conditions := _conditions(table)] > 1:
            seen[conditions] += 1
            tables[place] = (number, replace(table, knobs={**table.knobs, "table": str(seen[conditions])}))
    return tables


def _conditions(table: Table) -> _Conditions:
    return table.benchmark, frozenset(table.knobs.items()), table.threads


def _unstated_ranks(tables: Sequence[Table]) -> list[str]:
    """Return remarks on the tables of a file whose number of ranks is not stated."""
    unstated = [table for table in tables if table.ranks is None]
    if not unstated:
        return []
    names = ", ".join(dict.fromkeys(table.benchmark for table in unstated))
    remarks = [f"the number of ranks of {names} is not stated; give --ranks N if you know it"]
    if apart := dict.fromkeys(table.benchmark for table in unstated if "table" in table.knobs):
        remarks.append(
            f"several tables of {', '.join(apart)} may have different numbers of ranks: they are separate figures "
            "(table=1, 2, …)"
        )
    return remarks


def _repeated(questions: Mapping[str, _Question]) -> dict[int, list[str]]:
    """Return remarks, by file, on benchmarks with several tables that are launches of one cell."""
    lines: dict[tuple[int, str], dict[int, None]] = {}
    for question in questions.values():
        for occurrences in question.cells.values():
            tables = dict.fromkeys((number, table.benchmark, table.line) for number, _, table in occurrences)
            of_file = Counter(number for number, _, _ in tables)
            for number, benchmark, line in tables:
                if of_file[number] > 1:
                    lines.setdefault((number, benchmark), {})[line] = None
    remarks: dict[int, list[str]] = {}
    for (number, benchmark), where in lines.items():
        first = ", ".join(map(str, list(where)[:3])) + (", …" if len(where) > 3 else "")
        remarks.setdefault(number, []).append(
            f"{len(where)} tables of {benchmark} (lines {first}) are launches of the same configurations; if they ran "
            "under different conditions, such as other placements, import each of them separately"
        )
    return remarks


def _file(path: Path, output: Output, remarks: Sequence[str]) -> ImportedFile:
    account = output.account
    return ImportedFile(
        output.name,
        output.version_line,
        str(path),
        (*output.remarks, *remarks),
        (account.interpreted, account.irrelevant, account.unrecognised) if account.stated else (),
        account.quoted,
    )


def _unstated(table: Table) -> tuple[str, ...]:
    return (*(("ranks",) if table.ranks is None else ()), *(("threads",) if table.threads is None else ()))


def _differing_knobs(tables: Iterable[Table]) -> dict[str, list[str]]:
    """Return the knobs with several values in the tables of each benchmark, in the order of the file."""
    seen: dict[str, list[Table]] = {}
    for table in tables:
        seen.setdefault(table.benchmark, []).append(table)
    differing = {}
    for benchmark, ones in seen.items():
        names = dict.fromkeys(name for one in ones for name in one.knobs if name != SWEPT)
        differing[benchmark] = [name for name in names if len({one.knobs.get(name) for one in ones}) > 1]
    return differing


def _short_name(table: Table, differing: Sequence[str]) -> str:
    """Return the benchmark with the knobs that distinguish its tables; "" if this is too long for a tile.

    `LU, class A`; `hpl 184320` where the names of the knobs are too long.
    """
    room = NAME_WIDTH - len(
        ", threads not stated" if table.threads is None and table.ranks in (None, 1) else ", 128 threads"
    )
    whole = ", ".join([table.benchmark, *(f"{name} {table.knobs[name]}" for name in differing)])
    bare = f"{table.benchmark} {' '.join(table.knobs[name] for name in differing)}"
    return next((text for text in (whole, bare) if len(text) <= room), "") if differing else ""


def _add(questions: dict[str, _Question], tool: str, number: int, table: Table, differing: Sequence[str]) -> None:
    """Sort the rows of a table by request and cell.

    Args:
        differing: knobs that distinguish the tables of its benchmark; they are in the short name.
    """
    short = _short_name(table, [name for name in differing if name in table.knobs])
    ours = find_octant_name(tool, table.benchmark, table.knobs)
    further = [f"{name} {value}" for name, value in table.knobs.items() if name != SWEPT]
    if table.ranks != 1 and table.threads and table.threads > 1:
        further.append(f"{table.threads} threads each")
    for row in table.rows:
        threads = {"threads": str(table.threads)} if table.threads and table.threads > 1 else {}
        knobs = {**ours.knobs, **table.knobs, **threads, **row.knobs}
        size = knobs.pop(SWEPT, "")
        request = Request(
            Subject(ours.workload), knobs, Shape(table.ranks or 1, unstated=_unstated(table)),
            show=Presentation(", ".join([table.benchmark, *further]), test=table.benchmark,
                short=short),
        )  # fmt: skip
        key = f"{request.key} {bool(size)}"
        question = questions.setdefault(key, _Question(request))
        question.cells.setdefault(comparable(size), []).append((number, row, table))


def _lines(question: _Question, outputs: Sequence[tuple[Path, Output]]) -> Iterable[str]:
    """Yield the records of a request: starting times, if the tool states them, then points and failures."""
    request, begun = question.complete_request, set[int]()
    for size, occurrences in question.cells.items():
        for repeat, (number, row, table) in enumerate(occurrences):
            launch, (path, output) = Launch(request, repeat).key, outputs[number]
            started = table.started or output.started
            if started and repeat not in begun:
                begun.add(repeat)
                yield launch_line(launch, Process(started=started))
            knobs = {**question.request.knobs, **({SWEPT: size} if size else {})}
            if row.failed:
                reason = f"{row.failed} ({path.name}, line {row.line})"
                yield failure_line(
                    Failure(request.subject.workload, launch, knobs, table.ranks, reason, int(Exit.CANNOT_RUN))
                )
            else:
                yield point_line(_point(table, request, launch, knobs, row, f"of {output.name}, read from {path.name}"))


def _point(
    table: Table, request: Request, launch: str, knobs: Mapping[str, str], row: ImportedRow, source: str
) -> Point:  # fmt: skip
    return Point(
        workload=request.subject.workload,
        launch=launch,
        knobs=knobs,
        ranks=table.ranks,
        threads=table.threads,
        pace="chunks" if table.alone else "steps",
        work=(),
        results=tuple(Result(one.name, one.value, one.unit, one.bound, one.group) for one in row.values),
        read=Samples,
        groups=table.groups,
        notes={
            "imported": source,
            "lines": _lines_text(row.values),
            **({} if table.verified else {"unverified": "the benchmark does not verify its results"}),
        },
    )


def _lines_text(values: Sequence[ImportedValue]) -> str:
    """Return the lines of the figures in the file: `35`, or `450 (time), 451 (performance)`."""
    numbers = {one.line for one in values}
    if len(numbers) == 1:
        return str(values[0].line)
    return ", ".join(dict.fromkeys(f"{one.line} ({one.name})" for one in values))
