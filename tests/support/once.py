"""What a process of the tests does once, although it starts the command inside it a thousand times."""

import functools
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest
import typer.main
from typer.utils import get_params_from_function

from octant.software import blas, versions


class Answer(Protocol):
    """What `octant.software.command.output` is."""

    def __call__(self, command: Sequence[str], changes: Mapping[str, str | None] | None = None) -> str: ...


_READ_BY_TOOLS = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME")


def read_parameters_once(patch: pytest.MonkeyPatch) -> None:
    """Let Typer read the parameters of each function once; otherwise it reads those of all commands at each start."""
    patch.setattr(typer.main, "get_params_from_function", functools.lru_cache(4096)(get_params_from_function))


def ask_programs_once(patch: pytest.MonkeyPatch) -> None:
    """Ask a compiler, an MPI library and a BLAS library once for their versions, as long as they are the same files."""
    for module in (versions, blas):
        patch.setattr(module, "output", answered_once(module.output))


def answered_once(request: Answer) -> Answer:
    """Return a function that asks for the same program with the same words, files and variables once.

    Args:
        ask: `octant.software.command.output`.
    """
    known: dict[object, str] = {}

    def answer(command: Sequence[str], changes: Mapping[str, str | None] | None = None) -> str:
        program = os.path.abspath(shutil.which(command[0]) or command[0])  # noqa: PTH100 - a link is another program
        files = [_state(Path(word)) for word in (program, *command[1:])]
        variables = [os.environ.get(name) for name in _READ_BY_TOOLS]
        key = (program, *command, *files, *sorted((changes or {}).items()), *variables)
        if not known.get(key):  # a busy machine may have kept it from answering
            known[key] = request(command, changes)
        return known[key]

    return answer


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what changes when a file is replaced or written to; `None`: there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
