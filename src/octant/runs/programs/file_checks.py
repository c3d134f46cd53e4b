"""Checks that the programs and input files of a request exist, before anything is started or stored."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from octant import build
from octant.failure import Refusal
from octant.runs.programs import placeholders
from octant.runs.programs.launcher_line import find_launcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octant.request import Request, Subject


def check_files_exist(request: Request) -> None:
    """Check that the program, the commands around the launch and the input file exist in every cell.

    Files that a command before the launch may create are not checked, and neither are programs on other hosts or on the
    nodes of a launcher.

    Raises:
        Refusal: a file does not exist, or cannot be executed or read.
    """
    subject, seen = request.subject, set[tuple[str, str | None]]()
    elsewhere = bool(request.shape.hosts or find_launcher(subject, request.knobs, request.shape.ranks))
    for cell in request.cells():
        known = placeholders.cell_values(request, cell)
        path = subject.environment.get("PATH")
        path = None if path is None else placeholders.fill_text(path, known)
        for word in _words(subject, known, elsewhere):
            if (word, path) not in seen:
                seen.add((word, path))
                _check_program(word, subject.directory, path)
        if subject.input and not subject.before:
            _check_input(placeholders.fill_text(subject.input, known), subject.directory)


def _words(subject: Subject, known: Mapping[str, str], elsewhere: bool) -> Iterator[str]:
    """Yield the programs of the command lines that no earlier command can create."""
    if not subject.before and not elsewhere:
        yield placeholders.fill_text(subject.command[0], known)
    for number, words in enumerate((*subject.before, *subject.after)):
        word = placeholders.fill_text(words[0], known)
        if number == 0 or not subject.before or "/" not in word:
            yield word


def _check_program(word: str, directory: str, path: str | None) -> None:
    place = os.path.join(directory, word) if "/" in word else word  # noqa: PTH118 - text
    if build.example_named(word) or shutil.which(place, path=path):
        return
    if "/" in word:
        why = "the file is not executable" if Path(place).exists() else "no such file"
        hint = "check its path and its mode"
    else:
        why = "it is not on PATH"
        hint = f"did you mean ./{word}?" if os.access(word, os.X_OK) else "check the name, or give its path"
    raise Refusal(f"cannot start {word!r} ({why}); {hint}")


def _check_input(name: str, directory: str) -> None:
    path = Path(directory, name)
    if path.is_file() and os.access(path, os.R_OK):
        return
    why = "no such file"
    if path.exists():
        why = "no permission to read it" if path.is_file() else "it is not a regular file"
    hint = "correct --input (a path relative to the working directory)"
    raise Refusal(f"cannot read the input file {name} ({why}); {hint}")
