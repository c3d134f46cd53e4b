"""Launches of one cell beside one another: whether they resemble their neighbours, and whether equal points agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from octant.stats.caveats import BOUNDS, Caveat, caveat, graded
from octant.stats.intervals import scaled_values
from octant.stats.samples import FEW_LAUNCHES
from octant.units import fixed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from octant.stats.intervals import Estimate
    from octant.stats.samples import Interval

LEAST_FOR_NEIGHBOURS = 8
RESEMBLING = 0.3  # the correlation of neighbours beyond which a caveat is raised
EQUAL = 0.03  # equal points may differ by this, or by three times the spread of their launches


def neighbour_correlation(values: ArrayLike) -> float:
    """The correlation of successive values in the order of their launches; 0 for fewer than 8 or equal ones."""
    y = scaled_values(values)[0]
    y = y - y.mean() if len(y) else y
    power = float(y @ y)
    return float(y[1:] @ y[:-1]) / power if len(y) >= LEAST_FOR_NEIGHBOURS and power > 0 else 0.0


def caveats_over_launches(
    launches: Sequence[Interval], estimate: Estimate, of_whole: bool = False
) -> tuple[Caveat, ...]:
    """What their number, their spread and their order say against the figure of launches.

    Args:
        launches: in the order in which they were made.
        estimate: of these launches, by `median_over_launches`.
        of_whole: they are shares of a whole, of which the width of the interval is a share too: 2 to 8 % lost is
            3 points wide to either side, however many times 2 goes into 8.
    """
    found: list[Caveat] = []
    if len(launches) < FEW_LAUNCHES:
        found.append(
            caveat("few launches", f"only {len(launches)} launch" + "es" * (len(launches) > 1), -len(launches))
        )
    half = (estimate.high - estimate.low) / 2 if of_whole and estimate.is_interval else estimate.relative_half_width
    if half is not None:
        unit = "points" if of_whole else "%"
        text = f"the interval is ± {fixed_text(100 * half, 0)} {unit}"
        if half > BOUNDS["wide interval"][-1]:  # then it is not stated
            text = f"{len(launches)} launches differ too much: not measurable here"
        found += graded("wide interval", half, text)
    alike = neighbour_correlation([launch.middle for launch in launches])
    if alike > RESEMBLING:
        text = f"launches resemble their neighbours (correlation {alike:.1f}): the interval is too narrow"
        found.append(caveat("launches resemble their neighbours", text, alike))
    return tuple(found)


def caveats_about_equal_points(
    points: Sequence[Sequence[Interval]], value_text: Callable[[float], str] = "{:.4g}".format
) -> tuple[Caveat, ...]:
    """A caveat if equal points of a run disagree, whose launches are pooled.

    Two points disagree where their medians differ by more than 3 %, and by more than three times the spread of
    launches within the points (standard deviation).

    Args:
        points: the launches of each point, each at least one.
        value_text: how a value is written.
    """
    sides = [np.array([launch.middle for launch in launches]) for launches in points]
    if len(sides) < 2 or not all((side > 0).all() for side in sides):
        return ()
    logs = [np.log(side) for side in sides]
    freedom = sum(len(side) - 1 for side in logs)
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in logs)
    spread = math.sqrt(squares / freedom) if freedom else 0.0
    medians = sorted(float(np.median(side)) for side in logs)
    apart = medians[-1] - medians[0]
    if apart <= max(math.log1p(EQUAL), 3 * spread):
        return ()
    values = f"{value_text(math.exp(medians[0]))} and {value_text(math.exp(medians[-1]))}"
    text = f"equal points of this run differ by {fixed_text(100 * math.expm1(min(apart, 700.0)), 0)} % ({values})"
    return (caveat("equal points differ", text, apart),)
