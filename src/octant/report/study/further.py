"""What stands below the rows of a study: published tables that its findings rest on, and what the model says of more
nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import catalogue
from octant.report.network.larger import measured_answers, system_answers

if TYPE_CHECKING:
    from octant.report.network.larger import Answers
    from octant.study.predicted import Predictions
    from octant.study.question import Study


@dataclass(frozen=True)
class FurtherTable:
    """A published table, or the part of it that a finding names; or a table of predictions."""

    id: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _machine(name: str, table: catalogue.Result) -> str:
    """The machine's name; of one that no document names what is known of it."""
    known = catalogue.machines().get(name)
    return known.name if known else table.machine_attribution


def further_tables(study: Study) -> tuple[FurtherTable, ...]:
    """The tables that findings name for what is published, without those whose values or ratios stand beside ours."""
    beside = {one.table for one in study.published}
    beside |= {asked.there.table for asked in study.findings if asked.there and asked.test.compared(study)}
    found: dict[str, FurtherTable] = {}
    for asked in study.findings:
        if asked.there and asked.there.table not in beside:
            table = catalogue.results()[asked.there.table]
            rows = table.find(asked.there.metric, {} if asked.there.to else asked.there.where)
            columns = [
                c for c in table.configuration_columns if len({row.configuration.get(c, "") for row in rows}) > 1
            ]
            machines = ", ".join(dict.fromkeys(_machine(row.machine, table) for row in rows))
            document = catalogue.documents()[table.document].title
            found.setdefault(
                table.id,
                FurtherTable(
                    table.id, f"Published: {table.title}", f"{machines}; {document}, {table.where}.",
                    (*(c.replace("_", " ") for c in columns), asked.there.metric.replace("_", " ")),
                    tuple((*(row.configuration.get(c, "") for c in columns), _value(row)) for row in rows),
                ),
            )  # fmt: skip
    return tuple(found.values())


def larger_tables(predictions: Predictions) -> tuple[FurtherTable, ...]:
    """What the network model says of more nodes: like this one, and of described machines."""
    answers = [measured_answers(predictions.larger)] if predictions.larger else []
    answers += [system_answers(one) for one in predictions.systems]
    return tuple(_table(number, one) for number, one in enumerate(answers, 1))


def _table(number: int, answers: Answers) -> FurtherTable:
    text = "; ".join(answers.notes)
    return FurtherTable(f"larger-{number}", f"Model: {answers.title}", f"{text}.", answers.header, answers.rows)


def _value(row: catalogue.Observation) -> str:
    unit = {"percent": "%", "ratio": ""}.get(row.unit, row.unit)
    return "–" if row.value is None else f"{row.value:g} {unit}".strip()
