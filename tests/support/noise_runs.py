"""Runs of the noise test whose lost time is written here, by hardware thread and cause."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from fake_run import lane, machine, point, stored
from octant.analysis.summary import Summary, summarise
from octant.machine import Machine
from octant.record import Point, RankResources, RankTimes, Series
from octant.request import Launch, Presentation, Request, Subject
from octant.store import StoredRun

S = 10**9
By = Literal["other processes", "a CPU quota", "the host", "unexplained"]


def noise_point(
    lost: Mapping[int, float],
    by: By = "other processes",
    other_load: float = 0.0,
    clock_hz: int = 2_600_000_000,
    launch: str = "noise",
    second: int = 0,
) -> Point:
    """Return a launch of one second with a thread on each hardware thread, which loses this share of its time.

    The samples lose the mean of these shares.
    """
    mean = sum(lost.values()) / len(lost)
    wait = tuple(round(share * S) * (by in ("other processes", "a CPU quota")) for share in lost.values())
    stolen = by == "the host"
    times = RankTimes(
        0, (S,) * len(lost), tuple(S - round(share * S) * (not stolen) for share in lost.values()), wait,
        throttled_ns=round(mean * S * len(lost)) * (by == "a CPU quota"), throttled_group="/job",
        elapsed_ns=S, stolen_ns=round(mean * S * len(lost)) * stolen,
    )  # fmt: skip
    late = round(100 * 10_000 * mean / (1 - mean))

    def lane_of(thread: int) -> Series:
        return lane([10_000] * 99 + [10_000 + late], thread, clock_hz=(clock_hz,) * 9)

    busy_s = sum(1 - share for share in lost.values())
    during = {"time_s": 1.0, "node_busy_s": busy_s + other_load, "node_own_cpu_s": busy_s, "own_cpu_s": busy_s}
    return point(
        workload="node/noise", launch=launch, knobs={"threads": str(len(lost)), "additions": "40000"}, ranks=1,
        threads=len(lost), counts={"quanta": 1}, lanes=tuple(map(lane_of, range(len(lost)))), taken=(times,),
        given=(RankResources("node", tuple(lost), tuple((number,) for number in lost)),),
        noise={"during": during}, started=f"2026-11-21T21:45:{second:02}Z",
    )  # fmt: skip


def noise_run(points: Sequence[Point], on: Machine | None = None, folder: Path = Path("runs/noise")) -> StoredRun:
    """Return the run of the noise test with these launches."""
    first = points[0]
    show = Presentation("OS noise, threads on all hardware threads", True, "OS noise")
    request = Request(Subject("node/noise"), dict(first.knobs), show=show, repeats=len(points))
    launches = [Launch(request, repeat) for repeat in range(len(points))]
    named = [replace(one, launch=launch.key) for one, launch in zip(points, launches, strict=True)]
    return stored(launches, named, folder=folder, on=on or quiet_machine(), title="evaluate --suite noise")


def noise_summary(*points: Point, on: Machine | None = None) -> Summary:
    """Return the summary of such a run."""
    return summarise(noise_run(points, on))


def quiet_machine() -> Machine:
    """Return a machine of two cores without advice that is a reason."""
    return machine()
