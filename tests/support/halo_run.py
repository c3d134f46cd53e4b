"""A run of a workload that declares every kind of picture: groups, phases, a reading, results and a failing check."""

import numpy as np

from fake_run import durations, lane, point, stored
from octant.metric import Metric, ranks, rate, reading, seconds, share, steps
from octant.record import Head, Point, Result, Series, Work
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import StoredRun
from octant.workload import Bars, Curve, Stacked, Timeline, Workload

SIZES = (8, 16, 32, 64)
WRONG = 64
HALO = Workload(
    "Exchange of faces",
    (
        Metric("time", "s", "lower", seconds()),
        Metric("bandwidth", "B/s", "higher", rate("bytes_sent", over=(ranks("max"), steps("median")))),
        Metric("pack share", "1", "lower", share("phase/pack")),
        Metric("residual", "1", "lower", reading("residual")),
    ),
    {},
    "apps/halo",
    pictures=(Curve("n"), Curve("bandwidth", "time"), Stacked("n"), Timeline("residual"), Bars("n")),
)
KNOWN = {HALO.name: HALO}


def _series(ns: list[int], rank: int) -> list[Series]:
    group, whole = rank // 2, np.asarray(ns, dtype=np.float64)
    parts = {"pack": 0.25, "solve": 0.5, "solve/halo": 0.125}
    phases = [
        Series(Head(f"phase/{name}", rank, 0, group), whole * part, entries=np.ones(len(ns)))
        for name, part in parts.items()
    ]
    residual = Series(Head("reading/residual", rank, 0, group, "", "1"), 1.0 / (1 + np.arange(len(ns))))
    return [lane(ns, rank=rank, group=group), *phases, residual]


def _point(launch: Launch, n: int) -> Point:
    series = [one for rank in range(4) for one in _series(durations(n * 1000 * (1 + rank // 2), spread=0), rank)]
    counts = {"bytes_sent": n * 1000, "messages": 6}
    return point(
        "steps", workload=HALO.name, launch=launch.key, knobs={"n": str(n)}, ranks=4, lanes=tuple(series),
        groups=((0, 1), (2, 3)), work=tuple(Work(counts, group, lanes=2) for group in (0, 1)),
        results=(
            Result("iterations", 42.0 + launch.repeat), Result("overlap", 0.71),
            Result("residual bound", 17.2 if n == WRONG and launch.repeat else 3.0, "1", 16.0),
        ),
    )  # fmt: skip


def halo_run() -> StoredRun:
    """Four sizes, two launches; groups of two ranks, the second half as fast; the largest size is wrong once."""
    request = Request(
        Subject(HALO.name), {"n": ",".join(map(str, SIZES))}, Shape(4), show=Presentation("halo"), repeats=2
    )
    launches = request.launches()
    return stored(launches, [_point(launch, n) for launch in launches for n in SIZES])
