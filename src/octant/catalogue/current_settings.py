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
    """Where facts about settings come from."""

    title: str  # the command that printed the listing, what was run, or the document
    version: str  # of the library that was asked, or of the document
    kind: SourceKind  # a listing or a run was made with the installed library; a manual was read
    address: str = ""  # of a manual
    meanings: bool = True  # whether it states what settings do; a list of names and defaults does not


class RemovedValue(InputTable, frozen=True):
    """A value that a setting took in earlier versions."""

    value: str
    until: str  # first version that does not take it
    instead: str  # the value that takes its place, empty if there is none
    note: str = ""


class CurrentSetting(InputTable, frozen=True, kw_only=True):
    """A setting of one library. `README.md` in the folder explains each field."""

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
        """Every name under which the library takes it."""
        return (self.name, *self.aliases, *self.options)

    def gone(self) -> str:
        """A version without it: the first, or where that is not known, the earliest that was asked; or empty."""
        return self.until or self.absent


class SettingLibrary(InputTable, frozen=True, kw_only=True):
    """A library and its settings."""

    title: str
    prefixes: tuple[str, ...]  # names of environment variables that begin so belong to it
    environment: str = ""  # what an environment variable has before the setting's name: `OMPI_MCA_`
    renames: Mapping[str, str] = {}  # prefixes under which the library also reads a name: `MPICH_` for `MPIR_CVAR_`
    line: str  # how it is set, with {name} and {value}
    option_line: str = ""  # how an option of a launcher is given
    family: Family = "mpi"
    sources: Mapping[str, SettingSource]
    setting: tuple[CurrentSetting, ...]


@functools.cache
def libraries() -> Mapping[str, SettingLibrary]:
    """All libraries, by the name of their file.

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
    """The setting of a library under one of its names, without the prefix of the environment."""
    return _by_name(key).get(name)


def renamed(key: str, name: str) -> str:
    """The name that a library reads: `MPIR_CVAR_X` of `MPICH_X`, and any other name as it is."""
    library = libraries().get(key)
    for old, new in library.renames.items() if library else ():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def instead_text(setting: CurrentSetting) -> str:
    """What takes the place of a removed setting, as sentences; empty if nothing is known."""
    names = f"Use {' or '.join(setting.replaced_by)}." if setting.replaced_by else ""
    return " ".join(filter(None, [names, setting.instead]))


def removal_text(title: str, setting: CurrentSetting) -> str:
    """Which version of a library does not have a setting, and what takes its place; empty if it has it."""
    if setting.until:
        return f"not in {title} from {setting.until}. {instead_text(setting)}"
    if setting.absent:
        asked = "the earliest version that was asked; when it was removed is not known"
        return f"not in {title} {setting.absent}, {asked}. {instead_text(setting)}"
    return ""


def removed_values(setting: CurrentSetting, value: str, title: str) -> list[str]:
    """The words of a value that a library no longer takes, with what takes their place."""
    gone = {one.value.lower(): one for one in setting.removed_values}
    excludes = value.startswith("^")  # a list of what may not be used
    texts = []
    for word in words_of(value):
        if one := gone.get(word.lower()):
            if excludes:
                texts.append(f"{title} does not have {word} from {one.until}: leave it out of the excluded names")
                continue
            instead = f"use {one.instead}" if one.instead else one.note or "nothing takes its place"
            note = f" ({one.note})" if one.instead and one.note else ""
            texts.append(f"the value {word} was removed in {title} {one.until}; {instead}{note}")
    return texts


def words_of(value: str) -> list[str]:
    """The words of a value that is a list: `shm:dapl`, `self,sm` or `^openib`."""
    return [word for word in re.split(r"[:,;^\s]+", value) if word]


def problems(held: Mapping[str, SettingLibrary]) -> list[str]:
    """What contradicts itself in tables of settings: names used twice, sources, successors and counterparts that do not
    exist, removed settings that say nothing about what takes their place."""
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
    """A name without case, which counts only in options of a letter: `-n` and `-N` are two."""
    return name if len(name) == len("-n") else name.lower()


def _about_facts(one: CurrentSetting) -> Iterator[str]:
    if not one.meaning.endswith(".") or len(one.meaning.split()) > LONGEST_MEANING:
        yield f"the meaning is not one sentence of at most {LONGEST_MEANING} words"
    if one.gone() and not one.replaced_by and not one.instead:
        yield "a removed setting names its successor (replaced_by) or says what to do (instead)"
    if (one.replaced_by or one.instead) and not one.gone():
        yield "a setting with a successor states the version without it (until or absent)"
    if one.until and one.absent:
        yield "the first version without it is known (until), so that another one (absent) says nothing"
    if bool(one.evidence) != bool(one.seen):
        yield "evidence and what was seen belong together"
    for gone in one.removed_values:
        if gone.instead and one.values and gone.instead not in one.values:
            yield f"{gone.instead}, which takes the place of the value {gone.value}, is not one of its values"


def _about_meaning(one: CurrentSetting, library: SettingLibrary) -> Iterator[str]:
    described = any(library.sources[name].meanings for name in one.source if name in library.sources)
    if not described and not one.inferred:
        yield "its sources list names without meanings: the meaning is inferred"
    if described and one.inferred:
        yield "a source states what it does: the meaning is not inferred"
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
"""Words of a sentence that says what a setting does."""
