"""Settings of current libraries for the terminal and as data: the setting itself first, then what it has to do with."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins
from rich.table import Table

from octant.catalogue.current_settings import CurrentSetting, libraries, removal_text
from octant.mpi import neutral
from octant.mpi.current import (
    SettingMatch,
    best_proof,
    find,
    find_words,
    has_words,
    installed_text,
    older_names,
    purpose,
    value_remarks,
)
from octant.mpi.inventory import Inventory
from octant.report.machine.counterparts import command, legend, row
from octant.report.terminal import render
from octant.units import counted

_KINDS = {
    "bytes": "bytes", "count": "a whole number", "time": "a time", "number": "a number", "yes-no": "yes or no",
    "word": "one of these words", "list": "a list", "text": "text",
}  # fmt: skip
_SOURCES = {"listing": "listed by {}, {}", "run": "launched: {}, {}", "manual": "documentation: {}, {}"}
_MOST_LISTED = 24
INFERRED = "Meaning and form of the values are inferred from the name; no document that describes it was read."
_NUMBER_OF_RANKS = ("-n", "--ntasks")  # options that the line has already
_MOST_COUNTERPARTS = 3  # of one library


def current_text(word: str, inventory: Inventory | None, width: int) -> str:
    """What NAME or NAME=VALUE is in every library that has it; empty if none has.

    Args:
        word: as asked
        inventory: of the installed MPI library
        width: columns
    """
    name, _equals, value = word.partition("=")
    return "\n\n".join(_entry_text(found, value, inventory, width) for found in find(name))


def words_text(phrase: str, width: int) -> str:
    """The settings whose names or meanings have the words of a phrase; empty if there are none."""
    found = find_words(phrase)
    if not found:
        return ""
    one = len(found) == 1
    lines = [
        f"{counted(len(found), 'setting')} of current libraries {'has' if one else 'have'} {phrase!r}, or words of the "
        f"same meaning, in {'its name or meaning' if one else 'their names or meanings'}:"
    ]
    lines = [textwrap.fill(lines[0], width)]
    for own in (one.name for one in neutral.settings() if has_words(one.name, phrase)):
        lines.append(row("with Octant", f"--mpi {own}=…; `octant settings {own}` explains it.", width))
    for held in found[:_MOST_LISTED]:
        title = held.library.title + (" (removed)" if held.setting.gone() else "")
        lines.append(row(held.variable, f"{_short_text(held.setting)} ({title})", width))
    more = len(found) - _MOST_LISTED
    return "\n".join([*lines, *([f"  … and {more} more; give further words."] if more > 0 else [])])


def table_text(name: str) -> str:
    """The library whose variables begin like a name that is not known, and what its table was made from."""
    for held in libraries().values():
        if any(name.upper().startswith(prefix.upper()) and len(name) > len(prefix) for prefix in held.prefixes):
            listed = [source for source in held.sources.values() if source.kind == "listing"]
            source = (listed or list(held.sources.values()))[0]
            return (
                f"variables of {held.title} begin so; the tables have {len(held.setting)} of them "
                f"({source.title}, {source.version})"
            )
    return ""


def _short_text(setting: CurrentSetting) -> str:
    return setting.meaning + (" (Inferred from the name.)" if setting.inferred else "")


def libraries_text() -> str:
    """The libraries with the number of their settings, and of those that were removed."""
    table = Table(box=None, pad_edge=False)
    for column in ("library", "settings", "removed", "listed by, or documents of"):
        table.add_column(column, justify="right" if column in ("settings", "removed") else "left", overflow="fold")
    for held in libraries().values():
        removed = sum(bool(one.gone()) for one in held.setting)
        listed = [source for source in held.sources.values() if source.kind == "listing"]
        versions = ", ".join(dict.fromkeys(source.version for source in listed or held.sources.values()))
        table.add_row(held.title, str(len(held.setting)), str(removed) if removed else "", versions)
    return render(table)


def current_json(name: str, value: str, inventory: Inventory | None) -> list[dict[str, Any]]:
    """The same as values of JSON's types."""
    return [
        {
            "library": found.library.title,
            "variable": found.variable,
            **to_builtins(found.setting),
            "source": [to_builtins(found.library.sources[one]) for one in found.setting.source],
            "installed": installed_text(found, inventory),
            "neutral": list(purpose(found).neutral),
            "counterparts": {title: list(names) for title, names in purpose(found).names.items()},
            "value_remarks": value_remarks(found, value),
            "older": older_names(found),
        }
        for found in find(name)
    ]


