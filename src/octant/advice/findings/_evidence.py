"""What gains rest on: ratios of paired launches, and how much of the run they touch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from octant.advice.findings._thresholds import LEAST_PAIRS, NOTHING_BELOW, OF_PEAK
from octant.analysis.evidence import invalid_caveats, log_ratios
from octant.software.blas import own_core
from octant.stats import Estimate, Grade, Period
from octant.stats.paired import ratio_in_rounds
from octant.stats.student import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary


def paired_ratio(slower: Figure, faster: Figure, times: float = 1.0, of: int = 1) -> Estimate | None:
    """The speed of one figure of a run over that of another, from launches of the same round.

    Launches of equal figures count too, where they are of the same request. `None` below `LEAST_PAIRS`, and where either
    figure is none that a verdict may be made of.

    Args:
        times: what one unit of the faster figure is worth in units of the slower.
        of: how many ratios are looked at together; the interval is as wide as that needs (Bonferroni).
    """
    if not (is_usable(slower) and is_usable(faster)):
        return None
    sides = [(a, b) for a in (slower, *slower.equal) for b in (faster, *faster.equal) if _request(a) == _request(b)]
    x = np.concatenate([log_ratios(a, b) for a, b in sides or [(slower, faster)]]) + math.log(times)
    if len(x) < LEAST_PAIRS:
        return None
    periods = [one.value.period for one in (slower, faster) if one.value]
    return ratio_in_rounds(x, Period(min(p.begin for p in periods), max(p.end for p in periods)), LEVEL / of)


def gap_of(figure: Figure) -> Estimate | None:
    """The limit over the figure, as the interval of its launches has it; `None` where it may be nothing.

    The limit itself is taken as known: it is the best of the run, or the hardware's.
    """
    value, best = figure.value, figure.at_limit
    if value is None or not best or not value.is_interval or value.number < LEAST_PAIRS or value.low <= 0:
        return None
    ends = [best / end for end in (value.high, value.middle, value.low)]
    low, middle, high = ends if figure.metric.better == "higher" else [1 / end for end in reversed(ends)]
    gap = Estimate(low, middle, high, value.kind, value.claim, value.number, value.period)
    return gap if is_beyond(gap) else None


def is_usable(figure: Figure) -> bool:
    """Whether a ratio may be made of it: its answers are right, were measured as asked, and are above 0."""
    values = [launch.value.middle for one in (figure, *figure.equal) for launch in one.launches]
    return figure.value is not None and not invalid_caveats(figure) and all(0 < value < math.inf for value in values)


def is_beyond(ratio: Estimate) -> bool:
    """Whether a ratio's whole interval lies beyond what is of no interest."""
    return ratio.is_interval and ratio.low > NOTHING_BELOW


def is_sure(figure: Figure) -> bool:
    """Whether nothing but notes casts doubt on a figure."""
    return all(one.grade <= Grade.NOTE for one in figure.caveats)


def gain_of(summary: Summary, ratio: float, touched: Sequence[Figure]) -> float:
    """What orders findings: the ratio's logarithm, times the share of the tiles that show a touched ask.

    Of a run without tiles, times the share of its workloads.
    """
    every = [{one.title for one in tile.figures} for tile in summary.run.screen.tiles]
    mine = {figure.label for figure in touched}
    if not every:
        every = [{name} for name in dict.fromkeys(figure.workload.name for figure in summary.figures)]
        mine = {figure.workload.name for figure in touched}
    return abs(math.log(ratio)) * sum(not mine.isdisjoint(tile) for tile in every) / max(1, len(every))


def _request(figure: Figure) -> str:
    return figure.point.launch.rpartition("-")[0]


def is_of_another_core(summary: Summary, figure: Figure) -> bool:
    """Whether its library notes kernels for another core than the processor's, and is below `OF_PEAK`."""
    processor = summary.run.machine.processor
    core, own = figure.point.notes.get("library_core"), own_core(processor.vendor, processor.flags)
    share = figure.of_limit
    return bool(core and own) and core != own and share is not None and share < OF_PEAK
