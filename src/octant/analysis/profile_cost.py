"""The time that recording MPI calls costs: paired rounds of a program with and without it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.analysis.program import WALL
from octant.stats.paired import LEAST_ROUNDS, paired_bounds, paired_levels
from octant.units import counted, si_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.store import StoredRun

_REPEAT = re.compile(r"-(\d+)\Z")


@dataclass(frozen=True)
class ProfileCost:
    """Wall time of a program with its MPI calls recorded, over that without."""

    low: float  # ends of the 95 % interval of the ratio
    ratio: float
    high: float
    without_s: float
    recorded_s: float
    rounds: int

    @property
    def text(self) -> str:
        """The cost in one or two sentences."""
        low, middle, high = (f"{100 * (one - 1):+.2g} %" for one in (self.low, self.ratio, self.high))
        remark = ""
        if self.low <= 1 <= self.high:
            remark = " The interval contains 0: no overhead is proven."
        elif self.high < 1:
            remark = " Recording cannot make a program faster: the machine was disturbed; measure again."
        times = f"{si_text(self.without_s, 's', 3)} without it, {si_text(self.recorded_s, 's', 3)} with it"
        return (
            f"Recording the MPI calls changes the wall time by {middle} (95 % interval {low} to {high}, "
            f"{counted(self.rounds, 'paired round')}; {times}).{remark}"
        )

    @property
    def document(self) -> dict[str, float]:
        """The cost as JSON data."""
        names = ("low", "ratio", "high", "without_s", "recorded_s", "rounds")
        return {name: getattr(self, name) for name in names}


def profile_cost(without: StoredRun, recorded: StoredRun) -> ProfileCost | None:
    """Return the cost of recording; `None`: too few rounds.

    Args:
        without: run of the program as it is.
        recorded: run of the same rounds with recording.
    """
    sides = _seconds(without), _seconds(recorded)
    rounds = sorted(sides[0].keys() & sides[1].keys())
    if len(rounds) < LEAST_ROUNDS:
        return None
    logs = [np.log([side[number] for number in rounds]) for side in sides]
    low, middle, high = (math.exp(float(end)) for end in paired_bounds(logs[1] - logs[0]))
    levels = [math.exp(level) for level in paired_levels(*logs)]
    return ProfileCost(low, middle, high, levels[0], levels[1], len(rounds))


def _seconds(run: StoredRun) -> Mapping[int, float]:
    """Return the wall time of each round."""
    found: dict[int, float] = {}
    for point in run.points:
        repeat = _REPEAT.search(point.launch)
        seconds = next((one.value for one in point.results if one.name == WALL), 0.0)
        if repeat and seconds > 0:
            found[int(repeat[1])] = seconds
    return found
