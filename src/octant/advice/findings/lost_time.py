"""Measured threads lost CPU time."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import subject
from octant.advice.findings._lines import DOCTOR, rerun_command
from octant.advice.findings._thresholds import LOST, SLOWED
from octant.analysis.causes import causes_of_run, count_losses
from octant.analysis.lost import lost_time_of, worst_oversubscription
from octant.stats import Grade
from octant.units import capital, percent_text

if TYPE_CHECKING:
    from octant.analysis.causes import Causes
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return a finding above `LOST`, or if measurements of the table lost more than half of their time."""
    lost = causes_of_run(summary)
    if lost is None:
        return RuleResult()
    share = percent_text(lost.lost)
    measurements = count_losses(summary)
    of_table = any(not one.counts for figure in summary.figures if figure.show.table for one in figure.launches)
    if lost.lost <= LOST and not of_table:
        return RuleResult(passed=(f"{share} of this run's time was lost (limit {percent_text(LOST)})",))
    widest = _widest(summary)
    evidence = [measurements.text] if measurements.lost else []
    evidence += [f"the widest interval is ± {percent_text(widest[0])} ({subject((widest[1],))})"] if widest else []
    if lost.lost <= LOST:
        title = f"{measurements.lost} of {measurements.every} measurements lost more than half of their time"
        evidence[0] = measurements.treatment
    elif lost.main == "other processes":
        title = f"Other processes took {percent_text(lost.other_processes)} of this run's time"
    elif lost.main == "oversubscription":
        crowd = worst_oversubscription(summary.run.points)
        title = crowd.text if crowd else "More threads than hardware threads: oversubscribed"
        evidence.insert(
            0, f"the run's own threads took {percent_text(lost.oversubscribed)} of its time from each other"
        )
    else:
        title = f"{share} of this run's time was lost"
    evidence += _contained(summary)
    text = f"{capital('; '.join(evidence))}. " if evidence else ""
    return RuleResult(
        (
            RunFinding(
                rule="lost time",
                title=title,
                body=f"{text}{_next_step(lost)}",
                lines=(DOCTOR, *rerun_command(summary.run)),
                family="lost time",
                details=(
                    f"{share} of the time of all measurements was lost: threads were ready but did not run",
                    *["; ".join(f"{cause} {percent_text(part)}" for cause, part in lost.named)] * bool(lost.named),
                ),
                kind="reliability",
                gain=lost.lost,
            ),
        )
    )


def _next_step(lost: Causes) -> str:
    if lost.main == "oversubscription":
        return "Start at most as many threads as there are hardware threads, then measure again."
    return "Find the cause, then measure again."


def _contained(summary: Summary) -> list[str]:
    """Return whether values of the table contain lost time; empty if that is not known for an affected figure.

    A median of short samples excludes the interrupted ones and is not affected.
    """
    found, known = [], []
    for figure in summary.figures:
        lost = [of.share for one in figure.counted if (of := lost_time_of(one.point))]
        if not figure.show.table or figure.metric.is_share or max(lost, default=0.0) <= LOST:
            continue
        factors = [one.slowed for one in figure.counted if one.slowed is not None]
        value = f"the value of {subject((figure,))} contains lost time:"
        if any(one.kind == "long preempted samples" for one in figure.caveats):
            found.append(f"{value} its samples are longer than a time slice")
        elif factors and median(factors) > SLOWED:
            found.append(f"{value} it is {median(factors):.1f} times worse than computed from CPU time")
        known.append(bool(factors))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return [f"{found[0]}{more}"]
    unaffected = bool(known) and all(known)
    return ["the values of the table are not affected: they agree with those computed from CPU time"] * unaffected


def _widest(summary: Summary) -> tuple[float, Figure] | None:
    """Return the widest limited interval of the table as relative half-width, and its figure."""
    wide = [
        (half, figure)
        for figure in summary.figures
        if figure.show.table
        and not figure.metric.is_share
        and not figure.invalid
        and figure.value
        and (half := figure.value.relative_half_width) is not None
        and any(one.kind == "wide interval" and one.grade == Grade.LIMITED for one in figure.caveats)
    ]
    return max(wide, key=lambda one: one[0], default=None)
