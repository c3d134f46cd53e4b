"""Published settings and what serves their purpose today, for the terminal."""

import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from octant.catalogue import Counterpart, Setting, documents
from octant.catalogue.lookup import is_named, plain
from octant.mpi.neutral import find, find_support, read_value
from octant.report.tables.layout import fill

_LABEL = 15  # columns of labels, with the gap after them
_NARROW = 80  # with fewer columns, texts continue under the labels
_MOST_FULL = 2  # kinds of entries that are shown in full even if none has the requested name


def settings_text(part: str, width: int, **values: Any) -> str:
    """Return a part of the template `settings` in lines of at most `width` columns, with labels next to the texts."""
    lines = []
    for line in fill("machine/settings", part, **values).split("\n"):
        label, tab, text = line.partition("\t")
        if not tab:
            lines.append(paragraph(line.removeprefix("! "), width, rest="" if line.startswith("! ") else "  "))
        elif text[:2] in ("$ ", "> "):
            lines.append(_command(text[2:], width, label, shell=text.startswith("$")))
        elif text.strip():
            lines.append(_row(label, text, width))
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _row(label: str, text: str, width: int) -> str:
    """Return a label and a text next to it; a text that begins with a tab belongs to the text above."""
    rest = " " * _indent(width)
    if text.startswith("\t"):
        return paragraph(text[1:], width, rest + "  ", rest + "    ")
    first = f"  {label:<{_LABEL}}" + "  " * (len(label) >= _LABEL) if label else rest
    return paragraph(text, width, first, rest)


def paragraph(text: str, width: int, first: str = "", rest: str = "  ") -> str:
    """Return a wrapped text, with names and options whole; lines begin with `first` or `rest`."""
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _indent(width: int) -> int:
    """Return the number of columns before texts."""
    return 2 + (_LABEL if width >= _NARROW else 2)


def _command(line: str, width: int, label: str, shell: bool) -> str:
    """Return a line for copying, in as many lines as necessary; quoted text and names stay whole.

    Args:
        shell: end lines with a backslash, because a shell reads them.
    """
    rest = " " * (_indent(width) + 2)
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
    if not named and len(groups) > _MOST_FULL:
        return _list_text(name, found, width)
    others = [other for other in names_of(found) if other not in names_of(shown)]
    return settings_text(
        "found", width, groups=[(group, _today(group)) for group in groups.values()], name=name,
        others=others if len(plain(name)) > 1 else (), documents=documents(), words=_words(shown),
    )  # fmt: skip


def today_text(setting: Setting, width: int) -> str:
    """Return the fate of a setting, the neutral settings, its counterparts with their lines, and their evidence."""
    return settings_text("fate", width, today_=_today([setting]), words=_words([setting]))


def _today(settings: Sequence[Setting]) -> dict[str, Any]:
    """Return what serves the purpose of settings with one reason, for the macro `today`."""
    neutral = {}
    for text in (one.neutral for one in settings if "=" in one.neutral):
        name, _equals, value = text.partition("=")
        neutral[text] = find_support(known, read_value(known, value)) if (known := find(name)) else None
    united = {one.id: one for setting in settings for one in setting.counterparts}
    ordered = sorted(united.values(), key=lambda one: (one.apply != "octant", one.verified == "documentation"))
    names = dict.fromkeys(one.neutral.partition("=")[0] for one in settings if one.neutral)
    return {"first": settings[0], "neutral": neutral, "names": names, "counterparts": [*map(_counterpart, ordered)]}


def _counterpart(one: Counterpart) -> tuple[Counterpart, list[str], str]:
    """Return a counterpart, its new values, and the names that neither its line nor the values contain."""
    values = [old if old == new else f"{old} → {new}" for old, new in one.values.items()]
    written = f"{one.line} {values}"
    names = [] if one.apply == "octant" else [name for name in one.name.split(", ") if name not in written]
    return one, values, ", ".join(names)


def _words(settings: Iterable[Setting]) -> set[str]:
    return {one.verified for setting in settings for one in setting.counterparts}


def names_of(found: Iterable[Setting]) -> list[str]:
    """Return the names of settings, each once."""
    return list(dict.fromkeys(setting.name for setting in found))


def _list_text(name: str, found: Sequence[Setting], width: int) -> str:
    """Return entries with one of their counterparts: that of the requested name, if there is one."""
    kinds: dict[str, tuple[Counterpart, list[Setting]]] = {}
    for setting in found:
        ours = [one for one in setting.counterparts if plain(name) in plain(one.name)] or setting.counterparts
        for one in ours[:1]:
            kinds.setdefault(one.id, (one, []))[1].append(setting)
    pairs = [(one, names_of(group)) for one, group in kinds.values()]
    return settings_text("several", width, name=name, number=len(found), kinds=pairs, first=shlex.quote(found[0].name))
