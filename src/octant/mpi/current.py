"""Settings of current libraries: search by name or words, purpose, values and related settings."""

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
from octant.mpi.knobs import knobs, select_mpi_variables

_PAIRS = {"mca", "gmca", "prtemca", "pmixmca", "genv", "env", "setenv"}  # words before a name and a value
_BEFORE = {"x", "e", "export", "declare"}  # words before NAME=VALUE


@dataclass(frozen=True)
class SettingMatch:
    """A setting that a search found, its library, and its name there."""

    key: str  # the library's file
    library: SettingLibrary
    setting: CurrentSetting
    name: str  # as the library reads it; an alias if the search was for the alias

    @property
    def variable(self) -> str:
        """Name in the environment."""
        prefix = "" if self.name.startswith(("-", self.library.environment or "-")) else self.library.environment
        return prefix + self.name


@dataclass(frozen=True)
class Purpose:
    """Purpose of a setting: neutral settings, and settings of other libraries by the title of the library."""

    neutral: tuple[str, ...]  # names of neutral settings
    names: Mapping[str, tuple[str, ...]]


def join_words(words: Sequence[str]) -> list[str]:
    """Join words of a command line to NAME or NAME=VALUE: `--mca btl openib` and `--bind-to core` become one item.

    Other words are unchanged.
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
        elif opener == "option" and parts and not parts[0].startswith("-"):
            found.append(f"{word}={parts.pop(0)}")
        elif opener != "name" or not parts:
            found.append(word)
    return found


def _opener(word: str) -> str:
    plain_word = word.lstrip("-")
    if plain_word in _PAIRS and (word.startswith("-") or plain_word == "setenv"):
        return "pair"
    if word.startswith("-") and "=" not in word and any(found.name.startswith("-") for found in find(word)):
        return "option"
    return "name" if plain_word in _BEFORE and (word.startswith("-") or len(plain_word) > 1) else ""


def find(text: str) -> tuple[SettingMatch, ...]:
    """Return the settings of a name in all libraries, each once; the library with the prefix of the name is first.

    Case, prefixes of the environment and leading `-` are ignored. Names with `-` match options of launchers first.
    """
    wanted = _key(text)
    found = _index().get(wanted, ()) or tuple(
        replace(found, name=found.name.replace(new, old, 1))
        for key, library in libraries().items()
        for old, new in library.renames.items()
        if wanted.startswith(_key(old))
        for found in _index().get(_key(new + wanted.removeprefix(_key(old))), ())
        if found.key == key
    )
    written = text.strip()
    option = written.startswith("-")
    if len(written) == len("-n") and option:  # -n and -N are different options; a single letter is not a name
        found = tuple(one for one in found if one.name == written)
    elif len(wanted) == 1:
        found = ()
    ordered = sorted(
        found, key=lambda one: (one.name.startswith("-") != option, one.name != written, not _is_owner(one))
    )
    once: dict[tuple[str, str], SettingMatch] = {}
    for one in ordered:
        once.setdefault((one.key, one.setting.name), one)
    return tuple(once.values())


def _is_owner(found: SettingMatch) -> bool:
    """Return whether the variable has a prefix of the library, so that it is not only listed there."""
    return found.variable.startswith(found.library.prefixes)


def installed(words: Iterable[str]) -> Inventory | None:
    """Return the inventory of the installed MPI library if one of the words is a setting of an MPI library.

    `None`: no word is such a setting, or no MPI library is installed.
    """
    names = [word.partition("=")[0] for word in words]
    if not select_mpi_variables(names) and not any(
        found.key in neutral.TITLES for name in names for found in find(name)
    ):
        return None
    try:
        return inventory()
    except ValueError:
        return None


_ALIKE = (
    {"pin", "pins", "pinning", "pinned", "bind", "binds", "binding", "bindings", "bound", "affinity"},
    {"huge", "large", "hugepages", "hugepage", "hugetlb"},
    {"page", "pages", "hugepages", "hugepage", "hugetlb"},
    {"rendezvous", "rndv", "rdzv"},
    {"threshold", "thresh", "limit"},
    {"stack", "stacksize"},
    {"size", "stacksize"},
    {"process", "processes", "rank", "ranks", "task", "tasks"},
    {"thread", "threads"},
    {"buffer", "buffers"},
)
"""Synonyms in names and meanings; compounds match their parts."""


def find_words(text: str) -> tuple[SettingMatch, ...]:
    """Return the settings that have all words of a phrase in their names, or else in their meanings.

    Removed settings are last; names with fewer words are first.
    """
    ranked = []
    for found in _every():
        texts = (found.setting.name, found.setting.meaning)
        if (rank := next((n for n, held in enumerate(texts) if has_words(held, text)), None)) is not None:
            ranked.append((bool(found.setting.gone()), rank, len(_words(found.setting.name)), found))
    return tuple(found for *_, found in sorted(ranked, key=lambda one: one[:3]))


def has_words(held: str, phrase: str) -> bool:
    """Return whether a text has all words of a phrase, or their synonyms; single letters are ignored."""
    return all(way & _words(held) for way in _ways(phrase)) and bool(_ways(phrase))


@functools.cache
def _ways(phrase: str) -> tuple[frozenset[str], ...]:
    wanted = [word for word in re.split(r"[\s_-]+", phrase.lower()) if len(word) > 1]
    return tuple(frozenset(next((alike for alike in _ALIKE if word in alike), {word})) for word in wanted)


@functools.cache
def _words(text: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", text.lower()))


def _key(text: str) -> str:
    return text.strip().lower().lstrip("-").replace("_", "-")


@functools.cache
def _every() -> tuple[SettingMatch, ...]:
    """Return all settings of all libraries under their names."""
    return tuple(SettingMatch(key, held, one, one.name) for key, held in libraries().items() for one in held.setting)


@functools.cache
def _index() -> Mapping[str, tuple[SettingMatch, ...]]:
    index: dict[str, list[SettingMatch]] = {}
    for key, library in libraries().items():
        for setting in library.setting:
            for name in setting.names():
                found = SettingMatch(key, library, setting, name)
                for spelling in dict.fromkeys((_key(name), _key(found.variable))):
                    index.setdefault(spelling, []).append(found)
    return {spelling: tuple(found) for spelling, found in index.items()}


def purpose(found: SettingMatch) -> Purpose:
    """Return the neutral settings of a setting, and the settings of other libraries with the same purpose.

    The order is: counterparts stated in a table; variables of the same neutral setting in other libraries, without
    helpers; settings whose entries state the same neutral setting. Neutral settings connect only libraries of one
    family, or of the families that concern messages. Each name has a separate entry.
    """
    own = _neutral_of(found)
    names = [other.variable for other in _linked(found)]
    if _is_about_messages(found):
        set_names = [name for one in own for row in one.maps for name in row.main_names()]
        names += [_filled(name, found) for name in sorted(set_names, key=lambda name: "{" not in name)]
    names += _of_knobs(found, own)
    ours = {one.name for one in own}
    names += [o.variable for o in _every() if o.setting.neutral in ours and _are_related(found, o)]
    grouped: dict[str, list[str]] = {}
    seen = {id(found.setting)}
    for name in names:
        for other in find(name)[:1]:
            if id(other.setting) not in seen and other.key != found.key and not other.setting.gone():
                seen.add(id(other.setting))
                stated = (option for option in other.setting.options if option in found.setting.counterparts)
                grouped.setdefault(other.library.title, []).append(next(stated, other.variable))
    shown = tuple(one.name for one in own) if found.library.family in ("mpi", "launcher") else ()
    return Purpose(shown, {title: tuple(held) for title, held in grouped.items()})


def _neutral_of(found: SettingMatch) -> list[neutral.NeutralSetting]:
    """Return the neutral settings that describe the purpose of a setting."""
    variables = {found.library.environment + name for name in found.setting.names()}
    set_by = {name for variable in variables for name in _neutral_by_variable(variable)}
    return [one for one in neutral.settings() if one.name == found.setting.neutral or one.name in set_by]


@functools.cache
def _neutral_by_variable(variable: str) -> frozenset[str]:
    return frozenset(name for name, pattern in _patterns() if pattern.fullmatch(variable))


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the names of neutral settings with patterns of their variables; {WHAT} matches a collective."""
    return tuple(
        (one.name, re.compile(re.sub(r"\\{what\\}", "([a-z]+)", re.escape(name), flags=re.IGNORECASE), re.IGNORECASE))
        for one in neutral.settings()
        for row in one.maps
        for name in row.main_names()
    )


