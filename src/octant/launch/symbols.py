"""Functions and lines of addresses in programs and libraries: by addr2line, or the package `symbolic` if there is none.

The files were named by a program that ran. They are data: regular files that are read with limits of time and output,
never started.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

MAX_TEXT = 500
"""Maximum length of the name of a function or file."""
MAX_OUTPUT_BYTES = 64 << 20
_ADDRESS = re.compile(r"0x([0-9a-f]+)\Z")
_PLACE = re.compile(r"(.*):(\d+|\?)(?: \(discriminator \d+\))?\Z", re.DOTALL)
_UNKNOWN = "??"


@dataclass(frozen=True)
class SourcePlace:
    """Function, file and line of an address; the innermost function that was inlined there. "" and 0: not known."""

    function: str = ""
    file: str = ""
    line: int = 0


def can_look_up() -> bool:
    """Return whether addresses can be looked up on this system."""
    return shutil.which("addr2line") is not None or importlib.util.find_spec("symbolic") is not None


def build_id_of(module: str) -> str | None:
    """Return the ELF build id of a file in hexadecimal digits; "": it has none. `None`: it is no readable ELF file."""
    try:
        with os.fdopen(os.open(module, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not os.path.isabs(module) or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # noqa: PTH117
                return None
            elf: Any = ELFFile(file)
            for section in elf.iter_sections():
                if not isinstance(section, NoteSection):
                    continue
                for note in section.iter_notes():
                    if note["n_type"] == "NT_GNU_BUILD_ID":
                        return str(note["n_desc"])
            return ""
    except (OSError, ELFError, ValueError, LookupError, AssertionError, TypeError, OverflowError, MemoryError):
        return None


def look_up(module: str, addresses: Sequence[int], timeout_s: float) -> Mapping[int, SourcePlace]:
    """Return the places of addresses in an ELF file, as far as they are known.

    Args:
        addresses: as in the symbol table of the file.
        timeout_s: after this time, no address is known.
    """
    command = shutil.which("addr2line")
    if command is None:
        return _by_symbolic(module, addresses)
    # debuginfod would ask servers on the network
    environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)}
    words = [command, "-a", "-f", "-C", "-i", "-e", module]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    try:
        done = subprocess.run(  # noqa: S603 - no shell; the path is absolute, so it is no option
            words, input=asked, capture_output=True, encoding="utf-8", errors="replace", timeout=timeout_s,
            check=False, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_places(done.stdout[:MAX_OUTPUT_BYTES])


def parse_places(output: str) -> dict[int, SourcePlace]:
    """Return the first, innermost place of each address in the output of `addr2line -a -f -i`."""
    found: dict[int, SourcePlace] = {}
    lines = output.split("\n")
    at = 0
    while at + 2 < len(lines):
        address = _ADDRESS.match(lines[at])
        if address is None:  # a further function, into which the first was inlined
            at += 1
            continue
        function, place = lines[at + 1], _PLACE.match(lines[at + 2])
        file, line = (place[1], place[2]) if place else (_UNKNOWN, "?")
        one = SourcePlace(
            "" if function == _UNKNOWN else function[:MAX_TEXT],
            "" if file == _UNKNOWN else file[-MAX_TEXT:],
            int(line[:9]) if line.isdecimal() and file != _UNKNOWN else 0,
        )
        if one.function or one.file:
            found[int(address[1], 16)] = one
        at += 3
    return found


def _by_symbolic(module: str, addresses: Sequence[int]) -> dict[int, SourcePlace]:
    """Return the places that the package `symbolic` finds; none if it is not installed."""
    found: dict[int, SourcePlace] = {}
    with contextlib.suppress(Exception):  # of a foreign package, about a foreign file
        archive = importlib.import_module("symbolic.debuginfo").Archive.open(module)
        demangle = importlib.import_module("symbolic.demangle").demangle_name
        cache = next(archive.iter_objects()).make_symcache()
        for address in addresses:
            if places := cache.lookup(address):
                first = places[0]
                function = demangle(first.symbol or "") or ""
                found[address] = SourcePlace(function[:MAX_TEXT], (first.full_path or "")[-MAX_TEXT:], int(first.line))
    return found
