"""The end of what a program printed before it failed, for the command that measured it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octant.failure import Exit
from octant.program import STDERR, STDOUT
from octant.record import RecordError
from octant.report.plain import clean
from octant.store import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octant.record import KeptFile
    from octant.store import StoredRun

MOST_LINES = 20
_MOST_CHARACTERS = 500
"""Of one line that is printed."""
_TITLES = {STDERR: "standard error", STDOUT: "standard output"}


def failed_output(run: StoredRun) -> list[str]:
    """Return the last lines of standard error (else standard output) of the last failed program, with a heading.

    Empty if no launch failed, or the program printed nothing.
    """
    left = {launch.key for launch in run.remaining()}
    failed = [one for one in run.failures if one.exit == Exit.CANNOT_RUN and one.launch in left and one.files]
    if not failed:
        return []
    for name, title in _TITLES.items():
        for file in failed[-1].files:
            if file.name == name and file.stored:
                return list(_end_of(run, file, title))
    return []


def _end_of(run: StoredRun, file: KeptFile, title: str) -> Iterator[str]:
    try:
        text = kept.read_kept(run.folder, file).decode(errors="replace")
    except RecordError as error:
        yield str(error)
        return
    lines = re.split(r"\r\n|\n|\r", text.rstrip("\r\n"))
    path = run.folder / kept.FOLDER / file.stored
    some = f"the last {MOST_LINES} of {len(lines)} lines" if len(lines) > MOST_LINES else "the end"
    yield f"{some} of the {title} of the program ({clean(str(path))}):"
    for line in lines[-MOST_LINES:]:
        shown = clean(line.replace("\t", "    "))
        yield f"  {shown[:_MOST_CHARACTERS]}" + " …" * (len(shown) > _MOST_CHARACTERS)
