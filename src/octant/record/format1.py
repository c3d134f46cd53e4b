"""Records of version 0.1 (`"schema": 1`): eight fixed counts, one verdict, the slowest rank's times of steps."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from octant.record import (
    Clock,
    Failure,
    Head,
    Members,
    Natural,
    Pace,
    Point,
    Positive,
    Process,
    RankResources,
    RecordError,
    Result,
    Samples,
    Series,
    Work,
)
from octant.record.ends import read_end

NAMES = {
    "stream": "node/stream",
    "latency": "node/latency",
    "gemm": "node/gemm",
    "peakflops": "node/peakflops",
    "randomaccess": "node/randomaccess",
    "noise": "node/noise",
    "pingpong": "mpi/pingpong",
}
"""Names of its seven workloads in the first version of format 2."""
_COUNTS = {
    "pingpong": {"message_bytes": "bytes_sent"},
    "randomaccess": {"loads": "updates"},
}


_Nanoseconds = Annotated[int, Meta(ge=0, le=10**18)]
_Duration = Annotated[int, Meta(ge=1, le=10**18)]
_Durations = Annotated[list[_Duration], Meta(min_length=1)]


class _Lane(Struct):
    rank: Natural
    thread: Natural
    begin_ns: list[_Nanoseconds]
    duration_ns: _Durations
    preempted: list[Natural]
    clock_hz: list[Natural] = []


class _Samples(Struct):
    lanes: list[_Lane] = []
    duration_ns: list[_Duration] = []
    preempted: list[Natural] = []


class _Verdict(Struct):
    check: str
    error: float | None
    tolerance: float


class _Sync(Struct):
    method: str
    exit_skew_ns: list[int]


class _Point(Struct, tag_field="kind", tag="point"):
    schema: Literal[1]
    workload: str
    run: str
    knobs: dict[str, str]
    ranks: Members
    threads: Members
    sampling: Literal["lanes", "steps"]
    batch: Positive
    warmup: Natural
    stopped_by: str
    work: dict[str, Natural]
    verdict: _Verdict
    clock: Clock
    sync: _Sync
    share_cores: bool
    noise: dict[str, dict[str, float]]
    notes: dict[str, str]
    mpi: str
    build: dict[str, str | bool | int]
    given: tuple[RankResources, ...]
    samples: _Samples


class _Failure(Struct, tag_field="kind", tag="failure"):
    schema: Literal[1]
    workload: str
    run: str
    knobs: dict[str, str]
    ranks: Natural
    reason: str
    exit: int


_LINE: msgspec.json.Decoder[_Point | _Failure] = msgspec.json.Decoder(_Point | _Failure)


def read(line: bytes, again: Callable[[], bytes]) -> Point | Failure:
    """Return the record of one line.

    Raises:
        RecordError: not JSON (an incomplete line), another schema, or a missing or invalid field.
    """
    data = _decode(line)
    if isinstance(data, _Failure):
        name = NAMES.get(data.workload, data.workload)
        return Failure(name, data.run, data.knobs, data.ranks, data.reason, read_end("", data.exit))
    _samples(data)
    return _point(data, again)


def _decode(line: bytes) -> _Point | _Failure:
    try:
        return _LINE.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"incomplete line, or a field is missing or invalid ({error})") from error


def _point(data: _Point, again: Callable[[], bytes]) -> Point:
    pace: Pace = "chunks" if data.sampling == "lanes" else "steps"
    check = data.verdict
    lanes = data.samples.lanes if pace == "chunks" else []
    return Point(
        workload=NAMES.get(data.workload, data.workload),
        launch=data.run,
        knobs=data.knobs,
        ranks=data.ranks,
        threads=data.threads,
        pace=pace,
        work=(_work(data, len(lanes)),),
        results=(Result(check.check, float("nan") if check.error is None else check.error, "1", check.tolerance),),
        read=lambda: _samples(_decode(again())),
        heads=tuple(map(_head, lanes)) or (Head("step"),),
        warmup=data.warmup,
        stopped_by=data.stopped_by,
        process=Process(data.mpi, data.build, data.clock),
        sync=data.sync.method,
        exit_skew_ns=tuple(data.sync.exit_skew_ns),
        share_cores=data.share_cores,
        noise=data.noise,
        notes=data.notes,
        given=data.given,
    )


def _work(data: _Point, lanes: int) -> Work:
    """Return the work. Format 1 counts one lane's chunk or one step of all ranks."""
    names = _COUNTS.get(data.workload, {})
    times = max(1, lanes)
    counts = {names.get(name, name): count * times for name, count in data.work.items() if count}
    return Work(counts, lanes=times, batch=data.batch)


def _head(lane: _Lane) -> Head:
    return Head("step", lane.rank, lane.thread, clock_hz=tuple(lane.clock_hz))


def _samples(data: _Point | _Failure) -> Samples:
    if not isinstance(data, _Point):
        raise RecordError("the line of the point has changed")
    samples = data.samples
    if data.sampling == "lanes":
        series = tuple(map(_lane, samples.lanes))
    else:
        series = (Series(Head("step"), _array(samples.duration_ns), None, frozenset(samples.preempted)),)
    if not series or any(not len(one.values) for one in series):
        raise RecordError("a list of samples is empty")
    return Samples(series)


def _lane(lane: _Lane) -> Series:
    durations, begins = _array(lane.duration_ns), _array(lane.begin_ns)
    if durations.shape != begins.shape:
        raise RecordError("begin times and durations of a lane differ in number")
    ends = np.concatenate([np.zeros(1), begins + durations])[:-1]
    return Series(_head(lane), durations, begins - ends, frozenset(lane.preempted))


def _array(numbers: list[int]) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=np.float64)
