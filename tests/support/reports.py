"""The report of a run, and what its pictures are drawn from, for tests of what writes and draws them."""

from collections.abc import Sequence

from octant.analysis.figures import Figure
from octant.analysis.summary import Summary
from octant.report.charts.curves.figure_curves import Ladders, MeasuredCells, rungs
from octant.report.charts.pictures import pictures
from octant.report.screen.first_screen import FirstScreen, RunReport, first_screen
from octant.workload import Workload


def report_of(summary: Summary, first: FirstScreen | None = None) -> RunReport:
    """The report of a run with its pictures; `first` replaces its own first screen."""
    return RunReport(summary, first or first_screen(summary), pictures(summary))


def ladders_of(summary: Summary) -> Ladders:
    """The ladders of a run."""
    return Ladders(rungs(summary), summary.run.machine)


def cells_of(summary: Summary, workload: Workload, figures: Sequence[Figure] | None = None) -> MeasuredCells:
    """The cells of a run for pictures of a workload: those of these figures, or all."""
    return MeasuredCells(workload, summary.figures if figures is None else figures, summary.figure, ladders_of(summary))
