"""The memory levels of a run as a table of the terminal and the page, and as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from octant import units
from octant.limit import MEMORY
from octant.report.screen.level_rows import CORES, level_table
from octant.report.screen.sections import Section, SectionColumn
from octant.report.sentences import Sentences
from octant.stats.grades import SIGNS

if TYPE_CHECKING:
    from octant.report.screen.first_screen import RunReport
    from octant.report.screen.level_rows import Cores, LevelRow, LevelTable, Quantity

NOT_MEASURED, NOT_DETECTED = "not measured", "not detected"
_COLUMNS: tuple[tuple[Quantity, Cores], ...] = tuple(
    (one, cores) for cores in CORES for one in ("bandwidth", "latency")
)
_TEXTS = Sentences("octant.report.screen", "levels")


def with_levels(report: RunReport) -> RunReport:
    """Return the report of a run with the table of its memory levels; the same report if it has no ladder."""
    table = level_table(report.summary)
    if table is None:
        return report
    sections = (level_section(table, report.summary.run.benchmark == "evaluate"), *report.sections)
    return replace(report, sections=sections, documents={**report.documents, "levels": level_document(table)})


def level_section(table: LevelTable, is_evaluation: bool = False) -> Section:
    """Return the table of memory levels.

    Args:
        is_evaluation: the run is an evaluation, which measured all levels.
    """
    shown = [one for one in _COLUMNS if table.cores > 1 or one[1] == "one core"]
    titles = [f"{quantity}, {_cores_text(cores, table.cores)}" for quantity, cores in shown]
    rows = tuple(
        (row.name, _stated_text(row), _measured_text(row), *(_value_text(row, one) for one in shown))
        for row in table.rows
    )
    columns = (
        SectionColumn("level", False),
        *(SectionColumn(title) for title in ("stated size", "measured size", *titles)),
    )
    shared = sorted({value.shared for row in table.rows for value in row.values.values() if value.shared})
    grades = {value.grade for row in table.rows for value in row.values.values()}
    marks = [(SIGNS[one], one) for one in ("limited", "not measurable", "wrong") if one in grades]
    below = _TEXTS.line(
        "below", shared=shared, marks=marks, missing=any(NOT_MEASURED in row for row in rows),
        undetected=any(NOT_DETECTED in row for row in rows), is_evaluation=is_evaluation,
    )  # fmt: skip
    text = _TEXTS.line("text", titles=table.titles)
    return Section("levels", "Memory levels", columns, rows, text, "measured", brief=len(rows), below=below)


def level_document(table: LevelTable) -> list[dict[str, Any]]:
    """Return the rows for JSON: sizes in bytes, rates in B/s, times in s; `null`: not measured or not stated."""
    return [
        {
            "level": row.name,
            "stated_bytes": row.stated_bytes,
            "dispute": row.dispute,
            "measured_bytes": row.measured_bytes,
            "not_distinguishable": row.shared,
            **{
                f"{quantity}_{cores.replace(' ', '_')}": value and {
                    "value": value.value, "unit": value.unit, "levels": value.shared or row.name,
                    "source": value.source, "grade": value.grade,
                }
                for quantity, cores in _COLUMNS
                for value in [row.values.get((quantity, cores))]
            },
        }
        for row in table.rows
    ]  # fmt: skip


def _cores_text(cores: Cores, number: int) -> str:
    return "1 core" if cores == "one core" else units.counted(number, "core")


def _stated_text(row: LevelRow) -> str:
    size = units.bytes_text(row.stated_bytes) if row.stated_bytes else ""
    return f"{size} ({row.dispute})" if row.dispute else size


def _measured_text(row: LevelRow) -> str:
    if row.measured_bytes is not None:
        return units.bytes_text(row.measured_bytes)
    if row.name == MEMORY:
        return ""
    if row.shared:
        return f"({row.shared})"
    return NOT_DETECTED if ("latency", "one core") in row.undetected else NOT_MEASURED


def _value_text(row: LevelRow, place: tuple[Quantity, Cores]) -> str:
    """Return a value with the mark of its grade, and the levels that it does not distinguish."""
    value = row.values.get(place)
    if value is None:
        return NOT_DETECTED if place in row.undetected else NOT_MEASURED
    mark = "" if value.grade in ("reliable", "note") else f" {SIGNS[value.grade]}"
    return value.text + mark + f" ({value.shared})" * bool(value.shared)
