"""The hypervisor gave the processors of the measured threads to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import again
from octant.advice.findings._thresholds import TAKEN
from octant.analysis.causes import causes_of_run
from octant.units import percent_text

if TYPE_CHECKING:
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Fires where steal took more than `TAKEN` of the time."""
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
                body="Processors of this virtual machine waited for their host, as the kernel counted while this was "
                "measured. Ask whoever runs the host for dedicated (pinned) processors, or measure at another hour.",
                lines=("octant doctor --explain steal", *again(summary.run)),
                family="lost time",
                details=(f"{share} of the time of all measurements: steal of /proc/stat, of the CPUs in use",),
                kind="reliability",
                gain=lost.host,
            ),
        )
    )
