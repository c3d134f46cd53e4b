"""The pictures of a run: the roofline, what its workloads declare, and the balance of places."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from octant import build, workload
from octant.analysis import balance as places
from octant.analysis.balance import Balances
from octant.analysis.summary import Modelled, Summary
from octant.failure import Refusal
from octant.report.charts.bars.bars import balance, bars, choice, lost_time, rank_bars, stacked
from octant.report.charts.curves.curve import curve, ladder, messages, spread, timeline
from octant.report.charts.curves.figure_curves import Ladders, MeasuredCells, rungs
from octant.report.charts.curves.roofline import roofline
from octant.report.charts.matrix import matrix
from octant.report.charts.picture import Picture

_NO_ID = re.compile(r"[^A-Za-z0-9.-]+")
"""Characters that identifiers of pictures do not have; names of programs may."""
_KINDS: dict[type, Callable[[MeasuredCells, Any], Picture | None]] = {
    workload.Messages: messages, workload.Curve: curve, workload.LostTime: lost_time,
    workload.Bars: bars, workload.Spread: spread, workload.Choice: choice, workload.Stacked: stacked,
    workload.Timeline: timeline, workload.Matrix: matrix, workload.RankBars: rank_bars,
}  # fmt: skip
"""What draws each declared kind, except ladders, which are one picture."""


def pictures(summary: Summary) -> list[Picture]:
    """Return all pictures for which the run has the points, with lines of the summary's model, or of the run's own."""
    modelled = summary.modelled or _own_model(summary)
    ladders = Ladders(rungs(summary), summary.run.machine)
    drawn = [roofline(summary.known, summary.figures, ladders), ladder(ladders)]
    numbers: Counter[str] = Counter()
    for one, figures in summary.by_workload():
        cells = MeasuredCells(one, figures, summary.figure, ladders, modelled)
        for declared in one.pictures:
            picture = None if isinstance(declared, workload.Ladder) else _KINDS[type(declared)](cells, declared)
            if picture is not None:
                name = f"{_NO_ID.sub('-', one.name)}-{picture.id}"  # of an element of the page, and of a file
                numbers[name] += 1
                drawn.append(replace(picture, id=f"{name}-{numbers[name]}" if numbers[name] > 1 else name))
    return list(filter(None, [*drawn, balance(Balances(places.balance(summary)))]))


def _own_model(summary: Summary) -> Modelled | None:
    """Return the run's own model of its messages, if the run has patterns that the model can predict."""
    try:
        if not _has_patterns(summary) or build.network_module() is None:
            return None
    except Refusal:  # the engine cannot be built; the page has no lines of the model
        return None
    from octant.simulate.model_comparison import with_model  # noqa: PLC0415 - it is not everywhere

    return with_model(summary).modelled


def _has_patterns(summary: Summary) -> bool:
    """Return whether the run measured messages of several ranks at once; the model is made from single messages."""
    for figure in (one for one in summary.figures if one.workload.traffic):
        try:
            traffic = figure.workload.traffic(summary.run.machine, figure.point)  # type: ignore[misc]
        except (Refusal, KeyError, ValueError):  # of a point of another version
            continue
        is_pattern = isinstance(traffic, workload.Traffic) and not traffic.is_message
        if is_pattern or isinstance(traffic, workload.CollectiveTraffic):
            return True
    return False
