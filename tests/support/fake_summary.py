"""A run of which only figures are there, for what compares figures."""

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from fake_run import point, stored
from octant.analysis.figures import Figure, LaunchFigure
from octant.analysis.summary import Summary
from octant.identity import identity_of
from octant.limit import Known
from octant.metric import Metric, rate
from octant.record import Point
from octant.record.sketch import Sketch
from octant.stats import Interval
from octant.store import Pair
from octant.workload import Workload


def fake_summary(values: ArrayLike, name: str = "run", pair: Pair | None = None, better: str = "higher") -> Summary:
    """A run of which only figures are there, with these values of their launches.

    Args:
        values: shape (figures, launches).
        name: the run's id.
        pair: what it is one side of.
    """
    metric = Metric("rate", "flop/s", "higher" if better == "higher" else "lower", rate("flops"))
    workload = Workload("Nothing", (metric,), {}, "fake/thing")
    figures = []
    for number, launches in enumerate(np.asarray(values, np.float64)):
        points = [_bare_point(number, repeat) for repeat in range(len(launches))]
        made = [
            LaunchFigure(metric, one, Interval(value, value, value), np.empty(0), 0, Sketch(), ())
            for one, value in zip(points, map(float, launches), strict=True)
        ]
        figures.append(Figure(workload, metric, tuple(points), identity_of(points[0]), tuple(made)))
    run = replace(stored((), folder=Path(name)), pair=pair)
    return Summary(run, tuple(figures), Known(run.machine.topology, {}), (), (), {})


@functools.cache
def _bare_point(number: int, repeat: int) -> Point:
    return point(launch=f"fake-thing-{repeat}", knobs={"n": str(number)})
