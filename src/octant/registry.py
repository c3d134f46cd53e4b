"""Registries of entries in folders; the only place that imports modules by name.

A module in the folder is registered. An entry that raises on import, or has no declaration, is kept with its error.
"""

import functools
import importlib
import pkgutil
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from octant.failure import Refusal

LONGEST_ERROR = 300
"""Characters of a stored error."""

Entry = TypeVar("Entry")


class UndeclaredError(Exception):
    """A module does not declare what its registry needs."""


@dataclass(frozen=True)
class Broken:
    """Entry that cannot be used, with the reason."""

    name: str
    file: str
    error: str  # on one line and without "; ": "NameError: name 'x' is not defined"
    line: int | None = None  # of the file, where the error comes from

    @property
    def reason(self) -> str:
        """The file and the error: `/…/stream/__init__.py, line 3: NameError: name 'x' is not defined`."""
        return f"{self.file}, line {self.line}: {self.error}" if self.line else f"{self.file}: {self.error}"

    def refusal(self, what: str) -> Refusal:
        """Return the refusal to use this entry; `what` names its kind: `launcher`."""
        return Refusal(f"cannot use the {what} {self.name} ({self.reason}); correct or remove that file")

    def as_data(self) -> dict[str, object]:
        """Return the entry and its error as an object for JSON."""
        return {"name": self.name, "file": self.file, "line": self.line, "error": self.error}


@dataclass(frozen=True)
class Entries(Generic[Entry]):
    """The entries of a registry by name, in order: those that work, and those that cannot be used."""

    working: Mapping[str, Entry]
    broken: Mapping[str, Broken]

    def check(self, name: str, what: str) -> None:
        """Refuse to use an entry that is broken; one that does not exist passes.

        Raises:
            Refusal: it is broken; the text names the file and the error.
        """
        if name in self.broken:
            raise self.broken[name].refusal(what)


def collect(made: Iterable[tuple[str, Entry | Broken]]) -> Entries[Entry]:
    """Sort entries by name into those that work and those that cannot be used."""
    every = dict(made)
    working = {name: one for name, one in every.items() if not isinstance(one, Broken)}
    return Entries(working, {name: one for name, one in every.items() if isinstance(one, Broken)})


def attempt(name: str, file: Path, make: Callable[[], Entry]) -> Entry | Broken:
    """Return what `make` returns or, if it raises, the error.

    Args:
        name: of the entry.
        file: in which the entry lies; of a package its `__init__.py`.
        make: import, function of the entry, or reader of a file, which may raise.
    """
    try:
        return make()
    except (Exception, SystemExit) as error:
        return _broken(name, file, error)


def _broken(name: str, file: Path, error: BaseException) -> Broken:
    """Return the error with the innermost line of the entry's own files that led to it."""
    own = f"{file.parent}/" if file.name == "__init__.py" else str(file)
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    text = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno))
        text = error.msg
    place, line = next((one for one in reversed(lines) if one[0].startswith(own)), (str(file), None))
    kind = "" if isinstance(error, Refusal | UndeclaredError) else f"{type(error).__name__}: "
    # A refusal is one line, whose reason ends at the first semicolon.
    return Broken(name, place, f"{kind}{' '.join(text.split())}".replace("; ", ", ")[:LONGEST_ERROR], line)


def declared(module: ModuleType, *needed: str) -> ModuleType:
    """Return the module if it declares all of these names.

    Raises:
        UndeclaredError: a name is missing; the message states it.
    """
    for name in needed:
        if not hasattr(module, name):
            raise UndeclaredError(f"it does not declare {name}")
    return module


@functools.cache
def names(package: str, folders: bool = False) -> tuple[str, ...]:
    """Return the names of the modules and packages directly in a package, in order, without importing them.

    Those with a leading `_` are skipped.

    Args:
        folders: only packages.

    Raises:
        ImportError: no such package.
    """
    found = (one for one in pkgutil.iter_modules(_folders(package)) if one.ispkg or not folders)
    return tuple(sorted(one.name for one in found if not one.name.startswith("_")))


def entries(package: str, read: Callable[[ModuleType], Entry]) -> Entries[Entry]:
    """Return the entries directly in a package by name. Failed imports are kept with their error.

    Args:
        read: gives the entry of a module, or raises; see `declared`.

    Raises:
        ImportError: no such package.
    """
    return collect((name, entry(package, name, read)) for name in names(package))


def entry(package: str, name: str, read: Callable[[ModuleType], Entry]) -> Entry | Broken:
    """Return one entry of a package, or its error; see `entries`."""
    found = _imported(package, name)
    return found if isinstance(found, Broken) else attempt(name, file_of(package, name), lambda: read(found))


def attempt_of(package: str, name: str, make: Callable[[], Entry]) -> Entry | Broken:
    """Return what `make` returns, which calls a function of an entry of this package, or the error; see `attempt`."""
    return attempt(name, file_of(package, name), make)


@functools.cache
def _imported(package: str, name: str) -> ModuleType | Broken:
    """Return the module; a failed import is not repeated."""
    return attempt(name, file_of(package, name), lambda: _import(f"{package}.{name}"))


def _import(name: str) -> ModuleType:
    return importlib.import_module(name)


def _folders(package: str) -> list[str]:
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"no package {package}")
    return list(spec.submodule_search_locations)


@functools.cache
def file_of(package: str, name: str) -> Path:
    """Return the file in which an entry lies."""
    folders = [Path(folder) for folder in _folders(package)]
    places = [place for folder in folders for place in (folder / name / "__init__.py", folder / f"{name}.py")]
    return next((place for place in places if place.exists()), places[0])
