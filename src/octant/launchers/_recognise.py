"""The role `recognise`: a command line of a user that starts ranks, taken apart."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from octant.failure import Exit, Refusal
from octant.launchers._mpi import implementation
from octant.launchers._roles import find, has, having

MOST_RANKS = 1 << 24
"""Of a command line, on all its nodes."""
_INSTEAD = "try the program without its launcher, with --ranks"


@dataclass(frozen=True)
class LaunchCommand:
    """A command line that starts ranks: what the launcher is told, and where the program begins."""

    ranks: int | None  # `None`: the command states no number, and the launcher decides
    options: tuple[str, ...]  # the launcher's own words, between its name and the program
    program: int  # index of the word that names the program
    binds: bool  # whether the launcher binds ranks to hardware threads, by an option or a variable


class Recogniser(Protocol):
    """What a launcher's file offers."""

    COMMANDS: tuple[str, ...]
    """Names of the launcher's program: `mpiexec`."""

    def recognise(self, words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
        """Take a command line apart, whose first word is the launcher's program.

        Raises:
            ValueError: an option that the launcher does not have, or a command that is not one program; the message is
                the reason.
        """


def recognise(words: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[str, LaunchCommand] | None:
    """Return the launcher with which a command line starts ranks, and what it is told; `None`: no known launcher.

    Several MPI libraries call their launcher mpiexec; its `--version` identifies the library. A command line that
    begins with another command (`env`, `time`) is not recognised.

    Args:
        words: the command line.
        environment: the variables that the command would inherit; `None`: ours.

    Raises:
        Refusal: the launcher has a known name, but the command line cannot be taken apart; the text says why.
    """
    found = _launcher(words[0]) if words else None
    if found is None:
        return None
    name, module = found
    try:
        taken = cast("Recogniser", module).recognise(words, os.environ if environment is None else environment)
    except ValueError as error:
        raise Refusal(
            f"cannot read the command line of {module.TITLE} ({error}); {_INSTEAD}", Exit.WRONG_WORD
        ) from error
    return name, taken


def _launcher(program: str) -> tuple[str, ModuleType] | None:
    """Return the launcher whose program this is.

    Raises:
        Refusal: an MPI library's launcher that is not there, does not answer, or whose command lines are not read.
    """
    claims = {name: one for name, one in having("recognise").items() if Path(program).name in one.COMMANDS}
    if not any(has(one, "mpiexec") for one in claims.values()):
        return next(iter(claims.items()), None)
    path = shutil.which(program)
    if path is None:
        raise Refusal(f"cannot find the launcher {program} (it is not on PATH); load its module, or give its path")
    library = implementation(Path(path))
    own = find("mpiexec", library)
    for name, one in claims.items():
        if one is own:
            return name, own
    readable = ", ".join(one.TITLE for one in claims.values())
    raise Refusal(
        f"cannot read the command line of {own.TITLE} (of programs named {Path(program).name}, only that of {readable} "
        f"is known); {_INSTEAD}",
        Exit.WRONG_WORD,
    )
