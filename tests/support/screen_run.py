"""Runs whose figures are written here, for the first screen: tiles, belief, and the sentence above them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fake_run import lane, machine, point, stored
from octant.analysis.summary import Summary, summarise
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, per, rate
from octant.record import Point, Result
from octant.request import Launch, Presentation, Request, Subject
from octant.store import StoredRun
from octant.tile import Also, DeclaredAnswer, DeclaredScreen, DeclaredTile, NamedFigure, TileComparison
from octant.workload import Workload

PEAK = 100e9
CHECK = "compared with the plain loop"


def _least_seconds(_known: Known, _machine: Machine, p: Point) -> Limit:
    return Limit(p.count("flops") / PEAK, "2 units x 25 GHz; as it is known")


WORKLOADS = {
    one.name: one
    for one in (
        Workload(
            "A loop", (Metric("rate", "flop/s", "higher", rate("flops")),), {}, "fake/loop",
            least_seconds=_least_seconds,
        ),
        Workload(
            "A message",
            (Metric("time", "s", "lower", per("messages")), Metric("bandwidth", "B/s", "higher", rate("bytes_sent"))),
            {}, "fake/message",
        ),
    )
}  # fmt: skip
SCREEN = DeclaredScreen(
    DeclaredAnswer("Two cores", ("computed at {Peak}", "sent a message in {Messages}"), "{Peak/Messages} of each"),
    (
        DeclaredTile(
            "Peak", "2 cores", (NamedFigure("loop", {"n": "2"}), NamedFigure("loop", {"n": "1"})), bar="limit",
            also=(Also(label="1 core", figure=NamedFigure("loop", {"n": "1"})),),
        ),
        DeclaredTile(
            "Messages", "8 B", (NamedFigure("message", {"bytes": "8"}),), bar="comparison",
            compared=TileComparison(
                "best {against} at {against.bytes}; {share} of that left at {value.bytes}",
                NamedFigure("message", metric="bandwidth", pick="last"),
                NamedFigure("message", metric="bandwidth", pick="best"),
            ),
            missing="no MPI",
        ),
    ),
)  # fmt: skip


def rates(values: Sequence[float], n: int = 2, passed: bool = True) -> list[Point]:
    """A launch of `loop n=N` for each of these rates, in flop/s."""
    bound = Result(CHECK, 0.0 if passed else 1.0, "1", 1e-12)
    return [
        point(
            workload="fake/loop", launch=f"{i}", knobs={"n": str(n)}, counts={"flops": round(value / 1e3)},
            lanes=(lane([1_000_000] * 7),), results=(bound,), started=f"2026-11-21T21:{45 + i}:31Z",
        )
        for i, value in enumerate(values)
    ]  # fmt: skip


def messages(times_ns: Mapping[int, float], launches: int = 6) -> list[Point]:
    """Launches of `message` over these lengths: one way takes so many ns."""
    return [
        point(
            "steps", workload="fake/message", launch=f"{i}", knobs={"bytes": str(size)}, ranks=2,
            counts={"messages": 2, "bytes_sent": 2 * size}, lanes=(lane([round(2000 * ns)] * 7),), batch=1000,
        )
        for i in range(launches)
        for size, ns in times_ns.items()
    ]  # fmt: skip


def run_of(*groups: Sequence[Point], screen: DeclaredScreen = SCREEN, on: Machine | None = None) -> StoredRun:
    """A run in which `loop` and `message` were asked and these points came."""
    launches, points = [], []
    for group in groups:
        knob = "n" if group[0].workload == "fake/loop" else "bytes"
        values = ",".join(dict.fromkeys(p.knobs[knob] for p in group))
        repeats = len({p.launch for p in group})
        title = group[0].workload.removeprefix("fake/")
        request = Request(Subject(group[0].workload), {knob: values}, show=Presentation(title), repeats=repeats)
        launches += [Launch(request, repeat) for repeat in range(repeats)]
        points += [replace(p, launch=Launch(request, int(p.launch)).key) for p in group]
    return replace(stored(launches, points, on=on or machine()), screen=screen)


def summary_of(*groups: Sequence[Point], screen: DeclaredScreen = SCREEN) -> Summary:
    """The same with all its metrics."""
    return summarise(run_of(*groups, screen=screen), WORKLOADS, all_metrics=True)


def spread(middle: float, half: float, launches: int = 6) -> list[float]:
    """Values of launches whose 95 % interval reaches about `half` to either side."""
    return [float(middle * (1 + half * x)) for x in np.linspace(-1, 1, launches)]
