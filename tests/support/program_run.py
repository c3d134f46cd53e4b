"""Artificial runs of a user's program: their records are lines as `runs.programs.records` writes them."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fake_run import machine
from octant.analysis.summary import Summary, summarise
from octant.machine import Machine
from octant.record import FORMAT
from octant.record.writer import seal
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.runs.programs.launcher_line import program_name
from octant.store import Store, StoredRun
from octant.store.run_request import run_request_text

BEGUN = datetime.datetime(2026, 11, 25, 8, 45, tzinfo=datetime.UTC)
GIB = 2**30


@dataclass(frozen=True)
class RankSeen:
    """What the guard of one rank saw. Times are of this rank."""

    user: float = 0.9
    system: float = 0.05
    cpus: Sequence[int] = (0,)  # where its busy threads ran; none: it ended before a look
    masks: Sequence[Sequence[int]] = ((0, 1),)  # of these threads, or of the process
    nodes: Mapping[str, int] = field(default_factory=dict)  # private bytes by NUMA domain
    huge: int = 0  # of them on huge pages
    host: str = "node"
    throttled: float | None = None  # seconds, `None`: no quota
    stolen: float | None = 0.0  # seconds


@dataclass(frozen=True)
class Seen:
    """What one launch of one cell left."""

    wall: float = 1.0
    ranks: Sequence[RankSeen] = (RankSeen(),)
    memory: int = 50_000_000
    minor_faults: int = 1000
    major_faults: int = 0
    waits: int = 10
    preemptions: int = 5
    values: Mapping[str, tuple[float, str]] = field(default_factory=dict)  # with their units
    checks: Mapping[str, tuple[float | None, float]] = field(default_factory=dict)  # value and bound
    notes: Mapping[str, str] = field(default_factory=dict)
    pressure: float | None = None  # seconds
    build: Mapping[str, str] = field(default_factory=dict)


def request_of(
    words: Sequence[str] = ("./solve", "input"), ranks: int = 1, repeats: int = 6, place: str = "",
    knobs: Mapping[str, str] | None = None, **subject: Any,
) -> Request:  # fmt: skip
    """What `octant run KNOBS -- WORDS` asks."""
    name = subject.pop("program", "") or program_name(words)
    made = Subject(command=tuple(words), program=name, directory="/home/user", **subject)
    return Request(made, knobs or {}, Shape(ranks, place), show=Presentation(name), repeats=repeats)


def lines_of(launch: Launch, cell: Mapping[str, str], seen: Seen, begun: datetime.datetime) -> list[str]:
    """The launch and the point of one start."""
    head = {"workload": launch.request.subject.name, "launch": launch.key}
    usage = {
        "wall time": (seen.wall, "s"),
        "user time": (sum(rank.user for rank in seen.ranks), "s"),
        "system time": (sum(rank.system for rank in seen.ranks), "s"),
        "memory": (seen.memory, "B"),
        "minor page faults": (seen.minor_faults, "1"),
        "major page faults": (seen.major_faults, "1"),
        "voluntary context switches": (seen.waits, "1"),
        "involuntary context switches": (seen.preemptions, "1"),
        **seen.values,
    }
    results: list[dict[str, Any]] = [
        {"name": name, "value": value, "unit": unit} for name, (value, unit) in usage.items()
    ]
    results += [{"name": name, "value": value, "bound": bound} for name, (value, bound) in seen.checks.items()]
    threads = cell.get("threads", "1")
    pressed = {} if seen.pressure is None else {"time_s": seen.wall, "stalled_cpu_s": seen.pressure}
    point = {
        "knobs": dict(cell),
        "shape": {"ranks": len(seen.ranks), "threads": int(threads) if threads.isdecimal() else 1},
        "pace": "whole", "work": [], "results": results, "notes": dict(seen.notes),
        "series": [
            {"name": f"reading/{name}", "rank": rank, "unit": unit, "values": [value]}
            for rank, one in enumerate(seen.ranks)
            for name, value, unit in (
                ("wall time", seen.wall, "s"), ("user time", one.user, "s"), ("system time", one.system, "s"),
                ("memory", seen.memory, "B"),
            )
        ],
        **({"noise": {"during": pressed}} if pressed else {}),
        "given": [_given(rank) for rank in seen.ranks],
        "lost": [_lost(number, rank, seen.wall) for number, rank in enumerate(seen.ranks)],
    }  # fmt: skip
    started = begun.isoformat(timespec="seconds")
    return [
        seal({"format": FORMAT, "kind": "launch", **head, "started": started, "build": dict(seen.build)}),
        seal({"format": FORMAT, "kind": "point", **head, **point}),
    ]


def _given(rank: RankSeen) -> dict[str, Any]:
    held = sum(rank.nodes.values())
    pages = {node: count // 4096 for node, count in rank.nodes.items()}
    buffer = {
        "bytes": held, "resident_bytes": held, "huge_bytes": rank.huge, "page_bytes": 4096, "pages_on_node": pages,
    }  # fmt: skip
    return {
        "host": rank.host, "cpus": list(rank.cpus), "thread_masks": list(map(list, rank.masks)),
        "buffers": [buffer] if held else [],
    }  # fmt: skip


def _lost(number: int, rank: RankSeen, wall: float) -> dict[str, Any]:
    ns = round(wall * 1e9)
    quota = {} if rank.throttled is None else {
        "throttled_ns": round(rank.throttled * 1e9), "throttled_group": "/job",
    }  # fmt: skip
    stolen = {} if rank.stolen is None else {"stolen_ns": round(rank.stolen * 1e9)}
    return {"rank": number, "wall_ns": [ns], "elapsed_ns": ns, **quota, **stolen}


def stored_program(
    root: Path,
    request: Request,
    cells: Sequence[Sequence[Seen]],
    begun: datetime.datetime = BEGUN,
    on: Machine | None = None,
    title: str = "",
) -> StoredRun:
    """A run in the store at `root` with launches of one request.

    Args:
        cells: of each cell of the ask what its launches left, the same number of each.
    """
    store = Store(root)
    repeats = len(cells[0])
    request = replace(request, repeats=repeats)
    order = [(0, repeat) for repeat in range(repeats)]
    title = title or " ".join(
        [*(f"{name}={value}" for name, value in request.knobs.items()), "--", *request.subject.command]
    )
    run = store.create(title, on or machine(), [request], order, "run")
    asked = run_request_text(replace(run, started=begun.isoformat(timespec="seconds")))
    (run.folder / "asked.json").write_text(asked)
    found = []
    for repeat, launch in enumerate(request.launches()):
        for cell, seen in zip(request.cells(), cells, strict=True):
            begins = begun + datetime.timedelta(minutes=repeat)
            found += lines_of(launch, cell, seen[repeat], begins)
    (run.folder / "records.jsonl").write_text("".join(f"{line}\n" for line in found))
    return store.read(run.id)


def program_summary(root: Path, request: Request, cells: Sequence[Sequence[Seen]], **changes: Any) -> Summary:
    """The summary of `stored_program`, of which every record was read."""
    run = stored_program(root, request, cells, **changes)
    assert not run.unread
    return summarise(run)


def launches(seen: Seen, number: int = 6, spread: float = 0.002) -> list[Seen]:
    """Launches about this one, whose wall time is their median."""
    half = (number - 1) / 2
    return [replace(seen, wall=seen.wall * (1 + spread * (place - half))) for place in range(number)]
