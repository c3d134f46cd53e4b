"""Settings of current libraries by name: the entries that a word means, their purpose, values and neighbours."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from octant.catalogue import settings as published
from octant.catalogue.current_settings import (
    CurrentSetting,
    SettingLibrary,
    libraries,
    removed_values,
    renamed,
    words_of,
)
from octant.catalogue.lookup import plain, similar
from octant.mpi import neutral
from octant.mpi.inventory import Inventory, inventory
from octant.mpi.knobs import knobs, of_mpi

_PAIRS = {"mca", "gmca", "prtemca", "pmixmca", "genv", "env", "setenv"}  # words before a name and a value
_BEFORE = {"x", "e", "export", "declare"}  # words before NAME=VALUE


@dataclass(frozen=True)
class Found:
    """A setting, the library that has it, and the name under which it was found."""

    key: str  # the library's file
    library: SettingLibrary
    setting: CurrentSetting
    name: str  # as the library takes it: an alias where that was asked for

    @property
    def variable(self) -> str:
        """The name in the environment."""
        prefix = "" if self.name.startswith(("-", self.library.environment or "-")) else self.library.environment
        return prefix + self.name


@dataclass(frozen=True)
class Purpose:
    """What settings of several libraries have in common, and their names by the title of the library."""

    neutral: tuple[str, ...]  # names of neutral settings
    names: Mapping[str, tuple[str, ...]]


def join_words(words: Sequence[str]) -> list[str]:
    """Words of a command line as NAME or NAME=VALUE: `--mca btl openib` and `-genv I_MPI_PIN 1` are a name and a value.

    Words that are parts of nothing else stay as they are.
    """
    parts = [part for word in words for part in (word.split() if _opener(word.split(" ")[0]) else [word])]
    found: list[str] = []
    while parts:
        word = parts.pop(0)
        opener = _opener(word)
        if opener == "pair" and parts:
            name = parts.pop(0)
            value = parts.pop(0) if parts and "=" not in name and not parts[0].startswith("-") else None
            found.append(name if value is None else f"{name}={value}")
        elif opener != "name" or not parts:
            found.append(word)
    return found


def _opener(word: str) -> str:
    plain_word = word.lstrip("-")
    if plain_word in _PAIRS and (word.startswith("-") or plain_word == "setenv"):
        return "pair"
    return "name" if plain_word in _BEFORE and (word.startswith("-") or len(plain_word) > 1) else ""


def find(text: str) -> tuple[Found, ...]:
    """The settings of that name in every library; case, prefixes of the environment and leading `-` do not count."""
    wanted = _key(text)
    return _index().get(wanted, ()) or tuple(
        replace(found, name=found.name.replace(new, old, 1))
        for key, library in libraries().items()
        for old, new in library.renames.items()
        if wanted.startswith(_key(old))
        for found in _index().get(_key(new + wanted.removeprefix(_key(old))), ())
        if found.key == key
    )


def installed(words: Iterable[str]) -> Inventory | None:
    """The inventory of the installed MPI library, where one of these words is a setting of an MPI library, or begins as
    they do; `None`: no word does, or there is no library that answers.
    """
    names = [word.partition("=")[0] for word in words]
    if not of_mpi(names) and not any(found.key in neutral.TITLES for name in names for found in find(name)):
        return None
    try:
        return inventory()
    except ValueError:
        return None


def find_words(text: str) -> tuple[Found, ...]:
    """The settings whose names have all the words of a phrase, or whose meanings have them."""
    wanted = {word for word in re.split(r"[\s_-]+", text.lower()) if len(word) > 1}
    if not wanted:
        return ()
    return tuple(f for f in _every() if wanted <= _words(f.setting.name)) or tuple(
        f for f in _every() if wanted <= _words(f.setting.meaning)
    )


def _words(text: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", text.lower()))


def _key(text: str) -> str:
    return text.strip().lower().lstrip("-").replace("_", "-")


@functools.cache
def _every() -> tuple[Found, ...]:
    """Each setting of each library under its name."""
    return tuple(Found(key, held, one, one.name) for key, held in libraries().items() for one in held.setting)


@functools.cache
def _index() -> Mapping[str, tuple[Found, ...]]:
    index: dict[str, list[Found]] = {}
    for key, library in libraries().items():
        for setting in library.setting:
            for name in setting.names():
                found = Found(key, library, setting, name)
                for spelling in dict.fromkeys((_key(name), _key(found.variable))):
                    index.setdefault(spelling, []).append(found)
    return {spelling: tuple(found) for spelling, found in index.items()}


def purpose(found: Found) -> Purpose:
    """The neutral settings that it belongs to, and the names of the same purpose in other libraries."""
    setting, variables = found.setting, {found.library.environment + name for name in found.setting.names()}
    own = [
        one
        for one in neutral.settings()
        if one.name == setting.neutral or any(variables.intersection(row.names()) for row in one.maps)
    ]
    names: dict[str, dict[str, None]] = {}
    for row in (row for one in own for row in one.maps):
        names.setdefault(neutral.TITLES[row.library], {}).update(dict.fromkeys(row.names()))
    for knob in knobs():
        if any(e.library == found.key and e.name in setting.names() for e in knob.equivalents):
            for e in knob.equivalents:
                if not e.inert and not e.until:
                    prefix = "OMPI_MCA_" if e.library == "openmpi" else ""
                    names.setdefault(neutral.TITLES[e.library], {})[prefix + e.name] = None
    for other in _linked(found, {one.name for one in own}):
        stated = next((name for name in other.setting.options if name in found.setting.counterparts), other.variable)
        names.setdefault(other.library.title, {})[stated] = None
    grouped: dict[str, dict[str, None]] = {}
    for title, held in names.items():
        for name in held:
            grouped.setdefault(_owner(name, title), {})[name] = None
    grouped.pop(found.library.title, None)
    kept = {title: tuple(n for n in held if n not in variables) for title, held in grouped.items()}
    return Purpose(tuple(one.name for one in own), {title: held for title, held in kept.items() if held})


def _owner(name: str, title: str) -> str:
    """The library that reads a variable: UCX that of a transport which MPICH's row sets; else `title`."""
    for key in ("ucx", "libfabric"):
        if (library := libraries().get(key)) and name.startswith(library.prefixes):
            return library.title
    return title


