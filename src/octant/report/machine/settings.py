"""MPI settings for people and programs."""

import json
from collections.abc import Sequence
from dataclasses import replace

from msgspec import to_builtins

from octant.catalogue import Setting
from octant.catalogue import settings as published
from octant.catalogue.lookup import documented_words, is_named, is_today, is_whole_word, search
from octant.mpi import neutral
from octant.mpi.current import find as find_current
from octant.mpi.current import find_words, has_words, join_words, suggest
from octant.mpi.inventory import Inventory
from octant.mpi.knobs import TITLES, Equivalent, MpiKnob, Problem, find, knobs, presence
from octant.report.machine.counterparts import found_text, names_of, paragraph, settings_text
from octant.report.machine.current import current_json, current_text, libraries_text, table_text, words_text
from octant.report.tables.layout import text_table
from octant.report.terminal import text_width

_WIDE = 100  # columns of a table of equivalents with one column for each fact


def list_text(inventory: Inventory | None) -> str:
    """Return the libraries, then the old names for each purpose and those of this library, or of MPICH and Open MPI."""
    libraries, width = ("mpich", "openmpi") if inventory is None else (inventory.library,), text_width()
    lines = []
    for knob in knobs():
        named = [("once", [one.name for one in knob.originals])]
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
    if current := current_text(word, installed or inventory, text_width()):
        return current
    name = word.partition("=")[0]
    own = neutral.find(name)
    held = _knobs_of(name)
    said = search(name)
    if said and not own and not held and not is_whole_word(name) and suggest(name):
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
            head = f"{name}: the tables have no entry of this name. It is named as serving the purpose of what follows."
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
    plain = name.removeprefix("OMPI_MCA_")
    if inventory is not None and plain in {*inventory.values, *inventory.aliases}:
        value = inventory.values[inventory.aliases.get(plain, plain)]
        using = f"{TITLES[inventory.library]} {inventory.version}"
        current = f", current value {value}" if value else ""
        return f"{plain}\n  {using} supports it{current}; Octant does not describe it."
    if not _is_written_as_name(name) and not _near(name, inventory) and (listed := words_text(name, text_width())):
        return listed
    raise ValueError(_unknown(name, inventory))


def _is_written_as_name(text: str) -> bool:
    """Return whether a text is written like a variable, a parameter or an option, and not like a phrase."""
    return " " not in text.strip() and ("_" in text or text.startswith("-"))


def phrases(words: Sequence[str]) -> list[str]:
    """Return the requested names: several words as one phrase if they have a meaning together (`huge pages`)."""
    together, joined = " ".join(words), join_words(words)
    if len(words) < 2 or len(joined) < len(words):
        return joined
    by_words = find_words(together) and not any(_is_written_as_name(word) or neutral.find(word) for word in words)
    return [together] if _is_known(together) or by_words else joined


def _is_known(name: str) -> bool:
    return bool(find_current(name) or neutral.find(name) or search(name) or _knobs_of(name))


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
    near = suggest(name, [*known, *(inventory.values if inventory else ())])
    return [word for word in near if word.startswith("-")] if name.startswith("-") else near


def _unknown(name: str, inventory: Inventory | None) -> str:
    near = _near(name, inventory)
    longer = [one for one in find_words(name) if has_words(one.setting.name, name)] if _is_written_as_name(name) else []
    names = {one.variable for one in longer}
    if near and (not longer or names.intersection(near)):
        return f"no setting {name!r}; did you mean {' or '.join(near)}?"
    if longer:
        listed = ", ".join(f"{one.variable} ({one.library.title})" for one in longer[:3])
        return f"no setting {name!r}; its words are in the longer name {listed}"
    return f"no setting {name!r} in Octant's tables; " + (
        table_text(name) or "`octant settings` and `octant catalogue settings` list them"
    )


def _system_text(system: str, default: str) -> str:
    return f"({system}{'; ' + default if default else ''})"


def _place_text(knob: MpiKnob, name: str) -> str:
    """Return the library of a name and its description there, as a heading of the purpose to which it belongs."""
    plain = name.removeprefix("OMPI_MCA_")
    facts = [_system_text(one.system, one.default) for one in knob.originals if one.name == plain]
    for one in (one for one in knob.equivalents if one.name == plain):
        library = " ".join(filter(None, [TITLES[one.library], _versions(one)]))
        facts.append(f"({library}){': ' + one.note if one.note else ''}")
    return paragraph(f"{name}  {'; '.join(facts)}", text_width()) + "\n" if facts else ""


def _versions(one: Equivalent) -> str:
    return " ".join(filter(None, [one.since and f"from {one.since}", one.until and f"before {one.until}"]))


def _knob_text(knob: MpiKnob, inventory: Inventory | None) -> str:
    head = [knob.name, f"  {knob.meaning}", f"  Does it still matter? {knob.matters}."]
    head += [f"  once: {one.name} {_system_text(one.system, one.default)}" for one in knob.originals]
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
    return "\n".join(f"{'refused' if p.refused else 'no effect'}: {p.text}" for p in problems)


def as_json(words: Sequence[str], inventory: Inventory | None, problems: tuple[Problem, ...] | None) -> str:
    """Return the same as JSON; without names, of all knobs."""
    pairs = [(name, value) for name, _equals, value in (word.partition("=") for word in words)]
    names = [name for name, _value in pairs]
    held = [knob for name in names for knob in _knobs_of(name)] if names else knobs()
    owned = [own for name in names if (own := neutral.find(name))] if names else list(neutral.settings())
    said = {(s.name, s.value, s.document): s for name in names for s in search(name)}
    for name in names:
        if not _is_known(name) and not find_words(name):
            raise ValueError(_unknown(name, inventory))
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
