"""What the pictures of a workload are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Modelled
    from octant.report.charts.curves.lines import MetricOf
    from octant.report.charts.curves.rungs import Ladders
    from octant.workload import Workload


@dataclass(frozen=True)
class MeasuredCells:
    """The cells of a workload in a run, with what pictures draw beside them."""

    workload: Workload
    figures: Sequence[Figure]  # the headline of each
    figure: MetricOf
    ladders: Ladders  # of the whole run
    modelled: Modelled | None = None
