"""Settings of current libraries: one file for each library in `current/`, each entry with its source."""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from msgspec import Meta

from octant.catalogue import CatalogueError, read_table, table_files
from octant.untrusted import InputTable, MistakesError, convert

SettingKind = Literal["bytes", "count", "time", "number", "yes-no", "word", "list", "text"]
SourceKind = Literal["listing", "run", "manual"]
Seen = Literal["", "effect", "read-back", "launch"]
Family = Literal["mpi", "launcher", "gpu", "threads", "blas", "libc"]


class SettingSource(InputTable, frozen=True):
    """Source of facts about settings."""

    title: str  # the command that printed the listing, the program that was run, or the document
    version: str  # of the library or of the document
    kind: SourceKind  # a listing or a run was made with the installed library; a manual was read
    address: str = ""  # of a manual
    meanings: bool = True  # False: the source lists names and defaults without meanings


class RemovedValue(InputTable, frozen=True):
    """Value that a setting accepted in earlier versions."""

    value: str
    until: str  # first version that does not accept it
    instead: str  # the value that replaces it; empty if there is none
    note: str = ""


class CurrentSetting(InputTable, frozen=True, kw_only=True):
    """Setting of one library. `current/README.md` explains each field."""

    name: str
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    meaning: str
    inferred: bool = False
    kind: SettingKind
    unit: str = ""
    values: Mapping[str, str] = {}
    range: str = ""
    default: str = ""
    since: str = ""
    until: str = ""
    absent: str = ""
    replaced_by: tuple[str, ...] = ()
    instead: str = ""
    removed_values: tuple[RemovedValue, ...] = ()
    note: str = ""
    neutral: str = ""
    counterparts: tuple[str, ...] = ()
    evidence: Seen = ""
    seen: str = ""
    source: Annotated[tuple[str, ...], Meta(min_length=1)]

    def names(self) -> tuple[str, ...]:
        """Return all names under which the library accepts the setting."""
        return (self.name, *self.aliases, *self.options)

    def gone(self) -> str:
        """Return the first version without the setting, or the earliest examined one without it; empty if it exists."""
        return self.until or self.absent


class SettingLibrary(InputTable, frozen=True, kw_only=True):
    """Library and its settings."""

    title: str
    prefixes: tuple[str, ...]  # names of environment variables that begin so belong to it
    environment: str = ""  # prefix of the setting's name in the environment: `OMPI_MCA_`
    renames: Mapping[str, str] = {}  # prefixes under which the library also reads a name: `MPICH_` for `MPIR_CVAR_`
    line: str  # the line that sets a setting, with {name} and {value}
    option_line: str = ""  # the line that sets an option of a launcher
    family: Family = "mpi"
    sources: Mapping[str, SettingSource]
    setting: tuple[CurrentSetting, ...]


@functools.cache
def libraries() -> Mapping[str, SettingLibrary]:
    """Return all libraries by the name of their file.

    Raises:
        CatalogueError: a file that does not have the declared form.
    """
    return {path.name.removesuffix(".toml"): _library(read_table(path), path.name) for path in table_files("current")}


def _library(table: Mapping[str, object], name: str) -> SettingLibrary:
    try:
        return convert(table, SettingLibrary)
    except MistakesError as error:
        raise CatalogueError(f"cannot read {name} {error.mistakes[0]}") from error


@functools.cache
def _by_name(key: str) -> Mapping[str, CurrentSetting]:
    library = libraries().get(key)
    return {name: one for one in library.setting for name in one.names()} if library else {}


def entry(key: str, name: str) -> CurrentSetting | None:
    """Return the setting of a library with this name (without the environment prefix)."""
    return _by_name(key).get(name)


def renamed(key: str, name: str) -> str:
    """Return the name that a library reads: `MPIR_CVAR_X` for `MPICH_X`, and any other name unchanged."""
    library = libraries().get(key)
    for old, new in library.renames.items() if library else ():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def instead_text(setting: CurrentSetting) -> str:
    """Return sentences about the replacement of a removed setting; empty if nothing is known."""
    names = f"Use {' or '.join(setting.replaced_by)}." if setting.replaced_by else ""
    return " ".join(filter(None, [names, setting.instead]))


