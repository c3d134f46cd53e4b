"""What has to be started for launches: some knobs of a workload take one value in each process."""

import random
from collections.abc import Iterable

from octant import workloads
from octant.request import Launch, comparable_cell
from octant.runs.rounds import seed_within


def list_starts(launches: Iterable[Launch], seed: int | None = None) -> list[Launch]:
    """The starts for these launches, one after the other.

    Args:
        seed: of the run, from which the order of the cells in each launch of a program is drawn; `None`: that of the
            knobs. Kernels draw the order of their cells themselves.
    """
    found: list[Launch] = []
    for launch in launches:
        starts = launch.starts(_one_by_one(launch.request.subject.workload))
        found += (
            _in_drawn_order(starts, launch, seed) if seed is not None and launch.request.subject.command else starts
        )
    return found


def _in_drawn_order(starts: Iterable[Launch], launch: Launch, seed: int) -> list[Launch]:
    """Return the starts of a program in the order of a randomised block.

    As in `rounds.drawn_order`, the second of two launches has the order of the first backwards, so that a steady drift
    cancels in ratios of cells. The order does not depend on which cells are left.
    """
    name = launch.request.subject.name
    order = [comparable_cell(cell, name) for cell in launch.request.cells()]
    random.Random(seed_within(seed, f"launch {launch.repeat // 2 * 2}")).shuffle(order)
    places = {cell: place for place, cell in enumerate(order if launch.repeat % 2 == 0 else reversed(order))}
    return sorted(starts, key=lambda start: places.get(comparable_cell(start.started_knobs, name), 0))


def _one_by_one(workload: str) -> tuple[str, ...]:
    return (*workloads.alone_knobs(workload), *workloads.apart_knobs(workload))
