"""The published numbers of a study, from the catalogue, laid beside its combinations."""

from collections.abc import Iterator
from dataclasses import dataclass

from octant import catalogue
from octant.study.design import Cell, combinations
from octant.study.file import FindingTest, Levels, Published, Ratio, Study
from octant.study.sources import kind_of


@dataclass(frozen=True)
class Row:
    """One published value and the cell of the study that asks the same."""

    cell: Cell
    at: str  # axis value, or ""
    observation: catalogue.Observation
    value: float  # base units


def rows(study: Study) -> list[Row]:
    """Every published value that a cell of the study asks for again."""
    return [row for asked in study.published for row in _rows(study, asked)]


def _rows(study: Study, asked: Published) -> Iterator[Row]:
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
                yield Row(Cell(asked.measure, levels), at, observation, observation.value * asked.scale)


def there(study: Study, asked: FindingTest) -> tuple[float, float] | None:
    """The published range of the quantity that a finding's test asks for; `None` where the documents give none.

    Unless the study says which values, only tables that the catalogue names as the finding's evidence count: the same
    combinations may stand in a table about another kind of machine.
    """
    if asked.there is not None:
        table = catalogue.results()[asked.there.table]
        values = [o.value for o in table.find(asked.there.metric, asked.there.where) if o.value is not None]
        factors = [1 + value / 100 if asked.there.means == "percent" else value for value in values]
        return (min(factors), max(factors)) if factors else None
    if not isinstance(asked.test, Ratio):
        return None
    test = asked.test
    evidence = catalogue.findings()[asked.id].evidence
    told = [row for one in study.published if one.table in evidence for row in _rows(study, one)]
    top, bottom = (_value(told, Cell(test.measure, study.full(levels)), at) for levels, at in _sides(test))
    if top is None or bottom is None or bottom == 0 or top == 0:
        return None
    factor = top / bottom if kind_of(study.measures[test.measure])[1] == "rate" else bottom / top
    return factor, factor


def _sides(test: Ratio) -> tuple[tuple[Levels, str], tuple[Levels, str]]:
    return (test.of, test.at), (test.to, test.to_at or test.at)


def _value(told: list[Row], cell: Cell, at: str) -> float | None:
    found = [row.value for row in told if row.cell == cell and row.at == at]
    return found[0] if len(found) == 1 else None


def range_text(factors: tuple[float, float]) -> str:
    """For people: `×2.15`, or `×1.15 to ×1.71`."""
    low, high = factors
    return f"×{digits(low)}" if low == high else f"×{digits(low)} to ×{digits(high)}"


def digits(value: float, count: int = 3) -> str:
    """A number with so many significant digits, zeros among them: `1.00`."""
    return f"{value:.0f}" if abs(value) >= 10 ** (count - 1) else f"{value:#.{count}g}".rstrip(".")
