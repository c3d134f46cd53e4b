"""Published settings and what serves their purpose today, for the terminal."""

import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence

from octant.catalogue import Counterpart, Setting, documents
from octant.catalogue.lookup import is_named, plain
from octant.mpi.neutral import find, find_support, read_value

_EVIDENCE = {
    "effect": "launched with MPI, and the change was seen",
    "read-back": "launched with MPI, and the library showed the value",
    "launch": "launched with MPI, and messages arrived",
    "ran": "the command, flag or variable was tried",
    "documentation": "not tried",
}
_RELATIONS = {"same-purpose": "same purpose", "platform-only": "platform only"}
_PLACES = {"administrator": " (administrator)", "program": " (in the program)"}
_LABEL = 15  # columns of labels, with the gap after them
_NARROW = 80  # with fewer columns, texts continue under the labels
_MAX_FULL = 2  # kinds of entries that are shown in full even if none has the requested name


def found_text(word: str, found: Sequence[Setting], width: int) -> str:
    """Return the settings that `NAME` or `NAME=VALUE` finds: those of that name in full, several others as a list.

    Args:
        found: at least one setting, the best first.
    """
    name, _equals, value = word.partition("=")
    named = [setting for setting in found if is_named(setting, name)]
    named = [setting for setting in named if value and plain(setting.value) == plain(value)] or named
    shown = named or found
    groups: dict[tuple[str, str], list[Setting]] = {}
    for setting in shown:
        groups.setdefault((setting.name, setting.reason), []).append(setting)
    if not named and len(groups) > _MAX_FULL:
        return _list_text(name, found, width)
    others = [other for other in names_of(found) if other not in names_of(shown)]
    further = f"{name} also finds: {'; '.join(others)}" if others and len(plain(name)) > 1 else ""
    words = legend((one.verified for setting in shown for one in setting.counterparts), width)
    parts = [*(_group_text(group, width) for group in groups.values()), paragraph(further, width), words]
    return "\n\n".join(filter(None, parts))


def today_text(settings: Sequence[Setting], width: int) -> str:
    """Return the fate of settings with one reason, the neutral settings, and the counterparts with their lines."""
    first = settings[0]
    rows = [row(_RELATIONS.get(first.relation, first.relation), first.reason, width)]
    for number, neutral in enumerate(dict.fromkeys(one.neutral for one in settings if "=" in one.neutral)):
        rows.append(command(f"octant run p2p --mpi {neutral}", width, "" if number else "with Octant"))
        name, _equals, text = neutral.partition("=")
        accepted = find_support(setting, read_value(setting, text)) if (setting := find(name)) else None
        if accepted and not accepted.everywhere:
            texts = [f"Accepted by {', '.join(accepted.by)}.", *(f"Refused by {why}." for why in accepted.refused_by)]
            rows += [row("", one, width) for one in texts]
    names = dict.fromkeys(one.neutral.partition("=")[0] for one in settings)
    rows += [row("", f"`octant settings {name}` explains it for every library.", width) for name in names if name]
    united = {one.id: one for setting in settings for one in setting.counterparts}
    ordered = sorted(united.values(), key=lambda one: (one.apply != "octant", one.verified == "documentation"))
    return "\n".join([*rows, *[""] * bool(ordered), *(_counterpart_text(one, width) for one in ordered)])


def legend(words: Iterable[str], width: int) -> str:
    """Return the meanings of the words of evidence that are shown."""
    used = set(words)
    return "\n".join(row(word, meaning, width) for word, meaning in _EVIDENCE.items() if word in used)


def row(label: str, text: str, width: int) -> str:
    """Return a label and a text next to it, or nothing without a text."""
    rest = " " * indent(width)
    first = f"  {label:<{_LABEL}}" + "  " * (len(label) >= _LABEL) if label else rest
    return paragraph(text, width, first, rest)


def paragraph(text: str, width: int, first: str = "", rest: str = "  ") -> str:
    """Return a wrapped text, with names and options whole; lines begin with `first` or `rest`."""
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def indent(width: int) -> int:
    """Return the number of columns before texts."""
    return 2 + (_LABEL if width >= _NARROW else 2)


def command(line: str, width: int, label: str = "", shell: bool = True) -> str:
    """Return a line for copying, in as many lines as necessary; quoted text and names stay whole.

    Args:
        shell: end lines with a backslash, because a shell reads them.
    """
    rest = " " * (indent(width) + 2)
    first = f"  {label:<{_LABEL}}" if label else rest
    if len(first) + len(line) <= width:
        return first + line
    first_word, *words = re.findall(r"(?:'[^']*'|\S)+", line)
    lines = [first + first_word]
    for word in words:
        if len(lines[-1]) + 1 + len(word) <= width - 2:
            lines[-1] += " " + word
        else:
            lines.append(f"{rest}  {word}")
    return (" \\\n" if shell else "\n").join(lines)


def names_of(found: Iterable[Setting]) -> list[str]:
    """Return the names of settings, each once."""
    return list(dict.fromkeys(setting.name for setting in found))


def _group_text(group: Sequence[Setting], width: int) -> str:
    """Return entries of one name with one reason."""
    systems = "; ".join(dict.fromkeys(setting.system for setting in group))
    rows = [paragraph(f"{group[0].name}  ({systems})", width)]
    for number, setting in enumerate(group):
        value = f"{setting.value}: " if setting.value else ""
        source = f"({documents()[setting.document].title}, {setting.where})"
        texts = [value + setting.effect, setting.when.strip("-"), setting.note and f"({setting.note})", source]
        rows.append(row("" if number else "once", " ".join(filter(None, texts)), width))
    return "\n".join([*rows, today_text(group, width)])


def _counterpart_text(counterpart: Counterpart, width: int) -> str:
    """Return a counterpart: evidence, system, new values, the line that applies it, and the note."""
    values = [old if old == new else f"{old} → {new}" for old, new in counterpart.values.items()]
    written = f"{counterpart.line} {values}"
    octant = counterpart.apply == "octant"
    named = ", ".join(name for name in counterpart.name.split(", ") if name not in written and not octant)
    head = counterpart.system + _PLACES.get(counterpart.apply, "")
    about = "; ".join(filter(None, [named, *values]))
    rows = [
        row(counterpart.verified, f"{head}: {about}" if about else head, width),
        command(counterpart.line, width, shell=counterpart.apply != "program"),
        row("", counterpart.note, width),
    ]
    return "\n".join(filter(None, rows))


def _list_text(name: str, found: Sequence[Setting], width: int) -> str:
    """Return entries with one of their counterparts: that of the requested name, if there is one."""
    kinds: dict[str, tuple[Counterpart, list[Setting]]] = {}
    for setting in found:
        ours = [one for one in setting.counterparts if plain(name) in plain(one.name)] or setting.counterparts
        for one in ours[:1]:
            kinds.setdefault(one.id, (one, []))[1].append(setting)
    rows = []
    for one, group in kinds.values():
        line = command(one.line, width, shell=one.apply != "program")
        rows += [row(one.verified, "; ".join(names_of(group)), width), line]
    head = f"{name} finds {len(found)} settings of the documents. Each, with one line that serves its purpose today:"
    more = f"`octant settings {shlex.quote(found[0].name)}` shows one of them in full."
    words = legend((one.verified for one, _group in kinds.values()), width)
    return "\n\n".join([paragraph(head, width), "\n".join(rows), words, more])
