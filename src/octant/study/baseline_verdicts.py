"""Comparison of each combination with the baseline by paired rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant.stats import Grade, Period
from octant.stats.paired import paired_verdicts
from octant.study.parts import Cell
from octant.study.ratios import gain_in_rounds
from octant.study.values import CannotTest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.stats.verdicts import Verdict
    from octant.study.question import Study
    from octant.study.ratios import Rounds
    from octant.study.values import Place, StudyValue, StudyValues


def baseline_verdicts(study: Study, values: StudyValues) -> Mapping[Place, Verdict]:
    """Compare each place with the baseline at the same axis value.

    The verdicts are corrected for multiple comparisons (Benjamini and Hochberg 1995). Excluded are values of a model,
    values without a baseline, not measurable values, other scales, and combinations identical to the baseline.
    """
    rounds: dict[Place, Rounds] = {}
    for cell, curve in values.by_cell.items():
        baseline_cell = Cell(cell.measure, study.baseline_of(cell.levels))
        if cell in values.same or cell == values.same.get(baseline_cell, baseline_cell) or study.is_scaled(cell.levels):
            continue
        for at, value in curve.items():
            baseline = values.by_cell.get(baseline_cell, {}).get(at)
            if baseline is not None and _is_measured(value) and _is_measured(baseline):
                try:
                    rounds[cell, at] = gain_in_rounds(value, baseline, values.better(cell.measure))
                except CannotTest:
                    continue
    if not rounds:
        return {}
    periods = [one.period for one in rounds.values()]
    period = Period(min(one.begin for one in periods), max(one.end for one in periods))
    judged = paired_verdicts([np.array(list(one.logs.values())) for one in rounds.values()], period)
    return dict(zip(rounds, judged, strict=True))


def _is_measured(value: StudyValue) -> bool:
    return value.modelled is None and all(caveat.grade < Grade.INVALID for caveat in value.caveats)
