"""Launches of one configuration: autocorrelation, number, and agreement of repeated measurements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from octant.stats.caveats import BOUNDS, Caveat, caveat, graded
from octant.stats.intervals import LEAST_FOR_INTERVAL, scaled_values
from octant.stats.occasions import LEAST_LAUNCHES
from octant.stats.samples import FEW_LAUNCHES
from octant.units import counted, fixed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from octant.stats.intervals import Estimate
    from octant.stats.samples import Interval

LEAST_FOR_NEIGHBOURS = 8
RESEMBLING = 0.3  # lag-1 autocorrelation above which there is a caveat
EQUAL = 0.03  # repeated measurements may differ by this, or by three times the spread of their launches


def explain_few_launches(launches: int) -> str:
    """Return which conclusions are impossible with this number of launches per configuration; "" if none."""
    required = {"95 % interval": LEAST_FOR_INTERVAL, "verdict in comparisons with stored runs": LEAST_LAUNCHES}
    missing = [f"no {what} ({least} are required)" for what, least in required.items() if launches < least]
    if not missing:
        return ""
    least = max(required.values())
    return f"{counted(launches, 'launch')} per configuration: {' and '.join(missing)}; use --repeats {least}"


def neighbour_correlation(values: ArrayLike) -> float:
    """Return the lag-1 autocorrelation in the order of the launches; 0 for fewer than 8 launches or equal values."""
    y = scaled_values(values)[0]
    y = y - y.mean() if len(y) else y
    power = float(y @ y)
    return float(y[1:] @ y[:-1]) / power if len(y) >= LEAST_FOR_NEIGHBOURS and power > 0 else 0.0


def caveats_over_launches(
    launches: Sequence[Interval], estimate: Estimate, of_whole: bool = False
) -> tuple[Caveat, ...]:
    """Return the caveats due to the number, the spread and the order of launches.

    Args:
        launches: in the order in which they were made.
        estimate: of these launches, by `median_over_launches`.
        of_whole: the values are shares of a whole, so the half-width is stated in percentage points: 2 to 8 % is ± 3.
    """
    found: list[Caveat] = []
    if len(launches) < FEW_LAUNCHES:
        found.append(caveat("few launches", _few_launches_text(len(launches)), -len(launches)))
    half = (estimate.high - estimate.low) / 2 if of_whole and estimate.is_interval else estimate.relative_half_width
    if half is not None:
        unit = "points" if of_whole else "%"
        text = f"the 95 % interval is ± {fixed_text(100 * half, 0)} {unit}; more launches narrow it"
        if half > BOUNDS["wide interval"][-1]:  # then it is not stated
            text = f"not measurable: {len(launches)} launches differ too much; use more launches"
        found += graded("wide interval", half, text)
    alike = neighbour_correlation([launch.middle for launch in launches])
    if alike > RESEMBLING:
        text = f"successive launches are correlated (lag-1 autocorrelation {alike:.1f}), so the interval is too narrow"
        found.append(caveat("autocorrelated launches", text, alike))
    return tuple(found)


def _few_launches_text(number: int) -> str:
    count = "is only 1 launch" if number == 1 else f"are only {number} launches"
    return f"there {count}; {FEW_LAUNCHES} or more give an interval from order statistics"


def caveats_about_equal_points(
    points: Sequence[Sequence[Interval]], value_text: Callable[[float], str] = "{:.4g}".format
) -> tuple[Caveat, ...]:
    """Return a caveat if repeated measurements of one configuration, whose launches are pooled, disagree.

    Two measurements disagree if their medians differ by more than 3 %, and by more than three times the standard
    deviation of launches within the measurements.

    Args:
        points: the launches of each measurement, at least one each.
        value_text: formats a value.
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
    text = (
        f"repeated measurements of this run differ by {fixed_text(100 * math.expm1(min(apart, 700.0)), 0)} % ({values})"
    )
    return (caveat("inconsistent repeated measurements", text, apart),)