def _filled(name: str, found: SettingMatch) -> str:
    """Return a variable with {WHAT} replaced by the collective of this setting; "" if it has none."""
    if "{" not in name:
        return name
    matches = (pattern.fullmatch(found.variable) for _, pattern in _patterns() if pattern.groups)
    what = next((match[1] for match in matches if match), "")
    return re.sub(r"\{what\}", what, name, flags=re.IGNORECASE) if what else ""


def _is_about_messages(found: SettingMatch) -> bool:
    return found.library.family in ("mpi", "launcher", "gpu")


def _are_related(one: SettingMatch, other: SettingMatch) -> bool:
    """Return whether a neutral setting has the same meaning in both libraries."""
    return one.library.family == other.library.family or (_is_about_messages(one) and _is_about_messages(other))


def _of_knobs(found: SettingMatch, own: Sequence[neutral.NeutralSetting]) -> list[str]:
    """Return names of the same knob, unless they belong to other neutral settings, since a knob is more general."""
    wanted = {one.name for one in own}
    names = []
    for knob in knobs():
        if any(e.library == found.key and e.name in found.setting.names() for e in knob.equivalents):
            for e in knob.equivalents:
                for other in find(("OMPI_MCA_" if e.library == "openmpi" else "") + e.name)[:1]:
                    theirs = {one.name for one in _neutral_of(other)}
                    if not e.inert and not e.until and (theirs & wanted or not theirs | wanted):
                        names.append(other.variable)
    return names


