"""Cells of a study, and the values of its axes on a machine."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from octant import facts
from octant.study.parts import Cell, number

if TYPE_CHECKING:
    from octant.study.question import Study


def combinations(study: Study) -> list[tuple[str, ...]]:
    """Return the levels of each combination: those that the file lists, or all."""
    if study.combinations:
        return list(dict.fromkeys(study.full(levels) for levels in study.combinations))
    return list(itertools.product(*study.factors.values()))


def cells(study: Study) -> list[Cell]:
    """Return the cells of all measures in all combinations."""
    return [Cell(measure, levels) for levels in combinations(study) for measure in study.measures]


def axis_values(study: Study, known: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the axis values on a machine: measure -> as written -> a value, or the values of a ladder.

    Args:
        known: the machine's `facts`.

    Raises:
        ValueError: a ladder that does not ascend on this machine.
    """
    return {
        name: {value: facts.values(value, known) for value in measure.axis.values}
        for name, measure in study.measures.items()
        if measure.axis
    }


def with_axis_values(study: Study, axes: Mapping[str, Mapping[str, str]]) -> Study:
    """Return the study with the values of `axis_values` in its axes, each once, numbers in ascending order."""
    measures = dict(study.measures)
    for name, written in axes.items():
        measure = measures[name]
        if measure.axis:
            values = tuple(dict.fromkeys(value for texts in written.values() for value in texts.split(",")))
            values = tuple(sorted(values, key=number)) if measure.axis.has_numbers else values
            measures[name] = replace(measure, axis=replace(measure.axis, values=values))
    return replace(study, measures=measures)
