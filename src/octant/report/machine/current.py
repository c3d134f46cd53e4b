"""Settings of current libraries for the terminal and as data: each with its counterparts and the evidence for it."""

from typing import Any

from msgspec import to_builtins

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
from octant.report.machine.counterparts import command, legend, paragraph, row
from octant.report.tables.layout import text_table
from octant.units import counted

_KINDS = {
    "bytes": "bytes", "count": "a whole number", "time": "a time", "number": "a number", "yes-no": "yes or no",
    "word": "one of these words", "list": "a list", "text": "text",
}  # fmt: skip
_SOURCES = {"listing": "listed by {}, {}", "run": "launched: {}, {}", "manual": "documentation: {}, {}"}
_MAX_LISTED = 24
INFERRED = "Meaning and form of the values are inferred from the name; no document that describes it was read."
_NUMBER_OF_RANKS = ("-n", "--ntasks")  # options that the line has already
_MAX_COUNTERPARTS = 3  # of one library


def current_text(word: str, inventory: Inventory | None, width: int) -> str:
    """Return NAME or NAME=VALUE of every library that has it; empty if none has.

    Args:
        inventory: of the installed MPI library.
    """
    name, _equals, value = word.partition("=")
    return "\n\n".join(_entry_text(found, value, inventory, width) for found in find(name))


def words_text(phrase: str, width: int) -> str:
    """Return the settings whose names or meanings have the words of a phrase; empty if there are none."""
    found = find_words(phrase)
    if not found:
        return ""
    verb, where = ("has", "its name or meaning") if len(found) == 1 else ("have", "their names or meanings")
    number = counted(len(found), "setting")
    head = f"{number} of current libraries {verb} {phrase!r}, or words of the same meaning, in {where}:"
    rows = [("with Octant", neutral_text(one.name)) for one in neutral.settings() if has_words(one.name, phrase)]
    for held in found[:_MAX_LISTED]:
        title = held.library.title + " (removed)" * bool(held.setting.gone())
        inferred = " (Inferred from the name.)" * held.setting.inferred
        rows.append((held.variable, f"{held.setting.meaning}{inferred} ({title})"))
    more = len(found) - _MAX_LISTED
    last = [f"  … and {more} more; give further words."] if more > 0 else []
    return "\n".join([paragraph(head, width, rest=""), *(row(*one, width) for one in rows), *last])


def neutral_text(name: str) -> str:
    """Return how to use a neutral setting."""
    return f"--mpi {name}=…; `octant settings {name}` explains it."


def table_text(name: str) -> str:
    """Return the library whose variables begin like an unknown name, and the source of its table."""
    for held in libraries().values():
        if any(name.upper().startswith(prefix.upper()) and len(name) > len(prefix) for prefix in held.prefixes):
            listed = [source for source in held.sources.values() if source.kind == "listing"]
            source = (listed or list(held.sources.values()))[0]
            return (
                f"variables of {held.title} begin so; the tables have {len(held.setting)} of them "
                f"({source.title}, {source.version})"
            )
    return ""


def libraries_text() -> str:
    """Return a table of the libraries with the numbers of their settings and of removed settings."""
    rows = []
    for held in libraries().values():
        removed = sum(bool(one.gone()) for one in held.setting)
        listed = [source for source in held.sources.values() if source.kind == "listing"]
        versions = ", ".join(dict.fromkeys(source.version for source in listed or held.sources.values()))
        rows.append((held.title, len(held.setting), removed or "", versions))
    return text_table(("library", ">settings", ">removed", "listed by, or documents of"), rows)


def current_json(name: str, value: str, inventory: Inventory | None) -> list[dict[str, Any]]:
    """Return the settings of a name as values of JSON's types."""
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
    setting, library = found.setting, found.library
    alias = f", another name of {setting.name}" if found.name != setting.name else ""
    remarks, older = value_remarks(found, value), older_names(found)
    gone = removal_text(library.title, setting)
    example = next(iter(setting.values), "VALUE") if setting.kind == "word" else "VALUE"
    line = _line(found, "VALUE" if remarks else value or example)
    proof, seen = best_proof(found)
    evidence = seen or "verified in a launch; the neutral setting states the versions."
    sources = [library.sources[name] for name in setting.source]
    read = "; ".join(_SOURCES[source.kind].format(source.title, source.version) for source in sources)
    before = [
        ("meaning", setting.meaning),
        ("", INFERRED * setting.inferred),
        *(("value", remark) for remark in remarks),
        ("removed", gone),
        ("values", _values_text(setting)),
        ("default", setting.default),
        ("versions", f"from {setting.since}" if setting.since else ""),
        ("also", ", ".join(name for name in (*setting.aliases, *setting.options) if name != found.name)),
    ]
    after = [
        ("note", setting.note),
        (proof, evidence if proof else ""),
        ("source", f"{read}."),
        ("installed", installed_text(found, inventory)),
        *_purpose_rows(found),
        ("older names", f"{', '.join(older)}; `octant settings NAME` explains each." if older else ""),
    ]
    rows = [f"{found.variable}  ({library.title}{alias})", *(row(*one, width) for one in before)]
    rows += [] if setting.gone() else [command(line, width, "how to set it")]
    rows += [row(*one, width) for one in after]
    words = "" if seen else legend([proof], width)
    return "\n\n".join(filter(None, ["\n".join(filter(None, rows)), words]))


def _values_text(setting: CurrentSetting) -> str:
    words = "; ".join(f"{word}: {meaning}" if meaning else word for word, meaning in setting.values.items())
    kind = _KINDS[setting.kind] + (f" in {setting.unit}" if setting.unit else "")
    if setting.kind in ("word", "text") and (words or setting.range):
        return "; ".join(filter(None, [setting.range, words]))
    return ", ".join(filter(None, [kind, setting.range])) + (f"; {words}" if words else "")


def _line(found: SettingMatch, value: str) -> str:
    """Return the line that applies a setting; an option that only enables something has no value."""
    line = found.library.option_line if found.name.startswith("-") else found.library.line
    if found.name.startswith("-"):
        line = line if found.name.startswith("--") else line.replace("={value}", " {value}")
        line = line.replace(" -n 2", "") if found.name in _NUMBER_OF_RANKS else line
        if found.setting.kind == "yes-no":
            line = line.replace("={value}", "").replace(" {value}", "")
    return line.format(name=found.name, value=value)


def _purpose_rows(found: SettingMatch) -> list[tuple[str, str]]:
    """Return the neutral settings and the counterparts in other libraries, with labels."""
    held = purpose(found)
    rows = [("" if number else "with Octant", neutral_text(name)) for number, name in enumerate(held.neutral)]
    for number, (title, names) in enumerate(held.names.items()):
        more = f" and {len(names) - _MAX_COUNTERPARTS} more (--json)" if len(names) > _MAX_COUNTERPARTS else ""
        listed = ", ".join(tuple(names)[:_MAX_COUNTERPARTS])
        rows.append(("" if number else "counterparts", f"{title}: {listed}{more}"))
    return rows
