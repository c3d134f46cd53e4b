"""The published numbers of a study, from the catalogue, laid beside its combinations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import catalogue
from octant.study.cells import Cell, combinations

if TYPE_CHECKING:
    from octant.study.file import FindingTest, Study
    from octant.study.parts import PublishedTable


@dataclass(frozen=True)
class PublishedValue:
    """One published value and the cell of the study that asks the same."""

    cell: Cell
    at: str  # axis value, or ""
    observation: catalogue.Observation
    value: float  # base units


def published_values(study: Study) -> list[PublishedValue]:
    """Every published value that a cell of the study asks for again."""
    return [one for asked in study.published for one in _values_of(study, asked)]


def _values_of(study: Study, asked: PublishedTable) -> Iterator[PublishedValue]:
    table = catalogue.results()[asked.table]
    for levels in combinations(study):
        where: dict[str, str] | None = dict(asked.where)
        for factor, level in zip(study.factors, levels, strict=True):
            if factor in asked.columns:
                wanted = asked.columns[factor].get(level)
                where = None if wanted is None or where is None else {**where, **wanted}
        for observation in table.find(asked.metric, where) if where is not None else ():
            at = observation.configuration.get(asked.axis, "") if asked.axis else ""
            if observation.value is not None:
                yield PublishedValue(Cell(asked.measure, levels), at, observation, observation.value * asked.scale)


def published_range(study: Study, asked: FindingTest) -> tuple[float, float] | None:
    """The published range of the quantity that a finding's test asks for; `None` where the documents give none.

    Unless the study says which values, only tables that the catalogue names as the finding's evidence count: the same
    combinations may stand in a table about another kind of machine.
    """
    if asked.there is not None:
        table = catalogue.results()[asked.there.table]
        values = [o.value for o in table.find(asked.there.metric, asked.there.where) if o.value is not None]
        factors = [1 + value / 100 if asked.there.means == "percent" else value for value in values]
        return (min(factors), max(factors)) if factors else None
    evidence = catalogue.findings()[asked.id].evidence
    known = [value for one in study.published if one.table in evidence for value in _values_of(study, one)]
    return asked.test.published_range(study, known)