def removal_text(title: str, setting: CurrentSetting) -> str:
    """Return a text about the version that removed a setting and its replacement; empty if the setting exists."""
    if setting.until:
        return f"not in {title} from {setting.until}. {instead_text(setting)}"
    if setting.absent:
        asked = "the earliest examined version; the version that removed it is not known"
        return f"not in {title} {setting.absent}, {asked}. {instead_text(setting)}"
    return ""


def removed_values(setting: CurrentSetting, value: str, title: str) -> list[str]:
    """Return a text for each word of a value that the library no longer accepts, with its replacement."""
    gone = {one.value.lower(): one for one in setting.removed_values}
    excludes = value.startswith("^")  # a list of what may not be used
    texts = []
    for word in words_of(value):
        if one := gone.get(word.lower()):
            if excludes:
                texts.append(f"{title} does not have {word} from {one.until}: remove it from the excluded names")
                continue
            instead = f"use {one.instead}" if one.instead else one.note or "there is no replacement"
            note = f" ({one.note})" if one.instead and one.note else ""
            texts.append(f"the value {word} was removed in {title} {one.until}; {instead}{note}")
    return texts


def words_of(value: str) -> list[str]:
    """Return the words of a value that is a list: `shm:dapl`, `self,sm` or `^openib`."""
    return [word for word in re.split(r"[:,;^\s]+", value) if word]


def problems(held: Mapping[str, SettingLibrary]) -> list[str]:
    """Return the contradictions in tables of settings.

    Examples: names used twice; missing sources, successors or counterparts; removed settings without a replacement.
    """
    known = {name for library in held.values() for one in library.setting for name in one.names()}
    return [
        f"{key}.toml, {one.name}: {text}"
        for key, library in held.items()
        for number, one in enumerate(library.setting)
        for text in (
            *_about_names(library, number),
            *_about_facts(one),
            *_about_meaning(one, library),
            *_about_links(one, library, known),
        )
    ]


def _about_names(library: SettingLibrary, number: int) -> Iterator[str]:
    ours = {_plain(name) for name in library.setting[number].names()}
    before = {_plain(name) for other in library.setting[:number] for name in other.names()}
    yield from (f"the name {name} is used twice" for name in sorted(ours & before))
    if library.environment and library.setting[number].name.startswith(library.environment):
        yield f"the name has the prefix {library.environment}, which the library adds"


def _plain(name: str) -> str:
    """Return a name in lower case, except options of one letter: `-n` and `-N` differ."""
    return name if len(name) == len("-n") else name.lower()


def _about_facts(one: CurrentSetting) -> Iterator[str]:
    if not one.meaning.endswith(".") or len(one.meaning.split()) > LONGEST_MEANING:
        yield f"the meaning is not one sentence of at most {LONGEST_MEANING} words"
    if one.gone() and not one.replaced_by and not one.instead:
        yield "a removed setting names its successor (replaced_by) or states what to do (instead)"
    if (one.replaced_by or one.instead) and not one.gone():
        yield "a setting with a successor states the version without it (until or absent)"
    if one.until and one.absent:
        yield "until states the first version without it; remove absent"
    if bool(one.evidence) != bool(one.seen):
        yield "evidence and seen must be given together"
    for gone in one.removed_values:
        if gone.instead and one.values and gone.instead not in one.values:
            yield f"{gone.instead}, which replaces the value {gone.value}, is not one of its values"


def _about_meaning(one: CurrentSetting, library: SettingLibrary) -> Iterator[str]:
    described = any(library.sources[name].meanings for name in one.source if name in library.sources)
    if not described and not one.inferred:
        yield "its sources list names without meanings: set inferred"
    if described and one.inferred:
        yield "a source states its meaning: inferred must not be set"
    if one.inferred and (one.values or one.range):
        yield "values of a setting whose meaning is inferred have no source"


def _about_links(one: CurrentSetting, library: SettingLibrary, known: set[str]) -> Iterator[str]:
    yield from (f"no source {name!r} in this file" for name in one.source if name not in library.sources)
    if one.options and not library.option_line:
        yield "an option needs the line that gives it (option_line of the library)"
    for name in (*one.replaced_by, *one.counterparts):
        if name not in known:
            yield f"{name} is in none of the files"
        if name in one.names():
            yield f"{name} is the setting itself"


LONGEST_MEANING = 30
"""Maximum number of words of a meaning."""
