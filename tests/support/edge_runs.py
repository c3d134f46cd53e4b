"""Runs that are hard to show, by name; none of them was measured."""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from fake_run import WORKLOADS, fake_run, machine, retitled
from fake_summary import fake_summary
from octant.analysis.figures import Figure
from octant.analysis.summary import Summary, summarise
from octant.limit import Limit
from octant.record import Point, Result, Work
from octant.stats import Caveat, Grade
from octant.store import StoredRun
from pages import NASTY

RIGHT_TO_LEFT = "מחשב על גבי ענן"


def summary_of(run: StoredRun) -> Summary:
    """The summary that the command makes for a page."""
    return summarise(run, WORKLOADS, all_metrics=True)


def wrong() -> Summary:
    """Every answer is wrong: a check failed."""
    run, failed = fake_run(repeats=2), (Result("sum of the array", 3.0, "1", 1e-9),)
    return summary_of(
        dataclasses.replace(run, points=tuple(dataclasses.replace(p, results=failed) for p in run.points))
    )


def one_core() -> Summary:
    """No second core: no messages, no star, nothing to balance."""
    run = fake_run(repeats=2, on=machine(cores=1))
    alone = tuple(point for point in run.points if (point.ranks, point.threads) == (1, 1))
    return summary_of(dataclasses.replace(run, points=alone))


def beyond() -> Summary:
    """Every figure has 104 % of its limit."""
    found = fake_summary(1e9 * (1 + 0.01 * np.arange(12).reshape(2, 6)))
    figures = tuple(
        dataclasses.replace(one, points=points, limit=Limit(1.04, "flops at a rate that was disturbed"))
        for one in found.figures
        for points in [tuple(with_flops(point, one.launches[3].value.middle) for point in one.points)]
    )
    return dataclasses.replace(found, figures=figures)


def with_flops(point: Point, flops: float) -> Point:
    """The point with so much work in its step."""
    return dataclasses.replace(point, work=(Work({"flops": round(flops)}, lanes=1),))


def unmeasurable(summary: Summary) -> Summary:
    """The run, whose figures are all not what was asked."""
    bad = (Caveat("request not met", Grade.INVALID, "NOT AS REQUESTED"),)

    def spoiled(one: Figure) -> Figure:
        return dataclasses.replace(
            one, launches=tuple(dataclasses.replace(launch, caveats=(*launch.caveats, *bad)) for launch in one.launches)
        )

    others = {key: spoiled(one) for key, one in summary.others.items()}
    return dataclasses.replace(summary, figures=tuple(map(spoiled, summary.figures)), others=others)


_MADE: dict[str, Callable[[], Summary]] = {
    "empty": lambda: summary_of(dataclasses.replace(fake_run(), points=())),
    "one launch": lambda: summary_of(fake_run()),
    "two launches": lambda: summary_of(fake_run(repeats=2)),
    "six launches": lambda: summary_of(fake_run(repeats=6)),
    "all not measurable": lambda: fake_summary(np.geomspace(1e9, 30e9, 6) * np.ones((4, 1))),
    "wrong results": wrong,
    "one core": one_core,
    "256 threads": lambda: summary_of(fake_run(repeats=2, on=machine(2, 4, 16, 2))),
    "5,000 figures": lambda: fake_summary(1e9 * np.random.default_rng(1).uniform(1, 1.05, (5000, 2))),
    "names of 80 characters": lambda: summary_of(retitled(fake_run(), "a name of eighty characters, " * 3)),
    "names of 200 characters": lambda: summary_of(retitled(fake_run(title="title" * 40), "name" * 50)),
    "hostile names": lambda: summary_of(retitled(fake_run(on=machine(name=RIGHT_TO_LEFT + NASTY), title=NASTY), NASTY)),
    "share of 104 %": beyond,
    "values of 0": lambda: fake_summary(np.zeros((3, 6))),
}
RUNS = {name: functools.cache(make) for name, make in _MADE.items()}
"""Each is made once, when it is first asked for."""
