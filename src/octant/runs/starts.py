"""What has to be started for launches: some knobs of a workload take one value in each process."""

import random
from collections.abc import Iterable

from octant import workloads
from octant.ask import Launch
from octant.runs.rounds import seed_within


def starts_of(launches: Iterable[Launch], seed: int | None = None) -> list[Launch]:
    """The starts for these launches, one after the other.

    Args:
        seed: of the run, from which the order of the cells in each launch of a program is drawn, so that the launches
            are randomised blocks (Montgomery, Design and Analysis of Experiments, ch. 4); `None`: in the order of the
            knobs. Kernels draw the order of their cells themselves.
    """
    found: list[Launch] = []
    for launch in launches:
        starts = list(launch.starts(_one_by_one(launch.ask.subject.workload)))
        if seed is not None and launch.ask.subject.command:
            random.Random(seed_within(seed, f"launch {launch.repeat}")).shuffle(starts)
        found += starts
    return found


def _one_by_one(workload: str) -> tuple[str, ...]:
    return (*workloads.alone_knobs(workload), *workloads.apart_knobs(workload))
