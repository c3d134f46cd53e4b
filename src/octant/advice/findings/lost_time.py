"""Other work took time from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import Finding, Judged
from octant.advice.findings._curves import subject
from octant.advice.findings._lines import DOCTOR, again
from octant.advice.findings._thresholds import LOST
from octant.analysis.causes import causes_of_run, halved
from octant.stats import Grade
from octant.units import capital, percent_text

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> Judged:
    """Fires above `LOST`, and where measurements of the table lost more than half of their time."""
    lost = causes_of_run(summary)
    if lost is None:
        return Judged()
    share = percent_text(lost.lost)
    measurements = halved(summary)
    of_table = any(not one.counts for figure in summary.figures if figure.show.table for one in figure.launches)
    if lost.lost <= LOST and not of_table:
        return Judged(passed=(f"{share} of this run's time was lost, not more than {percent_text(LOST)}",))
    widest = _widest(summary)
    evidence = [measurements.text] if measurements.lost else []
    evidence += [f"the widest interval is ± {percent_text(widest[0])} ({subject((widest[1],))})"] if widest else []
    if lost.lost <= LOST:
        title = f"{measurements.lost} of {measurements.every} measurements lost over half of their time"
        evidence[0] = measurements.so
    elif lost.other_processes >= lost.lost / 2:
        title = f"Other processes took {percent_text(lost.other_processes)} of this run's time"
    else:
        title = f"{share} of this run's time was lost"
    text = "; ".join(evidence) or "What a measurement loses makes it slower than the machine is"
    return Judged(
        (
            Finding(
                rule="lost time",
                title=title,
                body=f"{capital(text)}. Find what it is, then measure again.",
                lines=(DOCTOR, *again(summary.run)),
                family="lost time",
                details=(
                    f"{share} of the time of all measurements was lost: threads that had work did not run",
                    "; ".join(f"{cause} {percent_text(part)}" for cause, part in lost.parts),
                ),
                kind="belief",
                gain=lost.lost,
            ),
        )
    )


def _widest(summary: Summary) -> tuple[float, Figure] | None:
    """The widest interval of the table that is doubtful, half of it over the value, of figures that are measurable."""
    wide = [
        (half, figure)
        for figure in summary.figures
        if figure.show.table
        and not figure.metric.is_share
        and not figure.invalid
        and figure.value
        and (half := figure.value.relative_half_width) is not None
        and any(one.kind == "wide interval" and one.grade == Grade.DOUBTFUL for one in figure.doubts)
    ]
    return max(wide, key=lambda one: one[0], default=None)
