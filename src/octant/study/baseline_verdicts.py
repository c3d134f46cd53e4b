"""What a run says of each combination against the baseline: the words and tests of paired rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant.stats import Grade, Period
from octant.stats.paired import paired_verdicts
from octant.study.factors import gain_in_rounds
from octant.study.parts import Cell
from octant.study.values import CannotTest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.stats.verdicts import Verdict
    from octant.study.factors import Rounds
    from octant.study.question import Study
    from octant.study.values import Place, StudyValue, StudyValues


def baseline_verdicts(study: Study, values: StudyValues) -> Mapping[Place, Verdict]:
    """The verdict on each place against the baseline at the same axis value, corrected for their number.

    Left out: places of a model, without a baseline, in doubt of grade 3, of another scale, and combinations that are
    here the same launch as the baseline.
    """
    rounds: dict[Place, Rounds] = {}
    for cell, curve in values.by_cell.items():
        base = Cell(cell.measure, study.full({}))
        if cell in values.same or cell == values.same.get(base, base) or study.is_scaled(cell.levels):
            continue
        for at, value in curve.items():
            origin = values.by_cell.get(base, {}).get(at)
            if origin is not None and _counts(value) and _counts(origin):
                try:
                    rounds[cell, at] = gain_in_rounds(value, origin, values.better(cell.measure))
                except CannotTest:
                    continue
    if not rounds:
        return {}
    periods = [one.period for one in rounds.values()]
    period = Period(min(one.begin for one in periods), max(one.end for one in periods))
    judged = paired_verdicts([np.array(list(one.logs.values())) for one in rounds.values()], period)
    return dict(zip(rounds, judged, strict=True))


def _counts(value: StudyValue) -> bool:
    return value.modelled is None and all(caveat.grade < Grade.INVALID for caveat in value.caveats)
