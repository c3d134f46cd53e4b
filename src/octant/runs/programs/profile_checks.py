"""Checks before a program is profiled: whether the dynamic linker will load the profiler into it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from octant import build
from octant.failure import Exit, Refusal
from octant.runs.programs import launcher_line, placeholders
from octant.runs.programs.builds import find_program
from octant.runs.programs.values import open_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octant.request import Request

PRELOAD = "LD_PRELOAD"
_CAPABILITIES = "security.capability"
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
"""Elf64_Sym of elf(5); section 0 is that of undefined symbols."""


def check_profilable(request: Request) -> None:
    """Check that a program can be profiled, in every cell; files that are not on this host are not checked.

    Raises:
        Refusal: the program is statically linked, has raised rights, or is for another architecture.
    """
    for path in dict.fromkeys(_programs(request)):
        if why := _obstacle(path):
            raise Refusal(f"cannot profile {path.name} ({why[0]}); {why[1]}", Exit.NOT_SUPPORTED)


def remarks(request: Request) -> tuple[str, ...]:
    """Return remarks on other tools that are loaded into the program and also record MPI calls."""
    variables = {**os.environ, **request.subject.environment}
    words = variables.get(PRELOAD, "").replace(":", " ").split()
    tools = [word for word in words if _defines_mpi(Path(request.subject.directory or ".", word))]
    return tuple(
        f"{Path(tool).name} of {PRELOAD} also intercepts MPI calls; both tools are loaded, and the times of each "
        "include the other"
        for tool in dict.fromkeys(tools)
    )


def _programs(request: Request) -> Iterator[Path]:
    """Yield the files of the program behind the launcher and wrappers, of every cell."""
    subject = request.subject
    started = launcher_line.find_launcher(subject, request.knobs, request.shape.ranks)
    for cell in request.cells():
        known = placeholders.cell_values(request, cell)
        words = started.program if started else subject.command
        filled = launcher_line.behind_wrappers(placeholders.fill_words(words, known))
        variables = {name: placeholders.fill_text(text, known) for name, text in subject.environment.items()}
        if path := find_program(filled[0], {**os.environ, **variables}, Path(subject.directory or ".")):
            yield path


def _obstacle(path: Path) -> tuple[str, str] | None:
    """Return why the profiler cannot be loaded into a program, and the next step; `None`: it can."""
    try:
        with open_plain(path) as file:
            status = os.fstat(file.fileno())
            if file.read(4) != b"\x7fELF":
                return None
            elf = ELFFile(file)
            kind = _kind(elf)
            is_static = not any(one.header.p_type == "PT_INTERP" for one in elf.iter_segments())
            contains_mpi = not is_static and _contains_mpi(elf)
        ours = _kind_of(build.find("profiler"))
    except (OSError, ELFError, ValueError):
        return None
    if is_static:
        return "it is statically linked, and the profiler is a shared library", (
            "link it with the shared MPI library, without -static"
        )
    if contains_mpi:
        return "it contains the MPI library, and its calls do not leave it", (
            "link it with the shared MPI library instead of libmpi.a"
        )
    if _has_raised_rights(path, status):
        return "the dynamic linker loads no other libraries into a program with raised rights", (
            "profile a copy without set-user-ID, set-group-ID and capabilities"
        )
    if ours and kind != ours:
        return f"it is for {kind}, and the profiler for {ours}", "build Octant for this architecture"
    return None


def _kind(elf: ELFFile) -> str:
    return f"{elf.get_machine_arch()} ({elf.elfclass} bit)"


def _kind_of(path: Path) -> str:
    with open_plain(path) as file:
        return _kind(ELFFile(file))


def _contains_mpi(elf: ELFFile) -> bool:
    """Return whether a program defines MPI_Init and needs no MPI library."""
    dynamic = next((one for one in elf.iter_segments() if isinstance(one, DynamicSegment)), None)
    if dynamic is not None and any("mpi" in getattr(one, "needed", "") for one in dynamic.iter_tags("DT_NEEDED")):
        return False
    symbols = elf.get_section_by_name(".symtab") or elf.get_section_by_name(".dynsym")
    if not isinstance(symbols, SymbolTableSection) or elf.elfclass != 64:
        return False
    names = symbols.stringtable.data()
    found = [one.start() for one in re.finditer(rb"MPI_Init\x00", names)]  # also the end of a longer name
    table = np.frombuffer(symbols.data(), _SYMBOL if elf.little_endian else _SYMBOL.newbyteorder())
    return bool((np.isin(table["name"], found) & (table["section"] != 0)).any())


def _has_raised_rights(path: Path, status: os.stat_result) -> bool:
    if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
        return True
    if status.st_mode & stat.S_ISGID and status.st_gid != os.getegid():
        return True
    with contextlib.suppress(OSError):
        return os.geteuid() != 0 and bool(os.getxattr(path, _CAPABILITIES))
    return False


def _defines_mpi(path: Path) -> bool:
    """Return whether a library defines functions of MPI."""
    try:
        with open_plain(path) as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments():
                if isinstance(segment, DynamicSegment):
                    return any(
                        one.name.startswith("MPI_") and one["st_shndx"] != "SHN_UNDEF" for one in segment.iter_symbols()
                    )
    except (OSError, ELFError, ValueError):
        return False
    return False
