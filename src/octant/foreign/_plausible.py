"""Plausibility of imported values: tools print 0, -1 or uninitialised numbers for tests that did not run."""

from dataclasses import replace

from octant.foreign._output import ImportedValue, Table
from octant.units import counted

TIMES_S = (1e-15, 1e10)
"""Range of plausible times: less than a clock cycle to three centuries."""
RATES_PER_S = (1e-6, 1e24)
"""Range of plausible rates in base units per second. Uninitialised numbers are often about 1e-310."""
_LISTED = 5


def was_measured(value: ImportedValue) -> bool:
    """Return whether a value is plausible. Checks and fractions may be 0, and NaN is a possible result of a check."""
    if value.bound is not None or (value.unit != "s" and not value.unit.endswith("/s")):
        return True
    low, high = TIMES_S if value.unit == "s" else RATES_PER_S
    return low <= value.value <= high


def _as_printed(value: ImportedValue) -> str:
    """Return name and number as the tool printed them, or those of Octant if the reader did not store them."""
    return value.printed or f"{value.name} {value.value:.6g} {value.unit}"


def measured(tables: tuple[Table, ...]) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the tables without implausible values, and a remark that lists those.

    Rows with nothing but checks, and tables without rows, are removed.
    """
    missing: list[ImportedValue] = []
    kept = []
    for table in tables:
        rows = []
        for row in table.rows:
            sorted_out = [(value, was_measured(value)) for value in row.values]
            values = tuple(value for value, fine in sorted_out if fine)
            missing += (value for value, fine in sorted_out if not fine)
            emptied = len(values) < len(row.values) and all(value.bound is not None for value in values)
            if row.failed or (values and not emptied):
                rows.append(replace(row, values=values) if len(values) < len(row.values) else row)
        if rows:
            kept.append(replace(table, rows=tuple(rows)))
    if not missing:
        return tuple(kept), ()
    listed = ", ".join(f"{_as_printed(value)} (line {value.line})" for value in missing[:_LISTED])
    more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
    what = counted(len(missing), "value")
    return tuple(kept), (f"{what} not imported (zero or implausible): {listed}{more}",)
