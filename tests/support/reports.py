"""The report of a run for tests of what writes it."""

from octant.analysis.summary import Summary
from octant.report.charts.pictures import pictures
from octant.report.run.first_screen import FirstScreen, RunReport, first_screen


def report_of(summary: Summary, first: FirstScreen | None = None) -> RunReport:
    """The report of a run with its pictures; `first` stands in place of its own first screen."""
    return RunReport(summary, first or first_screen(summary), pictures(summary))
