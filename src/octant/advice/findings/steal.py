"""The hypervisor took CPU time of the measured threads (stolen time)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import rerun_command
from octant.advice.findings._thresholds import TAKEN
from octant.analysis.causes import causes_of_run
from octant.units import percent_text

if TYPE_CHECKING:
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding if stolen time exceeds `TAKEN` of the time."""
    lost = causes_of_run(summary)
    if lost is None:
        return RuleResult()
    share = percent_text(lost.host)
    if lost.host <= TAKEN:
        return RuleResult(passed=(f"the hypervisor took {share} of this run's time",))
    return RuleResult(
        (
            RunFinding(
                rule="steal",
                title=f"The hypervisor took {share} of this run's time",
                body="Virtual CPUs waited for the host during the measurements (stolen time). Request dedicated "
                "(pinned) "
                "CPUs, or measure at another time.",
                lines=("octant doctor --explain steal", *rerun_command(summary.run)),
                family="lost time",
                details=(f"{share} of the time of all measurements (stolen time in /proc/stat, CPUs in use)",),
                kind="reliability",
                gain=lost.host,
            ),
        )
    )
