"""Process starts of launches: some knobs of a workload need a separate process for each value."""

import random
from collections.abc import Iterable

from octant import workloads
from octant.request import Launch, comparable_cell
from octant.runs.rounds import seed_within


def list_starts(launches: Iterable[Launch], seed: int | None = None) -> list[Launch]:
    """Return the process starts for these launches, in order.

    Args:
        seed: seed of the run. It determines the order of the cells in each launch of a program. `None`: the order of
            the knobs. Kernels randomise the order of their cells themselves.
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

    As in `rounds.drawn_order`, every second launch reverses the order of the launch before it, so that a steady drift
    cancels in ratios of cells. The order does not depend on which cells remain.
    """
    name = launch.request.subject.name
    order = [comparable_cell(cell, name) for cell in launch.request.cells()]
    random.Random(seed_within(seed, f"launch {launch.repeat // 2 * 2}")).shuffle(order)
    places = {cell: place for place, cell in enumerate(order if launch.repeat % 2 == 0 else reversed(order))}
    return sorted(starts, key=lambda start: places.get(comparable_cell(start.started_knobs, name), 0))


def _one_by_one(workload: str) -> tuple[str, ...]:
    return (*workloads.alone_knobs(workload), *workloads.apart_knobs(workload))
