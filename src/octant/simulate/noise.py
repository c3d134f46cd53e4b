"""Measured OS noise of a stored run, for the network model."""

import numpy as np

from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
from octant.metric import Interrupted
from octant.network.noise import MAX_KINDS, Interruption
from octant.store import StoredRun

_SHORTEST_S = 1e-7  # shorter events are variations of the clock and the core, not interruptions


def interruptions_of(run: StoredRun) -> list[Interruption]:
    """Return the kinds of interruption of a core, from the measured lengths of interruptions.

    Interruptions of similar length (within a fifth of a decade) are one kind, with their mean length. Its interval is
    the measuring time of all lanes over their number.

    Raises:
        Refusal: the run contains no noise measurement.
    """
    lengths, counts, whole_s = [], [], 0.0
    for figure in summarise(run).figures:
        if not isinstance(figure.metric.value, Interrupted):
            continue
        for point in figure.points:
            for lane in figure.metric.value.function(point, point.read()):
                lengths.append(lane.ns * 1e-9)
                counts.append(lane.counts)
                whole_s += lane.whole_ns * 1e-9
    if not whole_s:
        raise Refusal(f"run {run.id} contains no measurement of OS noise; try octant run noise", Exit.WRONG_WORD)
    length, count = np.concatenate(lengths), np.concatenate(counts)
    kept = length >= _SHORTEST_S
    length, count = length[kept], count[kept]
    kinds = np.floor(5 * np.log10(length)).astype(int) if len(length) else np.zeros(0, int)
    found = []
    for kind in np.unique(kinds):
        here = kinds == kind
        number = int(count[here].sum())
        found.append(Interruption(float(length[here] @ count[here]) / number, whole_s / number))
    return found[-MAX_KINDS:]
