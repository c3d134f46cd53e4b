"""The catalogue for the terminal and for programs: machines, results, findings, settings."""

import json
from collections.abc import Iterable, Sequence

from rich.markup import escape
from rich.table import Table

from octant import catalogue
from octant.failure import Exit, Refusal, suggestion
from octant.report.machine.counterparts import legend, today_text
from octant.report.terminal import render, text_width
from octant.untrusted import InputTable

KINDS = ("machines", "results", "findings", "settings")


def entries(kind: str, name: str | None = None) -> list[InputTable]:
    """All entries of a kind, or those of one id (a setting's name may stand there several times).

    Raises:
        Refusal: no such kind or id; the message names the nearest.
    """
    if kind not in KINDS:
        raise Refusal(
            f"cannot list {kind!r} (no such part of the catalogue); {suggestion(kind, KINDS)}", Exit.WRONG_WORD
        )
    all_of: dict[str, Sequence[InputTable]] = {
        "machines": list(catalogue.machines().values()),
        "results": list(catalogue.results().values()),
        "findings": list(catalogue.findings().values()),
        "settings": catalogue.settings(),
    }
    found = [entry for entry in all_of[kind] if name in (None, _name(entry))]
    if not found:
        hint = suggestion(str(name), map(_name, all_of[kind]), f"octant catalogue {kind}")
        raise Refusal(f"cannot show {name!r} (no such id among the {kind}); {hint}", Exit.WRONG_WORD)
    return found


def as_json(found: Iterable[InputTable]) -> str:
    """The entries, for programs."""
    return json.dumps([catalogue.members(entry) for entry in found], indent=2, ensure_ascii=False)


def counts_text() -> str:
    """How much there is of each kind."""
    rows = sum(len(result.observations) for result in catalogue.results().values())
    return (
        f"{len(catalogue.machines())} machines, {len(catalogue.results())} result tables with {rows} observations, "
        f"{len(catalogue.findings())} findings, {len(catalogue.settings())} settings, from "
        f"{len(catalogue.documents())} documents.\nTry `octant catalogue machines`, `results`, `findings`, `settings`."
    )


def counts_json() -> str:
    """The same, for programs."""
    return json.dumps({kind: len(entries(kind)) for kind in KINDS}, indent=2)


def list_text(found: Sequence[InputTable]) -> str:
    """One line an entry."""
    table = Table(box=None, pad_edge=False)
    for n, column in enumerate(_HEADS[type(found[0])]):
        table.add_column(column, overflow="fold", no_wrap=n == 0 and not isinstance(found[0], catalogue.Setting))
    for entry in found:
        table.add_row(*_row(entry))
    return render(table)


def entry_text(entry: InputTable) -> str:
    """One entry in full."""
    if isinstance(entry, catalogue.Result):
        return _result_text(entry)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    today = {"relation", "reason", "neutral", "counterparts"} if isinstance(entry, catalogue.Setting) else set()
    for key, value in catalogue.members(entry).items():
        if value is None or key in today:
            continue
        text = _document(value) if key == "document" else _value_text(value)
        if text:
            table.add_row(key.replace("_", " "), text)
    if isinstance(entry, catalogue.Setting):
        width = text_width()
        return "\n\n".join(
            [render(table), today_text([entry], width), legend((c.verified for c in entry.counterparts), width)]
        ).rstrip()
    return render(table)


_HEADS: dict[type[InputTable], tuple[str, ...]] = {
    catalogue.PublishedMachine: ("machine", "name", "processor", "nodes"),
    catalogue.Result: ("result", "rows", "title", "machines"),
    catalogue.Finding: ("finding", "study", "statement"),
    catalogue.Setting: ("setting", "value", "layer", "effect"),
}


def _name(entry: InputTable) -> str:
    return str(getattr(entry, "name" if isinstance(entry, catalogue.Setting) else "id"))


def _row(entry: InputTable) -> tuple[str, ...]:
    if isinstance(entry, catalogue.PublishedMachine):
        return entry.id, entry.name, entry.processor or "", str(entry.nodes or "")
    if isinstance(entry, catalogue.Result):
        return entry.id, str(entry.rows), entry.title, ", ".join(entry.machines)
    if isinstance(entry, catalogue.Finding):
        return entry.id, entry.study, entry.statement
    if isinstance(entry, catalogue.Setting):
        return entry.name, entry.value, entry.layer, entry.effect
    raise TypeError(f"no row for a {type(entry).__name__}")


def _result_text(result: catalogue.Result) -> str:
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
