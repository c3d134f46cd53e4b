"""Functions, files and lines of call sites, looked up after the run, with one look-up per module."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from octant.launch import symbols
from octant.launch.symbols import SourcePlace
from octant.profile.job import JobProfile, Site

_CYTHON, _LENGTH = re.compile(r"__pyx_(?:pw|pf|f)_"), re.compile(r"[0-9]{1,4}")
TIMEOUT_S = 60.0
"""Time for all modules together; a program with gigabytes of debug information takes several seconds."""


@dataclass(frozen=True)
class SymbolSource:
    """How addresses of modules are looked up; tests replace it."""

    build_id: Callable[[str], str | None] = symbols.build_id_of
    look_up: Callable[[str, Sequence[int], float], Mapping[int, SourcePlace]] = symbols.look_up


def resolve_sites(job: JobProfile, source: SymbolSource | None = None, timeout_s: float = TIMEOUT_S) -> JobProfile:
    """Return a profile whose call sites have functions, files and lines as far as they are known.

    A module whose build differs now from that in the process is not used, and is a problem of the profile. Sites in
    modules that do not exist here remain a module and an offset.
    """
    source = source or SymbolSource()
    end = time.monotonic() + timeout_s
    sites, problems = list(job.sites), []
    by_module: dict[tuple[str, str], list[int]] = {}
    for number, site in enumerate(sites):
        if site.module.startswith("/") and not site.function:
            by_module.setdefault((site.module, site.build_id), []).append(number)
    for (module, build_id), numbers in by_module.items():
        current = source.build_id(module)
        if current is None:
            continue
        if build_id and current != build_id:
            problems.append(
                f"The call sites in {module} are not resolved, because the file has changed since the launch."
            )
            continue
        left_s = end - time.monotonic()
        places = (
            source.look_up(module, sorted({_call_address(sites[n]) for n in numbers}), left_s) if left_s > 0 else {}
        )
        for number in numbers:
            place = places.get(_call_address(sites[number]))
            if place:
                function = python_name(place.function)
                sites[number] = replace(sites[number], function=function, file=place.file, line=place.line)
    return replace(job, sites=tuple(sites), problems=(*job.problems, *problems))


def python_name(function: str) -> str:
    """Return the Python name of a function that Cython compiled: `mpi4py.MPI.Comm.Allreduce`; others are unchanged.

    Cython writes `__pyx_pw_6mpi4py_3MPI_4Comm_143Allreduce`: each name after its length, the last one after a counter.
    """
    kind = _CYTHON.match(function)
    if not kind:
        return function
    left, names = function[kind.end() :], []
    while (length := _LENGTH.match(left)) and left[length.end() + int(length[0]) :][:1] == "_":
        end = length.end() + int(length[0])
        names.append(left[length.end() : end])
        left = left[end + 1 :]
    last = _LENGTH.sub("", left)
    return ".".join((*names, last)) if names and last else function


def _call_address(site: Site) -> int:
    """Return an address of the call: the one recorded is that of the next instruction, which may be of another line."""
    return max(0, site.offset - 1)
