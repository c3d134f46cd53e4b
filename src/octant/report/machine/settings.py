"""MPI settings for people and programs: those of current libraries, neutral ones, and published ones."""

import json
import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import to_builtins

from octant.catalogue import Counterpart, Setting, documents
from octant.catalogue import settings as published
from octant.catalogue.current_settings import libraries, removal_text
from octant.catalogue.lookup import documented_words, is_named, is_today, is_whole_word, plain, search
from octant.mpi import current, neutral
from octant.mpi.inventory import Inventory
from octant.mpi.knobs import TITLES, Equivalent, MpiKnob, Problem, find, knobs, presence
from octant.report.tables.layout import fill, text_table
from octant.report.terminal import text_width

_WIDE = 100  # columns of a table of equivalents with one column for each fact
_MAX_LISTED = 24
INFERRED = "Meaning and form of the values are inferred from the name; no document that describes it was found."
_NUMBER_OF_RANKS = ("-n", "--ntasks")  # options that the line has already
_MAX_COUNTERPARTS = 3  # of one library
_LABEL = 15  # columns of labels, with the gap after them
_NARROW = 80  # with fewer columns, texts continue under the labels
_MAX_FULL = 2  # kinds of entries that are shown in full even if none has the requested name


def list_text(inventory: Inventory | None) -> str:
    """Return the libraries, then the old names for each purpose and those of this library, or of MPICH and Open MPI."""
    libraries, width = ("mpich", "openmpi") if inventory is None else (inventory.library,), text_width()
    lines = []
    for knob in knobs():
        named = [("older name", [one.name for one in knob.originals])]
        for library in libraries:
            held = [one for one in knob.equivalents if one.library == library and not one.inert]
            here = [one for one in held if inventory is None or presence(one, inventory).startswith("present")]
            named.append((TITLES[library], [one.name for one in here]))
        lines.append(paragraph(f"{knob.name}: {knob.meaning}", width))
        lines += [paragraph(" ".join(names), width, f"  {head:<10}", " " * 12) for head, names in named if names]
    names = ", ".join(setting.name for setting in neutral.settings())
    more = (
        f"{len(names_of(published()))} further names, of older systems: `octant catalogue settings` lists them. "
        "`octant settings NAME` explains any of these names."
    )
    own = paragraph(f"`octant run --mpi NAME=VALUE` takes, for any library: {names}.", width)
    parts = ["\n".join(lines), own, paragraph(more, width, rest="")]
    return "\n\n".join([*[libraries_text()] * (inventory is None), *parts])


def entry_text(word: str, inventory: Inventory | None, installed: Inventory | None = None) -> str:
    """Return what `NAME` or `NAME=VALUE` is: a setting of a current library, a neutral or published setting, or a knob.

    Args:
        inventory: of the requested library, for which the knob is shown, too.
        installed: of the installed library, for settings of current libraries; default: `inventory`.

    Raises:
        ValueError: neither Octant's tables nor the library in use has such a name; the message lists the nearest.
    """
    if found := current_text(word, installed or inventory, text_width()):
        return found
    name = word.partition("=")[0]
    own = neutral.find(name)
    held = _knobs_of(name)
    said = search(name)
    if said and not own and not held and not is_whole_word(name) and current.suggest(name):
        said = ()  # a misspelt name of today is no beginning of an old one
    if not own and not said and not held:
        return _of_library_alone(name, inventory or installed)
    if not own and not held and not is_named(said[0], name) and (listed := words_text(name, text_width())):
        return f"{listed}\n\n{_in_documents(said)}"
    documented = not own and bool(said) and (not held or is_named(said[0], name))
    library = neutral.Library(inventory.library, inventory.version) if inventory else None
    parts = [neutral_text(own, library, text_width())] if own else []
    shown = [knob for knob in held if inventory is not None or not (own or documented)]
    parts += [_place_text(knob, name) + _knob_text(knob, inventory) for knob in shown]
    if documented:
        if not is_named(said[0], name) and is_today(name):
            head = f"{name}: the tables have no entry of this name. These entries refer to it:"
            parts.append(paragraph(head, text_width()))
        parts.append(found_text(word, said, text_width()))
    elif said and not own:
        parts.append(_in_documents(said))
    return "\n\n".join(parts)


