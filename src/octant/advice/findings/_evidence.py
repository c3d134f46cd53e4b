"""Evidence for gains: ratios of paired launches, and the affected share of the run."""

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
    """Return the ratio of the faster to the slower figure, from launches of the same rounds.

    Launches of equal figures of the same request count, too. The result is `None` below `LEAST_PAIRS`, or if a figure
    must not be used for a verdict.

    Args:
        times: factor between the units of the faster and of the slower figure.
        of: number of ratios that are tested together; the interval is corrected for it (Bonferroni).
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
    """Return limit / figure with the interval of the launches; `None` if it may be 1.

    The limit itself has no uncertainty: it is the best of the run, or that of the hardware.
    """
    value, best = figure.value, figure.at_limit
    if value is None or not best or not value.is_interval or value.number < LEAST_PAIRS or value.low <= 0:
        return None
    ends = [best / end for end in (value.high, value.middle, value.low)]
    low, middle, high = ends if figure.metric.better == "higher" else [1 / end for end in reversed(ends)]
    gap = Estimate(low, middle, high, value.kind, value.claim, value.number, value.period)
    return gap if is_beyond(gap) else None


def is_usable(figure: Figure) -> bool:
    """Return whether ratios are valid: results are correct, measured as requested, and above 0."""
    values = [launch.value.middle for one in (figure, *figure.equal) for launch in one.launches]
    return figure.value is not None and not invalid_caveats(figure) and all(0 < value < math.inf for value in values)


def is_beyond(ratio: Estimate) -> bool:
    """Return whether the whole interval of a ratio is above `NOTHING_BELOW`."""
    return ratio.is_interval and ratio.low > NOTHING_BELOW


def is_sure(figure: Figure) -> bool:
    """Return whether a figure has no caveats except notes."""
    return all(one.grade <= Grade.NOTE for one in figure.caveats)


def gain_of(summary: Summary, ratio: float, touched: Sequence[Figure]) -> float:
    """Return the order of a finding: the logarithm of the ratio times the share of affected tiles.

    For a run without tiles, the share of affected workloads is used.
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
    """Return whether the library uses kernels for another core and the figure is below `OF_PEAK`."""
    processor = summary.run.machine.processor
    core, own = figure.point.notes.get("library_core"), own_core(processor.vendor, processor.flags)
    share = figure.of_limit
    return bool(core and own) and core != own and share is not None and share < OF_PEAK
