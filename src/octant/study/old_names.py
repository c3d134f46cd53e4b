"""Old names of workloads, knobs, values and metrics in the text of a study."""

from collections.abc import Iterator, Mapping
from typing import Any

from octant import renamed, workloads
from octant.renamed import Replacement

_AXIS_VALUE = ("at", "to_at", "versus_at", "whole_at")
"""Keys of tests that name a value of an axis."""


def replace_old_names(table: Mapping[str, Any]) -> list[Replacement]:
    """Replace old names in the table of a study's file, which is not yet checked.

    Knobs of the whole study, and of a level, are renamed if a workload of the study declares the old name.
    """
    changes: list[Replacement] = []
    every: list[str] = []
    axis_values: dict[str, str] = {}
    measures = dict(_named_tables(table.get("measures")))
    for measure in measures.values():
        changes += renamed.replace_workload(measure, workloads.resolve)
        changes += _replace_predicted(measure)
        if isinstance(name := measure.get("workload"), str):
            every.append(name)
            changes += [*renamed.replace_knobs([name], measure), *renamed.replace_metric(name, measure)]
            changes += _replace_axis(name, measure.get("axis"), axis_values)
    every = list(dict.fromkeys(every))
    if isinstance(table, dict):
        changes += renamed.replace_knobs(every, table)
    for _, levels in _named_tables(table.get("factors")):
        for _, level in _named_tables(levels):
            changes += renamed.replace_knobs(every, level)
            of_measures = level.get("measures")
            for name in of_measures if isinstance(of_measures, dict) else ():
                if isinstance(workload := measures.get(name, {}).get("workload"), str):
                    changes += renamed.replace_knobs([workload], level["measures"], name)
    if axis_values:
        _replace_axis_values(table.get("findings"), axis_values)
    return changes


def _replace_predicted(measure: dict[str, Any]) -> list[Replacement]:
    """Replace the name of a test, which version 0.2 required, by `predicted = true`."""
    old = measure.get("predicted")
    if not isinstance(old, str):
        return []
    measure["predicted"] = bool(old)
    return [Replacement(f'predicted = "{old}"', f"predicted = {str(bool(old)).lower()}")]


def _named_tables(value: object) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in value.items() if isinstance(value, dict) else ():
        if isinstance(one, dict):
            yield name, one


def _replace_axis(workload: str, axis: object, replaced: dict[str, str]) -> list[Replacement]:
    """Replace the knob and the values of an axis; `replaced` receives the old values with the current ones."""
    if not isinstance(axis, dict) or not isinstance(knob := axis.get("knob"), str):
        return []
    values = axis.get("values")
    texts = values if isinstance(values, list) and all(isinstance(one, str) for one in values) else []
    old = {knob: ",".join(texts)}
    ((current, joined),) = renamed.current_knobs(workload, old).items()
    axis["knob"] = current
    if texts and joined != old[knob]:
        axis["values"] = [renamed.names_of(workload).value(current, one) for one in texts]
        replaced |= dict(zip(texts, axis["values"], strict=True))
    return list(renamed.knob_changes(workload, old))


def _replace_axis_values(value: object, replaced: Mapping[str, str]) -> None:
    """Replace values of axes in findings, in place."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        if key in _AXIS_VALUE and isinstance(one, str):
            value[key] = replaced.get(one, one)  # type: ignore[index]
        else:
            _replace_axis_values(one, replaced)
