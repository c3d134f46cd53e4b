"""Records of version 0.1 (`"schema": 1`): eight fixed counts, one verdict, the slowest rank's times of steps."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from octant.record import (
    Buffer,
    Clock,
    Failure,
    Given,
    Head,
    Pace,
    Point,
    Process,
    RecordError,
    Result,
    Samples,
    Series,
    Work,
)

NAMES = {
    "stream": "node/stream",
    "latency": "node/latency",
    "gemm": "node/gemm",
    "peakflops": "node/peakflops",
    "randomaccess": "node/randomaccess",
    "noise": "node/noise",
    "pingpong": "mpi/pingpong",
}
"""What its seven workloads are called today."""
_COUNTS = {
    "pingpong": {"message_bytes": "bytes_sent"},
    "randomaccess": {"loads": "updates"},
}


def read(line: bytes, again: Callable[[], bytes]) -> Point | Failure:
    """The record of one line.

    Raises:
        RecordError: no JSON (a torn line), another schema, or a field missing, of the wrong kind or out of range.
    """
    data = _decode(line)
    try:
        return _failure(data) if data["kind"] == "failure" else _point(data, again)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RecordError(f"a field is missing or wrong ({type(error).__name__}: {error})") from error


def _decode(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"torn or no JSON line ({error})") from error
    if not isinstance(data, dict) or data.get("schema") != 1:
        raise RecordError(f"schema {data.get('schema') if isinstance(data, dict) else None!r} is not one we read (1)")
    return data


def _failure(data: dict[str, Any]) -> Failure:
    knobs = {str(name): str(value) for name, value in data["knobs"].items()}
    name = NAMES.get(data["workload"], data["workload"])
    return Failure(name, data["run"], knobs, _natural(data["ranks"]), str(data["reason"]), int(data["exit"]))


def _point(data: dict[str, Any], again: Callable[[], bytes]) -> Point:
    if data["sampling"] not in ("lanes", "steps"):
        raise ValueError(f"sampling {data['sampling']!r}")
    pace: Pace = "chunks" if data["sampling"] == "lanes" else "steps"
    check = data["verdict"]
    lanes = data["samples"]["lanes"] if pace == "chunks" else []
    return Point(
        workload=NAMES.get(data["workload"], data["workload"]),
        launch=data["run"],
        knobs={str(k): str(v) for k, v in data["knobs"].items()},
        ranks=_natural(data["ranks"]),
        threads=_natural(data["threads"]),
        pace=pace,
        work=(_work(data, len(lanes)),),
        results=(Result(str(check["check"]), float(check["error"]), "1", float(check["tolerance"])),),
        read=lambda: _samples(_decode(again())),
        heads=tuple(map(_head, lanes)) or (Head("step"),),
        warmup=_natural(data["warmup"]),
        stopped_by=str(data["stopped_by"]),
        process=Process(
            data["mpi"],
            data["build"],
            Clock(data["clock"]["source"], float(data["clock"]["cost_ns"]), float(data["clock"]["resolution_ns"])),
        ),
        sync=data["sync"]["method"],
        exit_skew_ns=tuple(map(int, data["sync"]["exit_skew_ns"])),
        share_cores=bool(data["share_cores"]),
        noise={k: {n: float(x) for n, x in v.items()} for k, v in data["noise"].items()},
        notes={str(k): str(v) for k, v in data["notes"].items()},
        given=tuple(map(_read_given, data["given"])),
    )


def _work(data: Mapping[str, Any], lanes: int) -> Work:
    """Format 1 counts one lane's chunk or one step of all ranks."""
    names = _COUNTS.get(data["workload"], {})
    each = {names.get(name, name): _natural(count) for name, count in data["work"].items()}
    times = max(1, lanes)
    counts = {name: count * times for name, count in each.items() if count}
    return Work(counts, lanes=times, batch=_natural(data["batch"]))


def _head(lane: Mapping[str, Any]) -> Head:
    clocks = tuple(map(_natural, lane.get("clock_hz", ())))
    return Head("step", _natural(lane["rank"]), _natural(lane["thread"]), clock_hz=clocks)


def _samples(data: dict[str, Any]) -> Samples:
    samples = data["samples"]
    try:
        if data["sampling"] == "steps":
            durations = np.asarray(samples["duration_ns"], dtype=np.float64)
            series: tuple[Series, ...] = (Series(Head("step"), durations, None, frozenset(samples["preempted"])),)
        else:
            series = tuple(map(_lane, samples["lanes"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RecordError(f"a list of samples is wrong ({error})") from error
    if any((part.values < 0).any() or not np.isfinite(part.values).all() for part in series):
        raise RecordError("a sample took less than no time")
    return Samples(series)


def _lane(lane: Mapping[str, Any]) -> Series:
    durations = np.asarray(lane["duration_ns"], dtype=np.float64)
    begins = np.asarray(lane["begin_ns"], dtype=np.float64)
    if durations.shape != begins.shape or durations.ndim != 1:
        raise ValueError("begins and durations of a lane differ in number")
    ends = np.concatenate([np.zeros(1), begins + durations])[:-1]
    return Series(_head(lane), durations, begins - ends, frozenset(lane["preempted"]))


def _natural(value: object) -> int:
    number = int(value)  # type: ignore[call-overload]
    if number != value or number < 0:
        raise ValueError(f"{value!r} is no count")
    return int(number)


def _read_given(data: dict[str, Any]) -> Given:
    buffers = tuple(Buffer(**buffer) for buffer in data["buffers"])
    return Given(data["host"], tuple(data["cpus"]), tuple(tuple(mask) for mask in data["thread_masks"]), buffers)
