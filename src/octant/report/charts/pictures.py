"""The pictures of a run: the roofline, what its workloads declare, and the balance of places; each in its file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from octant import build, workload
from octant.analysis import balance as places
from octant.analysis.balance import Balances
from octant.failure import Refusal
from octant.report.charts.bars.balance import balance
from octant.report.charts.bars.bars import bars, stacked
from octant.report.charts.bars.choice import choice
from octant.report.charts.bars.histogram import histogram
from octant.report.charts.bars.interruptions import lost_time
from octant.report.charts.bars.rank_bars import rank_bars
from octant.report.charts.cells import MeasuredCells
from octant.report.charts.curves.curve import curve
from octant.report.charts.curves.ladder import ladder
from octant.report.charts.curves.messages import messages
from octant.report.charts.curves.roofline import roofline
from octant.report.charts.curves.rungs import Ladders, rungs
from octant.report.charts.curves.spread import spread
from octant.report.charts.curves.timeline import timeline
from octant.report.charts.matrix import matrix

if TYPE_CHECKING:
    from octant.analysis.summary import Modelled, Summary
    from octant.report.charts.picture import Picture

_NO_ID = re.compile(r"[^A-Za-z0-9.-]+")
"""What identifiers of pictures do not hold; names of programs may."""


def pictures(summary: Summary) -> list[Picture]:
    """All pictures for which the run has the points, with the lines of the model that the summary has, or the run."""
    modelled = summary.modelled or _modelled(summary)
    ladders = Ladders(rungs(summary), summary.run.machine)
    found = [one for one in (roofline(summary.known, summary.figures, ladders), ladder(ladders)) if one]
    kinds: Counter[str] = Counter()
    for one, figures in summary.by_workload():
        cells = MeasuredCells(one, figures, summary.figure, ladders, modelled)
        for declared in cells.workload.pictures:
            picture = _picture(cells, declared)
            if picture is not None:
                name = f"{_NO_ID.sub('-', one.name)}-{picture.id}"  # of an element of the page, and of a file
                kinds[name] += 1
                number = f"-{kinds[name]}" if kinds[name] > 1 else ""
                found.append(replace(picture, id=f"{name}{number}"))
    even = balance(Balances(places.balance(summary)))
    return [*found, even] if even else found


def _modelled(summary: Summary) -> Modelled | None:
    """Return the run's own model of its messages, if the run has patterns that the model can predict."""
    try:
        if not _has_patterns(summary) or build.network_module() is None:
            return None
    except Refusal:  # the engine cannot be built; a page is made without its lines
        return None
    from octant.simulate.model_comparison import with_model  # noqa: PLC0415 - it is not everywhere

    return with_model(summary).modelled


def _has_patterns(summary: Summary) -> bool:
    """Whether the run measured messages of several ranks at once: single messages are what the model is made from."""
    for figure in summary.figures:
        if figure.workload.traffic:
            try:
                traffic = figure.workload.traffic(summary.run.machine, figure.point)
            except (Refusal, KeyError, ValueError):  # of a point of another version
                continue
            if isinstance(traffic, workload.CollectiveTraffic) or (
                isinstance(traffic, workload.Traffic) and not traffic.is_message
            ):
                return True
    return False


def _picture(cells: MeasuredCells, declared: workload.Picture) -> Picture | None:
    match declared:
        case workload.Ladder():
            return None  # all of them are one picture
        case workload.Messages():
            return messages(cells, declared)
        case workload.Curve():
            return curve(cells, declared)
        case workload.Histogram():
            return histogram(cells, declared)
        case workload.LostTime():
            return lost_time(cells, declared)
        case workload.Bars():
            return bars(cells, declared)
        case workload.Spread():
            return spread(cells, declared)
        case workload.Choice():
            return choice(cells, declared)
        case workload.Stacked():
            return stacked(cells, declared)
        case workload.Timeline():
            return timeline(cells, declared)
        case workload.Matrix():
            return matrix(cells, declared)
        case workload.RankBars():
            return rank_bars(cells, declared)