def _in_documents(said: Sequence[Setting]) -> str:
    text = f"In the documents: {'; '.join(names_of(said))}. `octant settings NAME` shows one."
    return paragraph(text, text_width(), rest="")


def _of_library_alone(name: str, inventory: Inventory | None) -> str:
    """Return the installed library's value of a name without a table, or the settings with the words of a phrase.

    Raises:
        ValueError: neither exists.
    """
    short = name.removeprefix("OMPI_MCA_")
    if inventory is not None and short in {*inventory.values, *inventory.aliases}:
        value = inventory.values[inventory.aliases.get(short, short)]
        using = f"{TITLES[inventory.library]} {inventory.version}"
        now = f", current value {value}" if value else ""
        return f"{short}\n  {using} supports it{now}; Octant does not describe it."
    if not _is_written_as_name(name) and not _near(name, inventory) and (listed := words_text(name, text_width())):
        return listed
    raise ValueError(_unknown(name, inventory))


def _is_written_as_name(text: str) -> bool:
    """Return whether a text is written like a variable, a parameter or an option, and not like a phrase."""
    return " " not in text.strip() and ("_" in text or text.startswith("-"))


def phrases(words: Sequence[str]) -> list[str]:
    """Return the requested names: several words as one phrase if they have a meaning together (`huge pages`)."""
    together, joined = " ".join(words), current.join_words(words)
    if len(words) < 2 or len(joined) < len(words):
        return joined
    by_words = current.find_words(together) and not any(
        _is_written_as_name(word) or neutral.find(word) for word in words
    )
    return [together] if _is_known(together) or by_words else joined


def _is_known(name: str) -> bool:
    return bool(current.find(name) or neutral.find(name) or search(name) or _knobs_of(name))


def _is_search(name: str) -> bool:
    """Return whether a name is a phrase to search for: no setting, neutral setting or knob has this name."""
    return not current.find(name) and not neutral.find(name) and not _knobs_of(name)


def _knobs_of(name: str) -> tuple[MpiKnob, ...]:
    try:
        return find(name)[0]
    except ValueError:
        return ()


def _near(name: str, inventory: Inventory | None) -> list[str]:
    known = [
        *documented_words(),
        *(n for knob in knobs() for n in knob.names()),
        *(own.name for own in neutral.settings()),
    ]
    near = current.suggest(name, [*known, *(inventory.values if inventory else ())])
    return [word for word in near if word.startswith("-")] if name.startswith("-") else near


def _unknown(name: str, inventory: Inventory | None) -> str:
    near = _near(name, inventory)
    longer = (
        [one for one in current.find_words(name) if current.has_words(one.setting.name, name)]
        if _is_written_as_name(name)
        else []
    )
    names = {one.variable for one in longer}
    if near and (not longer or names.intersection(near)):
        return f"no setting {name!r}; did you mean {' or '.join(near)}?"
    if longer:
        listed = ", ".join(f"{one.variable} ({one.library.title})" for one in longer[:3])
        return f"no setting {name!r}; longer names that contain it: {listed}"
    return f"no setting {name!r} in Octant's tables; " + (
        table_text(name) or "`octant settings` and `octant catalogue settings` list them"
    )


def _system_text(system: str, default: str) -> str:
    return f"({system}{'; ' + default if default else ''})"


def _place_text(knob: MpiKnob, name: str) -> str:
    """Return the library of a name and its description there, as a heading of the purpose to which it belongs."""
    short = name.removeprefix("OMPI_MCA_")
    facts = [_system_text(one.system, one.default) for one in knob.originals if one.name == short]
    for one in (one for one in knob.equivalents if one.name == short):
        library = " ".join(filter(None, [TITLES[one.library], _versions(one)]))
        facts.append(f"({library}){': ' + one.note if one.note else ''}")
    return paragraph(f"{name}  {'; '.join(facts)}", text_width()) + "\n" if facts else ""


def _versions(one: Equivalent) -> str:
    return " ".join(filter(None, [one.since and f"from {one.since}", one.until and f"before {one.until}"]))


