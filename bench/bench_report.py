"""`octant report` and the export of all samples on a run of 5,000 points of 2 × 500 samples: time, memory, size.

Goals: the report in 20 s and 500 MiB, its page at most 10 MB; the export in 60 s of CPU time and 1 GiB. Each run of
the command is a process of its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from octant.machine.discover import discover
from octant.record.writer import seal
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store.run_request import RunRequest, run_request_text

SAMPLES, THREADS = 500, 2
SHAPES = {"5,000 cells, once each": (5000, 1), "500 cells, 10 launches each": (500, 10)}


def point_line(launch: Launch, size: int, generator: np.random.Generator) -> str:
    """Return a point of node/stream: two lanes of samples of about 100 µs with 2 % noise."""
    series = [
        {
            "name": "step", "rank": 0, "thread": thread,
            "ns": generator.normal(100_000, 2_000, SAMPLES).astype(int).tolist(),
            "gap_ns": generator.integers(80, 160, SAMPLES).tolist(),
            "preempted": [], "clock_hz": [2_990_000_000],
        }
        for thread in range(THREADS)
    ]  # fmt: skip
    counts = {"bytes_read": 3_200_000, "bytes_written": 1_600_000, "bytes_allocated": 1_600_000, "flops": 400_000}
    return seal(
        {
            "format": 2, "kind": "point", "workload": "node/stream", "launch": launch.key,
            "knobs": {"kernel": "triad", "bytes": str(size), "threads": str(THREADS)},
            "shape": {"ranks": 1, "threads": THREADS}, "pace": "chunks", "warmup": 5, "stopped_by": "samples",
            "work": [{"group": 0, "role": "", "lanes": THREADS, "batch": 1, "counts": counts}], "series": series,
            "results": [{"name": "sum differs", "value": 0, "bound": 1e-9}],
            "given": [{"host": "n1", "cpus": [0, 1], "thread_masks": [[0], [1]], "buffers": []}],
        }
    )  # fmt: skip


def write_store(store: Path, cells: int, launches: int) -> None:
    """Return a store with one run: a sweep over sizes with several launches."""
    sizes = [4096 * (i + 1) for i in range(cells)]
    knobs = {"kernel": "triad", "bytes": ",".join(map(str, sizes)), "threads": str(THREADS)}
    request = Request(Subject("node/stream"), knobs, Shape(1), show=Presentation("triad"), repeats=launches)
    order = tuple((0, repeat) for repeat in range(launches))
    asked = RunRequest("run", "run stream", "2026-11-22T08:00:00+00:00", discover(), {}, (request,), order)
    folder = store / "runs" / "20261122-080000-bench"
    folder.mkdir(parents=True)
    (folder / "asked.json").write_text(run_request_text(asked))
    generator = np.random.default_rng(20)
    with (folder / "records.jsonl").open("w") as records:
        for launch in request.launches():
            records.writelines(point_line(launch, size, generator) + "\n" for size in sizes)


def measure(*words: str, store: Path) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak MiB of one run of the command."""
    command = [sys.executable, "-m", "octant.cli", *words, "--store", str(store)]
    begin = os.times()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return cpu_s, os.times().elapsed - begin.elapsed, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, help="cells of a single shape, launched once each")
    chosen = parser.parse_args()
    shapes = {f"{chosen.cells} cells": (chosen.cells, 1)} if chosen.cells else SHAPES
    print(f"{'':<42} {'CPU':>8} {'wall':>8} {'peak':>9} {'written':>9}   goal of the report: 20 s, 500 MiB, 10 MB")
    for name, (cells, launches) in shapes.items():
        with tempfile.TemporaryDirectory() as folder:
            store, page, table = Path(folder) / "store", Path(folder) / "page.html", Path(folder) / "samples.csv"
            write_store(store, cells, launches)
            runs = {
                "report": (page, ("report", "last", "-o", str(page))),
                "export --samples": (table, ("export", "last", "--samples", "-o", str(table))),
            }
            for what, (written, words) in runs.items():
                cpu_s, wall_s, peak = measure(*words, store=store)
                size = written.stat().st_size / 1e6
                print(f"{what + ', ' + name:<42} {cpu_s:>6.1f} s {wall_s:>6.1f} s {peak:>5.0f} MiB {size:>6.1f} MB")


if __name__ == "__main__":
    main()
