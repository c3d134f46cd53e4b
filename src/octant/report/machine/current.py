"""Settings of current libraries for the terminal and as data: each with its counterparts and the evidence for it."""

from typing import Any

from msgspec import to_builtins

from octant.catalogue.current_settings import libraries, removal_text
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
from octant.report.machine.counterparts import settings_text
from octant.report.tables.layout import text_table

_MOST_LISTED = 24
INFERRED = "Meaning and form of the values are inferred from the name; no document that describes it was read."
_NUMBER_OF_RANKS = ("-n", "--ntasks")  # options that the line has already
_MOST_COUNTERPARTS = 3  # of one library


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
    neutral_names = [one.name for one in neutral.settings() if has_words(one.name, phrase)]
    return settings_text(
        "words", width, phrase=repr(phrase), neutral=neutral_names, found=found, most=_MOST_LISTED,
        is_one=len(found) == 1,
    )  # fmt: skip


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
    setting, remarks = found.setting, value_remarks(found, value)
    example = next(iter(setting.values), "VALUE") if setting.kind == "word" else "VALUE"
    proof, seen = best_proof(found)
    return settings_text(
        "current", width, found=found, setting=setting, remarks=remarks, proof=proof, seen=seen,
        gone=removal_text(found.library.title, setting), line=_line(found, "VALUE" if remarks else value or example),
        installed=installed_text(found, inventory), purpose=purpose(found), older=older_names(found),
        inferred=INFERRED, most=_MOST_COUNTERPARTS,
    )  # fmt: skip


def _line(found: SettingMatch, value: str) -> str:
    """Return the line that applies a setting; an option that only enables something has no value."""
    line = found.library.option_line if found.name.startswith("-") else found.library.line
    if found.name.startswith("-"):
        line = line if found.name.startswith("--") else line.replace("={value}", " {value}")
        line = line.replace(" -n 2", "") if found.name in _NUMBER_OF_RANKS else line
        if found.setting.kind == "yes-no":
            line = line.replace("={value}", "").replace(" {value}", "")
    return line.format(name=found.name, value=value)
