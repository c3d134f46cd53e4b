"""Injected stops, competing processes and CPU quotas under three workloads: reported lost time against counters.

    python bench/bench_lost_time.py [--seconds 3] [--only noise] [--planted stop]

Stops last 12 or 20 of every 40 ms and are sent from the CPU of the first rank or from another one; competing processes
use 30 or 100 % of the first rank's CPU; a quota grants half a CPU to all ranks together. Each row has the time for
which the signals stopped the ranks, their run-queue wait (/proc/PID/schedstat), what the quota throttled of each
(cpu.stat), what the hypervisor stole (/proc/stat), the share that these make of the time in which the ranks did not
sleep, and what Octant reports. Goal: a difference of at most 3 percentage points, and no cause that took no time. A
quota needs root.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import planted
from octant import build, workloads
from octant.analysis.figures import figure
from octant.analysis.lost import lost_time_of
from octant.record import Point
from octant.record.lines import Reader

GOAL = 0.03
KINDS = ("lost time", "unexplained lost time", "inconsistent lost-time sources")


@dataclass(frozen=True)
class Case:
    """One disturbance of one workload."""

    workload: str
    knobs: tuple[str, ...]
    ranks: int
    planted: str
    stopped_s: float = 0.0  # of each `planted.PERIOD_S`
    other_cpu: bool = False  # sends the stops
    hog: float = 0.0
    cores: float = 0.0  # of a quota


def cases() -> Iterator[Case]:
    """Measure the whole matrix.

    Shorter messages have so many samples that writing them is a part of the launch.
    """
    for name, knobs, ranks in (("node/peakflops", (), 1), ("node/noise", (), 1), ("mpi/p2p", ("bytes=64KiB",), 2)):
        yield Case(name, knobs, ranks, "nothing")
        for ms in (12, 20):
            yield Case(name, knobs, ranks, f"stops, {ms} of 40 ms, same CPU", ms / 1000)
            yield Case(name, knobs, ranks, f"stops, {ms} of 40 ms, other CPU", ms / 1000, other_cpu=True)
        yield Case(name, knobs, ranks, "hog, 30 %", hog=0.3)
        yield Case(name, knobs, ranks, "hog, 100 %", hog=1.0)
        yield Case(name, knobs, ranks, f"quota, 0.5 CPU, {ranks} rank" + "s" * (ranks > 1), cores=0.5)
        if ranks == 1:
            yield Case(name, knobs, 2, "quota, 0.5 CPU, 2 copies", cores=0.5)


def launched(case: Case, seconds: float, folder: Path) -> tuple[Point, planted.Counted]:
    """One launch that is disturbed as the case says, and what the counters say of it.

    Raises:
        OSError: the system refuses the disturbance.
    """
    first, *others = sorted(os.sched_getaffinity(0))
    records = folder / "records.jsonl"
    effort = (f"seconds={seconds:g}", "precision=0", "samples=1000000")
    command = [str(build.find(case.workload)), *case.knobs, *effort, "--output", str(records)]
    mpiexec = build.find_environment_program("mpiexec")
    start = ["taskset", "-c", str(first)] if case.ranks == 1 else [str(mpiexec), "-n", str(case.ranks)]
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(planted.control_group(*planted.quota(case.cores))) if case.cores else None
        if case.hog:
            stack.enter_context(planted.hog(first, case.hog))
        enter = planted.entering(group) if group else ()
        process = subprocess.Popen([*enter, *start, *command], stderr=subprocess.PIPE, text=True)
        stack.callback(process.kill)
        ranks = planted.ranks_of(process, records, case.ranks)
        spans = None
        if case.stopped_s:
            stopper = others[0] if case.other_cpu and others else first
            spans = stack.enter_context(planted.stops(ranks, case.stopped_s, stopper))
        counters = planted.Counters(ranks, group)
        _, errors = process.communicate()
        counted = counters.counted(spans() if spans else ())
    if process.returncode != 0:
        raise SystemExit(f"{case.workload} failed: {errors}")
    reader = Reader()
    found = [reader.read(line) for line in records.read_bytes().splitlines()]
    (point,) = [one for one in found if isinstance(one, Point)]
    return point, counted


def reported(point: Point) -> tuple[float, str]:
    """Return the share of lost time that Octant reports for a launch, and its sentences about it."""
    (launch,) = figure(workloads.workload(point.workload), (point,)).launches
    lost = lost_time_of(point)
    share = launch.value.middle if launch.metric.of_lost_time else lost.share if lost else 0.0
    return share, "; ".join(one.text for one in launch.caveats if one.kind in KINDS)


def row(case: Case, seconds: float) -> bool:
    """Print the row of a case; return whether it misses the goal."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            point, counted = launched(case, seconds, Path(folder))
        except OSError as error:
            print(f"{case.workload:14}  {case.planted:31} cannot be planted here ({error})")
            return False

    def of_ranks(shares: tuple[float, ...]) -> float:  # as Octant counts them: all lanes, or the rank that lost most
        return sum(shares) / len(shares) if point.pace == "chunks" else max(shares)

    expected = of_ranks(counted.lost)
    share, texts = reported(point)
    shown = (
        of_ranks(counted.stopped), of_ranks(counted.waited), counted.throttled / case.ranks, counted.steal,
        expected, share, share - expected,
    )  # fmt: skip
    numbers = "".join(f"{100 * one:8.1f}" for one in shown)
    print(f"{case.workload:14}  {case.planted:31}{numbers}  {texts}", flush=True)
    return abs(share - expected) > GOAL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--planted", default="", help="disturbances whose name contains this")
    asked = parser.parse_args()
    heads = ("stopped", "wait", "quota", "steal", "counted", "reported", "off")
    print(f"{'workload':14}  {'planted':31}{''.join(f'{head:>8}' for head in heads)}  (percent of time)")
    chosen = [one for one in cases() if asked.only in one.workload and asked.planted in one.planted]
    missed = sum(row(case, asked.seconds) for case in chosen)
    print(f"{missed} of {len(chosen)} rows are off by more than {100 * GOAL:.0f} percentage points")


if __name__ == "__main__":
    main()
