"""Listing 10,000 runs, sweeping them, `octant runs` of 2,000, and reading points: format 2 against format 1.

Goals: a warm list under 1 s; the sweep at the start of each measurement under 1 ms, however many runs there are; the
command under 1.5 s of CPU time without an index; a point of 8 x 10,000 samples read at least four times as fast as
from format 1.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from bench_report import measure
from fake_kernel import answer, request
from fake_run import durations, lane, launch_line, machine, point, point_line
from octant.record import Point
from octant.record.lines import Reader
from octant.store import Store, lock, sweep
from octant.store.run_request import RunRequest, run_request_text

RUNS, COMMAND_RUNS = 10_000, 2_000


def main() -> None:
    """Print the figures and the goals."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        write_runs(store, RUNS)
        listing(store)
        sweeping(store)
    with tempfile.TemporaryDirectory() as folder:
        write_runs(Store(Path(folder)), COMMAND_RUNS)
        for what, goal in (("made", " (goal < 1.5 s)"), ("warm", "")):
            cpu_s, _, peak = measure("runs", store=Path(folder))
            print(f"octant runs of {COMMAND_RUNS:,}, index {what}: {cpu_s:.2f} s of CPU time{goal}, {peak:.0f} MiB")
    for ranks, samples in ((2, 501), (8, 10_001)):
        reading(ranks, samples)


def write_runs(store: Store, count: int) -> None:
    """Create a store of this many small runs."""
    question = request(bytes="1MiB,2MiB")
    asked = RunRequest("run", "stream", "2026-11-22T07:16:07+00:00", machine(), {}, (question,), ((0, 0),))
    launch = asked.decided_launches()[0]
    points = [answer("node/stream", launch.key, cell) for cell in launch.cells()]
    text, lines = (
        run_request_text(asked),
        "".join(f"{line}\n" for line in (launch_line(points[0]), *map(point_line, points))),
    )
    for number in range(count):
        folder = store.root / "runs" / f"20261122-071607-{number:05d}"
        folder.mkdir(parents=True)
        (folder / "asked.json").write_text(text)
        (folder / "records.jsonl").write_text(lines)


def listing(store: Store) -> None:
    """How long a list of many runs takes, without and with the index."""
    for what, goal in (("made", ""), ("warm", " (goal < 1 s)"), ("warm", " (goal < 1 s)")):
        begin = time.perf_counter()
        rows = store.list_runs()
        taken = time.perf_counter() - begin
        if len(rows) != RUNS or any(row.points != 2 for row in rows):
            raise SystemExit("the bench measured nothing: runs are missing")
        print(f"list of {RUNS:,} runs, index {what}: {taken:.2f} s{goal}")


def sweeping(store: Store) -> None:
    """How long it takes to look for runs whose process was killed: the first time, and then."""
    run = store.read(store.ids()[0])
    for what in ("the first time", "afterwards (goal < 1 ms)"):
        begin = time.perf_counter()
        sweep(run.folder)
        taken = time.perf_counter() - begin
        print(f"sweep of {RUNS:,} runs, {what}: {1e3 * taken:.2f} ms")
        with lock(run.folder, print):
            pass


def reading(ranks: int, samples: int) -> None:
    """How long a point takes: what lists need of it, and with all its samples."""
    lanes = tuple(lane(durations(5000, samples), rank=rank) for rank in range(ranks))
    one = point(ranks=ranks, lanes=lanes, counts={"bytes_read": 1000})
    new, old = point_line(one).encode(), old_line(one).encode()
    facts, whole, before = (
        median(lambda: read(new)), median(lambda: read(new).read()), median(lambda: read(old).read())
    )  # fmt: skip
    print(f"point of {ranks} x {samples:,}: {len(new) / 1e3:.0f} kB; format 1: {len(old) / 1e3:.0f} kB")
    print(
        f"  facts {1e3 * facts:.2f} ms, samples too {1e3 * whole:.2f} ms; "
        f"format 1, samples too {1e3 * before:.2f} ms: ratio {before / whole:.1f} (goal >= 4 at 8 x 10,000)"
    )


def read(line: bytes) -> Point:
    """Return the point of a line."""
    record = Reader().read(line)
    if not isinstance(record, Point):
        raise SystemExit("the bench measured nothing: the line is no point")
    return record


def median(body: Callable[[], object]) -> float:
    """Seconds of a call."""
    taken = []
    for _ in range(15):
        begin = time.perf_counter()
        body()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def old_line(p: Point) -> str:
    """Return the point in the format of version 0.1."""
    lanes = [
        {
            "rank": series.head.rank, "thread": series.head.thread, "preempted": [],
            "begin_ns": [] if series.begin_ns is None else series.begin_ns.astype(int).tolist(),
            "duration_ns": series.values.astype(int).tolist(),
        }
        for series in p.read().series
    ]  # fmt: skip
    record = {
        "schema": 1, "kind": "point", "workload": "stream", "run": p.launch, "knobs": {}, "ranks": p.ranks,
        "threads": 1, "sampling": "lanes", "batch": 1, "warmup": 0, "stopped_by": "interval", "work": {"bytes_read": 9},
        "verdict": {"check": "plain", "error": 0.0, "tolerance": 0.0}, "share_cores": False, "noise": {}, "notes": {},
        "clock": {"source": "", "cost_ns": 20.0, "resolution_ns": 1.0}, "mpi": "", "build": {}, "given": [],
        "sync": {"method": "none", "exit_skew_ns": []}, "samples": {"lanes": lanes},
    }  # fmt: skip
    return json.dumps(record, separators=(",", ":"))


if __name__ == "__main__":
    main()
