"""Foreign formats in: what other tools measured becomes a run of points with results alone, marked as imported.

Each occurrence of a cell in the files is one launch of it, so that several outputs of the same benchmark give an
interval. Nothing of such a run is ever started.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octant.ask import Ask, Launch, Presentation, Shape, Subject, comparable
from octant.failure import Exit, Refusal
from octant.foreign import Output, Row, Table, Value, named
from octant.machine import Cpu, CpuSet, Machine, Processor, Topology
from octant.record import Failure, Point, Process, Result, Samples
from octant.record.written import failure_line, launch_line, point_line
from octant.store import Store, StoredRun, append_durably
from octant.store.asked import ImportedFile

SWEPT = "bytes"
"""The knob that varies within an ask; others tell asks apart."""


@dataclass
class _Question:
    """An ask in the making, and what files say of each of its cells, an occurrence a launch."""

    ask: Ask
    table: Table
    cells: dict[str, list[tuple[int, Row, str]]] = field(
        default_factory=dict
    )  # by size: (number of the file, row, start)

    @property
    def asked(self) -> Ask:
        """With the sizes that were found, and as many launches as the cell that occurs most often."""
        sizes = {SWEPT: ",".join(self.cells)} if "" not in self.cells else {}
        return replace(
            self.ask, knobs={**self.ask.knobs, **sizes}, repeats=max(map(len, self.cells.values()))
        )  # fmt: skip


def create(
    store: Store, tool: str, outputs: Sequence[tuple[Path, Output]], machine: str = "", ranks: int | None = None
) -> StoredRun:
    """A new run with what these files say.

    Args:
        machine: what the machine is called that they are of; "": by the first file.
        ranks: how many processes there were where a file does not say it.

    Raises:
        Refusal: a file does not say how many ranks there were and `ranks` neither, two files say the same, or the store
            cannot be written.
    """
    _check_each_once(outputs)
    questions: dict[str, _Question] = {}
    for number, (path, output) in enumerate(outputs):
        for table in output.tables:
            _add(questions, tool, number, _with_ranks(table, tool, path, ranks))
    run = store.create(
        f"import {tool} {' '.join(str(path) for path, _ in outputs)}",
        unknown_machine(
            machine or outputs[0][0].name, next((o.architecture for _, o in outputs if o.architecture), "")
        ),
        [question.asked for question in questions.values()],
        who=f"import {tool}",
        imported=tuple(_file(path, output) for path, output in outputs),
    )
    lines = [line for question in questions.values() for line in _lines(question, outputs)]
    append_durably(run.records, lines)
    return store.read(run.id)


def _check_each_once(outputs: Sequence[tuple[Path, Output]]) -> None:
    """The same output twice would count as two launches that agree."""
    for place, (path, output) in enumerate(outputs):
        for earlier, other in outputs[:place]:
            if output == other:
                same = "it is given twice" if path == earlier else f"{earlier} says the same, number for number"
                raise Refusal(f"cannot count {path} as a launch ({same}); try it once", Exit.WRONG_WORD)


def unknown_machine(name: str, architecture: str = "") -> Machine:
    """A machine of which only its name is known; runs of one name are of one machine."""
    topology = Topology((Cpu(0, 0, 0, None),), (), (), CpuSet([0]))
    processor = Processor("not told", name, "unknown", frozenset(), None)
    return Machine(name, topology, processor, 0, (), {"architecture": architecture} if architecture else {})


def _file(path: Path, output: Output) -> ImportedFile:
    account = output.account
    return ImportedFile(
        output.name,
        output.version_line,
        str(path),
        output.remarks,
        (account.interpreted, account.irrelevant, account.unrecognised) if account.stated else (),
        account.quoted,
    )


def _with_ranks(table: Table, tool: str, path: Path, ranks: int | None) -> Table:
    if table.ranks is None and ranks is None:
        raise Refusal(
            f"cannot import {path} ({tool} does not say how many processes ran {table.benchmark}); try --ranks N",
            Exit.WRONG_WORD,
        )
    return replace(table, ranks=table.ranks or ranks)


def _add(questions: dict[str, _Question], tool: str, number: int, table: Table) -> None:
    """Sorts the rows of a table by ask and cell."""
    ours = named(tool, table.benchmark, table.knobs)
    further = [f"{name} {value}" for name, value in table.knobs.items() if name != SWEPT]
    for row in table.rows:
        knobs = {**ours.knobs, **table.knobs, **row.knobs}
        size = knobs.pop(SWEPT, "")
        ask = Ask(
            Subject(ours.workload), knobs, Shape(table.ranks or 1),
            show=Presentation(", ".join([table.benchmark, *further]), test=table.benchmark),
        )  # fmt: skip
        key = f"{ask.key} {table.threads} {bool(size)}"
        question = questions.setdefault(key, _Question(ask, table))
        question.cells.setdefault(comparable(size), []).append((number, row, table.started))


def _lines(question: _Question, outputs: Sequence[tuple[Path, Output]]) -> Iterable[str]:
    """The records of an ask: when each launch started, where the tool says it, then its points and failures."""
    ask, begun = question.asked, set[int]()
    for size, occurrences in question.cells.items():
        for repeat, (number, row, started) in enumerate(occurrences):
            launch, (path, output) = Launch(ask, repeat).key, outputs[number]
            if (started or output.started) and repeat not in begun:
                begun.add(repeat)
                yield launch_line(launch, Process(started=started or output.started))
            knobs = {**question.ask.knobs, **({SWEPT: size} if size else {})}
            if row.failed:
                reason = f"{row.failed} ({path.name}, line {row.line})"
                yield failure_line(
                    Failure(ask.subject.workload, launch, knobs, ask.shape.ranks, reason, int(Exit.CANNOT_RUN))
                )
            else:
                yield point_line(_point(question, ask, launch, knobs, row, f"of {output.name}, read from {path.name}"))


def _point(
    question: _Question, ask: Ask, launch: str, knobs: Mapping[str, str], row: Row, source: str
) -> Point:  # fmt: skip
    table = question.table
    return Point(
        workload=ask.subject.workload,
        launch=launch,
        knobs=knobs,
        ranks=ask.shape.ranks,
        threads=table.threads or 1,
        pace="chunks" if table.alone else "steps",
        work=(),
        results=tuple(Result(one.name, one.value, one.unit, one.bound, one.group) for one in row.values),
        read=Samples,
        groups=table.groups,
        notes={
            "imported": source,
            "lines": _lines_text(row.values),
            **({} if table.verified else {"unverified": "the tool does not say that the result is right"}),
        },
    )


def _lines_text(values: Sequence[Value]) -> str:
    """Where in the file the figures stand: `35`, or `450 (time), 451 (performance)`."""
    numbers = {one.line for one in values}
    if len(numbers) == 1:
        return str(values[0].line)
    return ", ".join(dict.fromkeys(f"{one.line} ({one.name})" for one in values))