def _knob_text(knob: MpiKnob, inventory: Inventory | None) -> str:
    head = [knob.name, f"  {knob.meaning}", f"  Does it still matter? {knob.matters}."]
    head += [f"  older name: {one.name} {_system_text(one.system, one.default)}" for one in knob.originals]
    lines = [paragraph(line, text_width(), rest="    ") for line in head]
    rows = []
    for one in knob.equivalents:
        note, versions, default = one.note or ("" if one.checked else "not checked"), _versions(one), one.default
        if text_width() < _WIDE:  # names are to be copied and never broken; the rest goes into one column
            note = "; ".join(filter(None, [versions, default and f"default {default}", note]))
            versions = default = ""
        rows.append((TITLES[one.library], one.name, versions, default, presence(one, inventory), note))
    names = ("library", "=name", "versions", "default", "here", "note")
    used = [number for number in range(len(names)) if any(row[number] for row in rows)]
    if rows:
        lines.append(text_table([names[number] for number in used], [[row[number] for number in used] for row in rows]))
    return "\n".join(lines)


def neutral_text(setting: neutral.NeutralSetting, library: neutral.Library | None, width: int) -> str:
    """Return the meaning, values and an example of a neutral setting; then its variables in one library, or in all."""
    shown = setting.maps
    if library is not None:  # with any transport
        shown = tuple(one for one in shown if one.holds(replace(library, path=one.path, device=one.device)))
    names = dict.fromkeys(one.name for one in published() if one.neutral.partition("=")[0] == setting.name)
    return settings_text(
        "neutral", width, setting=setting, shown=shown, names=names, example=example(setting),
        title=library.title if library else "any library",
    )  # fmt: skip


def example(setting: neutral.NeutralSetting) -> str:
    """Return a value to try: that of an old setting, or one that most of the first libraries can express."""
    old = [one.neutral.partition("=")[2] for one in published() if one.neutral.startswith(f"{setting.name}=")]
    if setting.values:
        refusals = {word: [word in one.cannot_words for one in setting.maps] for word in (*old, *setting.values)}
        return max(refusals, key=lambda word: [*refusals[word], True].index(True))
    usual = {"names": "eth0", "algorithm": "allreduce:ring", "seconds": "1s"}
    return old[0] if old else usual.get(setting.kind, str(max(2, setting.least)))


def problems_text(problems: tuple[Problem, ...], inventory: Inventory, checked: int) -> str:
    """Return the result of `--check`."""
    using = f"{TITLES[inventory.library]} {inventory.version}"
    if not problems:
        return f"{checked} MPI settings checked against the {len(inventory.values)} that {using} has: nothing wrong"
    return "\n".join(one.text for one in problems)


def as_json(words: Sequence[str], inventory: Inventory | None, problems: tuple[Problem, ...] | None) -> str:
    """Return the same as JSON; without names, of all knobs."""
    pairs = [(name, value) for name, _equals, value in (word.partition("=") for word in words)]
    names = [name for name, _value in pairs]
    held = [knob for name in names for knob in _knobs_of(name)] if names else knobs()
    owned = [own for name in names if (own := neutral.find(name))] if names else list(neutral.settings())
    said = {(s.name, s.value, s.document): s for name in names for s in search(name)}
    for name in names:
        if not _is_known(name) and not current.find_words(name):
            raise ValueError(_unknown(name, inventory))
        if _is_search(name):
            owned += [own for own in neutral.settings() if current.has_words(own.name, name)]
    library = None if inventory is None else {"library": inventory.library, "version": inventory.version}
    entries = []
    for knob in dict.fromkeys(held):
        here = {e.name: text for e in knob.equivalents if (text := presence(e, inventory))}
        entries.append({**to_builtins(knob), "here": here})
    result: dict[str, object] = {
        "library": library,
        "current": [one for name, value in pairs for one in current_json(name, value, inventory)],
        "neutral": [to_builtins(one) for one in owned],
        "knobs": entries,
        "documents": [to_builtins(s) for s in said.values()],
    }
    if problems is not None:
        result = {"library": library, "problems": [vars(p) for p in problems]}
    return json.dumps(result, indent=2)


