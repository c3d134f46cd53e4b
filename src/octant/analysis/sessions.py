"""Spread of figures over sessions on one machine: runs of the store, an hour or more apart."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.analysis.evidence import occasions_in
from octant.stats.occasions import LEAST_OCCASIONS
from octant.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary

MAX_HISTORY_RUNS = 8
"""Maximum number of other runs that are read; each takes a fraction of a second."""


@dataclass(frozen=True)
class Sessions:
    """Sessions on a machine that have a figure in common with a run, including its own."""

    number: int = 1
    deviation: float | None = (
        None  # standard deviation of the logarithm of the figure that varies most; from four sessions on
    )
    figure: Figure | None = None  # the figure that varies most


def sessions(summary: Summary, figures: Sequence[Figure]) -> Sessions:
    """Return the spread of these figures over other sessions in the store of a run."""
    usable = [one for one in figures if one.value and one.value.middle > 0 and not one.invalid]
    if not usable:
        return Sessions()
    run, store = summary.run, Store(summary.run.folder.parent.parent)
    pairs = [(one, one) for one in usable]
    known = occasions_in(lambda: itertools.islice(store.runs_like(run), MAX_HISTORY_RUNS))((run, run), pairs)
    number = 1 + max(map(len, known))
    spreads = [
        (float(np.std([math.log(one.value) for one in found] + [math.log(figure.value.middle)], ddof=1)), i)
        for i, (figure, found) in enumerate(zip(usable, known, strict=True))
        if figure.value and 1 + len(found) >= LEAST_OCCASIONS
    ]
    if not spreads:
        return Sessions(number)
    deviation, worst = max(spreads)
    return Sessions(1 + len(known[worst]), math.expm1(deviation), usable[worst])
