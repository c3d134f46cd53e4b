"""Conversion of the lines of a records file: typed, bounded, with a checksum, including format 1."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from octant.record import (
    Amount,
    Clock,
    Failure,
    Head,
    KeptFile,
    LinkTraffic,
    Members,
    Natural,
    Pace,
    Point,
    Positive,
    Process,
    RankResources,
    RankTimes,
    RankTotal,
    RecordError,
    Reduced,
    Result,
    Samples,
    Series,
    Work,
    format1,
    link_traffic,
)
from octant.record.ends import read_end
from octant.record.numbers import array_of, count_of, readings_of
from octant.record.renamed import current_failure, current_point
from octant.record.sketch import Sketch, from_runs
from octant.record.writer import unseal

Texts: TypeAlias = dict[str, str]
MAX_KEPT = 1000
"""Maximum number of listed files of a point or failure."""
_NONE = Raw(b"")


class _Series(Struct):
    name: str
    rank: Natural = 0
    thread: Natural = 0
    group: Natural = 0
    role: str = ""
    unit: str = "ns"
    ns: Raw = _NONE
    gap_ns: Raw = _NONE
    values: Raw = _NONE
    entries: Raw = _NONE
    preempted: list[Natural] = []
    bursts: list[tuple[Natural, Natural]] = []
    clock_hz: list[Natural] = []


class _Sketch(Struct):
    count: Natural
    zero: Natural = 0
    bits: Literal[8] = 8
    bins: list[tuple[Natural, list[Natural]]] = []


class _Reduced(Struct):
    name: str
    ranks: list[tuple[Natural, Natural, Natural, Natural, Natural]]
    sketch: _Sketch | None = None
    group: Natural = 0
    role: str = ""
    slowest_ns: Raw = _NONE
    slowest: _Sketch | None = None
    blocks_ns: list[Natural] = []
    worst: list[list[Natural]] = []
    preempted: list[Natural] = []
    gaps: _Sketch | None = None


class _Result(Struct):
    name: str
    value: float | None
    unit: str = "1"
    bound: float | None = None
    group: Natural = 0
    where: str = ""


class _Shape(Struct):
    ranks: Members | None  # `None`: an imported file with results only does not state it
    threads: Members | None = 1
    groups: list[list[Natural]] = []


class _Sync(Struct):
    method: str = "none"
    exit_skew_ns: list[int] = []


class _Marks(Struct):
    off: list[Annotated[list[Natural], Meta(min_length=2, max_length=3)]] = []


class _Point(Struct, tag_field="kind", tag="point"):
    workload: str
    launch: str
    knobs: Texts
    shape: _Shape
    pace: Pace
    work: tuple[Work, ...]
    results: list[_Result]
    series: list[_Series] = []
    reduced: list[_Reduced] = []
    warmup: Natural = 0
    stopped_by: str = ""
    coalesced: Positive = 1
    marks: _Marks = msgspec.field(default_factory=_Marks)
    sync: _Sync = msgspec.field(default_factory=_Sync)
    share_cores: bool = False
    blocks: bool = False
    noise: dict[str, dict[str, float]] = {}
    notes: Texts = {}
    given: tuple[RankResources, ...] = ()
    lost: tuple[RankTimes, ...] = ()
    files: Annotated[tuple[KeptFile, ...], Meta(max_length=MAX_KEPT)] = ()
    spent: dict[str, Amount] = {}


class _Launch(Struct, tag_field="kind", tag="launch"):
    launch: str
    mpi: str = ""
    build: dict[str, str | bool | int] = {}
    clock: Clock = Clock("")
    hosts: list[str] = []
    started: str = ""
    init_s: Amount | None = None
    settings: dict[str, list[str]] = {}
    link: str = ""
    waits: str = ""


class _Progress(Struct):
    share: Annotated[float, Meta(ge=0, le=1)] | None = None
    phase: str = ""


class _Failure(Struct, tag_field="kind", tag="failure"):
    workload: str
    launch: str
    knobs: Texts
    ranks: Natural | None
    reason: str
    exit: int
    end: str = ""
    progress: _Progress = msgspec.field(default_factory=_Progress)
    files: Annotated[tuple[KeptFile, ...], Meta(max_length=MAX_KEPT)] = ()


_Line: TypeAlias = _Point | _Launch | _Failure | link_traffic.LinkLine
_LINE: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)
_FIRST_FORMAT = re.compile(rb'\{\s*"schema":')


class Reader:
    """Reader of the lines of one file, in order; a launch line holds for the points after it.

    Args:
        started: start of the run, ISO 8601, for processes without a launch line, as in format 1.
    """

    def __init__(self, started: str = "") -> None:
        self._started = started
        self._processes: dict[str, Process] = {}
        self.link_traffic: dict[str, LinkTraffic] = {}  # by launch, from link lines so far

    def read(self, line: bytes, again: Callable[[], bytes] | None = None) -> Point | Failure | None:
        """Return the record of a line; `None` for a launch or a link line.

        Args:
            again: returns the bytes of the line anew to read the samples; `None`: the line is kept.

        Raises:
            RecordError: incomplete, damaged, of an unknown format, or with a missing or invalid field.
        """
        once_more = again or (lambda: line)
        if _FIRST_FORMAT.match(line):
            return self._with_start(format1.read(line, once_more))
        decoded = _decode(line)
        if isinstance(decoded, _Launch):
            self._processes[decoded.launch] = _process(decoded)
            return None
        if isinstance(decoded, link_traffic.LinkLine):
            self.link_traffic[decoded.launch] = decoded.read()
            return None
        if isinstance(decoded, _Failure):
            for file in decoded.files:
                _check_file(file, max(1, decoded.ranks or 1))
            return current_failure(
                Failure(
                    decoded.workload, decoded.launch, decoded.knobs, decoded.ranks, decoded.reason,
                    read_end(decoded.end, decoded.exit), decoded.progress.share, decoded.progress.phase, decoded.files,
                )
            )  # fmt: skip
        return self._with_start(_point(decoded, once_more, self._processes.get(decoded.launch, Process())))

    def _with_start(self, record: Point | Failure) -> Point | Failure:
        if isinstance(record, Failure):
            return current_failure(record)
        begun = record.process.begun
        if not begun:
            record = replace(record, process=replace(record.process, started=self._started))
        return current_point(record)


def read_line(line: bytes) -> Point | Failure | None:
    """Return the record of one line, as `Reader.read` does.

    Raises:
        RecordError: as there.
    """
    return Reader().read(line)


def _decode(line: bytes) -> _Line:
    body = unseal(line)
    try:
        return _LINE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"a field is missing or invalid ({error})") from error


def _process(launch: _Launch) -> Process:
    return Process(
        launch.mpi,
        launch.build,
        launch.clock,
        tuple(launch.hosts),
        launch.started,
        launch.init_s,
        {name: tuple(spellings) for name, spellings in launch.settings.items()},
        launch.link,
        launch.waits,
    )


def _ranks(point: _Point) -> int:
    """Return the number of ranks that the parts of a point may name; 0 for an imported result that does not state it.

    Raises:
        RecordError: a point with more than results does not state its ranks and threads.
    """
    ranks, threads = point.shape.ranks, point.shape.threads
    more = (point.work, point.series, point.reduced, point.noise, point.given, point.lost, point.files, point.spent)
    if any(more) and (ranks is None or threads is None):
        raise RecordError("the measured point does not state its ranks and threads")
    return ranks or 0


def _point(point: _Point, again: Callable[[], bytes], process: Process) -> Point:
    ranks = _ranks(point)
    groups = tuple(map(tuple, point.shape.groups))
    members = [rank for group in groups for rank in group]
    if len(set(members)) < len(members) or any(rank >= ranks for rank in members):
        raise RecordError(f"its groups contain a rank twice, or a rank beyond its {ranks} ranks")
    for series in point.series:
        _check_series(series)
    for reduced in point.reduced:  # always small
        _read_reduced(reduced)
    for file in point.files:
        _check_file(file, ranks)
    for lost in point.lost:
        _check_taken(lost, ranks)
    return Point(
        workload=point.workload,
        launch=point.launch,
        knobs=point.knobs,
        ranks=point.shape.ranks,
        threads=point.shape.threads,
        groups=groups,
        pace=point.pace,
        work=point.work,
        results=tuple(
            Result(r.name, float("nan") if r.value is None else r.value, r.unit, r.bound, r.group, r.where)
            for r in point.results
        ),
        read=lambda: _samples(again()),
        heads=tuple(map(_head, point.series)),
        warmup=-(-point.warmup // point.coalesced),  # in stored samples
        stopped_by=point.stopped_by,
        coalesced=point.coalesced,
        marks_off=tuple((off[0], off[1], off[2] if len(off) > 2 else 0) for off in point.marks.off),
        process=process,
        sync=point.sync.method,
        exit_skew_ns=tuple(point.sync.exit_skew_ns),
        share_cores=point.share_cores,
        blocks=point.blocks,
        noise=point.noise,
        notes=point.notes,
        given=point.given,
        taken=point.lost,
        files=point.files,
        spent_s=point.spent,
    )


def _check_file(file: KeptFile, ranks: int) -> None:
    if file.rank >= ranks or (bool(file.crc), bool(file.left_out)) not in ((True, False), (False, True)):
        raise RecordError(f"its file {file.name} has an invalid rank, or is neither stored nor omitted")
    if bool(file.crc) != bool(file.stored):
        raise RecordError(f"its file {file.name} has a checksum without a path, or a path without a checksum")


def _check_taken(lost: RankTimes, ranks: int) -> None:
    if lost.rank >= ranks or any(len(of) not in (0, len(lost.wall_ns)) for of in (lost.cpu_ns, lost.wait_ns)):
        raise RecordError("its lost time has an invalid rank, or does not cover all lanes")


def _head(series: _Series) -> Head:
    return Head(series.name, series.rank, series.thread, series.group, series.role, series.unit, tuple(series.clock_hz))


def _samples(line: bytes) -> Samples:
    """Return the samples of a point's line.

    Raises:
        RecordError: the line changed since it was first read.
    """
    decoded = _decode(line)
    if not isinstance(decoded, _Point):
        raise RecordError("the line of the point has changed")
    return Samples(tuple(map(_series, decoded.series)), tuple(map(_read_reduced, decoded.reduced)))


def _check_series(series: _Series) -> None:
    """Check the samples of a series without keeping them.

    Raises:
        RecordError: they are not numbers, differ in number, or contain a step of no duration.
    """
    raw = bytes(series.ns)
    if raw.startswith(b"["):
        count = count_of(raw, least=1 if series.name == "step" else 0)
    elif not raw and series.name.startswith("reading/") and bytes(series.values):
        count = len(readings_of(bytes(series.values)))
    else:
        raise RecordError(f"the series {series.name} has no list of values")
    if series.name == "step" and not count:
        raise RecordError("the series step has no samples")
    for other in (series.gap_ns, series.entries):
        text = bytes(other)
        if text and (found := count_of(text)) != (count if text.startswith(b"[") else 1):
            raise RecordError(f"a list has {found} numbers, not {count}")
    if max(series.preempted, default=-1) >= count:
        raise RecordError(f"a preempted sample is beyond the {count} samples of {series.name}")
    firsts = [first for first, _ in series.bursts]
    if max(firsts, default=-1) >= count or firsts != sorted(firsts):
        raise RecordError(f"bursts begin beyond the {count} samples of {series.name}, or are not in order")


def _series(series: _Series) -> Series:
    values = array_of(series.ns)
    if values is None:
        values = readings_of(bytes(series.values))
    return Series(
        _head(series),
        values,
        array_of(series.gap_ns, len(values)),
        frozenset(series.preempted),
        array_of(series.entries, len(values)),
        tuple(series.bursts),
    )


def _read_reduced(reduced: _Reduced) -> Reduced:
    return Reduced(
        reduced.name,
        tuple(RankTotal(*total) for total in reduced.ranks),
        _sketch(reduced.sketch) if reduced.sketch else Sketch(),
        reduced.group,
        reduced.role,
        array_of(reduced.slowest_ns),
        _sketch(reduced.slowest) if reduced.slowest else None,
        tuple(reduced.blocks_ns),
        tuple((worst[0], worst[1], worst[2]) for worst in reduced.worst if len(worst) >= 3),
        frozenset(reduced.preempted),
        _sketch(reduced.gaps) if reduced.gaps else None,
    )


def _sketch(sketch: _Sketch) -> Sketch:
    runs: Sequence[tuple[int, Sequence[int]]] = sketch.bins
    found = from_runs(sketch.zero, runs)
    if found.count != sketch.count or any(first + len(counts) > 64 * 256 for first, counts in runs):
        raise RecordError(f"a sketch of {sketch.count} values contains {found.count}, or values beyond 2^64")
    return found