def current_text(word: str, inventory: Inventory | None, width: int) -> str:
    """Return NAME or NAME=VALUE of every library that has it; empty if none has.

    Args:
        inventory: of the installed MPI library.
    """
    name, _equals, value = word.partition("=")
    return "\n\n".join(_entry_text(found, value, inventory, width) for found in current.find(name))


def words_text(phrase: str, width: int) -> str:
    """Return the settings whose names or meanings have the words of a phrase; empty if there are none."""
    found = current.find_words(phrase)
    if not found:
        return ""
    neutral_names = [one.name for one in neutral.settings() if current.has_words(one.name, phrase)]
    return settings_text(
        "words", width, phrase=repr(phrase), neutral=neutral_names, found=found, most=_MAX_LISTED,
        is_one=len(found) == 1,
    )  # fmt: skip


def table_text(name: str) -> str:
    """Return the library whose variables begin like an unknown name, and the source of its table."""
    for held in libraries().values():
        if any(name.upper().startswith(prefix.upper()) and len(name) > len(prefix) for prefix in held.prefixes):
            listed = [source for source in held.sources.values() if source.kind == "listing"]
            source = (listed or list(held.sources.values()))[0]
            return (
                f"variables of {held.title} have this prefix; the tables contain {len(held.setting)} of them "
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
    return text_table(("library", ">settings", ">removed", "source (version)"), rows)


def current_json(name: str, value: str, inventory: Inventory | None) -> list[dict[str, Any]]:
    """Return the settings of a name as values of JSON's types."""
    return [
        {
            "library": found.library.title,
            "variable": found.variable,
            **to_builtins(found.setting),
            "source": [to_builtins(found.library.sources[one]) for one in found.setting.source],
            "installed": current.installed_text(found, inventory),
            "neutral": list(current.purpose(found).neutral),
            "counterparts": {title: list(names) for title, names in current.purpose(found).names.items()},
            "value_remarks": current.value_remarks(found, value),
            "older": current.older_names(found),
        }
        for found in (current.find_words(name) if _is_search(name) else current.find(name))
    ]


def _entry_text(found: current.SettingMatch, value: str, inventory: Inventory | None, width: int) -> str:
    setting, remarks = found.setting, current.value_remarks(found, value)
    example = next(iter(setting.values), "VALUE") if setting.kind == "word" else "VALUE"
    proof, seen = current.best_proof(found)
    return settings_text(
        "current", width, found=found, setting=setting, remarks=remarks, proof=proof, seen=seen,
        gone=removal_text(found.library.title, setting), line=_line(found, "VALUE" if remarks else value or example),
        installed=current.installed_text(found, inventory), purpose=current.purpose(found), inferred=INFERRED,
        older=current.older_names(found), most=_MAX_COUNTERPARTS,
    )  # fmt: skip


def _line(found: current.SettingMatch, value: str) -> str:
    """Return the line that applies a setting; an option that only enables something has no value."""
    line = found.library.option_line if found.name.startswith("-") else found.library.line
    if found.name.startswith("-"):
        line = line if found.name.startswith("--") else line.replace("={value}", " {value}")
        line = line.replace(" -n 2", "") if found.name in _NUMBER_OF_RANKS else line
        if found.setting.kind == "yes-no":
            line = line.replace("={value}", "").replace(" {value}", "")
    return line.format(name=found.name, value=value)


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
    if not named and len(groups) > _MAX_FULL:
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
    accepted = {}
    for text in (one.neutral for one in settings if "=" in one.neutral):
        name, _equals, value = text.partition("=")
        accepted[text] = (
            neutral.find_support(known, neutral.read_value(known, value)) if (known := neutral.find(name)) else None
        )
    united = {one.id: one for setting in settings for one in setting.counterparts}
    ordered = sorted(united.values(), key=lambda one: (one.apply != "octant", one.verified == "documentation"))
    names = dict.fromkeys(one.neutral.partition("=")[0] for one in settings if one.neutral)
    return {"first": settings[0], "neutral": accepted, "names": names, "counterparts": [*map(_counterpart, ordered)]}


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
