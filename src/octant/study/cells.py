"""The cells of a study, and what the values along its axes come to on a machine."""

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
    """The levels of every combination: those that the file lists, else all."""
    if study.combinations:
        return list(dict.fromkeys(study.full(levels) for levels in study.combinations))
    return list(itertools.product(*study.factors.values()))


def cells(study: Study) -> list[Cell]:
    """Every measure in every combination."""
    return [Cell(measure, levels) for levels in combinations(study) for measure in study.measures]


def axis_values(study: Study, known: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """What the values along axes come to on a machine: measure -> as written -> a value, or those of a ladder.

    Args:
        known: the machine's `facts`.

    Raises:
        ValueError: a ladder that does not ascend here.
    """
    return {
        name: {value: facts.values(value, known) for value in measure.axis.values}
        for name, measure in study.measures.items()
        if measure.axis
    }


def with_axis_values(study: Study, axes: Mapping[str, Mapping[str, str]]) -> Study:
    """The study whose axes have the values that `axis_values` gave, each once, numbers in ascending order."""
    measures = dict(study.measures)
    for name, written in axes.items():
        measure = measures[name]
        if measure.axis:
            values = tuple(dict.fromkeys(value for texts in written.values() for value in texts.split(",")))
            values = tuple(sorted(values, key=number)) if measure.axis.has_numbers else values
            measures[name] = replace(measure, axis=replace(measure.axis, values=values))
    return replace(study, measures=measures)
