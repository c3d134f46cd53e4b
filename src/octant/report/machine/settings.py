"""MPI settings for people and programs."""

import json
import textwrap
from collections.abc import Sequence

from msgspec import to_builtins
from rich.table import Table

from octant.catalogue import Setting
from octant.catalogue import settings as published
from octant.catalogue.lookup import documented_words, is_named, is_today, is_whole_word, search
from octant.mpi import neutral
from octant.mpi.current import find as find_current
from octant.mpi.current import find_words, has_words, join_words, suggest
from octant.mpi.inventory import Inventory
from octant.mpi.knobs import TITLES, MpiKnob, Problem, find, knobs, presence
from octant.report.machine.counterparts import found_text
from octant.report.machine.current import current_json, current_text, libraries_text, table_text, words_text
from octant.report.machine.neutral import names_text, neutral_text
from octant.report.terminal import render, text_width


def list_text(inventory: Inventory | None) -> str:
    """The libraries with the number of their settings; then a block for each purpose: the old names, and those in the
    library in use, or in MPICH and Open MPI.
    """
    libraries = ("mpich", "openmpi") if inventory is None else (inventory.library,)
    blocks = []
    for knob in knobs():
        rows = [("once", [o.name for o in knob.originals])]
        rows += [(TITLES[library], _now(knob, library, inventory)) for library in libraries]
        width = text_width()
        lines = [textwrap.fill(" ".join(names), width, initial_indent=f"  {head:<10}", subsequent_indent=" " * 12)
                 for head, names in rows if names]  # fmt: skip
        head = textwrap.fill(f"{knob.name}: {knob.meaning}", width, subsequent_indent="  ")
        blocks.append("\n".join([head, *lines]))
    count = len({setting.name for setting in published()})
    more = f"{count} further names, of older systems: `octant catalogue settings` lists them."
    more += " `octant settings NAME` explains any of these names."
    parts = ["\n".join(blocks), names_text(text_width()), textwrap.fill(more, text_width())]
    return "\n\n".join([libraries_text().rstrip(), *parts] if inventory is None else parts)


def _now(knob: MpiKnob, library: str, inventory: Inventory | None) -> list[str]:
    names = [e for e in knob.equivalents if e.library == library and not e.inert]
    if inventory is not None:
        names = [e for e in names if presence(e, inventory).startswith("present")]
    return [e.name for e in names]


def entry_text(word: str, inventory: Inventory | None, installed: Inventory | None = None) -> str:
    """What `NAME` or `NAME=VALUE` stands for: a setting of a current library, a neutral setting, a setting of the
    documents with the lines that replace it, or a knob with its names in every library; the knob too where the library
    in use is asked for.

    Args:
        word: as asked
        inventory: of the library that was asked for
        installed: of the installed library, which settings of current libraries are compared with; `None`: `inventory`

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
            parts.append(textwrap.fill(head, text_width(), subsequent_indent="  "))
        parts.append(found_text(word, said, text_width()))
    elif said and not own:
        parts.append(_in_documents(said))
    return "\n\n".join(parts)


def _in_documents(said: Sequence[Setting]) -> str:
    """The names of settings of the documents."""
    names = "; ".join(dict.fromkeys(setting.name for setting in said))
    return textwrap.fill(f"In the documents: {names}. `octant settings NAME` shows one.", text_width())


def _of_library_alone(name: str, inventory: Inventory | None) -> str:
    """What the installed library says of a name that no table has, or the settings that have the words of a phrase."""
    plain = name.removeprefix("OMPI_MCA_")
    if inventory is not None and plain in {*inventory.values, *inventory.aliases}:
        value = inventory.values[inventory.aliases.get(plain, plain)]
        using = f"{TITLES[inventory.library]} {inventory.version}"
        return f"{plain}\n  {using} has it{f', now {value}' if value else ''}; Octant's table says nothing of it."
    if not _is_written_as_name(name) and not _near(name, inventory) and (listed := words_text(name, text_width())):
        return listed
    raise ValueError(_unknown(name, inventory))


def _is_written_as_name(text: str) -> bool:
    """Whether a text is written like a variable, a parameter or an option, and not like a phrase."""
    return " " not in text.strip() and ("_" in text or text.startswith("-"))


def phrases(words: Sequence[str]) -> list[str]:
    """The names asked for: several words together where they mean something together (`huge pages`), else each."""
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


def _place_text(knob: MpiKnob, name: str) -> str:
    """The library of a name and what is known of it there, as a head of the purpose to which it belongs."""
    plain = name.removeprefix("OMPI_MCA_")
    facts = [f"({o.system}{'; ' + o.default if o.default else ''})" for o in knob.originals if o.name == plain]
    for e in (e for e in knob.equivalents if e.name == plain):
        versions = " ".join(filter(None, [e.since and f"from {e.since}", e.until and f"before {e.until}"]))
        facts.append(f"({TITLES[e.library]}{' ' + versions if versions else ''}){': ' + e.note if e.note else ''}")
    return textwrap.fill(f"{name}  {'; '.join(facts)}", text_width(), subsequent_indent="  ") + "\n" if facts else ""


def _knob_text(knob: MpiKnob, inventory: Inventory | None) -> str:
    head = [knob.name, f"  {knob.meaning}", f"  Does it still matter? {knob.matters}."]
    head += [f"  once: {o.name} ({o.system}{'; ' + o.default if o.default else ''})" for o in knob.originals]
    text = "\n".join(textwrap.fill(line, text_width(), subsequent_indent="    ") for line in head)
    if not knob.equivalents:
        return text
    rows = []
    for e in knob.equivalents:
        versions = " ".join(filter(None, [e.since and f"from {e.since}", e.until and f"before {e.until}"]))
        note = e.note or ("" if e.checked else "not checked")
        row = {"library": TITLES[e.library], "name": e.name, "versions": versions, "default": e.default}
        rows.append(row | {"here": presence(e, inventory), "note": note})
    if text_width() < _WIDE:  # names are to be copied and never broken; the rest goes into one column
        for row in rows:
            default = row.pop("default")
            said = [row.pop("versions"), default and f"default {default}", row["note"]]
            row["note"] = "; ".join(filter(None, said))
    table = Table(box=None, pad_edge=False)
    columns = [column for column in rows[0] if any(row[column] for row in rows)]
    for column in columns:
        longest = max(len(row[column]) for row in rows) if column == "name" else None
        table.add_column(column, overflow="fold", min_width=longest, no_wrap=column == "name")
    for row in rows:
        table.add_row(*(row[column] for column in columns))
    return text + "\n" + render(table)


_WIDE = 100


def problems_text(problems: tuple[Problem, ...], inventory: Inventory, checked: int) -> str:
    """What `--check` found."""
    using = f"{TITLES[inventory.library]} {inventory.version}"
    if not problems:
        return f"{checked} MPI settings checked against the {len(inventory.values)} that {using} has: nothing wrong"
    return "\n".join(f"{'refused' if p.refused else 'no effect'}: {p.text}" for p in problems)


def as_json(words: Sequence[str], inventory: Inventory | None, problems: tuple[Problem, ...] | None) -> str:
    """The same as JSON; without names, of all knobs."""
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
