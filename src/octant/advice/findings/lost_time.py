"""Other work took time from what was measured."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import subject
from octant.advice.findings._lines import DOCTOR, again
from octant.advice.findings._thresholds import LOST, SLOWED
from octant.analysis.causes import causes_of_run, halved
from octant.analysis.lost import lost_time_of, oversubscription
from octant.stats import Grade
from octant.units import capital, percent_text

if TYPE_CHECKING:
    from octant.analysis.causes import Causes
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Fires above `LOST`, and where measurements of the table lost more than half of their time."""
    lost = causes_of_run(summary)
    if lost is None:
        return RuleResult()
    share = percent_text(lost.lost)
    measurements = halved(summary)
    of_table = any(not one.counts for figure in summary.figures if figure.show.table for one in figure.launches)
    if lost.lost <= LOST and not of_table:
        return RuleResult(passed=(f"{share} of this run's time was lost, not more than {percent_text(LOST)}",))
    widest = _widest(summary)
    evidence = [measurements.text] if measurements.lost else []
    evidence += [f"the widest interval is ± {percent_text(widest[0])} ({subject((widest[1],))})"] if widest else []
    if lost.lost <= LOST:
        title = f"{measurements.lost} of {measurements.every} measurements lost over half of their time"
        evidence[0] = measurements.so
    elif lost.main == "other processes":
        title = f"Other processes took {percent_text(lost.other_processes)} of this run's time"
    elif lost.main == "oversubscription":
        title = f"Threads that share hardware threads took {percent_text(lost.oversubscribed)} of this run's time"
        evidence += _oversubscribed(summary)
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
                lines=(DOCTOR, *again(summary.run)),
                family="lost time",
                details=(
                    f"{share} of the time of all measurements was lost: threads that had work did not run",
                    *["; ".join(f"{cause} {percent_text(part)}" for cause, part in lost.named)] * bool(lost.named),
                ),
                kind="reliability",
                gain=lost.lost,
            ),
        )
    )


def _next_step(lost: Causes) -> str:
    if lost.main == "oversubscription":
        return "Start as many threads as there are hardware threads, then measure again."
    return "Find what it is, then measure again."


def _oversubscribed(summary: Summary) -> list[str]:
    """How many threads shared how many hardware threads, of the first point that says it."""
    found = (oversubscription(point) for point in summary.run.points)
    return [crowd.text for crowd in found if crowd][:1]


def _contained(summary: Summary) -> list[str]:
    """Whether values of the table contain the lost time; nothing where that is not known of a figure that lost some.

    A median of short samples leaves the interrupted ones out, and is as large as without a loss.
    """
    found, known = [], []
    for figure in summary.figures:
        lost = [of.share for one in figure.counted if (of := lost_time_of(one.point))]
        if not figure.show.table or figure.metric.is_share or max(lost, default=0.0) <= LOST:
            continue
        factors = [one.slowed for one in figure.counted if one.slowed is not None]
        value = f"the value of {subject((figure,))} contains lost time:"
        if any(one.kind == "long samples" for one in figure.caveats):
            found.append(f"{value} its samples last longer than a time slice")
        elif factors and median(factors) > SLOWED:
            found.append(f"{value} it is {median(factors):.1f} times worse than by the CPU time that was used")
        known.append(bool(factors))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return [f"{found[0]}{more}"]
    unaffected = bool(known) and all(known)
    return ["no value of the table contains lost time: each is as good as by the CPU time that was used"] * unaffected


def _widest(summary: Summary) -> tuple[float, Figure] | None:
    """The widest interval of the table that is limited, half of it over the value, of figures that are measurable."""
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
