"""Interruptions of cores as a run of the store measured them, for the network model."""

import numpy as np

from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
from octant.metric import Interrupted
from octant.network.noise import MOST_KINDS, Interruption
from octant.store import StoredRun

_SHORTEST_S = 1e-7  # what is shorter is no interruption but the clock's and the core's own unevenness


def interruptions_of(run: StoredRun) -> list[Interruption]:
    """The kinds of interruption of a core, from what every interruption of a quantum took.

    Interruptions of about one length (within a fifth of a power of ten) are one kind: their mean length, and the time
    of all lanes over their number as the interval.

    Raises:
        Refusal: the run measured no interruptions.
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
        raise Refusal(
            f"cannot take interruptions from run {run.id} (it measured none); try octant run noise", Exit.WRONG_WORD
        )
    length, count = np.concatenate(lengths), np.concatenate(counts)
    kept = length >= _SHORTEST_S
    length, count = length[kept], count[kept]
    kinds = np.floor(5 * np.log10(length)).astype(int) if len(length) else np.zeros(0, int)
    found = []
    for kind in np.unique(kinds):
        here = kinds == kind
        number = int(count[here].sum())
        found.append(Interruption(float(length[here] @ count[here]) / number, whole_s / number))
    return found[-MOST_KINDS:]