def _linked(found: Found, own: set[str]) -> list[Found]:
    """Settings that name this one as a counterpart, that it names, or that state the same neutral setting."""
    ours = set(found.setting.names())
    return [
        other
        for other in _every()
        if not other.setting.gone()
        and (
            not set(found.setting.counterparts).isdisjoint(other.setting.names())
            or ours.intersection(other.setting.counterparts)
            or other.setting.neutral in own
        )
    ]


def older_names(found: Found) -> list[str]:
    """Names of the documents whose counterpart today is this setting."""
    ours = {plain(name) for name in (*found.setting.names(), found.variable)}
    once = [o.name for knob in knobs() for o in knob.originals if any(e.name in ours for e in knob.equivalents)]
    said = [s.name for s in published() if any(ours & {plain(n) for n in c.name.split(", ")} for c in s.counterparts)]
    return list(dict.fromkeys([*said, *once]))


def value_remarks(found: Found, value: str) -> list[str]:
    """What is wrong with a value: words that are no longer taken, with what takes their place, and unknown words."""
    setting = found.setting
    known = {word.lower() for text in setting.values for word in (text, *words_of(text))}
    remarks = removed_values(setting, value, found.library.title)
    gone = {one.value.lower() for one in setting.removed_values}
    if setting.kind == "word" and known:
        unknown = [word for word in words_of(value) if word.lower() not in known | gone]
        remarks += [f"{word} is not one of its values ({', '.join(setting.values)})" for word in unknown]
    return remarks


def best_proof(found: Found) -> tuple[str, str]:
    """How it was verified: `effect`, `read-back`, `launch` or `documentation`, and what was seen; or a listing."""
    order = ["effect", "read-back", "launch"]
    proofs = {
        row.proof
        for one in neutral.settings()
        for row in one.maps
        if row.library == found.key and found.library.environment + found.setting.name in row.names()
    }
    if found.setting.evidence:
        return found.setting.evidence, found.setting.seen
    for proof in order:
        if proof in proofs:
            return proof, ""
    return "", ""


def inert_note(found: Found) -> str:
    """Why the library lists it without any effect; empty if it has one."""
    notes = [
        e.note or "it changes nothing"
        for knob in knobs()
        for e in knob.equivalents
        if e.inert and e.library == found.key and e.name in found.setting.names()
    ]
    return notes[0] if notes else ""


def installed_text(found: Found, known: Inventory | None) -> str:
    """What the installed MPI library does with it; empty where it has nothing to do with MPI."""
    if known is None or found.key not in neutral.TITLES:
        return ""
    using = f"{neutral.TITLES[known.library]} {known.version}"
    name = renamed(known.library, found.name)
    name = known.aliases.get(name, name)
    if found.key == known.library or name in known.values:
        if name not in known.values:
            return f"{using} does not list it."
        value = known.values[name]
        effect = f", without effect: {inert_note(found)}" if inert_note(found) else ""
        read = f" as {name}" if name != found.name else ""
        return f"{using} has it{read}{f', now {value}' if value else ''}{effect}."
    if found.key in ("ucx", "libfabric"):
        return f"{using}: read by {found.library.title} if messages go through it."
    return f"{using} does not read variables of {found.library.title}."


def suggest(text: str, further: Iterable[str] = ()) -> list[str]:
    """Up to three known names that are similar to a word; a prefix that all variables of a library have does not count.

    Args:
        text: a name that is not known
        further: known names that are in none of the tables of current libraries
    """
    environments = [held.environment for held in libraries().values() if held.environment]
    prefix = next((prefix for prefix in environments if text.upper().startswith(prefix)), "")
    held = [found for held in _index().values() for found in held]
    names = {found.name: found.variable if prefix else found.name for found in held}
    if not prefix:
        names |= {found.variable: found.variable for found in held}
    names |= {name: name for name in further}
    return [names[name] for name in similar(text[len(prefix) :], names)]
