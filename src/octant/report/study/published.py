"""Texts and JSON of the catalogue: machines, results, findings and settings."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from octant import catalogue
from octant.failure import Exit, Refusal, suggestion
from octant.report.machine.settings import today_text
from octant.report.tables.layout import fill, text_table
from octant.report.tables.word_filter import select_entries
from octant.report.terminal import text_width
from octant.study import file
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


def find(kind: str, words: Sequence[str]) -> tuple[list[InputTable], bool]:
    """Return entries of a kind, and whether the only word is their id.

    Args:
        kind: of the catalogue.
        words: an id, or words that a row of the list must contain; the case is ignored. Without words, all entries.

    Raises:
        Refusal: no such kind, or no entry with this id or these words; the message names the nearest.
    """
    every = entries(kind)
    row = _KINDS[kind].row
    if len(words) == 1 and any(row(entry)[0] == words[0] for entry in every):
        return entries(kind, words[0]), True
    noun, command = kind.removesuffix("s"), f"octant catalogue {kind}"
    found = select_entries(every, words, lambda one: " ".join(row(one)), noun, command)
    return found, False


def as_json(found: Iterable[InputTable]) -> str:
    """Return entries as JSON."""
    return json.dumps([catalogue.members(entry) for entry in found], indent=2, ensure_ascii=False)


def counts_text() -> str:
    """Return the number of entries of each kind."""
    results = catalogue.results()
    return fill(
        "study/catalogue", "counts", machines=len(catalogue.machines()), results=len(results),
        rows=sum(len(result.observations) for result in results.values()), findings=len(catalogue.findings()),
        settings=len(catalogue.settings()), documents=len(catalogue.documents()),
    )  # fmt: skip


def counts_json() -> str:
    """Return the number of entries of each kind as JSON."""
    return json.dumps({name: len(kind.entries()) for name, kind in _KINDS.items()}, indent=2)


def list_text(kind: str, found: Sequence[InputTable]) -> str:
    """Return a line for each entry."""
    first, *others = _KINDS[kind].columns
    whole = "=" * (kind != "settings")
    table = text_table((whole + first, *others), [_KINDS[kind].row(entry) for entry in found])
    if kind != "findings":
        return table
    return f"{table}\n\nSource of a finding: octant catalogue findings ID. To test it here: octant study run STUDY."


def entry_text(entry: InputTable) -> str:
    """Return an entry in full."""
    if isinstance(entry, catalogue.PublishedResult):
        return _result_text(entry)
    today = {"relation", "reason", "neutral", "counterparts"} if isinstance(entry, catalogue.Setting) else set()
    rows = []
    for key, value in catalogue.members(entry).items():
        if value is not None and key not in today:
            text = _document(value) if key == "document" else _value_text(value)
            rows += [(key.replace("_", " "), text)] * bool(text)
    if isinstance(entry, catalogue.Finding) and entry.study in file.names():
        rows.append(("try", f"octant study show {entry.study}"))
    table = text_table(("=", ""), rows)
    return f"{table}\n\n{today_text(entry, text_width())}" if isinstance(entry, catalogue.Setting) else table


def _result_text(result: catalogue.PublishedResult) -> str:
    rows = result.observations
    columns = [c for c in result.configuration_columns if len({row.configuration[c] for row in rows}) > 1]
    return fill("study/catalogue", "result", one=result, source=_document(result.document), columns=columns)


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