def _linked(found: SettingMatch) -> list[SettingMatch]:
    """Return settings that name this one as a counterpart, or that it names."""
    ours = set(found.setting.names())
    return [
        other
        for other in _every()
        if not set(found.setting.counterparts).isdisjoint(other.setting.names())
        or ours.intersection(other.setting.counterparts)
    ]


def older_names(found: SettingMatch) -> list[str]:
    """Return the names in older documents whose current counterpart is this setting."""
    ours = {plain(name) for name in (*found.setting.names(), found.variable)}
    once = [o.name for knob in knobs() for o in knob.originals if any(e.name in ours for e in knob.equivalents)]
    said = [s.name for s in published() if any(ours & {plain(n) for n in c.name.split(", ")} for c in s.counterparts)]
    return list(dict.fromkeys([*said, *once]))


_SWITCH_PAIRS = ({"y", "n"}, {"true", "false"})
_SWITCH_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "1", "0"}


def value_remarks(found: SettingMatch, value: str) -> list[str]:
    """Return remarks on removed words of a value, with their replacement, and on unknown words."""
    setting = found.setting
    known = {word.lower() for text in setting.values for word in (text, *words_of(text))}
    remarks = removed_values(setting, value, found.library.title)
    gone = {one.value.lower() for one in setting.removed_values}
    if setting.kind == "word" and known:
        if any(pair <= known for pair in _SWITCH_PAIRS):
            known |= _SWITCH_WORDS
        numbered = any(word.isdigit() for word in known)  # other enumerations also accept the numbers of their words
        unknown = [word for word in words_of(value) if word.lower() not in known | gone]
        unknown = [word for word in unknown if numbered or not word.lstrip("-").isdigit()]
        remarks += [f"{word} is not one of its values ({', '.join(setting.values)})" for word in unknown]
    return remarks


def best_proof(found: SettingMatch) -> tuple[str, str]:
    """Return how the setting was verified (`effect`, `read-back`, `launch`, `documentation`, listing), and details."""
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


def inert_note(found: SettingMatch) -> str:
    """Return why the setting has no effect although the library lists it; "" if it has an effect."""
    notes = [
        e.note or "it has no effect"
        for knob in knobs()
        for e in knob.equivalents
        if e.inert and e.library == found.key and e.name in found.setting.names()
    ]
    return notes[0] if notes else ""


def installed_text(found: SettingMatch, known: Inventory | None) -> str:
    """Return whether the installed MPI library has the setting; "" for settings that do not concern MPI."""
    if known is None or found.key not in neutral.TITLES:
        return ""
    using = f"{neutral.TITLES[known.library]} {known.version}"
    if not _is_owner(found) and (owner := find(found.variable)[0]).key != found.key:
        return installed_text(owner, known)
    name = renamed(known.library, found.name)
    name = known.aliases.get(name, name)
    if found.key == known.library or name in known.values:
        if name not in known.values:
            return f"{using} does not list it."
        value = known.values[name]
        effect = f", without effect: {inert_note(found)}" if inert_note(found) else ""
        read = f" as {name}" if name != found.name else ""
        return f"{using} supports it{read}{f', current value {value}' if value else ''}{effect}."
    if found.key in ("ucx", "libfabric"):
        return f"{using}: {found.library.title} reads it if messages use {found.library.title}."
    return f"{using} does not read variables of {found.library.title}."


def suggest(text: str, further: Iterable[str] = ()) -> list[str]:
    """Return up to three known names that are similar to a word; common prefixes of a library are ignored.

    Args:
        text: an unknown name.
        further: known names that are not in the tables of current libraries.
    """
    environments = [held.environment for held in libraries().values() if held.environment]
    prefix = next((prefix for prefix in environments if text.upper().startswith(prefix)), "")
    held = [found for held in _index().values() for found in held]
    names = {name: name for name in further}
    names |= {found.name: found.variable if prefix else found.name for found in held}
    if not prefix:
        names |= {found.variable: found.variable for found in held}
    return [names[name] for name in similar(text[len(prefix) :], names)]
