"""Builds of a program and of its libraries, read from their files without executing them.

A file is identified by its ELF build id, otherwise by the SHA-256 of its content. Libraries are those that the dynamic
linker loads at start (ld.so(8)). Libraries that are loaded later, such as modules of an interpreter, are not included.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import NoteSegment

from octant.runs.programs.launcher_line import program_name
from octant.runs.programs.values import open_plain

MAX_LIBRARIES = 400
_CONFIGURATION = Path("/etc/ld.so.conf")
_USUAL_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
_DIGITS = 16  # of a SHA-256
_CHUNK_BYTES = 1 << 20
_SHEBANG_BYTES = 256
_TAGS = {"DT_NEEDED": "needed", "DT_RUNPATH": "runpath", "DT_RPATH": "rpath"}


@dataclass(frozen=True)
class _Elf:
    """The relevant headers of an ELF file."""

    build_id: str
    machine: str  # libraries of other architectures are ignored, as in the dynamic linker
    needed: tuple[str, ...]
    folders: tuple[str, ...]  # RUNPATH or RPATH


def builds_of(words: Sequence[str], environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return the builds of a program, of its script and of its libraries, by name; unreadable files are omitted.

    Args:
        words: command line of the program, without its launcher.
        environment: its environment variables.
        directory: its working directory.
    """
    program = find_program(words[0], environment, directory) if words else None
    if program is None:
        return {}
    found = {program.name: identity(program)}
    script = _script(words)
    if script and (directory / script).is_file():
        found[Path(script).name] = identity(directory / script)
    if interpreter := _shebang(program):
        program = find_program(interpreter, environment, directory) or program
        found[program.name] = identity(program)
    for name, path in libraries(program, environment, directory):
        found.setdefault(name, identity(path))
    return {name: build for name, build in found.items() if build}


def find_program(word: str, environment: Mapping[str, str], directory: Path) -> Path | None:
    """Return the file that execvp would start for a name; `None`: there is none."""
    if "/" in word:
        return directory / word if os.access(directory / word, os.X_OK) else None
    places = [str(directory / one) for one in environment.get("PATH", os.defpath).split(os.pathsep)]
    found = shutil.which(word, path=os.pathsep.join(places))
    return Path(found) if found else None


def libraries(program: Path, environment: Mapping[str, str], directory: Path) -> Iterator[tuple[str, Path]]:
    """Yield the direct and indirect libraries of a program by their names, each once."""
    first = _elf(program)
    if first is None:
        return
    given = [str(directory / one) for one in re.split("[:;]", environment.get("LD_LIBRARY_PATH", "")) if one]
    seen: set[str] = set()
    waiting = [(program, first)]
    for name in re.split("[: ]", environment.get("LD_PRELOAD", "")):
        if "/" in name and (elf := _elf(directory / name)):
            yield Path(name).name, directory / name
            waiting.append((directory / name, elf))
    while waiting and len(seen) < MAX_LIBRARIES:
        path, elf = waiting.pop(0)
        own = [one.replace("$ORIGIN", str(path.parent)).replace("${ORIGIN}", str(path.parent)) for one in elf.folders]
        folders = [*given, *own, *_configured(), *_USUAL_FOLDERS]
        for name in elf.needed:
            if name in seen:
                continue
            seen.add(name)
            places = [Path(name)] if "/" in name else [Path(folder, name) for folder in folders]
            for place in places:
                if (inner := _elf(place)) and inner.machine == first.machine:
                    yield Path(name).name, place
                    waiting.append((place, inner))
                    break


def identity(path: Path) -> str:
    """Return the build id of a file, otherwise the SHA-256 of its content; "": the file cannot be read."""
    elf = _elf(path)
    if elf and elf.build_id:
        return elf.build_id
    try:
        status = path.stat()
        return _digest(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return ""


def _elf(path: Path) -> _Elf | None:
    try:
        status = path.stat()
        return _read_elf(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return None


@functools.lru_cache(maxsize=1024)
def _read_elf(path: Path, _changed_ns: int, _size: int) -> _Elf | None:
    """Return the headers of an ELF file; `None`: it is not an ELF file.

    Raises:
        OSError: the file cannot be read.
    """
    with open_plain(path) as file:
        try:
            return _of_elf(ELFFile(file))
        except (ELFError, ValueError, KeyError, AttributeError, UnicodeDecodeError):  # any content is possible
            return None


def _of_elf(elf: ELFFile) -> _Elf:
    build_id, texts = "", {name: list[str]() for name in _TAGS.values()}
    for segment in elf.iter_segments():
        if isinstance(segment, NoteSegment):
            for note in segment.iter_notes():
                if note["n_type"] == "NT_GNU_BUILD_ID":
                    build_id = str(note["n_desc"])
        if isinstance(segment, DynamicSegment):
            for tag in segment.iter_tags():
                if name := _TAGS.get(tag.entry.d_tag):
                    texts[name].append(getattr(tag, name))
    own = ":".join(texts["runpath"] or texts["rpath"])
    return _Elf(build_id, str(elf["e_machine"]), tuple(texts["needed"]), tuple(filter(None, own.split(":"))))


@functools.lru_cache(maxsize=256)
def _digest(path: Path, _changed_ns: int, _size: int) -> str:
    digest = hashlib.sha256()
    with open_plain(path) as file:
        while block := file.read(_CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()[:_DIGITS]


def _script(words: Sequence[str]) -> str:
    """Return the script of an interpreter; "": the program is not an interpreter, or its code is not in a file."""
    if program_name(words) == os.path.basename(words[0]):  # noqa: PTH119 - text
        return ""
    return next(word for word in words[1:] if not word.startswith("-"))


def _shebang(program: Path) -> str:
    """Return the interpreter in the first line of a script; "": the program is not a script."""
    with contextlib.suppress(OSError), open_plain(program) as file:
        words = file.read(_SHEBANG_BYTES).partition(b"\n")[0].decode(errors="replace").split()
        if words and words[0].startswith("#!"):
            words = [words[0][2:], *words[1:]] if len(words[0]) > 2 else words[1:]
            is_env = bool(words) and words[0].rpartition("/")[2] == "env"
            return next((word for word in words[is_env:] if not word.startswith("-") and "=" not in word), "")
    return ""


@functools.cache
def _configured() -> tuple[str, ...]:
    """Return the library folders of /etc/ld.so.conf."""
    found: list[str] = []
    waiting = [str(_CONFIGURATION)]
    while waiting and len(found) < MAX_LIBRARIES:
        with contextlib.suppress(OSError):
            with open_plain(Path(waiting.pop(0))) as file:
                text = file.read(_CHUNK_BYTES).decode(errors="replace")
            for line in text.splitlines():
                words = line.partition("#")[0].split()
                if words[:1] == ["include"]:
                    for pattern in words[1:]:
                        waiting += sorted(map(str, Path("/").glob(str(_CONFIGURATION.parent / pattern)[1:])))
                else:
                    found += words
    return tuple(found)
