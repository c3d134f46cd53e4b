"""Pages of profiles that were made by hand: those of a run without other figures."""

from collections.abc import Callable
from dataclasses import replace

from edge_runs import RUNS
from octant.advice.findings import RunFinding
from octant.profile.analysis import analyse
from octant.profile.job import JobProfile
from octant.report.page import run_page
from octant.report.profile.run_report import with_profile
from octant.report.screen.first_screen import RunReport, first_screen


def page_of(job: JobProfile, clean: Callable[[str], str] = str, findings: tuple[RunFinding, ...] = ()) -> str:
    """Return the page of a run with this profile; `clean` is applied to every text."""
    summary = RUNS["empty"]()
    first = replace(first_screen(summary), findings=findings)
    return run_page.render(with_profile(RunReport(summary, first), analyse(job)), clean)
