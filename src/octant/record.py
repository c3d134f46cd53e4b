"""What a kernel writes: one JSON line a point, with every sample. Parsed here once, trusted everywhere else."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SCHEMA = 1
FORMAT_1_NAMES = {
    "gemm": "node/gemm",
    "latency": "node/latency",
    "noise": "node/noise",
    "peakflops": "node/peakflops",
    "pingpong": "mpi/pingpong",
    "randomaccess": "node/randomaccess",
    "stream": "node/stream",
}
"""Workloads had no families in records of format 1."""

Sampling = Literal["lanes", "steps"]


class RecordError(ValueError):
    """A line that is no record of ours; the message says what is wrong with it."""


@dataclass(frozen=True)
class Lane:
    """Samples of one thread of one rank; times in ns, `begin_ns` counted from when all lanes were let go."""

    rank: int
    thread: int
    begin_ns: tuple[int, ...]
    duration_ns: tuple[int, ...]
    preempted: frozenset[int]  # sample numbers during which the kernel switched the thread out
    clock_hz: tuple[int, ...] = ()  # of the core after each burst of samples, at work where the kernel can tell


@dataclass(frozen=True)
class Work:
    """What one chunk (of one lane) or one step does, counted from the source of the kernel."""

    bytes_read: int = 0
    bytes_written: int = 0
    bytes_allocated: int = 0
    flops: int = 0
    loads: int = 0
    messages: int = 0
    message_bytes: int = 0
    quanta: int = 0


@dataclass(frozen=True)
class Check:
    """The outcome of the kernel's own verification."""

    check: str
    error: float
    tolerance: float
    passed: bool


@dataclass(frozen=True)
class Buffer:
    """One buffer as the kernel of the operating system reports it."""

    bytes: int
    resident_bytes: int
    huge_bytes: int
    page_bytes: int
    pages_on_node: Mapping[str, int]

    @property
    def huge_share(self) -> float:
        """Fraction of the resident bytes in huge pages."""
        return self.huge_bytes / self.resident_bytes if self.resident_bytes else 0.0


@dataclass(frozen=True)
class Given:
    """What one rank was really given, read back from inside it."""

    host: str
    cpus: tuple[int, ...]  # where each thread was when it last looked
    thread_masks: tuple[tuple[int, ...], ...]
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True)
class Point:
    """One measured point. For `steps` there is one pseudo-lane with each step's time (slowest rank, or rank 0)."""

    workload: str
    launch: str  # key of the planned launch that it belongs to
    knobs: Mapping[str, str]
    ranks: int
    threads: int
    sampling: Sampling
    batch: int  # chunks or steps in one sample
    warmup: int
    stopped_by: str
    work: Work
    verdict: Check
    clock_cost_ns: float
    clock_resolution_ns: float
    sync: str
    exit_skew_ns: tuple[int, ...]
    share_cores: bool
    noise: Mapping[str, Mapping[str, float]]  # before, during, after
    notes: Mapping[str, str]
    given: tuple[Given, ...]  # one a rank
    mpi: str
    build: Mapping[str, Any]
    lanes: tuple[Lane, ...]
    mismatches: tuple[str, ...] = ()  # what was given is not what was asked; worked out on reading, never stored


@dataclass(frozen=True)
class Failure:
    """A launch or point that gave no result, and why."""

    workload: str
    launch: str
    knobs: Mapping[str, str]
    ranks: int
    reason: str
    exit: int


def parse(line: str) -> Point | Failure:
    """One line of a records file.

    Raises:
        RecordError: not JSON (a torn line), another schema, or a field missing or of the wrong kind.
    """
    try:
        data = json.loads(line)
    except ValueError as error:
        raise RecordError(f"not a JSON line ({error})") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise RecordError(f"schema {found!r} is not the one this version reads ({SCHEMA})")
    try:
        return _failure(data) if data["kind"] == "failure" else _point(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"a field is missing or wrong ({type(error).__name__}: {error})") from error


def full_name(workload: str) -> str:
    """`family/name` of a workload as a record names it."""
    return FORMAT_1_NAMES.get(workload, workload)


def _failure(data: dict[str, Any]) -> Failure:
    workload = full_name(data["workload"])
    return Failure(workload, data["run"], data["knobs"], int(data["ranks"]), data["reason"], int(data["exit"]))


def failure_line(failure: Failure) -> str:
    """The line that `parse` reads back, for failures that the launcher sees and the kernel could not write."""
    return json.dumps(
        {
            "schema": SCHEMA, "kind": "failure", "workload": failure.workload, "run": failure.launch,
            "knobs": dict(failure.knobs), "ranks": failure.ranks, "reason": failure.reason, "exit": failure.exit,
        }
    )  # fmt: skip


def _lanes(data: dict[str, Any]) -> tuple[Lane, ...]:
    samples = data["samples"]
    if data["sampling"] == "steps":
        durations = tuple(map(int, samples["duration_ns"]))
        return (Lane(0, 0, (), durations, frozenset(samples["preempted"])),)
    return tuple(
        Lane(
            int(lane["rank"]),
            int(lane["thread"]),
            tuple(map(int, lane["begin_ns"])),
            tuple(map(int, lane["duration_ns"])),
            frozenset(lane["preempted"]),
            tuple(map(int, lane.get("clock_hz", ()))),
        )
        for lane in samples["lanes"]
    )


def _point(data: dict[str, Any]) -> Point:
    if data["sampling"] not in ("lanes", "steps"):
        raise ValueError(f"sampling {data['sampling']!r}")
    return Point(
        workload=full_name(data["workload"]),
        launch=data["run"],
        knobs={str(k): str(v) for k, v in data["knobs"].items()},
        ranks=int(data["ranks"]),
        threads=int(data["threads"]),
        sampling=data["sampling"],
        batch=int(data["batch"]),
        warmup=int(data["warmup"]),
        stopped_by=data["stopped_by"],
        work=Work(**{k: int(v) for k, v in data["work"].items()}),
        verdict=Check(**data["verdict"]),
        clock_cost_ns=float(data["clock"]["cost_ns"]),
        clock_resolution_ns=float(data["clock"]["resolution_ns"]),
        sync=data["sync"]["method"],
        exit_skew_ns=tuple(data["sync"]["exit_skew_ns"]),
        share_cores=bool(data["share_cores"]),
        noise={k: {n: float(x) for n, x in v.items()} for k, v in data["noise"].items()},
        notes={str(k): str(v) for k, v in data["notes"].items()},
        given=tuple(_given(item) for item in data["given"]),
        mpi=data["mpi"],
        build=data["build"],
        lanes=_lanes(data),
    )


def _given(data: dict[str, Any]) -> Given:
    buffers = tuple(Buffer(**buffer) for buffer in data["buffers"])
    return Given(data["host"], tuple(data["cpus"]), tuple(tuple(mask) for mask in data["thread_masks"]), buffers)
