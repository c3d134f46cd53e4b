"""What the pictures of a workload are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Modelled
    from octant.report.charts.rungs import Ladders
    from octant.workload import Workload

MetricOf: TypeAlias = "Callable[[Figure, str], Figure | None]"
"""Returns another metric of the cell of a headline figure, as `Summary.figure` does."""


@dataclass(frozen=True)
class MeasuredCells:
    """The cells of a workload in a run, with what pictures draw beside them."""

    workload: Workload
    figures: Sequence[Figure]  # the headline of each
    figure: MetricOf
    ladders: Ladders  # of the whole run
    modelled: Modelled | None = None
