"""Texts and JSON of the catalogue: machines, results, findings and settings."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from octant import catalogue
from octant.failure import Exit, Refusal, suggestion
from octant.report.machine.counterparts import legend, today_text
from octant.report.terminal import render, text_width
from octant.untrusted import InputTable


@dataclass(frozen=True)
class _Kind:
    """A part of the catalogue: its entries, and its list as a table."""

    entries: Callable[[], Sequence[InputTable]]
    columns: tuple[str, ...]
    row: Callable[[Any], tuple[str, ...]]  # of an entry; the first cell is its name


_KINDS = {
    "machines": _Kind(
        lambda: list(catalogue.machines().values()), ("machine", "name", "processor", "nodes"),
        lambda one: (one.id, one.name, one.processor or "", str(one.nodes or "")),
    ),
    "results": _Kind(
        lambda: list(catalogue.results().values()), ("result", "rows", "title", "machines"),
        lambda one: (one.id, str(one.rows), one.title, ", ".join(one.machines)),
    ),
    "findings": _Kind(
        lambda: list(catalogue.findings().values()), ("finding", "study", "statement"),
        lambda one: (one.id, one.study, one.statement),
    ),
    "settings": _Kind(
        catalogue.settings, ("setting", "value", "layer", "effect"),
        lambda one: (one.name, one.value, one.layer, one.effect),
    ),
}  # fmt: skip


def entries(kind: str, name: str | None = None) -> list[InputTable]:
    """Return all entries of a kind, or those with one id (several settings may have the same name).

    Raises:
        Refusal: no such kind or id; the message names the nearest.
    """
    if kind not in _KINDS:
        hint = suggestion(kind, _KINDS)
        raise Refusal(f"cannot list {kind!r} (no such part of the catalogue); {hint}", Exit.WRONG_WORD)
    named = [(_KINDS[kind].row(entry)[0], entry) for entry in _KINDS[kind].entries()]
    found = [entry for one, entry in named if name in (None, one)]
    if not found:
        hint = suggestion(str(name), (one for one, _ in named), f"octant catalogue {kind}")
        raise Refusal(f"cannot show {name!r} (no such id among the {kind}); {hint}", Exit.WRONG_WORD)
    return found


def as_json(found: Iterable[InputTable]) -> str:
    """Return entries as JSON."""
    return json.dumps([catalogue.members(entry) for entry in found], indent=2, ensure_ascii=False)


def counts_text() -> str:
    """Return the number of entries of each kind."""
    rows = sum(len(result.observations) for result in catalogue.results().values())
    return (
        f"{len(catalogue.machines())} machines, {len(catalogue.results())} result tables with {rows} observations, "
        f"{len(catalogue.findings())} findings, {len(catalogue.settings())} settings, from "
        f"{len(catalogue.documents())} documents.\nTry `octant catalogue machines`, `results`, `findings`, `settings`."
    )


def counts_json() -> str:
    """Return the number of entries of each kind as JSON."""
    return json.dumps({name: len(kind.entries()) for name, kind in _KINDS.items()}, indent=2)


def list_text(kind: str, found: Sequence[InputTable]) -> str:
    """Return a line for each entry."""
    table = Table(box=None, pad_edge=False)
    for n, column in enumerate(_KINDS[kind].columns):
        table.add_column(column, overflow="fold", no_wrap=n == 0 and kind != "settings")
    for entry in found:
        table.add_row(*_KINDS[kind].row(entry))
    return render(table)


def entry_text(entry: InputTable) -> str:
    """Return an entry in full."""
    if isinstance(entry, catalogue.PublishedResult):
        return _result_text(entry)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    today = {"relation", "reason", "neutral", "counterparts"} if isinstance(entry, catalogue.Setting) else set()
    for key, value in catalogue.members(entry).items():
        if value is not None and key not in today:
            text = _document(value) if key == "document" else _value_text(value)
            if text:
                table.add_row(key.replace("_", " "), text)
    if not isinstance(entry, catalogue.Setting):
        return render(table)
    width = text_width()
    parts = (render(table), today_text([entry], width), legend((c.verified for c in entry.counterparts), width))
    return "\n\n".join(parts).rstrip()


def _result_text(result: catalogue.PublishedResult) -> str:
    rows = result.observations
    columns = [c for c in result.configuration_columns if len({o.configuration[c] for o in rows}) > 1]
    table = Table(box=None, pad_edge=False)
    table.add_column("machine", overflow="fold", min_width=10)
    for column in columns:  # words stay whole as long as they can
        words = " ".join([column.replace("_", " "), *(o.configuration[column] for o in rows)]).split()
        table.add_column(column.replace("_", " "), overflow="fold", min_width=min(10, max(map(len, words))))
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    signs = {"eq": "", "approx": "~", "gt": "> ", "ge": ">= ", "lt": "< ", "le": "<= "}
    remarks: list[str] = []
    for o in rows:
        value = "none" if o.value is None else f"{signs[o.relation]}{o.value:g} {o.unit}"
        remark = "; ".join(text for text in (o.claim, o.note) if text)
        if remark and remark not in remarks:
            remarks.append(remark)
        mark = f" [{remarks.index(remark) + 1}]" if remark else ""
        table.add_row(o.machine, *(o.configuration[c] for c in columns), o.metric, escape(value + mark))
    about = f"{result.title}\n{_document(result.document)}, {result.where}\nmachine: {result.machine_attribution}"
    same = {c: rows[0].configuration[c] for c in result.configuration_columns if c not in columns}
    always = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in same.items() if value)
    if always:
        about += f"\nalways: {always}"
    notes = [f"[{n}] {text}" for n, text in enumerate(remarks, 1)]
    metrics = [f"{name} ({metric.unit}): {metric.definition}" for name, metric in result.metrics.items()]
    return "\n".join([about, "", render(table), *notes, "", *metrics, *result.notes])


def _document(file: object) -> str:
    known = catalogue.documents().get(str(file))
    return f"{known.title} ({known.date})" if known else str(file)


def _value_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_document(v) if k == 'document' else _value_text(v)}" for k, v in value.items() if v)
    if isinstance(value, list | tuple):
        parted = "\n" if any(isinstance(item, dict) or len(str(item)) > 40 for item in value) else ", "
        return parted.join(_value_text(item) for item in value)
    return str(value)
