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
_LABEL = 15  # columns of the words on the left, with the gap after them
_NARROW = 80  # with fewer columns, texts continue under the words on the left
_WHOLE = 2  # so many kinds of entries are shown in full even if none has the name that was asked for


def found_text(word: str, found: Sequence[Setting], width: int) -> str:
    """What `NAME` or `NAME=VALUE` found: entries of that name in full, several others as a list.

    Args:
        word: as asked
        found: at least one setting, the best first
        width: columns
    """
    name, _equals, value = word.partition("=")
    named = [setting for setting in found if is_named(setting, name)]
    named = [setting for setting in named if value and plain(setting.value) == plain(value)] or named
    shown = named or list(found)
    groups = _alike(shown)
    if not named and len(groups) > _WHOLE:
        return _list_text(name, found, width)
    parts = [_group_text(group, width) for group in groups]
    others = [other for other in _different(found) if other not in _different(shown)]
    if others and len(plain(name)) > 1:
        parts.append(_fill(f"{name} also finds: {'; '.join(others)}", width))
    return "\n\n".join(
        [*parts, legend((c.verified for setting in shown for c in setting.counterparts), width)]
    ).rstrip()


def today_text(settings: Sequence[Setting], width: int) -> str:
    """What became of settings with one reason, Octant's own lines for them, and the counterparts with theirs."""
    first = settings[0]
    rows = [row(_RELATIONS.get(first.relation, first.relation), first.reason, width)]
    for n, neutral in enumerate(dict.fromkeys(s.neutral for s in settings if "=" in s.neutral)):
        rows.append(command(f"octant run p2p --mpi {neutral}", width, "" if n else "with Octant"))
        rows += [row("", text, width) for text in _acceptance_texts(neutral)]
    names = dict.fromkeys(s.neutral.partition("=")[0] for s in settings if s.neutral)
    rows += [row("", f"`octant settings {name}` explains it for every library.", width) for name in names]
    united = {counterpart.id: counterpart for setting in settings for counterpart in setting.counterparts}
    ordered = sorted(united.values(), key=lambda c: (c.apply != "octant", c.verified == "documentation"))
    return "\n".join([*rows, *([""] if ordered else []), *(_counterpart_text(c, width) for c in ordered)])


def _acceptance_texts(proposal: str) -> list[str]:
    """Which libraries accept `NAME=VALUE`, where one that Octant is installed with does not."""
    name, _equals, text = proposal.partition("=")
    setting = find(name)
    if setting is None:
        return []
    found = find_support(setting, read_value(setting, text))
    if found.everywhere:
        return []
    return [f"Accepted by {', '.join(found.by)}.", *(f"Refused by {why}." for why in found.refused_by)]


def legend(words: Iterable[str], width: int) -> str:
    """What the words of evidence say, of those that are shown."""
    used = set(words)
    return "\n".join(row(word, meaning, width) for word, meaning in _EVIDENCE.items() if word in used)


def row(label: str, text: str, width: int) -> str:
    """A word on the left and a text beside it."""
    rest = " " * indent(width)
    first = f"  {label:<{_LABEL}}" if label else rest
    if len(label) >= _LABEL:
        first += "  "
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def indent(width: int) -> int:
    """Columns before the texts."""
    return 2 + (_LABEL if width >= _NARROW else 2)


def command(line: str, width: int, label: str = "", shell: bool = True) -> str:
    """A line that is to be copied, in as many as it needs; quoted text and names stay whole.

    Args:
        line: as it is typed
        width: columns
        label: a word on the left
        shell: a shell reads it, and reads on after a backslash
    """
    rest = " " * (indent(width) + 2)
    first = f"  {label:<{_LABEL}}" if label else rest
    if len(first) + len(line) <= width:
        return first + line
    lines = [first]
    for word in re.findall(r"(?:'[^']*'|\S)+", line):
        if len(lines[-1]) + 1 + len(word) <= width - 2 and lines[-1] != first:
            lines[-1] += " " + word
        elif lines == [first]:
            lines = [first + word]
        else:
            lines.append(f"{rest}  {word}")
    return (" \\\n" if shell else "\n").join(lines)


def _group_text(group: Sequence[Setting], width: int) -> str:
    """Entries of one name to which the same has happened."""
    systems = "; ".join(dict.fromkeys(setting.system for setting in group))
    rows = [_fill(f"{group[0].name}  ({systems})", width)]
    for n, setting in enumerate(group):
        value = f"{setting.value}: " if setting.value else ""
        source = f"({documents()[setting.document].title}, {setting.where})"
        said = [value + setting.effect, setting.when.strip("-"), setting.note and f"({setting.note})", source]
        rows.append(row("" if n else "once", " ".join(filter(None, said)), width))
    return "\n".join([*rows, today_text(group, width)])


def _counterpart_text(counterpart: Counterpart, width: int) -> str:
    """How it was verified, for which system, the new values; the line to apply; what to know about it."""
    values = [old if old == new else f"{old} → {new}" for old, new in counterpart.values.items()]
    written = f"{counterpart.line} {values}"
    octant = counterpart.apply == "octant"
    named = [name for name in counterpart.name.split(", ") if name not in written and not octant]
    head = counterpart.system + _PLACES.get(counterpart.apply, "")
    about = "; ".join(filter(None, [", ".join(named), *values]))
    lines = [row(counterpart.verified, f"{head}: {about}" if about else head, width)]
    lines.append(command(counterpart.line, width, shell=counterpart.apply != "program"))
    return "\n".join([*lines, *([row("", counterpart.note, width)] if counterpart.note else [])])


def _list_text(name: str, found: Sequence[Setting], width: int) -> str:
    """Entries beside one of their counterparts: that of the name asked for, if it is one."""
    kinds: dict[str, tuple[Counterpart, list[Setting]]] = {}
    for setting in found:
        ours = [c for c in setting.counterparts if plain(name) in plain(c.name)] or setting.counterparts
        for one in ours[:1]:
            kinds.setdefault(one.id, (one, []))[1].append(setting)
    rows = []
    for one, group in kinds.values():
        rows += [
            row(one.verified, "; ".join(_different(group)), width),
            command(one.line, width, shell=one.apply != "program"),
        ]
    head = f"{name} finds {len(found)} settings of the documents. Each, with one line that serves its purpose today:"
    more = f"`octant settings {shlex.quote(found[0].name)}` shows one of them in full."
    words = legend((one.verified for one, _group in kinds.values()), width)
    return "\n\n".join([_fill(head, width), "\n".join(rows), words, more])


def _alike(found: Iterable[Setting]) -> list[list[Setting]]:
    """Settings of one name of which the same is to be said, together."""
    groups: dict[tuple[str, str], list[Setting]] = {}
    for setting in found:
        groups.setdefault((setting.name, setting.reason), []).append(setting)
    return list(groups.values())


def _different(found: Iterable[Setting]) -> list[str]:
    return list(dict.fromkeys(setting.name for setting in found))


def _fill(text: str, width: int) -> str:
    return textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
