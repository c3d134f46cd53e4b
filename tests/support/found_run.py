"""Runs of which rules find something: figures with the values of launches that their tests choose."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fake_run import machine, point, stored
from octant.analysis.figures import Figure, LaunchFigure
from octant.analysis.summary import Summary
from octant.identity import identity_of
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.record import Point, RankTimes, Result, Samples, Scheduling, Work
from octant.record.sketch import Sketch
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.stats import Caveat, Grade, Interval
from octant.store import StoredRun
from octant.workloads import workload

BEGUN = datetime.datetime(2026, 11, 22, 8, 45, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Cell:
    """A cell of a run: its workload, the knobs of its request, those of the cell, and what its launches say."""

    name: str
    values: Sequence[float]  # of each launch, base units
    knobs: Mapping[str, str] = field(default_factory=dict)
    swept: Mapping[str, str] = field(default_factory=dict)  # knobs of which the request has a list
    further: Mapping[str, str] = field(default_factory=dict)  # knobs of the cell that were not requested
    title: str = "made up, one core"
    table: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    best: float | None = None  # the limit, in units of the metric
    caveats: tuple[Caveat, ...] = ()
    lost: Sequence[float] = ()  # of each launch the share of its time
    wrong: bool = False
    ranks: int = 1
    mismatches: tuple[str, ...] = ()
    places: Sequence[Sequence[float]] = ()  # of each launch the speed of each of its ranks, which work alone
    slowed: float | None = None  # how many times worse each launch is than by its CPU time


def taken(
    ns: int = 10**9, lost: float = 0.0, throttled: float = 0.0, stolen: float = 0.0, by: str = "wait"
) -> RankTimes:
    """What one lane was given of `ns`; what was lost went to other work, or to an unknown cause."""
    wait = round(lost * ns) if by == "wait" else 0
    return RankTimes(
        0, (ns,), (round(ns * (1 - lost - throttled)),), (wait,), round(throttled * ns), "/job", ns, round(stolen * ns)
    )


def found_run(
    cells: Sequence[Cell],
    took: RankTimes | None = None,
    on: Machine | None = None,
    title: str = "evaluate --quick",
    system: Mapping[str, str] | None = None,
    software: Mapping[str, str] | None = None,
    scheduling: Scheduling | None = None,
) -> Summary:
    """A summary of these cells.

    Args:
        took: what the system took from every launch; by default each cell's `lost`.
        on: the machine, on which `system` and `software` change facts.
    """
    machine_ = on or machine()
    machine_ = replace(
        machine_,
        system={**machine_.system, "governor": "performance", **(system or {})},
        software={**machine_.software, **(software or {})},
    )
    launches: list[Launch] = []
    figures = [_figure(cell, launches, took, scheduling) for cell in _whole(cells)]
    points = tuple(p for figure in figures for p in figure.points)
    run: StoredRun = replace(stored(launches, points, on=machine_, title=title), environment={})
    return Summary(run, tuple(figures), Known(machine_.topology, {}), (), (), {})


def _whole(cells: Sequence[Cell]) -> list[tuple[Cell, Request]]:
    """Each cell with the request of all cells that were swept together."""
    found = []
    for cell in cells:
        alike = [one for one in cells if (one.name, one.title, one.knobs) == (cell.name, cell.title, cell.knobs)]
        swept = {name: ",".join(dict.fromkeys(one.swept[name] for one in alike)) for name in cell.swept}
        request = Request(
            Subject(cell.name), {**cell.knobs, **swept}, Shape(cell.ranks), show=Presentation(cell.title, cell.table),
            repeats=max(len(one.values) for one in alike),
        )  # fmt: skip
        found.append((cell, request))
    return found


def _figure(
    made: tuple[Cell, Request], launches: list[Launch], took: RankTimes | None, scheduling: Scheduling | None
) -> Figure:
    cell, request = made
    known, metric = workload(cell.name), workload(cell.name).metrics[0]
    of_launches = []
    points = []
    for repeat, value in enumerate(cell.values):
        launch = Launch(request, repeat)
        if launch.key not in {one.key for one in launches}:
            launches.append(launch)
        share = cell.lost[repeat] if cell.lost else 0.0
        one = _point(cell, request, launch, took or taken(lost=share), scheduling)
        points.append(one)
        invalid = (Caveat("lost time", Grade.INVALID, f"{100 * share:.0f} % lost"),) if share > 0.5 else ()
        of_launches.append(
            LaunchFigure(
                metric, one, Interval(value, value, value), np.empty(0), 0, Sketch(), (*cell.caveats, *invalid),
                mismatches=cell.mismatches, speeds=_speeds(cell, repeat), slowed=cell.slowed,
            )
        )  # fmt: skip
    limit = None
    if cell.best is not None:  # seconds in which the limit does the work of a step
        unit = metric.at(1.0, {name: points[0].count(name) for name in cell.counts}, points[0].parts)
        assert unit is not None
        limit = Limit(unit / cell.best if metric.better == "higher" else cell.best / unit, "what the test says")
    wrong = tuple(check for one in points for check in one.failed_checks)
    swept = ", ".join(f"{name} {value}" for name, value in cell.swept.items())
    return Figure(
        known, metric, tuple(points), identity_of(points[0]), () if wrong else tuple(of_launches), wrong,
        limit=limit, label=cell.title, title=", ".join(filter(None, (cell.title, swept))), show=request.show,
    )  # fmt: skip


def _speeds(cell: Cell, repeat: int) -> tuple[tuple[tuple[int, int], float], ...]:
    return tuple(((rank, 0), speed) for rank, speed in enumerate(cell.places[repeat])) if cell.places else ()


def _point(cell: Cell, request: Request, launch: Launch, took: RankTimes, scheduling: Scheduling | None) -> Point:
    ranks = len(cell.places[0]) if cell.places else request.shape.ranks
    results = (Result("compared with the plain loop", 1.0 if cell.wrong else 0.0, "1", 1e-12),)
    knobs = {**cell.further, **cell.knobs, **cell.swept}
    begun = (BEGUN + datetime.timedelta(minutes=launch.repeat)).isoformat()
    one = point(
        "chunks", workload=cell.name, launch=launch.key, knobs=knobs, started=begun,
        work=(Work(dict(cell.counts)),), notes=dict(cell.notes), results=results, ranks=ranks, taken=(took,),
        read=lambda: Samples(()),
    )  # fmt: skip
    return replace(one, given=tuple(replace(given, scheduling=scheduling) for given in one.given))