def _entry_text(found: SettingMatch, value: str, inventory: Inventory | None, width: int) -> str:
    setting = found.setting
    alias = f", another name of {setting.name}" if found.name != setting.name else ""
    rows = [f"{found.variable}  ({found.library.title}{alias})", row("meaning", setting.meaning, width)]
    if setting.inferred:
        rows.append(row("", INFERRED, width))
    remarks = value_remarks(found, value)
    rows += [row("value", remark, width) for remark in remarks]
    if gone := removal_text(found.library.title, setting):
        rows.append(row("removed", gone, width))
    rows.append(row("values", _values_text(setting), width))
    if setting.default:
        rows.append(row("default", setting.default, width))
    if setting.since:
        rows.append(row("versions", f"from {setting.since}", width))
    others = [name for name in (*setting.aliases, *setting.options) if name != found.name]
    rows += [row("also", ", ".join(others), width)] if others else []
    if not setting.gone():
        rows.append(command(_line(found, "VALUE" if remarks else value or _example(setting)), width, "how to set it"))
    rows += [row("note", setting.note, width)] if setting.note else []
    rows += _evidence_rows(found, width)
    if installed := installed_text(found, inventory):
        rows.append(row("installed", installed, width))
    rows += _purpose_rows(found, width)
    if older := older_names(found):
        rows.append(row("older names", f"{', '.join(older)}; `octant settings NAME` explains each.", width))
    proof, seen = best_proof(found)
    words = "" if seen else legend([proof], width)
    return "\n".join(rows) + (f"\n\n{words}" if words else "")


def _values_text(setting: CurrentSetting) -> str:
    words = "; ".join(f"{word}: {meaning}" if meaning else word for word, meaning in setting.values.items())
    kind = _KINDS[setting.kind] + (f" in {setting.unit}" if setting.unit else "")
    if setting.kind in ("word", "text") and (words or setting.range):
        return "; ".join(filter(None, [setting.range, words]))
    return ", ".join(filter(None, [kind, setting.range])) + (f"; {words}" if words else "")


def _line(found: SettingMatch, value: str) -> str:
    """The line that sets it; an option that only switches something on has no value."""
    if not found.name.startswith("-"):
        return found.library.line.format(name=found.name, value=value)
    line = found.library.option_line
    if not found.name.startswith("--"):
        line = line.replace("={value}", " {value}")
    if found.name in _NUMBER_OF_RANKS:
        line = line.replace(" -n 2", "")
    if found.setting.kind == "yes-no":
        line = line.replace("={value}", "").replace(" {value}", "")
    return line.format(name=found.name, value=value)


def _example(setting: CurrentSetting) -> str:
    """A value for the line: one of its words, or VALUE."""
    return next(iter(setting.values), "VALUE") if setting.kind == "word" else "VALUE"


def _evidence_rows(found: SettingMatch, width: int) -> list[str]:
    proof, seen = best_proof(found)
    rows = (
        [row(proof, seen or "verified in a launch; the neutral setting states the versions.", width)] if proof else []
    )
    sources = [found.library.sources[name] for name in found.setting.source]
    said = [_SOURCES[source.kind].format(source.title, source.version) for source in sources]
    return [*rows, row("source", "; ".join(said) + ".", width)]


def _purpose_rows(found: SettingMatch, width: int) -> list[str]:
    held = purpose(found)
    rows = [
        row("" if n else "with Octant", f"--mpi {name}=…; `octant settings {name}` explains it.", width)
        for n, name in enumerate(held.neutral)
    ]
    names: Mapping[str, Sequence[str]] = held.names
    for n, (title, ours) in enumerate(names.items()):
        more = f" and {len(ours) - _MOST_COUNTERPARTS} more (--json)" if len(ours) > _MOST_COUNTERPARTS else ""
        listed = ", ".join(ours[:_MOST_COUNTERPARTS])
        rows.append(row("" if n else "counterparts", f"{title}: {listed}{more}", width))
    return rows
