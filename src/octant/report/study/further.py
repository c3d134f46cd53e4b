"""Published tables that the findings of a study rest on and that stand in no row of ours: shown as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import catalogue

if TYPE_CHECKING:
    from octant.study.file import Study


@dataclass(frozen=True)
class FurtherTable:
    """A published table, or the part of it that a finding names."""

    id: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def further_tables(study: Study) -> tuple[FurtherTable, ...]:
    """The tables that findings name for what is published, without those whose values or ratios stand beside ours."""
    beside = {one.table for one in study.published}
    beside |= {asked.there.table for asked in study.findings if asked.there and asked.test.compared(study)}
    found: dict[str, FurtherTable] = {}
    for asked in study.findings:
        if asked.there and asked.there.table not in beside:
            table = catalogue.results()[asked.there.table]
            rows = table.find(asked.there.metric, asked.there.where)
            columns = [
                c for c in table.configuration_columns if len({row.configuration.get(c, "") for row in rows}) > 1
            ]
            machines = ", ".join(dict.fromkeys(catalogue.machines()[row.machine].name for row in rows))
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


def _value(row: catalogue.Observation) -> str:
    unit = {"percent": "%", "ratio": ""}.get(row.unit, row.unit)
    return "–" if row.value is None else f"{row.value:g} {unit}".strip()
