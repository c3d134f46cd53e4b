"""The figures of a run that a first screen names, and the launches of one as dots."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from octant.ask import comparable_value
from octant.report import claims
from octant.report.run.answer import Strip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import Named


def place_of(summary: Summary, figure: Figure) -> int | None:
    """Where the headline figure of a figure's cell is in the summary."""
    cell = (figure.identity.cell, figure.title)
    return next((i for i, one in enumerate(summary.figures) if (one.identity.cell, one.title) == cell), None)


def _has(figure: Figure, knobs: Mapping[str, str]) -> bool:
    spelled = partial(comparable_value, subject=figure.workload.name)
    return all(spelled(figure.knobs.get(name, "")) == spelled(value) for name, value in knobs.items())


def matching(summary: Summary, named: Named) -> list[Figure]:
    """The figures that a name may mean, in the order in which they were asked."""
    cells = [figure for figure in summary.figures if figure.label == named.title and _has(figure, named.knobs)]
    return [figure for cell in cells if (figure := summary.figure(cell, named.metric))]


def find(summary: Summary, named: Named) -> Figure | None:
    """The figure of a run that is named; `None` where nothing of it was measured."""
    found = matching(summary, named)
    if named.pick == "best":
        good = [(figure.value.middle, i) for i, figure in enumerate(found) if figure.value and not figure.invalid]
        best = max if found and found[0].metric.better == "higher" else min
        return found[best(good)[1]] if good else None
    return found[-1 if named.pick == "last" else 0] if found else None


def first(summary: Summary, named: Iterable[Named]) -> Figure | None:
    """The first of them that has a value or a wrong answer, else the first that there is."""
    found = [figure for one in named if (figure := find(summary, one))]
    return next((figure for figure in found if figure.value or figure.wrong), found[0] if found else None)


def launch_strip(figure: Figure) -> Strip | None:
    """The launches of a figure as dots; none where there is one launch."""
    value = figure.value
    if value is None or figure.tried < 2:
        return None
    every = [launch for one in (figure, *figure.equal) for launch in one.launches]
    filled, left_out = (tuple(one.value.middle for one in every if one.counts is side) for side in (True, False))
    low, high = (value.low, value.high) if value.is_interval and filled else (value.middle, value.middle)
    strip = Strip(filled, left_out, low, value.middle, high)
    return replace(strip, ends=claims.end_texts(value, figure.metric, strip.span))
